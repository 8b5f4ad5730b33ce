"""Rows that wait for their vectors, because an embedder takes longer than a search may.

Their texts are kept nowhere: they are read from the logs again, so that what is erased meanwhile is
never embedded. The rows below `embedded` have their vectors; the others follow in their order.
"""

from typing import NamedTuple

import numpy as np

from mnemolog.errors import SessionCorruptError, StorageError
from mnemolog.index.build import Build
from mnemolog.index.intake import spoken
from mnemolog.index.vectors import Encoded
from mnemolog.model.entry import Entry
from mnemolog.ports import Feed, Progress

_PLACE = ("segment", "offset", "bytes")
# So many at a time, where nobody is kept waiting.
_BATCH = 256


class Taken(NamedTuple):
    """Some rows of one log that wait, and what was said in them."""

    build: Build
    first: int
    log: tuple[str, int]
    """Its name and its generation."""
    texts: list[str]


class Waiting:
    """Embeds what waits, in the order in which it was read."""

    def __init__(self, build: Build, feed: Feed) -> None:
        self._build = build
        self._feed = feed

    def embed(self, most: int | None, progress: Progress | None = None) -> None:
        """Embed so many rows, or all."""
        left = total = self.left() if most is None else most
        while left > 0 and (done := self._embed_some(min(left, _BATCH))):
            left -= done
            if progress is not None:
                progress(total - left, total)

    def left(self) -> int:
        """How many rows wait."""
        query = "SELECT key, value FROM meta WHERE key IN ('rows', 'embedded')"
        found = dict(self._build.db.execute(query).fetchall())
        embedded = found["rows"] if self._build.vectors is None else found.get("embedded", 0)
        return int(found["rows"]) - int(embedded)

    def _rows(self) -> int:
        query = "SELECT value FROM meta WHERE key = 'rows'"
        return int(self._build.db.execute(query).fetchone()[0])

    def _embed_some(self, most: int) -> int:
        """Embed rows of one log; says how many, and 0 once none is left."""
        if self.left() == 0:
            return 0
        with self._build.writing():
            taken = self._taken(most)
            self._build.store_vectors(taken.first, taken.texts)
            self._blank_if_moved(taken)
        return len(taken.texts)

    def take(self, most: int) -> Taken | None:
        """Rows of one log to embed without holding anybody up; None once none is left."""
        if self.left() == 0:
            return None
        with self._build.moment():
            return self._taken(most)

    def give(self, taken: Taken, vectors: Encoded) -> int:
        """Store what was made of rows, if they still are those that wait; says how many do now."""
        if taken.build is self._build:
            with self._build.writing():
                if self._build.embedded() == taken.first and self._log_of(taken.first) == taken.log:
                    dead = np.array(sorted(self._dead(taken.first, len(taken.texts))), np.intp)
                    self._build.give_vectors(taken.first, vectors.without(dead - taken.first))
                    self._blank_if_moved(taken)
        return self.left()

    def _taken(self, most: int) -> Taken:
        first = self._build.embedded()
        logs = self._build.columns.read("log", self._rows())[first : first + most]
        rows = int((logs == logs[:1]).cumprod().sum())
        log = self._log_of(first) if rows else ("", 0)
        return Taken(self._build, first, log, self._texts(first, rows, *log))

    def _log_of(self, row: int) -> tuple[str, int]:
        """The name and the generation of the log that a row is of; no name if it is gone."""
        log = int(self._build.columns.read("log", row + 1)[row])
        query = "SELECT name, generation FROM log WHERE id = ?"
        name, generation = self._build.db.execute(query, (log,)).fetchone() or ("", 0)
        return name, generation

    def _blank_if_moved(self, taken: Taken) -> None:
        """A log may have been erased while it was embedded."""
        name, generation = taken.log
        if name and self._generation(name) != generation:
            self._build.store_vectors(taken.first, [""] * len(taken.texts))

    def _texts(self, first: int, rows: int, name: str, generation: int) -> list[str]:
        """What was said in these rows of a log; nothing where a row is void by now."""
        columns = (self._build.columns.read(column, first + rows) for column in _PLACE)
        places = list(zip(*(column[first:].tolist() for column in columns), strict=True))
        dead = self._dead(first, rows)
        found = self._entries(name, generation, places)
        return [
            "" if entry is None or row in dead else spoken(entry)
            for row, entry in enumerate(found, first)
        ]

    def _dead(self, first: int, rows: int) -> set[int]:
        query = "SELECT row FROM dead WHERE row >= ? AND row < ?"
        return {row for (row,) in self._build.db.execute(query, (first, first + rows))}

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
