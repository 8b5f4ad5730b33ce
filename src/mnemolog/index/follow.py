"""Following: the rows that came since the last look, as far as they match.

A follower remembers two things. The number of each session's last line says what is new, and stays
true whatever becomes of the index or of the files: a rewrite keeps the numbers. How many rows the
index had makes the next look cheap: only rows past it can be new, for as long as the index is the
same one.
"""

import sqlite3
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import lexical, scope
from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.index.spots import spots_of
from mnemolog.model.query import Query
from mnemolog.policy.access import Viewer
from mnemolog.ports import Spot

# So many matches are handed out at once, so that following from the beginning stays small.
AT_ONCE = 1024

_EVERYTHING = 0xFFFFFFFF

Shares = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Life(NamedTuple):
    """A session, told by when it was created from a later one of the same name; how far it got."""

    created: str | None
    """None if nobody said: any session of this name is meant."""
    seq: int


class Match(NamedTuple):
    """A row that is new and matches: where its line lies, its number, and how much of the text
    it holds."""

    spot: Spot
    seq: int
    share: float


class Look(NamedTuple):
    """What one look brought, and how far it came."""

    matches: list[Match]
    snapshot: Snapshot
    rows: int
    lives: dict[str, Life]


class Follow:
    """One query and how far it has been followed."""

    def __init__(
        self, query: Query, viewer: Viewer, log: str | None, after: Mapping[str, int] | None
    ) -> None:
        self._query = query
        self._viewer = viewer
        self._log = log
        self._is_begun = after is not None
        self._lives = {session: Life(None, seq) for session, seq in (after or {}).items()}
        self._snapshot: Snapshot | None = None
        self._rows = 0

    def look(self, db: sqlite3.Connection, snapshot: Snapshot) -> Look:
        """What is new; the same again until it is settled. Without a beginning it begins now."""
        if not self._is_begun:
            self._is_begun = True
            query = "SELECT session, created, seq FROM log WHERE session IS NOT NULL"
            lives = {session: Life(*rest) for session, *rest in db.execute(query)}
            self.settle(Look([], snapshot, snapshot.rows, lives))
        first = self._rows if snapshot is self._snapshot else 0
        if first == snapshot.rows:
            return Look([], snapshot, first, {})
        return self._look(db, snapshot, first)

    def settle(self, look: Look) -> None:
        """What a look brought was taken: the next one begins after it."""
        self._snapshot = look.snapshot
        self._rows = look.rows
        self._lives |= look.lives

    def _look(self, db: sqlite3.Connection, snapshot: Snapshot, first: int) -> Look:
        logs, each = np.unique(snapshot.column("log")[first:], return_inverse=True)
        seqs = snapshot.column("seq")[first:].astype(np.int64)
        known = _sessions(db, logs)
        limits = np.array([self._limit(known.get(int(log))) for log in logs])
        is_new = np.zeros(snapshot.rows, bool)
        is_new[first:] = seqs > limits[each]
        rows, shares = self._matching(db, snapshot, is_new)
        end = snapshot.rows
        if len(rows) > AT_ONCE:
            rows, shares = rows[:AT_ONCE], shares[:AT_ONCE]
            end = int(rows[-1]) + 1
        taken = end - first
        lives = _lives(known, logs, each[:taken], seqs[:taken], limits)
        spots = spots_of(db, snapshot, rows)
        matches = [
            Match(spot, int(seqs[row - first]), float(share))
            for spot, row, share in zip(spots, rows, shares, strict=True)
        ]
        return Look(matches, snapshot, end, lives)

    def _limit(self, found: tuple[str, str] | None) -> int:
        """The number up to which a log has been seen; one that is no session's is not followed."""
        if found is None:
            return _EVERYTHING
        session, created = found
        life = self._lives.get(session)
        return life.seq if life is not None and life.created in (None, created) else 0

    def _matching(
        self, db: sqlite3.Connection, snapshot: Snapshot, is_new: Mask
    ) -> tuple[Numbers, Shares]:
        seen = scope.mask_of(db, snapshot, self._viewer, self._log)
        chosen = scope.narrow(db, snapshot, seen & is_new, self._query)
        if self._query.references:
            chosen &= scope.linked(db, snapshot, seen, self._query)
        rows = np.flatnonzero(chosen)
        shares = _shares(db, snapshot, seen, rows, self._query.text)
        kept = (shares > 0) & (shares >= self._query.min_relevance)
        return rows[kept], shares[kept]


def _sessions(db: sqlite3.Connection, logs: NDArray[np.uint32]) -> dict[int, tuple[str, str]]:
    """For those of the logs that are a session's, its id and when it was created."""
    query = "SELECT id, session, created FROM log WHERE id BETWEEN ? AND ? AND session IS NOT NULL"
    bounds = (int(logs[0]), int(logs[-1]))
    if len(logs) == 1 or len(logs) * 8 > bounds[1] - bounds[0]:
        rows = db.execute(query, bounds).fetchall()
    else:
        rows = [row for log in logs.tolist() for row in db.execute(query, (log, log))]
    return {number: (session, created) for number, session, created in rows}


def _lives(
    known: dict[int, tuple[str, str]],
    logs: NDArray[np.uint32],
    each: Numbers,
    seqs: Numbers,
    limits: Numbers,
) -> dict[str, Life]:
    """How far each session got, where it got any further."""
    furthest = np.zeros(len(logs), np.int64)
    np.maximum.at(furthest, each, seqs)
    lives = {}
    for at in np.flatnonzero(furthest > limits).tolist():
        session, created = known[int(logs[at])]
        lives[session] = Life(created, int(furthest[at]))
    return lives


def _shares(
    db: sqlite3.Connection, snapshot: Snapshot, seen: Mask, rows: Numbers, text: str
) -> Shares:
    """For each row, how many of the words that are asked for it holds, from 0 to 1."""
    if not text.strip():
        return np.ones(len(rows))
    asked = lexical.wanted(db, snapshot, seen, text)
    if not asked or not len(rows):
        return np.zeros(len(rows))
    held = np.zeros(len(rows))
    for _, found in lexical.holding(snapshot, asked):
        at = np.searchsorted(rows, found.rows[np.isin(found.rows, rows)])
        held += np.bincount(at, minlength=len(rows))
    return held / len(asked)
