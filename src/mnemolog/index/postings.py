"""Postings: for each term, the rows that hold it and how often.

New rows stand in the tail, as they came. Once the tail has enough of them it is sealed into a
segment, turned round by term; small neighbouring segments are merged into larger ones, so that a
query reads few blobs. Rows inside a segment are counted from its base and fit into two bytes.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SEAL = 1024
LARGEST = 65_536
_MERGE = 8
_VARIABLES = 500  # older SQLite takes 999 in one statement

Hashes = NDArray[np.uint32]
Rows = NDArray[np.uint32]
Counts = NDArray[np.uint8]


class Segment(NamedTuple):
    """A sealed run of rows."""

    id: int
    base: int
    rows: int


class Counted(NamedTuple):
    """How often each term stands in each row; one item for each pair of the two."""

    hashes: Hashes
    rows: Rows
    counts: Counts


class Holding(NamedTuple):
    """Which rows hold some terms, and how often; the terms by their places among those asked for,
    in this order."""

    terms: NDArray[np.uint16]
    rows: Rows
    counts: NDArray[np.unsignedinteger[Any]]

    def only(self, kept: NDArray[np.bool_] | slice) -> "Holding":
        """Some of them."""
        return Holding(self.terms[kept], self.rows[kept], self.counts[kept])

    def plus(self, other: "Holding") -> "Holding":
        """These and others."""
        return Holding(
            np.concatenate([self.terms, other.terms]),
            np.concatenate([self.rows, other.rows]),
            np.concatenate([self.counts, other.counts]),
        )


def counted(rows: Rows, hashes: Hashes) -> Counted:
    """Count occurrences; the result is ordered by row."""
    keys = np.sort(rows.astype(np.uint64) << np.uint64(32) | hashes)
    starts = _starts(keys)
    counts = np.minimum(np.diff(np.r_[starts, len(keys)]), 255).astype(np.uint8)
    keys = keys[starts]
    return Counted(keys.astype(np.uint32), (keys >> np.uint64(32)).astype(np.uint32), counts)


def joined(parts: list[Counted]) -> Counted:
    """Several as one."""
    nothing = Counted(np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8))
    return Counted(*(np.concatenate(columns) for columns in zip(nothing, *parts, strict=True)))


def _starts(ordered: NDArray[Any]) -> NDArray[np.intp]:
    """Where each value begins among ordered ones."""
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return np.flatnonzero(is_first)


def pack(terms: Mapping[int, int]) -> bytes:
    """A row's terms as it stands in the tail: hashes, then counts."""
    hashes = np.array(list(terms), np.uint32)
    counts = np.minimum(np.array(list(terms.values()), np.uint32), 255).astype(np.uint8)
    return hashes.tobytes() + counts.tobytes()


def unpack(packed: bytes) -> tuple[Hashes, Counts]:
    """What `pack` packed."""
    size = len(packed) // 5
    return np.frombuffer(packed, np.uint32, size), np.frombuffer(packed, np.uint8, size, size * 4)


def packed_rows(terms: Counted, rows: int) -> list[bytes]:
    """The terms of the first so many rows, each row as `pack` packs it."""
    hashes, counts = terms.hashes.tobytes(), terms.counts.tobytes()
    ends = np.searchsorted(terms.rows, np.arange(rows), side="right").tolist()
    starts = [0, *ends][:rows]
    return [
        hashes[4 * start : 4 * end] + counts[start:end]
        for start, end in zip(starts, ends, strict=True)
    ]


def unpacked(packed: list[bytes], numbers: list[int] | None = None) -> Counted:
    """What the tail holds; the rows have these numbers, or are counted from 0."""
    sizes = [len(one) // 5 for one in packed]
    rows = np.arange(len(packed), dtype=np.uint32)
    if numbers is not None:
        rows = np.array(numbers, np.uint32)
    hashes = b"".join(one[: 4 * size] for one, size in zip(packed, sizes, strict=True))
    counts = b"".join(one[4 * size :] for one, size in zip(packed, sizes, strict=True))
    return Counted(
        np.frombuffer(hashes, np.uint32), np.repeat(rows, sizes), np.frombuffer(counts, np.uint8)
    )


def by_hash(terms: Counted) -> Counted:
    """The same, ordered by hash."""
    # A number for each, with its place in the lower half, is sorted faster than places are.
    places = np.arange(len(terms.hashes), dtype=np.uint64)
    keys = np.sort(terms.hashes.astype(np.uint64) << np.uint64(32) | places)
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.intp)
    return Counted(terms.hashes[order], terms.rows[order], terms.counts[order])


