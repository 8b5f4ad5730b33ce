"""A snapshot: everything a query needs of the index, read once and kept while it stays true."""

import sqlite3

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import husks, postings, turns
from mnemolog.index.columns import Array, Columns
from mnemolog.index.names import Names
from mnemolog.index.postings import Segment

Mask = NDArray[np.bool_]


class Snapshot:
    """The rows as of one moment; refreshed at the cost of what is new."""

    def __init__(self, db: sqlite3.Connection, columns: Columns) -> None:
        self._db = db
        self._columns = columns
        self._version: tuple[int, int] | None = None
        self._held: dict[str, Array] = {}
        self.rows = 0
        self.segments: list[Segment] = []
        self.tail = _tail([])
        self.living = np.zeros(0, bool)
        self._latest = np.zeros(0, np.uint32)
        self._following = np.zeros(0, np.uint32)
        self.names = Names(db)
        self.places: dict[int, tuple[str, int]] = {}
        """The names and the generations of logs that were asked for since anything changed."""

    def refresh(self) -> None:
        """Look whether anything was committed since the last time; inside a transaction."""
        self._held.clear()
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        changed = self._db.total_changes
        if (version, changed) == self._version:
            return
        self._read()
        self._version = (version, self._db.total_changes)

    def _read(self) -> None:
        self.places = {}
        (self.rows,) = self._db.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone()
        query = "SELECT id, base, rows FROM segment ORDER BY base"
        self.segments = [Segment(*row) for row in self._db.execute(query)]
        self.names.refresh()
        self.tail = _tail(self._db.execute("SELECT row, terms FROM tail ORDER BY row").fetchall())
        self.living = np.ones(self.rows, bool)
        dead = np.fromiter((row for (row,) in self._db.execute("SELECT row FROM dead")), np.int64)
        self.living[dead] = False
        self.living[husks.read(self._db)] = False
        self._latest, self._following = turns.extended(
            self._latest, self._following, self.column("turn"), self.column("previous")
        )

    def beside(self, rows: turns.Rows, seen: Mask) -> tuple[turns.Rows, turns.Rows]:
        """For each row the nearest ones in sight before and after it in its log; NONE if none."""
        first, latest = self.column("turn"), self._latest
        return (
            turns.nearest(rows, seen, first, latest, self.column("previous")),
            turns.nearest(rows, seen, first, latest, self._following),
        )

    def column(self, name: str) -> Array:
        """A column of all rows."""
        held = self._held.get(name)
        if held is None or len(held) != self.rows:
            held = self._held[name] = self._columns.read(name, self.rows)
        return held

    def occurrences(self, terms: list[int]) -> dict[int, tuple[postings.Rows, postings.Counts]]:
        """For each term, all rows that hold it, in order, and how often."""
        sealed = postings.look_up(self._db, self.segments, terms)
        asked = np.array(list(sealed), np.uint32)
        starts = np.searchsorted(self.tail.hashes, asked).tolist()
        ends = np.searchsorted(self.tail.hashes, asked, side="right").tolist()
        spans = zip(starts, ends, strict=True)
        return {
            term: self._join(sealed[term], *span) for term, span in zip(sealed, spans, strict=True)
        }

    def _join(
        self, sealed: tuple[postings.Rows, postings.Counts], start: int, end: int
    ) -> tuple[postings.Rows, postings.Counts]:
        if start == end:
            return sealed
        rows, counts = self.tail.rows[start:end], self.tail.counts[start:end]
        if len(sealed[0]) == 0:
            return rows, counts
        return np.concatenate([sealed[0], rows]), np.concatenate([sealed[1], counts])


def _tail(rows: list[tuple[int, bytes]]) -> postings.Counted:
    """The rows that are not sealed yet, ordered by term."""
    found = postings.unpacked([packed for _, packed in rows], [row for row, _ in rows])
    return postings.by_hash(found)
