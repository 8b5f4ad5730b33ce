"""Rows that wait for their vectors, because an embedder takes longer than a search may.

Their texts are kept nowhere: they are read from the logs again, so that what is erased meanwhile is
never embedded. The rows below `embedded` have their vectors; the others follow in their order.
"""

from mnemolog.errors import SessionCorruptError, StorageError
from mnemolog.index.build import Build
from mnemolog.index.intake import spoken
from mnemolog.ports import Feed, Progress

Said = dict[tuple[int, int], str]
"""What was said, by segment and offset."""

# So many at a time, where nobody is kept waiting.
_BATCH = 256


class Waiting:
    """Embeds what waits, in the order in which it was read."""

    def __init__(self, build: Build, feed: Feed) -> None:
        self._build = build
        self._feed = feed

    def embed(self, most: int | None, progress: Progress | None = None) -> None:
        """Embed so many rows, or all."""
        left = total = self._left() if most is None else most
        while left > 0 and (done := self._embed_some(min(left, _BATCH))):
            left -= done
            if progress is not None:
                progress(total - left, total)

    def _left(self) -> int:
        query = "SELECT key, value FROM meta WHERE key IN ('rows', 'embedded')"
        found = dict(self._build.db.execute(query).fetchall())
        embedded = found["rows"] if self._build.vectors is None else found.get("embedded", 0)
        return int(found["rows"]) - int(embedded)

    def _rows(self) -> int:
        query = "SELECT value FROM meta WHERE key = 'rows'"
        return int(self._build.db.execute(query).fetchone()[0])

    def _embed_some(self, most: int) -> int:
        """Embed rows of one log; says how many, and 0 once none is left."""
        if self._left() == 0:
            return 0
        with self._build.writing():
            first = self._build.embedded()
            logs = self._build.columns.read("log", self._rows())[first : first + most]
            rows = int((logs == logs[:1]).cumprod().sum())
            if rows:
                self._embed_rows(first, rows, int(logs[0]))
        return rows

    def _embed_rows(self, first: int, rows: int, log: int) -> None:
        query = "SELECT name, generation FROM log WHERE id = ?"
        name, generation = self._build.db.execute(query, (log,)).fetchone() or ("", 0)
        self._build.store_vectors(first, self._texts(first, rows, self._said(name, generation)))
        if self._generation(name) != generation:  # it may have been erased while it was embedded
            self._build.store_vectors(first, [""] * rows)

    def _texts(self, first: int, rows: int, said: Said) -> list[str]:
        """What was said in these rows of a log; nothing where a row is void by now."""
        columns = (self._build.columns.read(name, first + rows) for name in ("segment", "offset"))
        places = zip(*(column[first:].tolist() for column in columns), strict=True)
        query = "SELECT row FROM dead WHERE row >= ?"
        dead = {row for (row,) in self._build.db.execute(query, (first,))}
        return [
            "" if row in dead else said.get(place, "") for row, place in enumerate(places, first)
        ]

    def _said(self, name: str, generation: int) -> Said:
        """What a log says, by where it stands; nothing if it was rewritten."""
        try:
            news = self._feed.read(name, None) if name else None
            if news is None or news.generation != generation:
                return {}
            return {
                (fed.after.segment, fed.after.offset - fed.after.length): spoken(fed.entry)
                for fed in news.lines
            }
        except (StorageError, SessionCorruptError):
            return {}

    def _generation(self, name: str) -> int | None:
        try:
            news = self._feed.read(name, None) if name else None
        except (StorageError, SessionCorruptError):
            return None
        return None if news is None else news.generation
