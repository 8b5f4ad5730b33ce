"""Rows that wait for their vectors, because an embedder takes longer than a search may.

Their texts are kept nowhere: they are read from the logs again, so that what is erased meanwhile is
never embedded. The rows below `embedded` have their vectors; the others follow in their order.
"""

from typing import NamedTuple

import numpy as np

from mnemolog.errors import SessionCorruptError, StorageError
from mnemolog.index import database, husks
from mnemolog.index.build import Build
from mnemolog.index.husks import Rows
from mnemolog.index.intake import spoken
from mnemolog.index.vectors import Encoded
from mnemolog.model.entry import Entry
from mnemolog.ports import Feed
from mnemolog.ports.embedder import Embedder

_PLACE = ("segment", "offset", "bytes")
# So many at a time.
BATCH = 256
# So many of an embedder that takes long behind the searches: whoever closes waits for them.
_EACH = 8
# A search waits for so many of an embedder that sets no bound.
_QUICK = 1024


def at_once(embedder: Embedder) -> int:
    """How many rows a search may wait for."""
    bound: int | None = getattr(embedder, "at_once", None)
    return _QUICK if bound is None else bound


class Taken(NamedTuple):
    """Some rows of one log that wait, and what was said in them."""

    build: Build
    first: int
    log: tuple[str, int]
    """Its name and its generation."""
    texts: list[str]


class Step(NamedTuple):
    """What came of one step."""

    done: int
    """How many rows were looked after, by this one or by others meanwhile."""
    left: int
    """How many still wait; 0 too if there is no going on before the logs are read again."""


class Backlog:
    """Gives out what waits, in the order in which it was read, and takes what became of it.

    Between the two no transaction is open: an embedder may take as long as it likes.
    """

    def __init__(self, build: Build, feed: Feed) -> None:
        self._build = build
        self._feed = feed

    def left(self) -> int:
        """How many rows wait."""
        return self._build.waiting()

    def take(self, most: int | None = None) -> Taken | None:
        """So many rows of one log, or a few, to be embedded; None once none is left."""
        if self._build.vectors is None or self.left() == 0:
            return None
        with self._build.moment():
            taken = self._taken(self._each() if most is None else most)
        return taken if taken.texts else None

    def _each(self) -> int:
        is_quick = self._build.vectors is not None and self._build.vectors.at_once is None
        return BATCH if is_quick else _EACH

    def give(self, taken: Taken, vectors: Encoded) -> int:
        """Store what was made of rows, if they still are those that wait; says how many do now,
        and 0 if there is no going on before the logs are read again."""
        if taken.build is self._build:
            with self._build.writing():
                if self._build.embedded() == taken.first and self._log_of(taken.first) == taken.log:
                    void = self._void(taken.first, len(taken.texts)) - taken.first
                    if not self._is_stored(taken, vectors.without(void)):
                        return 0
        return self.left()

    def _is_stored(self, taken: Taken, vectors: Encoded) -> bool:
        """Store vectors, unless their log was rewritten since it was last caught up with.

        Some of it may have been erased. That is looked at last: whoever erases comes to the index
        after the log, and waits for us there. The log is read again before its rows are embedded.
        """
        self._build.give_vectors(taken.first, vectors)
        name, generation = taken.log
        if not name or self._generation(name) == generation:
            return True
        self._build.take_back_vectors(taken.first, len(taken.texts))
        self._build.db.execute("INSERT OR IGNORE INTO pending VALUES (?)", (name,))
        return False

    def _taken(self, most: int) -> Taken:
        first = self._build.embedded()
        logs = self._build.columns.read("log", database.rows_of(self._build.db))
        logs = logs[first : first + most]
        rows = int((logs == logs[:1]).cumprod().sum())
        log = self._log_of(first) if rows else ("", 0)
        return Taken(self._build, first, log, self._texts(first, rows, *log))

    def _log_of(self, row: int) -> tuple[str, int]:
        """The name and the generation of the log that a row is of; no name if it is gone."""
        log = int(self._build.columns.read("log", row + 1)[row])
        query = "SELECT name, generation FROM log WHERE id = ?"
        name, generation = self._build.db.execute(query, (log,)).fetchone() or ("", 0)
        return name, generation

    def _texts(self, first: int, rows: int, name: str, generation: int) -> list[str]:
        """What was said in these rows of a log; nothing where a row is void by now."""
        columns = (self._build.columns.read(column, first + rows) for column in _PLACE)
        places = list(zip(*(column[first:].tolist() for column in columns), strict=True))
        void = set(self._void(first, rows).tolist())
        found = self._entries(name, generation, places)
        return [
            "" if entry is None or row in void else spoken(entry)
            for row, entry in enumerate(found, first)
        ]

    def _void(self, first: int, rows: int) -> Rows:
        """The rows that stand for nothing any more; one that is hidden can come back."""
        query = (
            "SELECT row FROM dead WHERE row >= ? AND row < ?"
            " AND row NOT IN (SELECT row FROM hidden)"
        )
        found = self._build.db.execute(query, (first, first + rows))
        dead = np.fromiter((row for (row,) in found), np.int64)
        return np.union1d(dead, husks.among(self._build.db, first, rows))

    def _entries(
        self, name: str, generation: int, places: list[tuple[int, int, int]]
    ) -> list[Entry | None]:
        try:
            return self._feed.entries(name, generation, places) if name else [None] * len(places)
        except (StorageError, SessionCorruptError):
            return [None] * len(places)

    def _generation(self, name: str) -> int | None:
        try:
            news = self._feed.read(name, None) if name else None
        except (StorageError, SessionCorruptError):
            return None
        return None if news is None else news.generation
