"""Vectors: what each row means, one byte for each dimension.

Up to a hundred thousand rows all are compared exactly. Beyond that, a first pass compares only the
signs of the dimensions, one bit each, and the nearest rows are compared exactly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index.columns import Array, Columns
from mnemolog.index.snapshot import Mask
from mnemolog.ports.embedder import Embedder

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int64]

# More rows than this are first compared by their signs; so many of the nearest then exactly.
EXACT = 120_000
NEAREST = 32_768
# The average of so many is as good as that of all.
_SAMPLE = 16_384
# Rows at a time: what is made of them fits into a cache, and the product of so few is not split
# among the cores, whose waking would cost more than it brings.
_CHUNK = 1024
_CODES = 16_384
_BITS_OF_BYTES = np.array([byte.bit_count() for byte in range(256)], np.uint8)


class Encoded(NamedTuple):
    """Vectors as they are stored: bytes, what each row's bytes are worth, and signs."""

    stored: NDArray[np.int8]
    worth: Floats
    signs: NDArray[np.uint8]

    def without(self, rows: NDArray[np.intp]) -> "Encoded":
        """The same with nothing in these rows."""
        blank = Encoded(self.stored.copy(), self.worth.copy(), self.signs.copy())
        blank.stored[rows], blank.worth[rows], blank.signs[rows] = 0, 1, 0
        return blank


def encoded(vectors: Floats) -> Encoded:
    """Vectors as they are stored."""
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    worth = np.where(largest > 0, largest / 127, 1).astype(np.float32)
    stored = np.rint(vectors / worth[:, None]).astype(np.int8)
    return Encoded(stored, worth, np.packbits(stored > 0, axis=1))


def joined(parts: Sequence[Encoded]) -> Encoded:
    """Several as one, in their order."""
    return Encoded(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class Vectors:
    """The vectors of all rows, in three files: bytes, what each row's bytes are worth, signs."""

    def __init__(self, folder: str, build: str, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self._bytes = Columns(folder, build, {"vector": "i1"}, embedder.size)
        self._worth = Columns(folder, build, {"worth": "<f4"})
        self._signs = Columns(folder, build, {"sign": "u1"}, -(-embedder.size // 8))
        self.at_once: int | None = getattr(embedder, "at_once", None)

    def made_of(self, texts: Sequence[str]) -> Encoded:
        """The vectors of texts."""
        return encoded(self._embedder.embed(texts))

    def write(self, first: int, texts: Sequence[str]) -> None:
        """Embed and store rows from `first` on."""
        self.write_encoded(first, self.made_of(texts))

    def write_encoded(self, first: int, vectors: Encoded) -> None:
        """Store rows from `first` on."""
        self._bytes.write(first, {"vector": vectors.stored})
        self._worth.write(first, {"worth": vectors.worth})
        self._signs.write(first, {"sign": vectors.signs})

    def quick_embedder(self) -> Embedder | None:
        """The embedder, if it sets no bound to how many texts a search may wait for."""
        return self._embedder if self.at_once is None else None

    def is_whole(self, rows: int) -> bool:
        """Whether every row still is what was written."""
        return all(one.is_whole(rows) for one in (self._bytes, self._worth, self._signs))

    def likeness(self, text: str, rows: int, mask: Mask) -> "Likeness | None":
        """How close those of the first so many rows that are in sight come to a text; None if the
        embedder cannot read it."""
        query = np.asarray(self._embedder.embed([text])[0], np.float32)
        return Likeness(self, query, rows, mask) if query.any() else None

    def cosines(self, query: Floats, rows: int, chosen: RowNumbers) -> Floats:
        """The cosine of the query with each of these of the first so many rows."""
        stored = self._bytes.read("vector", rows)
        worth = self._worth.read("worth", rows)
        found = np.empty(len(chosen), np.float32)
        room = np.empty((min(_CHUNK, len(chosen)), len(query)), np.float32)
        is_all = len(chosen) == rows
        for start in range(0, len(chosen), _CHUNK):
            part = slice(start, start + _CHUNK)
            some = stored[part] if is_all else stored[chosen[part]]
            block = room[: len(some)]
            np.copyto(block, some)
            np.dot(block, query, out=found[part])
        found *= worth if is_all else worth[chosen]
        # The last digits depend on where a row lies.
        return found.round(5, out=found)

    def nearest(self, query: Floats, rows: int, chosen: RowNumbers) -> RowNumbers:
        """Those of the chosen rows whose signs differ least from the query's."""
        code = np.packbits(query > 0)
        stored = self._signs.read("sign", rows)
        distances = np.empty(len(chosen), np.uint16)
        for start in range(0, len(chosen), _CODES):
            part = slice(start, start + _CODES)
            block = stored[part] if len(chosen) == rows else stored[chosen[part]]
            distances[part] = _differing(block, code)
        upto = np.cumsum(np.bincount(distances))
        limit = int(np.searchsorted(upto, NEAREST))
        return chosen[np.flatnonzero(distances <= limit)[: 2 * NEAREST]]


class Likeness:
    """The cosine of a query with the rows in sight, and the average of all of these.

    With very many rows only those are compared that may be near; `fill` compares others.
    """

    def __init__(self, vectors: Vectors, query: Floats, rows: int, mask: Mask) -> None:
        self._vectors = vectors
        self._query = query
        self._rows = rows
        self._mask = mask
        self.scores = np.zeros(len(mask), np.float32)
        self.average = 0.0
        self.is_filled = True
        chosen = mask[:rows].nonzero()[0]
        if len(chosen):
            self._compare(chosen)

    def _compare(self, chosen: RowNumbers) -> None:
        if len(chosen) <= EXACT:
            found = self._cosines(chosen)
            if len(found) == len(self.scores):
                self.scores = found
            else:
                self.scores[chosen] = found
            self.average = float(found.sum()) / len(found)
            return
        self.is_filled = False
        step = -(-len(chosen) // _SAMPLE)
        self.average = float(self._cosines(chosen[::step]).mean())
        near = self._vectors.nearest(self._query, self._rows, chosen)
        self.scores[near] = self._cosines(near)

    def _cosines(self, rows: RowNumbers) -> Floats:
        return self._vectors.cosines(self._query, self._rows, rows)

    def fill(self, rows: RowNumbers) -> None:
        """Compare these rows too, as far as they are in sight."""
        if not self.is_filled:
            rows = rows[self._mask[rows] & (rows < self._rows)]
            self.scores[rows] = self._cosines(rows)


def _differing(codes: Array, code: Array) -> NDArray[np.uint16]:
    """In how many bits each code differs from one."""
    if codes.shape[1] % 8 == 0:
        codes, code = np.ascontiguousarray(codes).view(np.uint64), code.view(np.uint64)
    bits = _bits(codes ^ code)
    total = bits[:, 0].astype(np.uint16)
    for column in range(1, bits.shape[1]):
        total += bits[:, column]
    return total


def _bits(codes: Array) -> Array:
    """How many bits are set in each number."""
    if hasattr(np, "bitwise_count"):
        return np.asarray(np.bitwise_count(codes))
    return _BITS_OF_BYTES[codes.view(np.uint8)]
