"""What nobody has learned from yet: which sessions have lines past their marker, and since when.

The markers of a manifest become columns of the log; an assistant's entries past the marker are
counted, by a number made of each one's id, so that a message which grows is one turn.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable

import msgspec

from mnemolog.model.session import Manifest
from mnemolog.policy import learning
from mnemolog.ports import Asked, Fed, Unlearned

_decode = msgspec.json.Decoder(Manifest).decode

_TURNS = "(SELECT count(*) FROM answer WHERE log = log.id AND answer.seq > processed)"
_MARKED = "invalidated > processed"
_WAITING = "session IS NOT NULL AND seq > processed"
_DUE = (
    f"NOT parked AND coalesce(retry, '') <= :now AND ({_MARKED} OR written <= :idle_since"
    f" OR {_TURNS} >= :turns)"
)


def store(db: sqlite3.Connection, log: int, lines: Iterable[Fed], manifest: Manifest) -> None:
    """Take over a session's markers, and the turns that came after them."""
    marks = learning.marks_of(manifest.markers)
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
    if marks.turns:  # somebody says when a turn ends
        db.execute("DELETE FROM answer WHERE log = ?", (log,))
        return
    ended = (fed.entry for fed in lines if learning.ends_turn(fed.entry))
    rows = [(log, crc32(entry.id.encode()), entry.seq) for entry in ended]
    db.executemany("REPLACE INTO answer VALUES (?, ?, ?)", rows)
    db.execute("DELETE FROM answer WHERE log = ? AND seq <= ?", (log, marks.processed_until))


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
