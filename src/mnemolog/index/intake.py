"""Intake: lines of a log become rows of the index."""

import sqlite3
from collections.abc import Iterable
from typing import Any

import numpy as np

from mnemolog.index import postings, tokens
from mnemolog.index.columns import FIELDS, NONE, Columns
from mnemolog.model.entry import MARKS, SCOPES, Entry
from mnemolog.model.times import to_moment
from mnemolog.policy.importance import importance
from mnemolog.ports import Fed, Use

_MONTHS = ("January February March April May June July August September October November"
           " December").split()  # fmt: skip
_COLUMNS = tuple(FIELDS)


def searchable(entry: Entry) -> str:
    """What an entry is found by: who spoke, what was said, its tags, its category, its date."""
    return " ".join((spoken(entry), *entry.tags, entry.category or "", _date(entry.timestamp)))


def spoken(entry: Entry) -> str:
    """Who spoke and what was said; what an embedding is made of."""
    return f"{entry.agent_id or entry.role or ''} {entry.text}".strip()


def topics(entry: Entry) -> list[str]:
    """What an entry is about: its tags, and the topic of its context."""
    topic = entry.context.get("topic")
    return list(dict.fromkeys([*entry.tags, *([topic] if isinstance(topic, str) else [])]))


def _date(stamp: str) -> str:
    try:
        moment = to_moment(stamp)
    except ValueError:
        return ""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


