"""Vectors: what each row means, one byte for each dimension.

Up to a hundred thousand rows all are compared exactly. Beyond that, a first pass compares only the
signs of the dimensions, one bit each, and the nearest rows are compared exactly.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index.columns import Array, Columns
from mnemolog.index.embedding import embed, quick
from mnemolog.index.snapshot import Mask
from mnemolog.ports.embedder import Embedder

Floats = NDArray[np.float32]
RowNumbers = NDArray[np.int64]
Lots = Callable[[], NDArray[np.uint32]]
"""A number for each row, as if drawn by lot and the same wherever the row lies."""

# More rows than this are first compared by their signs; so many of the nearest then exactly.
EXACT = 120_000
NEAREST = 32_768
# The average of so many is as good as that of all.
_SAMPLE = 16_384
_ALL_LOTS = 1 << 32
# Rows at a time: what is made of them fits into a cache, and the product of so few is not split
# among the cores, whose waking would cost more than it brings.
_CHUNK = 1024
_CODES = 16_384
# Up to so many numbers are held as they are multiplied, in 16 MiB.
_MOST_HELD = 4 * 1024 * 1024
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


class Stored:
    """The vectors of all rows, in three files: bytes, what each row's bytes are worth, signs."""

    def __init__(self, folder: str, build: str, number: str, size: int) -> None:
        self.number = number
        self._size = size
        build = f"{build}.{number}"
        self._bytes = Columns(folder, build, {"vector": "i1"}, size)
        self._worth = Columns(folder, build, {"worth": "<f4"})
        self._signs = Columns(folder, build, {"sign": "u1"}, -(-size // 8))

    def write(self, first: int, vectors: Encoded) -> None:
        """Store rows from `first` on."""
        self._bytes.write(first, {"vector": vectors.stored})
        self._worth.write(first, {"worth": vectors.worth})
        self._signs.write(first, {"sign": vectors.signs})

    def blank(self, rows: RowNumbers) -> None:
        """Overwrite these rows, each greater than the one before, as far as there is any of them;
        one that was written and never published too."""
        rows = rows[rows < self._bytes.room("vector")]
        breaks = np.flatnonzero(np.diff(rows) != 1) + 1
        for run in np.split(rows, breaks) if len(rows) else ():
            for first in range(int(run[0]), int(run[-1]) + 1, _CODES):
                count = min(_CODES, int(run[-1]) + 1 - first)
                self.write(first, encoded(np.zeros((count, self._size), np.float32)))

    def is_whole(self, rows: int) -> bool:
        """Whether every row still is what was written."""
        return all(one.is_whole(rows) for one in (self._bytes, self._worth, self._signs))


class Vectors(Stored):
    """The vectors of the model in use, and what makes them."""

    def __init__(self, folder: str, build: str, number: str, embedder: Embedder) -> None:
        super().__init__(folder, build, number, embedder.size)
        self._embedder = embedder
        self.name = embedder.name
        self.at_once: int | None = getattr(embedder, "at_once", None)
        self.quick_embedder: Embedder | None = quick(embedder)
        self._blanked = self._asked = 0
        self._held = np.empty((0, embedder.size), np.float32)
        self._filled = 0

    def look(self, blanked: int) -> None:
        """Take note how often vectors were overwritten; what is held from before is void."""
        if blanked != self._blanked:
            self._blanked, self._filled = blanked, 0

    def made_of(self, texts: Sequence[str]) -> Encoded:
        """The vectors of texts."""
        return encoded(embed(self._embedder, texts))

    def read(self, text: str) -> Floats:
        """The vector of a question; zeros if the embedder cannot read it."""
        found: Floats = embed(self._embedder, [text])[0]
        return found

    def likeness(self, query: Floats, rows: int, mask: Mask, lots: Lots) -> "Likeness | None":
        """How close those of the first so many rows that are in sight come to a question; None if
        it could not be read."""
        return Likeness(self, query, rows, mask, lots) if query.any() else None

    def cosines(self, query: Floats, rows: int, chosen: RowNumbers | None = None) -> Floats:
        """The cosine of the query with each of the first so many rows, or of these of them."""
        worth = self._worth.read("worth", rows)
        worth = worth if chosen is None else worth[chosen]
        found = np.empty(len(worth), np.float32)
        for start, block in self._blocks(rows, chosen):
            np.dot(block, query, out=found[start : start + len(block)])
        found *= worth
        # The last digits depend on where a row lies.
        return found.round(5, out=found)

    def _blocks(self, rows: int, chosen: RowNumbers | None) -> Iterator[tuple[int, Floats]]:
        """The chosen rows as they are multiplied, or all; each block lasts until the next."""
        stored = self._bytes.read("vector", rows)
        held = self._floats(stored) if chosen is None else None
        count = rows if chosen is None else len(chosen)
        room = np.empty((min(_CHUNK, count), self._size), np.float32) if held is None else held
        for start in range(0, count, _CHUNK):
            part = slice(start, start + _CHUNK)
            if held is not None:
                yield start, held[part]
                continue
            some = stored[part] if chosen is None else stored[chosen[part]]
            np.copyto(room[: len(some)], some)
            yield start, room[: len(some)]

    def _floats(self, stored: Array) -> Floats | None:
        """All rows as they are multiplied, if these are few, and not asked for but once."""
        self._asked += 1
        if self._asked == 1 or stored.size > _MOST_HELD:
            return None
        rows, filled = len(stored), self._filled
        if len(self._held) < rows:
            held, self._held = self._held, np.empty((rows + _CHUNK, self._size), np.float32)
            self._held[:filled] = held[:filled]
        self._held[filled:rows] = stored[filled:]
        self._filled = max(filled, rows)
        return self._held[:rows]

    def nearest(
        self, query: Floats, rows: int, chosen: RowNumbers, lots: NDArray[np.uint32]
    ) -> RowNumbers:
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
        near = np.flatnonzero(distances < limit)
        # Any number may be as far away as the last of them, but none of these goes before a nearer.
        last, room = np.flatnonzero(distances == limit), 2 * NEAREST - len(near)
        if len(last) > room:
            last = last[np.argsort(lots[chosen[last]], kind="stable")[:room]]
        nearest: RowNumbers = chosen[np.concatenate([near, last])]
        return nearest


class Likeness:
    """The cosine of a query with the rows in sight, and the average of all of these.

    With very many rows only those are compared that may be near; `fill` compares others. The
    average is then that of some, which are drawn by lot.
    """

    def __init__(self, vectors: Vectors, query: Floats, rows: int, mask: Mask, lots: Lots) -> None:
        self._vectors = vectors
        self._query = query
        self._rows = rows
        self._mask = mask
        self.scores = np.zeros(len(mask), np.float32)
        self.average = 0.0
        self.is_filled = True
        seen = mask[:rows]
        self.count = int(np.count_nonzero(seen))
        if self.count > EXACT:
            self._compare_near(seen, lots()[:rows])
        elif self.count:
            self._compare(seen)

    def _compare(self, seen: Mask) -> None:
        if self.count == len(self.scores):
            self.scores = found = self._cosines(None)
        else:
            # Rows in a row are compared faster than chosen ones: with most of them, the rest too.
            is_most = 2 * self.count > self._rows
            chosen = seen.nonzero()[0]
            found = self._cosines(None)[chosen] if is_most else self._cosines(chosen)
            self.scores[chosen] = found
        self.average = average(found)

    def _compare_near(self, seen: Mask, lots: NDArray[np.uint32]) -> None:
        self.is_filled = False
        chosen = seen.nonzero()[0]
        some = (seen & (lots < _ALL_LOTS * _SAMPLE // self.count)).nonzero()[0]
        self.average = average(self._cosines(some if len(some) else chosen))
        near = self._vectors.nearest(self._query, self._rows, chosen, lots)
        self.scores[near] = self._cosines(near)

    def _cosines(self, rows: RowNumbers | None) -> Floats:
        return self._vectors.cosines(self._query, self._rows, rows)

    def fill(self, rows: RowNumbers) -> None:
        """Compare these rows too, as far as they are in sight."""
        if not self.is_filled:
            rows = rows[self._mask[rows] & (rows < self._rows)]
            self.scores[rows] = self._cosines(rows)


def average(cosines: Floats) -> float:
    """The average, the same in whatever order the rows lie."""
    return round(float(np.add.reduce(cosines, dtype=np.float64)) / len(cosines), 9)


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
