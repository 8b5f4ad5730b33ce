"""Uses: how often each row was found, and when last.

The columns know no transactions, so what was counted goes into the database first, together with
how far the notes were read. From there it is written into the columns, as often as it takes: each
use counts once, whoever is killed in between.
"""

import sqlite3

from mnemolog.index.build import Build

Counted = dict[int, tuple[int, int]]


def waiting(db: sqlite3.Connection) -> Counted:
    """What was counted and is not in the columns yet: for each row how often, and when last."""
    return {row: (times, last) for row, times, last in db.execute("SELECT * FROM use")}


def store(db: sqlite3.Connection, counted: Counted) -> None:
    """Keep what was counted; inside a transaction."""
    rows = ((row, times, last) for row, (times, last) in counted.items())
    db.executemany("REPLACE INTO use VALUES (?, ?, ?)", rows)


def settle(build: Build) -> None:
    """Write what waits into the columns."""
    if not build.db.execute("SELECT 1 FROM use LIMIT 1").fetchone():
        return
    with build.writing() as db:
        counted = waiting(db)
        build.columns.update("uses", list(counted), [times for times, _ in counted.values()])
        build.columns.update("used", list(counted), [last for _, last in counted.values()])
        db.execute("DELETE FROM use")
