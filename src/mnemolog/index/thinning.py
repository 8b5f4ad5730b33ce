"""Thinning: rows that stand for nothing any more leave the postings, so that no search reads them.

A revision takes the place of a row, and a log that was rewritten leaves all of its rows behind.
Once these are a third of all, their postings, tags, links, words and vectors go, as if they were
erased; only their numbers stay, as bits. What a tombstone hides can come back, so it stays.
"""

import sqlite3

import numpy as np

from mnemolog.index import husks, purging
from mnemolog.index.build import Build
from mnemolog.index.husks import Rows

# Below so many it is not worth a look.
LEAST = 1024
# One in so many rows.
SHARE = 3


def thin(build: Build) -> int:
    """Take void rows out, if there are many; says how many."""
    if not _is_due(build.db):
        return 0
    with build.writing() as db:
        rows = _void(db)
        # An erasure that comes later finds nothing of these rows any more, not even their names.
        purging.forget(build, db, rows.astype(np.uint32))
        purging.forget_names(build, db, rows.astype(np.uint32))
        db.executemany("DELETE FROM dead WHERE row = ?", ((row,) for row in rows.tolist()))
        husks.add(db, rows)
        _note(db)
    return len(rows)


def _is_due(db: sqlite3.Connection) -> bool:
    """Whether a third of the rows died since the last time; what was hidden then does not count."""
    (dead,) = db.execute("SELECT count(*) FROM dead").fetchone()
    query = "SELECT key, value FROM meta WHERE key IN ('rows', 'husks', 'hidden')"
    known = dict(db.execute(query).fetchall())
    left = known["rows"] - known.get("husks", 0)
    return bool(dead - known.get("hidden", 0) >= max(LEAST, left / SHARE))


def _void(db: sqlite3.Connection) -> Rows:
    """The dead rows that no entry goes by."""
    query = "SELECT row FROM dead WHERE row NOT IN (SELECT row FROM entry)"
    return np.fromiter((row for (row,) in db.execute(query)), np.int64)


def _note(db: sqlite3.Connection) -> None:
    """Take down what is left, which the next look starts from."""
    (hidden,) = db.execute("SELECT count(*) FROM dead").fetchone()
    counts = (("husks", len(husks.read(db))), ("hidden", hidden), (purging.THINNED, 1))
    db.executemany("REPLACE INTO meta VALUES (?, ?)", counts)
