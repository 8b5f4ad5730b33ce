"""Postings: for each term, the rows that hold it and how often.

New rows stand in the tail, as they came. Once the tail has enough of them it is sealed into a
segment, turned round by term; small neighbouring segments are merged into larger ones, so that a
query reads few blobs. Rows inside a segment are counted from its base and fit into two bytes.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from itertools import product
from typing import NamedTuple

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


class Inverted(NamedTuple):
    """Rows turned round by term: sorted hashes, where each begins, and its rows and counts."""

    hashes: Hashes
    starts: NDArray[np.int64]
    rows: Rows
    counts: Counts


def pack(terms: Mapping[int, int]) -> bytes:
    """A row's terms as it stands in the tail: hashes, then counts."""
    hashes = np.array(list(terms), np.uint32)
    counts = np.minimum(np.array(list(terms.values()), np.uint32), 255).astype(np.uint8)
    return hashes.tobytes() + counts.tobytes()


def unpack(packed: bytes) -> tuple[Hashes, Counts]:
    """What `pack` packed."""
    size = len(packed) // 5
    return np.frombuffer(packed, np.uint32, size), np.frombuffer(packed, np.uint8, size, size * 4)


def invert(packed: list[bytes]) -> Inverted:
    """Turn rows round by term; the rows are numbered from 0."""
    parts = [unpack(one) for one in packed]
    hashes = np.concatenate([part[0] for part in parts] or [np.empty(0, np.uint32)])
    counts = np.concatenate([part[1] for part in parts] or [np.empty(0, np.uint8)])
    lengths = [len(part[0]) for part in parts]
    rows = np.repeat(np.arange(len(parts), dtype=np.uint32), lengths)
    order = np.argsort(hashes, kind="stable")
    hashes = hashes[order]
    is_first = np.ones(len(hashes), bool)
    is_first[1:] = hashes[1:] != hashes[:-1]
    return Inverted(hashes[is_first], np.flatnonzero(is_first), rows[order], counts[order])


def seal(db: sqlite3.Connection, base: int, packed: list[bytes]) -> None:
    """Store rows from `base` on as a segment."""
    turned = invert(packed)
    number = _next_segment(db)
    db.executemany("INSERT INTO post VALUES (?, ?)", _blobs(number, turned))
    db.execute("INSERT INTO segment VALUES (?, ?, ?)", (number, base, len(packed)))


def _blobs(number: int, turned: Inverted) -> Iterator[tuple[int, bytes]]:
    rows, counts = turned.rows.astype(np.uint16), turned.counts
    starts = turned.starts.tolist()
    for term, start, end in zip(
        turned.hashes.tolist(), starts, [*starts[1:], len(rows)], strict=True
    ):
        yield number << 32 | term, rows[start:end].tobytes() + counts[start:end].tobytes()


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
    number, base = _next_segment(db), parts[0].base
    rows: dict[int, list[bytes]] = {}
    counts: dict[int, list[bytes]] = {}
    for part in parts:
        low = part.id << 32
        for key, blob in db.execute(
            "SELECT id, rows FROM post WHERE id BETWEEN ? AND ?", (low, low | 0xFFFFFFFF)
        ):
            local, count = split(blob)
            moved = (local + np.uint32(part.base - base)).astype(np.uint16)
            rows.setdefault(key - low, []).append(moved.tobytes())
            counts.setdefault(key - low, []).append(count.tobytes())
        db.execute("DELETE FROM post WHERE id BETWEEN ? AND ?", (low, low | 0xFFFFFFFF))
        db.execute("DELETE FROM segment WHERE id = ?", (part.id,))
    db.executemany(
        "INSERT INTO post VALUES (?, ?)",
        ((number << 32 | term, b"".join(rows[term] + counts[term])) for term in sorted(rows)),
    )
    total = sum(part.rows for part in parts)
    db.execute("INSERT INTO segment VALUES (?, ?, ?)", (number, base, total))


def split(blob: bytes) -> tuple[Rows, Counts]:
    """A posting's rows, counted from the segment's base, and its counts."""
    size = len(blob) // 3
    local = np.frombuffer(blob, np.uint16, size).astype(np.uint32)
    return local, np.frombuffer(blob, np.uint8, size, size * 2)


def look_up(
    db: sqlite3.Connection, segments: list[Segment], terms: list[int]
) -> dict[int, list[tuple[Rows, Counts]]]:
    """For each term, its rows in every segment."""
    found: dict[int, list[tuple[Rows, Counts]]] = {term: [] for term in terms}
    batches = [terms[start : start + _VARIABLES] for start in range(0, len(terms), _VARIABLES)]
    for segment, some in product(segments, batches):
        keys = [segment.id << 32 | term for term in some]
        marks = ",".join("?" * len(keys))
        query = f"SELECT id, rows FROM post WHERE id IN ({marks})"
        for key, blob in db.execute(query, keys):
            local, counts = split(blob)
            found[key & 0xFFFFFFFF].append((local + np.uint32(segment.base), counts))
    return found


def _next_segment(db: sqlite3.Connection) -> int:
    (number,) = db.execute("SELECT coalesce(max(id), 0) + 1 FROM segment").fetchone()
    return int(number)
