"""A snapshot: everything a query needs of the index, read once and kept while it stays true."""

import sqlite3
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import postings
from mnemolog.index.columns import NONE, Array, Columns
from mnemolog.index.postings import Segment

Mask = NDArray[np.bool_]


class Tail(NamedTuple):
    """The rows that are not sealed yet, laid end to end: for each occurrence hash, row, count."""

    hashes: postings.Hashes
    rows: postings.Rows
    counts: postings.Counts


class Snapshot:
    """The rows as of one moment; refreshed at the cost of what is new."""

    def __init__(self, db: sqlite3.Connection, columns: Columns) -> None:
        self._db = db
        self._columns = columns
        self._version: tuple[int, int] | None = None
        self.rows = 0
        self.segments: list[Segment] = []
        self.tail = _tail([])
        self.living = np.zeros(0, bool)
        self.following = np.zeros(0, np.uint32)

    def refresh(self) -> None:
        """Look whether anything was committed since the last time; inside a transaction."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        changed = self._db.total_changes
        if (version, changed) == self._version:
            return
        self._read()
        self._version = (version, self._db.total_changes)

    def _read(self) -> None:
        before = self.rows
        (self.rows,) = self._db.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone()
        query = "SELECT id, base, rows FROM segment ORDER BY base"
        self.segments = [Segment(*row) for row in self._db.execute(query)]
        self.tail = _tail(self._db.execute("SELECT row, terms FROM tail ORDER BY row").fetchall())
        self.living = np.ones(self.rows, bool)
        dead = np.fromiter((row for (row,) in self._db.execute("SELECT row FROM dead")), np.int64)
        self.living[dead] = False
        self._link(min(before, self.rows))

    def _link(self, start: int) -> None:
        """For each row, the one that follows it in its log."""
        following = np.full(self.rows, NONE, np.uint32)
        following[: len(self.following[:start])] = self.following[:start]
        previous = self.column("previous")[start:]
        has_previous = previous != NONE
        rows = np.arange(start, self.rows, dtype=np.uint32)
        following[previous[has_previous]] = rows[has_previous]
        self.following = following

    def column(self, name: str) -> Array:
        """A column of all rows."""
        return self._columns.read(name, self.rows)

    def occurrences(self, terms: list[int]) -> dict[int, tuple[postings.Rows, postings.Counts]]:
        """For each term, all rows that hold it, and how often."""
        sealed = postings.look_up(self._db, self.segments, terms)
        return {term: self._join(term, parts) for term, parts in sealed.items()}

    def _join(
        self, term: int, parts: list[tuple[postings.Rows, postings.Counts]]
    ) -> tuple[postings.Rows, postings.Counts]:
        at = np.flatnonzero(self.tail.hashes == term)
        parts = [*parts, (self.tail.rows[at], self.tail.counts[at])]
        return np.concatenate([rows for rows, _ in parts]), np.concatenate([n for _, n in parts])


def _tail(rows: list[tuple[int, bytes]]) -> Tail:
    parts = [postings.unpack(packed) for _, packed in rows]
    if not parts:
        return Tail(np.empty(0, np.uint32), np.empty(0, np.uint32), np.empty(0, np.uint8))
    numbers = np.fromiter((row for row, _ in rows), np.uint32, len(rows))
    return Tail(
        np.concatenate([hashes for hashes, _ in parts]),
        np.repeat(numbers, [len(hashes) for hashes, _ in parts]),
        np.concatenate([counts for _, counts in parts]),
    )
