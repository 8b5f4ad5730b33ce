"""What nobody has learned from yet: which sessions have lines past their marker, and since when.

The markers of a manifest become columns of the log; an assistant's entries past the marker are
counted, by a number made of each one's id, so that a message which grows is one turn.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from mnemolog import paths
from mnemolog.model.session import Manifest
from mnemolog.policy import learning
from mnemolog.ports import SHARED, Asked, Fed, LogKey, Unlearned, of_own_log

_decode = msgspec.json.Decoder(Manifest).decode
_markers = msgspec.json.Decoder(dict[str, Any]).decode

_TURNS = "(SELECT count(*) FROM answer WHERE log = log.id AND answer.seq > processed)"
_MARKED = "invalidated > processed"
_WAITING = "session IS NOT NULL AND seq > processed"
_DUE = (
    f"NOT parked AND coalesce(retry, '') <= :now AND ({_MARKED} OR written <= :idle_since"
    f" OR {_TURNS} >= :turns)"
)


# A user's own log, or the shared one: every line is a turn, and nobody says that it is due.
_OWN = "session IS NULL AND seq > processed AND name >= 'shared'"
_OWN_DUE = (
    "NOT parked AND coalesce(retry, '') <= :now"
    " AND (written <= :idle_since OR seq - processed >= :turns)"
)


def store(db: sqlite3.Connection, log: int, lines: Iterable[Fed], manifest: Manifest) -> None:
    """Take over a session's markers, and the turns that came after them."""
    marks = learning.marks_of(manifest.markers)
    _store_marks(db, log, marks)
    if marks.turns:  # somebody says when a turn ends
        db.execute("DELETE FROM answer WHERE log = ?", (log,))
        return
    ended = (fed.entry for fed in lines if learning.ends_turn(fed.entry))
    rows = [(log, crc32(entry.id.encode()), entry.seq) for entry in ended]
    db.executemany("REPLACE INTO answer VALUES (?, ?, ?)", rows)
    db.execute("DELETE FROM answer WHERE log = ? AND seq <= ?", (log, marks.processed_until))


def store_own(db: sqlite3.Connection, log: int, markers: Mapping[str, Any]) -> None:
    """Take over the markers of a log that is no session's."""
    _store_marks(db, log, learning.marks_of(markers))
    facts = msgspec.json.encode(markers) if markers else None
    db.execute("UPDATE log SET facts = ? WHERE id = ?", (facts, log))


def _store_marks(db: sqlite3.Connection, log: int, marks: learning.Marks) -> None:
    db.execute(
        "UPDATE log SET processed = ?, invalidated = ?, invalidated_at = ?, retry = ?, parked = ?"
        " WHERE id = ?",
        (
            marks.processed_until,
            marks.invalidated,
            marks.invalidated_at,
            marks.next_try,
            marks.is_parked,
            log,
        ),
    )


def due(db: sqlite3.Connection, asked: Asked) -> list[Unlearned]:
    """The sessions and other logs that are due, oldest first; or those that are parked."""
    found = [*sessions(db, asked), *_own(db, asked)]
    found.sort(key=lambda one: (one.since, one.manifest.session_id))
    return found[: asked.limit]


def sessions(db: sqlite3.Connection, asked: Asked) -> list[Unlearned]:
    """The sessions that are due, oldest first; or those that are parked."""
    wanted = "parked" if asked.parked else _DUE
    since = f"CASE WHEN {_MARKED} THEN invalidated_at ELSE written END"
    rows = db.execute(
        f"SELECT facts, seq, written, {_TURNS} FROM log WHERE {_WAITING} AND {wanted}"
        f" ORDER BY {since}, session LIMIT :limit",
        {**asked._asdict(), "limit": -1 if asked.limit is None else asked.limit},
    )
    return [Unlearned(_decode(facts), *rest) for facts, *rest in rows]


def _own(db: sqlite3.Connection, asked: Asked) -> list[Unlearned]:
    wanted = "parked" if asked.parked else _OWN_DUE
    rows = db.execute(
        f"SELECT name, facts, seq, written, seq - processed FROM log WHERE {_OWN} AND {wanted}"
        " ORDER BY written LIMIT :limit",
        {**asked._asdict(), "limit": -1 if asked.limit is None else asked.limit},
    )
    found = ((_key(name), facts, rest) for name, facts, *rest in rows)
    return [
        of_own_log(log, _markers(facts) if facts else {}, *rest)
        for log, facts, rest in found
        if log is not None
    ]


def _key(name: str) -> LogKey | None:
    """The log of a folder; None if its name does not tell whose it is."""
    if name == paths.SHARED:
        return SHARED
    user = paths.id_of(name.rpartition("/")[2])
    return None if user is None else LogKey("user", user)