def seal(db: sqlite3.Connection, base: int, terms: Counted, rows: int) -> None:
    """Store so many rows from `base` on, numbered from 0 in `terms`, as segments."""
    for start in range(0, rows, LARGEST):
        end = min(start + LARGEST, rows)
        part = terms if rows <= LARGEST else _between(terms, start, end)
        number = _next_segment(db)
        db.executemany("INSERT INTO post VALUES (?, ?)", _blobs(number, part))
        db.execute("INSERT INTO segment VALUES (?, ?, ?)", (number, base + start, end - start))


def _between(terms: Counted, start: int, end: int) -> Counted:
    """The terms of some rows, which are counted from the first of them."""
    here = (terms.rows >= start) & (terms.rows < end)
    return Counted(terms.hashes[here], terms.rows[here] - np.uint32(start), terms.counts[here])


def _blobs(number: int, terms: Counted) -> Iterator[tuple[int, bytes]]:
    """The postings of a segment: turned round by term, each term's rows, then its counts."""
    # Hash, row and count fit into one number, and numbers are sorted fastest.
    keys = terms.hashes.astype(np.uint64)
    for shift, column in ((16, terms.rows), (8, terms.counts)):
        keys <<= np.uint64(shift)
        keys |= column
    keys.sort()
    packed = keys.astype(np.uint8).tobytes()
    keys >>= np.uint64(8)
    rows = keys.astype(np.uint16).tobytes()
    keys >>= np.uint64(16)
    begins = _starts(keys)
    starts = begins.tolist()
    ends = [*starts[1:], len(keys)]
    for term, start, end in zip(keys[begins].tolist(), starts, ends, strict=True):
        yield number << 32 | term, rows[2 * start : 2 * end] + packed[start:end]


def merge(db: sqlite3.Connection) -> None:
    """Join runs of small neighbouring segments, so that their number stays small."""
    segments = [Segment(*row) for row in db.execute("SELECT * FROM segment ORDER BY base")]
    size = SEAL
    while size < LARGEST:
        run: list[Segment] = []
        for one in segments:
            run = [*run, one] if one.rows < size * _MERGE else []
            if len(run) == _MERGE and sum(part.rows for part in run) <= LARGEST:
                _join(db, run)
                return
            run = run[-_MERGE + 1 :]
        size *= _MERGE


def _join(db: sqlite3.Connection, parts: list[Segment]) -> None:
    base = parts[0].base
    terms = joined([_stored(db, part, part.base - base) for part in parts])
    for part in parts:
        db.execute("DELETE FROM post WHERE id BETWEEN ? AND ?", _keys(part))
        db.execute("DELETE FROM segment WHERE id = ?", (part.id,))
    seal(db, base, terms, sum(part.rows for part in parts))


