"""Catching up: from the marks that writers leave to rows in the index.

The order keeps every write findable and nothing erased from coming back:

1. The names of the marked logs are noted in `pending` and committed; only then the marks go.
2. In one transaction the new lines are read, stored, and the notes removed. If a log was rewritten
   while it was read, the transaction is rolled back and done again.
"""

import sqlite3
from collections.abc import Callable, Iterable

import msgspec

from mnemolog.errors import SessionCorruptError, StorageError
from mnemolog.index.columns import Columns
from mnemolog.index.intake import Intake
from mnemolog.model.session import Manifest
from mnemolog.ports import Fed, Feed, News, Position, Progress

# A transaction ends after so many rows, so that others get their turn.
_ROWS = 16_384


Embed = Callable[[int, list[str]], None]


class CatchUp:
    """Brings a database up to date with a feed."""

    def __init__(self, db: sqlite3.Connection, columns: Columns, feed: Feed, embed: Embed) -> None:
        self._db = db
        self._columns = columns
        self._feed = feed
        self._embed = embed

    def note(self, names: Iterable[str]) -> None:
        """Remember durably that these logs have to be read."""
        rows = [(name,) for name in names]
        if rows:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("INSERT OR IGNORE INTO pending VALUES (?)", rows)
            self._db.execute("COMMIT")

    def run(self, progress: Progress | None = None) -> int:
        """Read every log that has news; says how many rows were added."""
        marked = self._feed.marked()
        self.note(marked)
        for name in marked:
            self._feed.unmark(name)
        # Again: between the two, another reader may have read them and struck the notes out, and a
        # writer found the mark still there.
        self.note(marked)
        names = [name for (name,) in self._db.execute("SELECT name FROM pending ORDER BY name")]
        added = done = 0
        while done < len(names):
            taken, rows = self._transaction(names[done:])
            done, added = done + taken, added + rows
            if progress is not None:
                progress(done, len(names))
        return added

    def _transaction(self, names: list[str]) -> tuple[int, int]:
        """Take as many logs as fit into one transaction; again from the start if one moved."""
        while True:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                result = self._take_some(names)
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            if result is not None:
                self._db.execute("COMMIT")
                return result
            self._db.execute("ROLLBACK")

    def _take_some(self, names: list[str]) -> tuple[int, int] | None:
        intake = Intake(self._db, self._columns)
        first = intake.rows
        ends: list[tuple[str, Position]] = []
        for name in names:
            try:
                end = self._take(intake, name)
            except (StorageError, SessionCorruptError):
                self._leave_out(name)
                continue  # it stays pending until it can be read, and the others are searched
            if end is not None:
                ends.append((name, end))
            self._db.execute("DELETE FROM pending WHERE name = ?", (name,))
            if intake.rows - first >= _ROWS:
                break
        taken = names.index(name) + 1
        texts = intake.texts()
        intake.store()
        self._embed(first, texts)
        if any(self._has_moved(name, end) for name, end in ends):
            return None
        return taken, intake.rows - first

    def _leave_out(self, name: str) -> None:
        known = self._db.execute("SELECT id FROM log WHERE name = ?", (name,)).fetchone()
        if known is not None:
            _remove(self._db, known[0])

    def _has_moved(self, name: str, end: Position) -> bool:
        again = self._feed.read(name, end)
        return again is None or again.restart

    def _take(self, intake: Intake, name: str) -> Position | None:
        known = self._db.execute(
            "SELECT id, generation, segment, offset, length, sum FROM log WHERE name = ?", (name,)
        ).fetchone()
        news = self._feed.read(name, Position(*known[1:]) if known else None)
        if news is None:
            if known:
                _remove(self._db, known[0])
            return None
        number = known[0] if known else _add_log(self._db, name)
        if news.restart:
            _forget_rows(self._db, number)
        end = Position(*known[1:]) if known and not news.restart else Position(news.generation)
        tracker = _Tracker(end)
        intake.take(number, tracker.follow(list(news.lines)))
        _update_log(self._db, number, news, tracker)
        if news.restart:  # later uses are counted by whoever makes them
            intake.take_uses(number, self._feed.uses(name))
        return tracker.end


class _Tracker:
    """Watches lines go by: where they end, and when the last one was written."""

    def __init__(self, end: Position) -> None:
        self.end = end
        self.seq = 0
        self.written: str | None = None

    def follow(self, lines: Iterable[Fed]) -> Iterable[Fed]:
        for fed in lines:
            self.end = fed.after
            self.seq = fed.entry.seq
            self.written = fed.entry.written_at
            yield fed


def _add_log(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute("INSERT INTO log (name) VALUES (?)", (name,)).lastrowid or 0)


def _update_log(db: sqlite3.Connection, log: int, news: News, tracker: _Tracker) -> None:
    end = tracker.end
    db.execute(
        "UPDATE log SET generation = ?, segment = ?, offset = ?, length = ?, sum = ?, size = ?,"
        " seq = max(seq, ?), written = coalesce(?, written) WHERE id = ?",
        (*end, news.size, tracker.seq, tracker.written, log),
    )
    if news.manifest is not None:
        _update_facts(db, log, news.manifest)


def _update_facts(db: sqlite3.Connection, log: int, manifest: Manifest) -> None:
    closed = manifest.markers.get("closed_seq")
    db.execute(
        "UPDATE log SET session = ?, user = ?, created = ?, closed = ?, facts = ?,"
        " updated = max(coalesce(written, ''), ?) WHERE id = ?",
        (
            manifest.session_id,
            manifest.user_id,
            manifest.created_at,
            closed,
            msgspec.json.encode(manifest),
            manifest.created_at,
            log,
        ),
    )
    db.execute("DELETE FROM log_agent WHERE log = ?", (log,))
    rows = [(agent, log) for agent in manifest.agent_ids]
    db.executemany("INSERT INTO log_agent VALUES (?, ?)", rows)


def _forget_rows(db: sqlite3.Connection, log: int) -> None:
    """What was known of a log is void: its rows are dead, its entries unknown."""
    db.execute("INSERT OR IGNORE INTO dead SELECT row FROM entry WHERE log = ?", (log,))
    db.execute("DELETE FROM entry WHERE log = ?", (log,))
    db.execute(
        "UPDATE log SET last_row = NULL, entries = 0, seq = 0, written = NULL WHERE id = ?", (log,)
    )


def _remove(db: sqlite3.Connection, log: int) -> None:
    _forget_rows(db, log)
    db.execute("DELETE FROM log_agent WHERE log = ?", (log,))
    db.execute("DELETE FROM log WHERE id = ?", (log,))
