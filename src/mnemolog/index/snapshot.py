"""A snapshot: everything a query needs of the index, read once and kept while it stays true."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import database, husks, models, postings, turns
from mnemolog.index.columns import Array, Columns
from mnemolog.index.names import Names
from mnemolog.index.postings import Holding, Segment

Mask = NDArray[np.bool_]
T = TypeVar("T")

# Times this, numbers in a row lie evenly among all that there are.
_SPREAD = np.uint32(0x9E3779B1)

# Among so few rows all that stand beside each other are found at once, and kept.
_FEW = 20_000


class Snapshot:
    """The rows as of one moment; refreshed at the cost of what is new."""

    def __init__(self, db: sqlite3.Connection, columns: Columns, model: str | None) -> None:
        self._db = db
        self._columns = columns
        self._model = model
        self._version: tuple[int, int] | None = None
        self._held: dict[str, Array] = {}
        self.rows = 0
        self.embedded = 0
        """How many rows wait for no vector."""
        self.blanked = 0
        """How often vectors were overwritten; else they only become more."""
        self.segments: list[Segment] = []
        self.tail = _tail([])
        self.living = np.zeros(0, bool)
        self._latest = np.zeros(0, np.uint32)
        self._following = np.zeros(0, np.uint32)
        self.names = Names(db)
        self._told: dict[Callable[[sqlite3.Connection], Any], Any] = {}
        self._beside: tuple[turns.Rows, turns.Rows] | None = None
        self._length: int | None = None
        self._lots: Array | None = None
        self.places: dict[int, tuple[str, int]] = {}
        """The names and the generations of logs that were asked for since anything changed."""

    def refresh(self) -> None:
        """Look whether anything was committed since the last time; inside a transaction."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        is_same = (version, self._db.total_changes) == self._version
        if is_same and not self._columns.is_cut():
            return
        self._held.clear()
        if is_same:
            return
        self._read()
        self._version = (version, self._db.total_changes)

    def _read(self) -> None:
        self.places, self._told, self._beside = {}, {}, None
        self._length = self._lots = None
        self.rows = database.rows_of(self._db)
        self.embedded, self.blanked = self.rows, 0
        if self._model is not None:
            model = models.found(self._db, self._model)
            self.embedded, self.blanked = model.embedded, model.blanked
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
        """For each row the nearest ones in sight before and after it in its log; nobody, which
        is the number of all rows, if there is none."""
        if seen is not self.living or self.rows > _FEW:
            return self._nearest(rows, seen)
        if self._beside is None:
            self._beside = self._nearest(np.arange(self.rows), seen)
        before, after = self._beside
        return before[rows], after[rows]

    def _nearest(self, rows: turns.Rows, seen: Mask) -> tuple[turns.Rows, turns.Rows]:
        first, latest = self.column("turn"), self._latest
        return (
            turns.nearest(rows, seen, first, latest, self.column("previous")),
            turns.nearest(rows, seen, first, latest, self._following),
        )

    def once(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What the database answers to a question; asked again only when anything changed."""
        if ask not in self._told:
            self._told[ask] = ask(self._db)
        answer: T = self._told[ask]
        return answer

    def length(self) -> int:
        """How many words all rows hold together."""
        if self._length is None:
            self._length = int(self.column("length").sum())
        return self._length

    def lots(self) -> Array:
        """A number for each row as if drawn by lot: for choosing some of many rows.

        It goes with the entry, so that the same ones are chosen wherever their rows lie: that
        changes with a new index.
        """
        if self._lots is None:
            self._lots = (self.column("home") + self.column("seq")) * _SPREAD
        return self._lots

    def column(self, name: str) -> Array:
        """A column of all rows."""
        held = self._held.get(name)
        if held is None or len(held) != self.rows:
            held = self._held[name] = self._columns.read(name, self.rows)
        return held

    def holding(self, terms: Sequence[int]) -> Holding:
        """The rows that hold any of these terms."""
        sealed = postings.look_up(self._db, self.segments, terms)
        if not len(self.tail.hashes):
            return sealed
        return sealed.plus(postings.look_up_tail(self.tail, terms))


def _tail(rows: list[tuple[int, bytes]]) -> postings.Counted:
    """The rows that are not sealed yet, ordered by term."""
    found = postings.unpacked([packed for _, packed in rows], [row for row, _ in rows])
    return postings.by_hash(found)
