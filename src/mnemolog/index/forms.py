"""Forms: words as they stood in the texts, which wildcards are matched against."""

import sqlite3

# So many words are remembered as stored; then it begins anew.
_REMEMBERED = 200_000


class Forms:
    """Stores words, each once while one run of catching up lasts."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._stored: set[str] = set()
        self._version: int | None = None

    def forget(self) -> None:
        """What was stored may have been rolled back."""
        self._stored.clear()

    def store(self, found: dict[str, int]) -> None:
        """Store words with their terms; inside a transaction."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        if version != self._version or len(self._stored) > _REMEMBERED:
            self._stored.clear()  # somebody else was here, and may have purged words
        self._version = version
        fresh = sorted(found.keys() - self._stored)
        rows = ((word, found[word]) for word in fresh)
        self._db.executemany("INSERT OR IGNORE INTO term VALUES (?, ?)", rows)
        self._stored.update(fresh)
