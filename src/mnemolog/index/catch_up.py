"""Catching up: from the marks that writers leave to rows in the index.

The order keeps every write findable and nothing erased from coming back:

1. The names of the marked logs are noted in `pending` and committed.
2. In one transaction the marks are removed, the new lines read and stored, and the notes struck
   out. If a log was rewritten while it was read, the transaction is rolled back and done again.

A mark goes only while its note is there and nobody else can strike it out: whoever dies at any
point leaves the one or the other behind. Where a log turns out to be gone, its name goes too, also
out of the journal and of free pages; a sign in the database says so until that is done.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress

import msgspec

from mnemolog import paths
from mnemolog.errors import SessionCorruptError, StorageError
from mnemolog.index import purging, thinning, unlearned, uses
from mnemolog.index.build import Build
from mnemolog.index.crew import Crew
from mnemolog.index.database import UnfitError
from mnemolog.index.intake import Intake
from mnemolog.index.postings import LARGEST
from mnemolog.model.entry import Entry
from mnemolog.model.observing import tell
from mnemolog.model.session import Manifest
from mnemolog.ports import Feed, News, Position, Progress

# A transaction ends after so many rows, so that others get their turn; with the rest of the last
# log they should fit into one segment.
_ROWS = LARGEST - 1024

# Logs that can be deleted as a whole; the others are noted whether they are there or not.
_NAMED = f"{paths.SESSIONS}/"


class _MovedError(Exception):
    """A log was rewritten while it was read."""


class CatchUp:
    """Brings one build of the index up to date with a feed."""

    def __init__(self, build: Build, feed: Feed, command: Sequence[str] = ()) -> None:
        self._build = build
        self._db = build.db
        self._feed = feed
        self._command = command
        self.unread: set[str] = set()
        """The logs that could not be read, and are left out until they can be."""
        self._gone: set[str] = set()

    def note(self, names: Iterable[str]) -> None:
        """Remember durably that these logs have to be read."""
        rows = [(name,) for name in names]
        if rows:
            with self._build.writing():
                self._db.executemany("INSERT OR IGNORE INTO pending VALUES (?)", rows)

    def behind(self) -> list[str]:
        """The logs that have news."""
        noted = {name for (name,) in self._db.execute("SELECT name FROM pending")}
        return sorted(noted.union(self.marked()))

    def marked(self) -> list[str]:
        """The logs that are marked; raises if the index was thrown away by then, for whoever made
        another one may have read them into that."""
        names = self._feed.marked()
        if not self._build.is_current():
            raise UnfitError("it was thrown away meanwhile")
        return names

    def run(self, progress: Progress | None = None) -> int:
        """Read every log that has news; says how many rows were added."""
        self.note(self.marked())
        if _is_idle(self._db):
            return 0
        uses.settle(self._build)
        names = [name for (name,) in self._db.execute("SELECT name FROM pending ORDER BY name")]
        if not names:
            self._let_go()
            return 0
        with Crew(self._build.quick_embedder(), self._command, self._build.identity) as crew:
            added = self._take_names(crew, names, progress)
        uses.settle(self._build)
        thinning.thin(self._build)
        self._let_go()
        return added

    def run_for(self, name: str) -> None:
        """Read one log, whatever else has news."""
        self.note([name])
        with Crew(self._build.quick_embedder(), self._command, self._build.identity) as crew:
            self._take_names(crew, [name], None)
        self._let_go()

    def _let_go(self) -> None:
        """Names of logs that are gone may be what they were deleted for."""
        if purging.is_left(self._db):
            purging.let_go(self._build, self._gone)

    def _take_names(self, crew: Crew, names: list[str], progress: Progress | None) -> int:
        added = done = 0
        while done < len(names):
            taken, rows = self._take_some(crew, names[done:])
            done, added = done + taken, added + rows
            if progress is not None:
                progress(done, len(names))
        return added

    def _take_some(self, crew: Crew, names: list[str]) -> tuple[int, int]:
        """Take as many logs as fit into one transaction; again from the start if one moved."""
        while True:
            with suppress(_MovedError), self._build.writing():
                return self._take_all(crew, names)

    def _take_all(self, crew: Crew, names: list[str]) -> tuple[int, int]:
        intake = Intake(self._build, crew)
        first = intake.rows
        ends: list[tuple[str, Position]] = []
        taken = 0
        for name in names:
            taken += 1
            if self._is_pending(name):
                ends += self._take_one(intake, name)
            intake.pause()
            if intake.rows - first >= _ROWS:
                break
        intake.store()
        if any(self._has_moved(name, end) for name, end in ends):
            raise _MovedError
        return taken, intake.rows - first

    def _is_pending(self, name: str) -> bool:
        """Whether nobody else has read a log since it was noted."""
        query = "SELECT 1 FROM pending WHERE name = ?"
        return self._db.execute(query, (name,)).fetchone() is not None

    def _take_one(self, intake: Intake, name: str) -> list[tuple[str, Position]]:
        """Take what is new in one log; gives its name and its end, unless there is none."""
        self._feed.unmark(name)
        try:
            end = self._take(intake, name)
        except (StorageError, SessionCorruptError):
            self._leave_out(name)
            return []  # it stays pending until it can be read, and the others are searched
        self._db.execute("DELETE FROM pending WHERE name = ?", (name,))
        if end is None and name.startswith(_NAMED):
            self._gone.add(name)
            purging.note_left(self._db)
        return [] if end is None else [(name, end)]

    def _leave_out(self, name: str) -> None:
        self.unread.add(name)
        known = self._db.execute("SELECT id FROM log WHERE name = ?", (name,)).fetchone()
        if known is not None:
            _set_aside(self._db, known[0])

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
        lines = list(news.lines)
        intake.take(number, lines)
        end = lines[-1].after if lines else end
        damaged = sum(one.damaged for one in lines)
        if damaged:
            tell("damage", news.manifest.session_id if news.manifest else None, lines=damaged)
        last = next((one.entry for one in reversed(lines) if one.entry.seq), None)
        _update_log(self._db, number, news, end, last, damaged)
        if news.manifest is not None:
            unlearned.store(self._db, number, lines, news.manifest)
        else:
            unlearned.store_own(self._db, number, news.markers)
        self._take_uses(intake, name, number)
        return end

    def _take_uses(self, intake: Intake, name: str, log: int) -> None:
        (after,) = self._db.execute("SELECT uses FROM log WHERE id = ?", (log,)).fetchone()
        try:
            found, end = self._feed.uses(name, after)
        except StorageError:
            return  # they are relaxed: what was written is found without them
        intake.take_uses(log, found)
        if end != after:
            self._db.execute("UPDATE log SET uses = ? WHERE id = ?", (end, log))


def is_settled(build: Build) -> bool:
    """Whether nothing that was noted waits to be read, and no row for its vector; in a moment."""
    snapshot = build.snapshot
    return snapshot.embedded >= snapshot.rows and snapshot.once(_is_idle)


def _is_idle(db: sqlite3.Connection) -> bool:
    query = (
        "SELECT EXISTS (SELECT 1 FROM pending) OR EXISTS (SELECT 1 FROM use)"
        " OR EXISTS (SELECT 1 FROM meta WHERE key = ?)"
    )
    return bool(db.execute(query, (purging.LEFT,)).fetchone() == (0,))


def _add_log(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute("INSERT INTO log (name) VALUES (?)", (name,)).lastrowid or 0)


def _update_log(
    db: sqlite3.Connection,
    log: int,
    news: News,
    end: Position,
    last: Entry | None,
    damaged: int,
) -> None:
    db.execute(
        "UPDATE log SET generation = ?, segment = ?, offset = ?, length = ?, sum = ?, size = ?,"
        " seq = max(seq, ?), written = coalesce(?, written), damaged = damaged + ? WHERE id = ?",
        (*end, news.size, last.seq if last else 0, last.written_at if last else None, damaged, log),
    )
    if news.manifest is not None:
        _update_facts(db, log, news.manifest)


def _update_facts(db: sqlite3.Connection, log: int, manifest: Manifest) -> None:
    closed = manifest.markers.get("closed_seq")
    db.execute(
        "UPDATE log SET session = ?, user = ?, created = ?, closed = ?, archived = ?, facts = ?,"
        " settings = ?, updated = max(coalesce(written, ''), ?) WHERE id = ?",
        (
            manifest.session_id,
            manifest.user_id,
            manifest.created_at,
            closed,
            manifest.archived_at is not None,
            msgspec.json.encode(manifest),
            msgspec.json.encode(manifest.settings) if manifest.settings else None,
            manifest.created_at,
            log,
        ),
    )
    db.execute("DELETE FROM log_agent WHERE log = ?", (log,))
    rows = [(agent, log) for agent in dict.fromkeys(manifest.agent_ids)]
    db.executemany("INSERT INTO log_agent VALUES (?, ?)", rows)


def _forget_rows(db: sqlite3.Connection, log: int) -> None:
    """What was known of a log is void: its rows are dead, its entries unknown."""
    db.execute("INSERT OR IGNORE INTO dead SELECT row FROM entry WHERE log = ?", (log,))
    for table in ("hidden", "secret"):
        db.execute(
            f"DELETE FROM {table} WHERE row IN (SELECT row FROM entry WHERE log = ?)", (log,)
        )
    db.execute("DELETE FROM entry WHERE log = ?", (log,))
    db.execute("DELETE FROM answer WHERE log = ?", (log,))
    db.execute(
        "UPDATE log SET last_turn = NULL, entries = 0, seq = 0, written = NULL, uses = 0,"
        " damaged = 0"
        " WHERE id = ?",
        (log,),
    )


def _set_aside(db: sqlite3.Connection, log: int) -> None:
    """Nothing of a log is found any more; a session's facts stay for whoever mends it."""
    _forget_rows(db, log)
    db.execute("DELETE FROM log_agent WHERE log = ?", (log,))
    db.execute("DELETE FROM log WHERE id = ? AND facts IS NULL", (log,))
    db.execute(
        "UPDATE log SET session = NULL, user = NULL, created = NULL, settings = NULL, size = 0,"
        " generation = 0, segment = 0, offset = 0, length = 0, sum = NULL WHERE id = ?",
        (log,),
    )


def _remove(db: sqlite3.Connection, log: int) -> None:
    _forget_rows(db, log)
    db.execute("DELETE FROM log_agent WHERE log = ?", (log,))
    db.execute("DELETE FROM log WHERE id = ?", (log,))