def _stored(db: sqlite3.Connection, segment: Segment, shift: int) -> Counted:
    """What a segment holds, with its rows numbered from `shift`."""
    query = "SELECT id, rows FROM post WHERE id BETWEEN ? AND ?"
    found = db.execute(query, _keys(segment)).fetchall()
    sizes = [len(blob) // 3 for _, blob in found]
    hashes = np.fromiter((key & 0xFFFFFFFF for key, _ in found), np.uint32, len(found))
    rows = b"".join(blob[: 2 * size] for size, (_, blob) in zip(sizes, found, strict=True))
    counts = b"".join(blob[2 * size :] for size, (_, blob) in zip(sizes, found, strict=True))
    local = np.frombuffer(rows, np.uint16).astype(np.uint32)
    return Counted(
        np.repeat(hashes, sizes), local + np.uint32(shift), np.frombuffer(counts, np.uint8)
    )


def forget(db: sqlite3.Connection, segment: Segment, local: Rows) -> set[int]:
    """Take rows, counted from its base, out of a segment; gives the terms that they held."""
    query = "SELECT id, rows FROM post WHERE id BETWEEN ? AND ?"
    found = db.execute(query, _keys(segment)).fetchall()
    sizes = [len(blob) // 3 for _, blob in found]
    rows = b"".join(blob[: 2 * size] for size, (_, blob) in zip(sizes, found, strict=True))
    is_gone = np.isin(np.frombuffer(rows, np.uint16), local.astype(np.uint16))
    touched = np.unique(np.repeat(np.arange(len(found)), sizes)[is_gone]).tolist()
    for number in touched:
        key, blob = found[number]
        kept = _without(blob, local.astype(np.uint16))
        if kept:
            db.execute("UPDATE post SET rows = ? WHERE id = ?", (kept, key))
        else:
            db.execute("DELETE FROM post WHERE id = ?", (key,))
    return {found[number][0] & 0xFFFFFFFF for number in touched}


def _without(blob: bytes, local: NDArray[np.uint16]) -> bytes:
    size = len(blob) // 3
    rows, counts = (
        np.frombuffer(blob, np.uint16, size),
        np.frombuffer(blob, np.uint8, size, 2 * size),
    )
    is_kept = ~np.isin(rows, local)
    return rows[is_kept].tobytes() + counts[is_kept].tobytes()


def _keys(segment: Segment) -> tuple[int, int]:
    return segment.id << 32, segment.id << 32 | 0xFFFFFFFF


def look_up(db: sqlite3.Connection, segments: list[Segment], terms: Sequence[int]) -> Holding:
    """The rows of all segments that hold any of these terms."""
    numbers = {term: number for number, term in enumerate(terms)}
    batches = [terms[start : start + _VARIABLES] for start in range(0, len(terms), _VARIABLES)]
    found: list[tuple[int, int, bytes]] = []
    for segment, some in product(segments, batches):
        keys = [segment.id << 32 | term for term in some]
        query = f"SELECT id, rows FROM post WHERE id IN ({','.join('?' * len(keys))})"
        found += [
            (numbers[key & 0xFFFFFFFF], segment.base, blob) for key, blob in db.execute(query, keys)
        ]
    found.sort(key=_number)  # whatever lies in which segment, the terms come in the order asked for
    return _decoded(found)


def _number(part: tuple[int, int, bytes]) -> int:
    return part[0]


def _decoded(parts: list[tuple[int, int, bytes]]) -> Holding:
    """What blobs of some terms say; the rows of each are counted from its base."""
    local = b"".join([blob[: len(blob) // 3 * 2] for _, _, blob in parts])
    counts = b"".join([blob[len(blob) // 3 * 2 :] for _, _, blob in parts])
    sizes = np.array([len(blob) // 3 for _, _, blob in parts], np.intp)
    terms = np.array([number for number, _, _ in parts], np.uint16)
    bases = np.array([base for _, base, _ in parts], np.uint32)
    rows = np.frombuffer(local, np.uint16) + bases.repeat(sizes)
    return Holding(terms.repeat(sizes), rows, np.frombuffer(counts, np.uint8))


def look_up_tail(tail: Counted, terms: Sequence[int]) -> Holding:
    """The rows of a tail, ordered by term, that hold any of these terms."""
    asked = np.array(terms, np.uint32)
    starts = np.searchsorted(tail.hashes, asked)
    sizes = np.searchsorted(tail.hashes, asked, side="right") - starts
    ends = sizes.cumsum()
    at = (starts - ends + sizes).repeat(sizes) + np.arange(ends[-1] if len(ends) else 0)
    numbers = np.arange(len(terms), dtype=np.uint16).repeat(sizes)
    return Holding(numbers, tail.rows[at], tail.counts[at])


def _next_segment(db: sqlite3.Connection) -> int:
    (number,) = db.execute("SELECT coalesce(max(id), 0) + 1 FROM segment").fetchone()
    return int(number)
