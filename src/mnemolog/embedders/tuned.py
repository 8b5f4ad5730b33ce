"""Our own encoders, trained by `retriever/` on conversations written for it; one byte a weight."""

from mnemolog.embedders.encoders import EncoderEmbedder, Wheel
from mnemolog.embedders.onnx import through_onnx
from mnemolog.embedders.transformer import through_numpy

MOST_PIECES = 128


class SmallEmbedder(EncoderEmbedder):
    """Two layers: most of what `full` finds, for a third of the work."""

    kind = "small"
    wheel = Wheel("mnemolog-small", "mnemolog_small", "pip install 'mnemolog[small]'")
    most_pieces = MOST_PIECES
    at_once = 48


class FullEmbedder(EncoderEmbedder):
    """Six layers: MiniLM-L6, tuned to find what was said; through onnxruntime where installed."""

    kind = "full"
    wheel = Wheel("mnemolog-full", "mnemolog_full", "pip install 'mnemolog[full]'")
    most_pieces = MOST_PIECES
    through = staticmethod(through_onnx)


class FullOnNumpyEmbedder(FullEmbedder):
    """`full` on numpy, whatever is installed; of the same name, so nothing is embedded anew."""

    through = staticmethod(through_numpy)
