"""Purging: what was erased from a log leaves the index without a trace.

Its rows stay behind as numbers that stand for nothing. Their postings, the words that no other row
holds, tags, links, uses and vectors go; so do those of rows that revisions and rewrites had made
void before. SQLite overwrites what it deletes, and the journal is emptied at the end.
"""

import sqlite3
import time
from collections.abc import Collection
from contextlib import suppress

import msgspec
import numpy as np

from mnemolog.index import database, postings
from mnemolog.index.build import Build
from mnemolog.index.postings import Rows, Segment
from mnemolog.model.entry import TYPES
from mnemolog.ports.keeping import Wiped

_PATIENCE = 5.0
_PAUSE = 0.01
_VARIABLES = 500
_SHORTEST = 4
# Stands in `meta` when rows were thinned out, whose words nobody can look for any more.
THINNED = "thinned"
# Stands there while the name of a log that is gone may still lie in the journal or in a free page.
LEFT = "left"
_OF_ROWS = (
    ("entry", "row"), ("tag", "row"), ("link", "source"), ("use", "row"), ("hidden", "row"),
    ("secret", "row"),
)  # fmt: skip


def purge(build: Build, gone: Wiped | str) -> bool:
    """Forget some entries of a log, or a whole log; False if the journal could not be emptied."""
    with build.writing() as db:
        build.sweep()
        name = gone if isinstance(gone, str) else gone.log
        found = db.execute("SELECT id FROM log WHERE name = ?", (name,)).fetchone()
        rows = _void_rows(build, db, found[0] if found else None)
        named: set[str] = set()
        if found and isinstance(gone, str):
            rows = np.union1d(rows, _rows_of(build, found[0]))
            named = _remove_log(db, found[0])
        elif found and isinstance(gone, Wiped):
            rows = np.union1d(rows, _rows_of_ids(db, found[0], gone))
            _settle_log(db, found[0], gone)
        gone_words = forget(build, db, rows.astype(np.uint32))
        gone_words |= forget_names(build, db, rows.astype(np.uint32))
        gone_words |= named if isinstance(gone, str) else gone.ids
    return _empty_journal(build.db) and _is_rid_of(build, gone_words)


def note_left(db: sqlite3.Connection) -> None:
    """Remember, with what else is written, that a name was noted whose log is gone."""
    db.execute("REPLACE INTO meta VALUES (?, 1)", (LEFT,))


def is_left(db: sqlite3.Connection) -> bool:
    """Whether such a name may still lie somewhere."""
    return db.execute("SELECT 1 FROM meta WHERE key = ?", (LEFT,)).fetchone() is not None


def let_go(build: Build, names: Collection[str]) -> None:
    """See that no page holds these names; without any, that none holds what was deleted.

    On a full disk, or if others read for too long, the next one does it.
    """
    with suppress(sqlite3.OperationalError):
        if not _empty_journal(build.db):
            return
        if not names or build.holds([name.encode() for name in names]):
            build.db.execute("VACUUM")
        with build.writing() as db:
            db.execute("DELETE FROM meta WHERE key = ?", (LEFT,))
        _empty_journal(build.db)


def _is_rid_of(build: Build, words: Collection[str]) -> bool:
    """Whether no page holds what was deleted: SQLite leaves copies where it joins pages."""
    needles = [word.encode() for word in words if len(word.encode()) >= _SHORTEST]
    query = "SELECT 1 FROM meta WHERE key = ?"
    is_thinned = build.db.execute(query, (THINNED,)).fetchone() is not None
    if not is_thinned and (not needles or not build.holds(needles)):
        return True
    build.db.execute("VACUUM")
    with build.writing() as db:
        db.execute("DELETE FROM meta WHERE key = ?", (THINNED,))
    return _empty_journal(build.db)


def _void_rows(build: Build, db: sqlite3.Connection, log: int | None) -> Rows:
    """The rows of a log, and of logs that are no longer there, that no entry goes by."""
    count = database.rows_of(db)
    query = "SELECT row FROM dead WHERE row NOT IN (SELECT row FROM entry)"
    void = np.fromiter((row for (row,) in db.execute(query)), np.uint32)
    logs = build.columns.read("log", count)
    known = np.fromiter((one for (one,) in db.execute("SELECT id FROM log")), np.uint32)
    own = np.array([] if log is None else [log], np.uint32)
    is_meant = np.isin(logs[void], own) | ~np.isin(logs[void], known)
    return np.asarray(void[is_meant], np.uint32)


def _rows_of(build: Build, log: int) -> Rows:
    count = database.rows_of(build.db)
    return np.flatnonzero(build.columns.read("log", count) == log).astype(np.uint32)


def _rows_of_ids(db: sqlite3.Connection, log: int, gone: Wiped) -> Rows:
    found = []
    for identifier in gone.ids:
        query = "SELECT row, row IN (SELECT row FROM dead) FROM entry WHERE log = ? AND id = ?"
        for row, is_dead in db.execute(query, (log, identifier)).fetchall():
            found.append(row)
            living = 0 if is_dead else 1
            db.execute("UPDATE log SET entries = entries - ? WHERE id = ?", (living, log))
    return np.array(found, np.uint32)


