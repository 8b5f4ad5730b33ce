"""Windows: a part of one log in the order in which things were first said; and logs in numbers.

Everything here comes from the columns, so it costs the same however long a log is, but for a few
passes over numbers; lines are read only of what is shown.
"""

import sqlite3
from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import scope
from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.index.spots import check_times, spots_of
from mnemolog.model.entry import SCOPES
from mnemolog.model.inspecting import Bucket, Numbered
from mnemolog.model.session import Summary
from mnemolog.model.times import DAY, to_text
from mnemolog.policy.access import Viewer
from mnemolog.ports import Spot
from mnemolog.ports.looking import Span

Rows = NDArray[np.int64]

_SHARED = SCOPES.index("shared")
_UNITS = {"hour": "h", "day": "D", "month": "M"}


class Row(NamedTuple):
    """What the index knows of one entry beside what it says."""

    spot: Spot
    place: int
    revisions: int
    uses: int
    used: int
    died: str | None
    secrets: tuple[str, ...]


class Part(NamedTuple):
    """Some rows of a span, the nearest first; how many it holds, and the whole log."""

    rows: list[Row]
    within: int
    total: int


class Windows:
    """A log as one viewer may see it, at one moment."""

    def __init__(self, db: sqlite3.Connection, snapshot: Snapshot, viewer: Viewer) -> None:
        self._db = db
        self._snapshot = snapshot
        self._viewer = viewer

    def part(self, log: str, span: Span, most: int | None) -> Part:
        """The first few entries of a span."""
        rows = self._in_order(self._seen(log, span))
        places = self._snapshot.column("place")[rows]
        start = int(np.searchsorted(places, span.after, side="right"))
        end = len(rows)
        if span.before is not None:
            end = int(np.searchsorted(places, span.before, side="left"))
        meant = rows[start : max(start, end)]
        nearest = meant[::-1] if span.backwards else meant
        return Part(self._told(nearest[:most]), len(meant), len(rows))

    def one(self, log: str, identifier: str) -> Row | None:
        """The row of one entry, be it hidden or not; None if the viewer may not see it."""
        query = "SELECT e.row FROM entry e JOIN log l ON l.id = e.log WHERE l.name = ? AND e.id = ?"
        found = self._db.execute(query, (log, identifier)).fetchone()
        if found is None:
            return None
        rows = np.array(found, np.int64)
        is_seen = scope.may_see(self._db, self._snapshot, self._viewer, rows)
        is_seen &= self._snapshot.living[rows] | self._changeable(rows)
        return self._told(rows)[0] if is_seen.all() else None

    def minimap(self, log: str, most: int, ahead: int) -> list[Bucket]:
        """A log in at most so many parts of equal length; days begin so many minutes ahead."""
        rows = self._in_order(self._seen(log, Span()))
        if not len(rows):
            return []
        size = -(-len(rows) // most)
        kinds, each = np.unique(self._snapshot.column("kind")[rows], return_inverse=True)
        parts = np.arange(len(rows)) // size
        counts = np.bincount(parts * len(kinds) + each, minlength=(int(parts[-1]) + 1) * len(kinds))
        names = self._names(kinds)
        firsts = rows[::size]
        lasts = rows[np.minimum(np.arange(len(firsts)) * size + size, len(rows)) - 1]
        place, times = self._snapshot.column("place"), self._snapshot.column("time")
        days: list[dict[str, int]] = [{} for _ in firsts]
        begun = np.unique((times[rows] + ahead * 60_000) // DAY, return_index=True)[1]
        for at in np.sort(begun).tolist():
            days[at // size][_stamp(int(times[rows[at]]))] = int(place[rows[at]])
        return [
            Bucket(
                from_seq=int(place[first]),
                to_seq=int(place[last]),
                at=_stamp(int(times[first])),
                by_type={name: int(n) for name, n in zip(names, row, strict=True) if n},
                days=begin,
            )
            for first, last, row, begin in zip(
                firsts, lasts, counts.reshape(-1, len(kinds)), days, strict=True
            )
        ]

    def numbers(self, log: str | None) -> Numbered:
        """One session in numbers, or all that the viewer may see."""
        logs = scope.session_logs(self._db, self._viewer, log)
        rows = self._living(logs)
        facts = self._facts(logs)
        return Numbered(
            Summary(
                counts=self._counted("kind", rows),
                agents=self._counted("agent", rows),
                revisions=int(self._snapshot.column("revisions")[rows].sum(dtype=np.int64))
                - len(rows),
                size_bytes=facts[0],
                last_seq=facts[1],
                last_written=facts[2],
                damaged=facts[3],
                redactions=self._redactions(rows),
            ),
            hidden=len(self._hidden(logs)),
            sessions=len(logs),
            since=facts[4],
        )

    def hidden(self, log: str | None, skip: int, most: int | None) -> Part:
        """What somebody hid and the viewer might bring back, latest first."""
        rows = self._hidden(scope.session_logs(self._db, self._viewer, log))
        end = None if most is None else skip + most
        return Part(self._told(rows[::-1][skip:end]), len(rows), len(rows))

    def growth(self, unit: str) -> dict[str, dict[str, int]]:
        """How many entries of each type were said in each hour, day or month, in all sessions."""
        rows = self._living(scope.session_logs(self._db, self._viewer, None))
        times = self._snapshot.column("time")[rows].astype("datetime64[ms]")
        parts, part = np.unique(times.astype(f"datetime64[{_UNITS[unit]}]"), return_inverse=True)
        kinds, kind = np.unique(self._snapshot.column("kind")[rows], return_inverse=True)
        counts = np.bincount(part * len(kinds) + kind, minlength=len(parts) * len(kinds))
        names = self._names(kinds)
        return {
            str(when): {name: int(n) for name, n in zip(names, row, strict=True) if n}
            for when, row in zip(parts, counts.reshape(len(parts), len(kinds)), strict=True)
        }

    def _living(self, logs: list[int]) -> Rows:
        """The rows of these logs that the viewer may see."""
        own = scope.logs_mask(self._snapshot, logs) if logs else np.bool_(False)
        rows = np.flatnonzero(self._snapshot.living & own)
        return rows[scope.may_see(self._db, self._snapshot, self._viewer, rows)]

    def _facts(self, logs: list[int]) -> tuple[int, int, str | None, int, str | None]:
        """Of these logs together: bytes, the last number, the last change, damage, the first."""
        query = "SELECT size, seq, updated, damaged, created FROM log WHERE id = ?"
        found = [self._db.execute(query, (log,)).fetchone() for log in logs]
        return (
            sum(one[0] for one in found),
            max((one[1] for one in found), default=0),
            max((one[2] for one in found if one[2]), default=None),
            sum(one[3] for one in found),
            min((one[4] for one in found if one[4]), default=None),
        )

    def _seen(self, log: str, span: Span) -> Rows:
        """The rows of a log that the viewer may see and the span's filters let through."""
        found = self._db.execute("SELECT id FROM log WHERE name = ?", (log,)).fetchone()
        if found is None:
            return np.empty(0, np.int64)
        rows = np.empty(0, np.int64) if span.only_hidden else self._living([found[0]])
        if span.with_hidden or span.only_hidden:
            rows = np.concatenate([rows, self._hidden([found[0]])])
        keep = np.ones(len(rows), bool)
        for kind, column, names in (("type", "kind", span.types), ("agent", "agent", span.agents)):
            if names is not None:
                numbers = scope.numbers_of(self._db, kind, names)
                keep &= np.isin(self._snapshot.column(column)[rows], numbers)
        return rows[keep]

    def _changeable(self, rows: Rows) -> Mask:
        if self._viewer.agent is not None:
            return scope.are_own(self._db, self._snapshot, self._viewer, rows)
        if self._viewer.user is not None:
            return np.asarray(self._snapshot.column("scope")[rows] != _SHARED)
        return np.ones(len(rows), bool)

    def _hidden(self, logs: list[int]) -> Rows:
        """The rows of these logs that somebody hid and the viewer might bring back.

        In an order that a new index has too: it may read the logs in another one.
        """
        found = self._db.execute("SELECT row, died FROM hidden ORDER BY died").fetchall()
        rows = np.array([row for row, _ in found], np.int64)
        _, died = np.unique(np.array([died for _, died in found], str), return_inverse=True)
        home = self._snapshot.column("home")[rows]
        rows = rows[np.lexsort((self._snapshot.column("seq")[rows], home, died))]
        rows = rows[np.isin(self._snapshot.column("log")[rows], logs)]
        return rows[self._changeable(rows)]

    def _in_order(self, rows: Rows) -> Rows:
        places = self._snapshot.column("place")[rows]
        return rows[np.argsort(places, kind="stable")]

    def _told(self, rows: Rows) -> list[Row]:
        spots = spots_of(self._db, self._snapshot, rows)
        names = ("place", "revisions", "uses", "used")
        columns = [self._snapshot.column(name)[rows].tolist() for name in names]
        check_times(columns[-1])
        died = (self._beside("hidden", "died", row) for row in rows.tolist())
        kinds = (self._beside("secret", "kinds", row) for row in rows.tolist())
        secrets = (tuple((one or "").split()) for one in kinds)
        return list(map(Row, spots, *columns, died, secrets))

    def _beside(self, table: str, column: str, row: int) -> str | None:
        query = f"SELECT {column} FROM {table} WHERE row = ?"
        found = self._db.execute(query, (row,)).fetchone()
        return None if found is None else str(found[0])

    def _counted(self, column: str, rows: Rows) -> dict[str, int]:
        numbers, counts = np.unique(self._snapshot.column(column)[rows], return_counts=True)
        named = zip(self._names(numbers), counts.tolist(), strict=True)
        return {name: count for name, count in named if name}

    def _names(self, numbers: NDArray[np.uint32]) -> list[str]:
        query = "SELECT text FROM word WHERE id = ?"
        found = (self._db.execute(query, (number,)).fetchone() for number in numbers.tolist())
        return ["" if one is None else str(one[0]) for one in found]

    def _redactions(self, rows: Rows) -> dict[str, int]:
        if not len(rows):
            return {}
        query = "SELECT row, kinds FROM secret WHERE row BETWEEN ? AND ?"
        found = self._db.execute(query, (int(rows[0]), int(rows[-1]))).fetchall()
        is_there = np.isin(np.array([row for row, _ in found], np.int64), rows)
        return dict(
            Counter(
                kind
                for (_, kinds), is_seen in zip(found, is_there.tolist(), strict=True)
                if is_seen
                for kind in kinds.split()
            )
        )


def _stamp(milliseconds: int) -> str:
    return to_text(datetime.fromtimestamp(milliseconds / 1000, UTC))
