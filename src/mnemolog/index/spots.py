"""From rows of the index to the places of their lines."""

import sqlite3
from collections.abc import Sequence

from mnemolog.index.columns import Array
from mnemolog.index.snapshot import Snapshot
from mnemolog.ports import Spot

_VARIABLES = 500  # older SQLite takes 999 in one statement
_COLUMNS = ("log", "segment", "offset", "bytes", "time", "seq")
# What is known of a log that is not there any more.
_GONE = ("", 0)
# In milliseconds: the beginning of the year 1, and the end of 9999.
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999


def spots_of(db: sqlite3.Connection, snapshot: Snapshot, rows: Array) -> list[Spot]:
    """Where the lines of these rows lie."""
    columns = [snapshot.column(name)[rows].tolist() for name in _COLUMNS]
    logs, times = columns[0], columns[4]
    check_times(times)
    known = snapshot.places
    if fresh := set(logs) - known.keys():
        known.update(_names(db, sorted(fresh)))
    return [Spot(*known.get(log, _GONE), *rest) for log, *rest in zip(*columns, strict=True)]


def check_times(times: Sequence[int]) -> None:
    """Refuse what can be no moment: the column is damaged."""
    if times and not _FIRST <= min(times) <= max(times) <= _LAST:
        raise ValueError("a time lies beyond all years")


def _names(db: sqlite3.Connection, logs: list[int]) -> dict[int, tuple[str, int]]:
    """The name and the generation of each of these logs that is still there."""
    found: dict[int, tuple[str, int]] = {}
    for start in range(0, len(logs), _VARIABLES):
        some = logs[start : start + _VARIABLES]
        marks = ",".join("?" * len(some))
        query = f"SELECT id, name, generation FROM log WHERE id IN ({marks})"
        found.update((log, (name, generation)) for log, name, generation in db.execute(query, some))
    return found