def _settle_log(db: sqlite3.Connection, log: int, gone: Wiped) -> None:
    """The log's lines lie where they lay, so what else is known of it stays true."""
    query = "SELECT segment, offset - length, generation FROM log WHERE id = ?"
    segment, start, generation = db.execute(query, (log,)).fetchone()
    if generation > gone.generation:
        return
    db.execute("UPDATE log SET generation = ? WHERE id = ?", (gone.generation, log))
    for place, offset, total in gone.blanked:
        if (place, offset) == (segment, start):
            db.execute("UPDATE log SET sum = ? WHERE id = ?", (total, log))


def _remove_log(db: sqlite3.Connection, log: int) -> set[str]:
    """Take a log out of the tables; gives how it is named there, beside what surrounds that."""
    query = "SELECT name, session FROM log WHERE id = ?"
    name, session = db.execute(query, (log,)).fetchone()
    for table in ("log_agent", "entry", "answer"):
        db.execute(f"DELETE FROM {table} WHERE log = ?", (log,))
    db.execute("DELETE FROM log WHERE id = ?", (log,))
    # Alone, an id may be a word of many texts: it stands in the facts, and after a time.
    facts = msgspec.json.encode({"session_id": session}).decode()[1:-1]
    return {name} if session is None else {name, facts, f"Z{session}"}


def forget(build: Build, db: sqlite3.Connection, rows: Rows) -> set[str]:
    """Take rows out of every table and column; gives the words that are gone with them."""
    numbers = [(row,) for row in rows.tolist()]
    db.executemany("INSERT OR IGNORE INTO dead VALUES (?)", numbers)
    for table, column in _OF_ROWS:
        db.executemany(f"DELETE FROM {table} WHERE {column} = ?", numbers)
    lone = _forget_tail(db, numbers) | _forget_segments(db, rows)
    words = _forget_words(db, lone)
    build.blank(rows.astype(np.int64))
    return words


def forget_names(build: Build, db: sqlite3.Connection, rows: Rows) -> set[str]:
    """Agents and types of one's own that no entry names any more, hidden ones included.

    The number of one that went goes to another name, which may be of the other kind.
    """
    count = database.rows_of(db)
    gone: set[str] = set()
    for kind, column in (("agent", "agent"), ("type", "kind")):
        numbers = build.columns.read(column, count)
        for number in np.unique(numbers[rows]).tolist():
            query = "SELECT text FROM word WHERE id = ? AND kind = ?"
            (name,) = db.execute(query, (number, kind)).fetchone() or (None,)
            others = np.flatnonzero(numbers == number).astype(np.uint32)
            is_ours = kind == "type" and name in TYPES
            if name is not None and not is_ours and not _is_any_entry(db, others):
                db.execute("DELETE FROM word WHERE id = ?", (number,))
                gone.add(name)
    return gone


def _is_any_entry(db: sqlite3.Connection, rows: Rows) -> bool:
    """Whether an entry goes by any of these rows; the latest are the likeliest."""
    query = "SELECT 1 FROM entry WHERE row = ?"
    return any(db.execute(query, (row,)).fetchone() for row in rows[::-1].tolist())


def _forget_tail(db: sqlite3.Connection, numbers: list[tuple[int]]) -> set[int]:
    """Take rows out of the tail; gives the terms that they held."""
    terms: set[int] = set()
    for number in numbers:
        for (blob,) in db.execute("SELECT terms FROM tail WHERE row = ?", number).fetchall():
            terms.update(postings.unpack(blob)[0].tolist())
    empty = postings.pack({})  # the tail has no gaps
    changed = [(empty, *number) for number in numbers]
    db.executemany("UPDATE tail SET terms = ? WHERE row = ?", changed)
    return terms


def _forget_segments(db: sqlite3.Connection, rows: Rows) -> set[int]:
    """Take rows out of the sealed segments; gives the terms that they held."""
    terms: set[int] = set()
    for segment in [Segment(*row) for row in db.execute("SELECT * FROM segment")]:
        is_here = (rows >= segment.base) & (rows < segment.base + segment.rows)
        if is_here.any():
            terms |= postings.forget(db, segment, rows[is_here] - np.uint32(segment.base))
    return terms


def _forget_words(db: sqlite3.Connection, terms: set[int]) -> set[str]:
    """Words whose terms no row holds any more are not remembered either."""
    segments = [segment for (segment,) in db.execute("SELECT id FROM segment")]
    for (blob,) in db.execute("SELECT terms FROM tail").fetchall():
        terms = terms - set(postings.unpack(blob)[0].tolist())
    left = [term for term in terms if not _is_held(db, segments, term)]
    words: set[str] = set()
    for start in range(0, len(left), _VARIABLES):
        some = left[start : start + _VARIABLES]
        where = f"FROM term WHERE hash IN ({','.join('?' * len(some))})"
        words.update(word for (word,) in db.execute(f"SELECT word {where}", some))
        db.execute(f"DELETE {where}", some)
    return words


def _is_held(db: sqlite3.Connection, segments: list[int], term: int) -> bool:
    query = "SELECT 1 FROM post WHERE id = ?"
    return any(db.execute(query, (segment << 32 | term,)).fetchone() for segment in segments)


def _empty_journal(db: sqlite3.Connection) -> bool:
    """Move the journal into the database and cut it to nothing; readers may delay that."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        (is_busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not is_busy:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE)
