"""From rows of the index to the places of their lines."""

import sqlite3

from mnemolog.index.columns import Array
from mnemolog.index.snapshot import Snapshot
from mnemolog.ports import Spot

_COLUMNS = ("log", "segment", "offset", "bytes", "time", "seq")


def spots_of(db: sqlite3.Connection, snapshot: Snapshot, rows: Array) -> list[Spot]:
    """Where the lines of these rows lie."""
    columns = [snapshot.column(name)[rows].tolist() for name in _COLUMNS]
    query = "SELECT name, generation FROM log WHERE id = ?"
    names = {log: db.execute(query, (log,)).fetchone() or ("", 0) for log in set(columns[0])}
    return [Spot(*names[log], *rest) for log, *rest in zip(*columns, strict=True)]
