"""The static table: a text's vector is the sum of its pieces' vectors. The default embedder.

The table is made from MiniLM-L6 and tuned by `retriever/`. One byte per number; the scale of a row
holds both the range of its bytes and the weight of the piece in a sum, which is small for frequent
pieces.
"""

import hashlib
import os
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import Floats, map_array, read_lines
from mnemolog.embedders.wordpiece import Ids, WordPiece, is_plain, opening, plain_words

# A long text begins with what it is about; summed to its end, it would be about everything.
MOST_PIECES = 128


class _Table(NamedTuple):
    name: str
    tokeniser: WordPiece
    rows: npt.NDArray[np.int8]
    scales: Floats


class StaticEmbedder:
    """The table inside this package, or one in a folder: `rows.npy`, `scales.npy`, `vocab.txt`.

    A text's vector depends on the text alone, to the last bit, whatever else is embedded with it.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        here = os.path.join(os.path.dirname(__file__), "table")
        self._folder = here if path is None else os.fspath(path)

    @cached_property
    def _table(self) -> _Table:
        # Two threads may both load: the files are only mapped, and the results are alike.
        rows = map_array(os.path.join(self._folder, "rows.npy"))
        scales = map_array(os.path.join(self._folder, "scales.npy"))
        tokeniser = WordPiece(read_lines(os.path.join(self._folder, "vocab.txt")))
        return _Table(_name(rows, scales), tokeniser, rows, scales)

    @property
    def name(self) -> str:
        """Which table this is."""
        return self._table.name

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return int(self._table.rows.shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text, of its first pieces; zeros for a text that cannot be read."""
        table = self._table
        # All are cut before any is summed: in turns each would drive the other out of the caches.
        return self.embed_pieces([_pieces(table, text) for text in texts])

    def words(self, text: str) -> list[str] | None:
        """The words that a plain text is cut into, marks too; None for any other text."""
        return plain_words(text) if is_plain(text) else None

    def pieces(self, word: str) -> Ids:
        """The numbers of a word's pieces; those of a plain text are those of its words."""
        return self._table.tokeniser.ids(word)

    def embed_pieces(self, texts: Sequence[Ids]) -> Floats:
        """The same as `embed` for texts that are cut already; of each its first pieces count."""
        table = self._table
        vectors = np.zeros((len(texts), self.size), np.float32)
        for vector, ids in zip(vectors, texts, strict=True):
            vector += _sum(table, ids[:MOST_PIECES])
        lengths = np.sqrt(np.add.reduce(vectors * vectors, axis=1, keepdims=True))
        vectors /= np.maximum(lengths, 1e-12)
        return vectors


def _pieces(table: _Table, text: str) -> Ids:
    text = opening(text)
    ids = table.tokeniser.ids(text)[:MOST_PIECES]
    return ids[:0] if table.tokeniser.is_foreign(text, ids) else ids


def _sum(table: _Table, ids: Ids) -> Floats:
    rows = table.rows.take(ids, axis=0).astype(np.float32)
    total: Floats = table.scales.take(ids) @ rows
    return total


def _name(rows: npt.NDArray[np.int8], scales: Floats) -> str:
    """Another table has other scales; a few rows besides make it certain."""
    digest = hashlib.sha256(scales.tobytes())
    digest.update(rows[::256].tobytes())
    return f"static-{rows.shape[1]}-{digest.hexdigest()[:12]}"
