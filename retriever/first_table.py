"""The first static table, before tuning: every piece of the vocabulary through MiniLM-L6 once.

A piece goes through the encoder as the text "[CLS] piece [SEP]", and its own vector of the last
layer is kept. The vectors are centred, turned to their principal axes and half whitened, all under
the frequencies of the pieces in the training texts; the first 256 axes stay. A piece weighs
a / (a + frequency) in a sum. Nothing here is random.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import Floats
from mnemolog.embedders.transformer import Encoder
from mnemolog.embedders.wordpiece import UNKNOWN, WordPiece

SIZE = 256
# Pieces more frequent than this weigh less than half.
WEIGHT = 3e-3
# 0 keeps the encoder's spread along each axis, 1 makes all axes alike.
WHITENING = 0.5
# Pieces that the texts do not have are not infinitely rare.
UNSEEN = 0.1

Numbers = npt.NDArray[np.float64]


def first_table(encoder: Encoder, vocabulary: Sequence[str], texts: Iterable[str]) -> Numbers:
    """The table of all pieces; unknown ones have no direction."""
    frequencies = piece_frequencies(vocabulary, texts)
    table = whitened(piece_vectors(encoder, vocabulary), frequencies)
    table *= (WEIGHT / (WEIGHT + frequencies))[:, None]
    table[vocabulary.index(UNKNOWN)] = 0
    return table


def piece_vectors(encoder: Encoder, vocabulary: Sequence[str], batch: int = 1024) -> Floats:
    """Each piece's own vector when it is the whole text."""
    first, last = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    vectors = np.zeros((len(vocabulary), encoder.size), np.float32)
    for start in range(0, len(vocabulary), batch):
        pieces = np.arange(start, min(start + batch, len(vocabulary)))
        ids = np.stack([np.full_like(pieces, first), pieces, np.full_like(pieces, last)], axis=1)
        vectors[pieces] = encoder.states(ids, np.ones(ids.shape, np.bool_))[:, 1]
    return vectors


def piece_frequencies(vocabulary: Sequence[str], texts: Iterable[str]) -> Numbers:
    """The share of each piece in the texts, smoothed; none for what no text is ever cut into."""
    tokeniser = WordPiece(vocabulary)
    counts = np.where([is_special(piece) for piece in vocabulary], 0, UNSEEN)
    for text in texts:
        np.add.at(counts, tokeniser.ids(text), 1)
    shares: Numbers = counts / counts.sum()
    return shares


def whitened(vectors: Floats, frequencies: Numbers) -> Numbers:
    """Centred, on the principal axes of running text, long axes shortened."""
    centred = vectors - frequencies @ vectors
    lengths, axes = np.linalg.eigh((centred * frequencies[:, None]).T @ centred)
    lengths, axes = lengths[::-1][:SIZE], axes[:, ::-1][:, :SIZE]
    # An axis has no direction of its own; this makes every run choose the same one.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(SIZE)])
    turned: Numbers = centred @ axes
    turned *= (lengths / lengths[0]) ** (-WHITENING / 2)
    return turned


def is_special(piece: str) -> bool:
    """Whether no text is ever cut into this piece; the unknown one counts as a text's."""
    return len(piece) > 1 and piece.startswith("[") and piece.endswith("]") and piece != UNKNOWN