class Words:
    """Small numbers for the few names that repeat on every row."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._known: dict[tuple[str, str], int] = {}

    def number(self, kind: str, text: str | None) -> int:
        """The number of a name; 0 stands for none."""
        if text is None:
            return 0
        found = self._known.get((kind, text))
        if found is None:
            self._db.execute("INSERT OR IGNORE INTO word (kind, text) VALUES (?, ?)", (kind, text))
            found = self.find(kind, text) or 0
            self._known[kind, text] = found
        return found

    def find(self, kind: str, text: str) -> int | None:
        """The number of a name that is known already."""
        query = "SELECT id FROM word WHERE kind = ? AND text = ?"
        found = self._db.execute(query, (kind, text)).fetchone()
        return None if found is None else int(found[0])


class Intake:
    """Takes lines in, inside a transaction that the caller began and will commit."""

    def __init__(self, db: sqlite3.Connection, columns: Columns) -> None:
        self._db = db
        self._columns = columns
        self._words = Words(db)
        self._living = 0
        (self.rows,) = db.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone()
        self._first = self.rows
        self._values: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        self._packed: list[bytes] = []
        self._texts: list[str] = []
        self._forms: set[str] = set()

    def take(self, log: int, lines: Iterable[Fed]) -> None:
        """Take the lines of one log, in order."""
        query = "SELECT last_row, entries FROM log WHERE id = ?"
        last, self._living = self._db.execute(query, (log,)).fetchone()
        for fed in lines:
            if fed.entry.type in MARKS:
                self._mark(log, fed.entry)
            else:
                last = self._row(log, fed, last)
        done = (last, self._living, log)
        self._db.execute("UPDATE log SET last_row = ?, entries = ? WHERE id = ?", done)

    def _mark(self, log: int, entry: Entry) -> None:
        target = entry.target or entry.id
        row = self._row_of(log, target)
        if entry.type == "erased":
            self._db.execute("DELETE FROM entry WHERE log = ? AND id = ?", (log, target))
        if row is not None and entry.type == "undelete":
            self._living += self._db.execute("DELETE FROM dead WHERE row = ?", (row,)).rowcount
        elif row is not None:
            self._kill(row)

    def _kill(self, row: int) -> None:
        kill = self._db.execute("INSERT OR IGNORE INTO dead VALUES (?)", (row,))
        self._living -= kill.rowcount

    def _row_of(self, log: int, identifier: str) -> int | None:
        query = "SELECT row FROM entry WHERE log = ? AND id = ?"
        found = self._db.execute(query, (log, identifier)).fetchone()
        return None if found is None else int(found[0])

    def _row(self, log: int, fed: Fed, last: int | None) -> int | None:
        """Add a row; a revision takes the place of the row before it. Says what the last one is."""
        entry, row = fed.entry, self.rows
        before = self._row_of(log, entry.id)
        words = tokens.tokens(searchable(entry))
        self._forms.update(words)
        terms = tokens.counts(words)
        if before is None:
            time = _milliseconds(entry.created or entry.timestamp)
            kept = (time, NONE if last is None else last, 0, 0)
            last = row
        else:
            kept = self._kept(before)
            self._kill(before)
        self._living += 1
        self._add_values(log, fed, sum(terms.values()), kept)
        self._packed.append(postings.pack(terms))
        self._texts.append(spoken(entry))
        self._add_links(row, entry)
        self._db.execute("REPLACE INTO entry VALUES (?, ?, ?)", (log, entry.id, row))
        self.rows += 1
        return last

    def _kept(self, row: int) -> tuple[int, int, int, int]:
        """What a revision takes over from the row before it."""
        time, previous, uses, used = (
            self._value(name, row) for name in ("time", "previous", "uses", "used")
        )
        return time, previous, uses, used

    def take_uses(self, log: int, uses: Iterable[Use]) -> None:
        """Count that entries were used; relaxed, so it is not undone by a rollback."""
        for use in uses:
            row = self._row_of(log, use.id)
            if row is not None:
                self._set("uses", row, self._value("uses", row) + 1)
                self._set("used", row, max(self._value("used", row), _milliseconds(use.at)))

    def _set(self, name: str, row: int, value: int) -> None:
        if row >= self._first:
            self._values[name][row - self._first] = value
        else:
            self._columns.update(name, [row], [value])

    def _value(self, name: str, row: int) -> int:
        """What a column holds, be it written already or not."""
        if row >= self._first:
            return int(self._values[name][row - self._first])
        return int(self._columns.read(name, self._first)[row])

    def _add_values(self, log: int, fed: Fed, length: int, kept: tuple[int, int, int, int]) -> None:
        entry = fed.entry
        time, previous, *uses = kept
        row = (
            log,
            self._words.number("type", entry.type),
            SCOPES.index(entry.scope),
            self._words.number("agent", entry.agent_id),
            time,
            importance(entry),
            min(length, 65535),
            previous,
            entry.seq,
            fed.after.segment,
            fed.after.offset - fed.after.length,
            fed.after.length,
            *uses,
        )
        for name, value in zip(_COLUMNS, row, strict=True):
            self._values[name].append(value)

    def _add_links(self, row: int, entry: Entry) -> None:
        tags = [(tag, row) for tag in topics(entry)]
        if tags:
            self._db.executemany("INSERT INTO tag VALUES (?, ?)", tags)
        if entry.references:
            links = [(row, target) for target in entry.references]
            self._db.executemany("INSERT OR IGNORE INTO link VALUES (?, ?)", links)

    def store(self) -> None:
        """Write the rows taken so far; the caller's commit publishes them."""
        if self._packed:
            values = {name: np.array(column) for name, column in self._values.items()}
            self._columns.write(self._first, values)
            self._store_postings()
            self._store_forms()
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'rows'", (self.rows,))
        self._first = self.rows
        self._values = {name: [] for name in _COLUMNS}
        self._packed, self._texts, self._forms = [], [], set()

    def texts(self) -> list[str]:
        """What was said in the rows that are not stored yet, for whoever embeds it."""
        return self._texts

    def _store_postings(self) -> None:
        """Large batches become segments at once; small ones wait in the tail."""
        query = "SELECT count(*), min(row) FROM tail"
        waiting, base = self._db.execute(query).fetchone()
        if waiting + len(self._packed) < postings.SEAL:
            rows = enumerate(self._packed, self._first)
            self._db.executemany("INSERT INTO tail VALUES (?, ?)", rows)
            return
        old = [blob for (blob,) in self._db.execute("SELECT terms FROM tail ORDER BY row")]
        self._db.execute("DELETE FROM tail")
        packed, base = old + self._packed, self._first if base is None else base
        for start in range(0, len(packed), postings.LARGEST):
            postings.seal(self._db, base + start, packed[start : start + postings.LARGEST])
        postings.merge(self._db)

    def _store_forms(self) -> None:
        """Remember words as they stood, for wildcards; runs without spaces have none."""
        rows = [(form, *found) for form in self._forms if len(found := tokens.hashes_of(form)) == 1]
        self._db.executemany("INSERT OR IGNORE INTO term VALUES (?, ?)", rows)


def _milliseconds(stamp: str) -> int:
    try:
        return round(to_moment(stamp).timestamp() * 1000)
    except ValueError:
        return 0  # written by hand: no time at all is as good as a wrong one
