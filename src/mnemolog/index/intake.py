"""Intake: lines of a log become rows of the index."""

import sqlite3
from binascii import crc32
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from mnemolog.index import postings, tokens
from mnemolog.index import uses as use_counts
from mnemolog.index.columns import FIELDS, NONE, Columns
from mnemolog.model.entry import MARKS, SCOPES, Entry
from mnemolog.model.times import to_moment
from mnemolog.policy.importance import importance
from mnemolog.ports import Fed, Use

_MONTHS = ("January February March April May June July August September October November"
           " December").split()  # fmt: skip
_COLUMNS = tuple(FIELDS)
_PLACES = {name: place for place, name in enumerate(_COLUMNS)}


def searchable(entry: Entry, said: str) -> str:
    """What an entry is found by: who spoke, what was said, its tags, its category, its date."""
    return " ".join((said, *entry.tags, entry.category or "", _date(entry.timestamp)))


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


class _Kept(NamedTuple):
    """What a revision takes over from the row before it, by the names of the columns."""

    time: int
    turn: int
    previous: int
    uses: int
    used: int


class Intake:
    """Takes lines in, inside a transaction that the caller began and will commit."""

    def __init__(self, db: sqlite3.Connection, columns: Columns) -> None:
        self._db = db
        self._columns = columns
        self._words = Words(db)
        self._living = 0
        self._home = 0
        (self.rows,) = db.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone()
        self._first = self.rows
        self._ids: dict[str, int] = {}
        self._is_fresh = False
        # Row after row, flat: a list for each would be looked at by every garbage collection.
        self._values: list[float] = []
        self._searchable: list[str] = []
        self._texts: list[str] = []
        self._counted = use_counts.waiting(db)
        self._tags: list[tuple[str, int]] = []
        self._links: list[tuple[int, str]] = []

    def take(self, log: int, lines: Iterable[Fed]) -> None:
        """Take the lines of one log, in order."""
        query = "SELECT name, last_turn, entries FROM log WHERE id = ?"
        name, last, self._living = self._db.execute(query, (log,)).fetchone()
        self._home = crc32(name.encode())
        self._is_fresh = last is None
        for fed in lines:
            if fed.entry.type in MARKS:
                self._mark(log, fed.entry)
            else:
                last = self._row(log, fed, last)
        done = (last, self._living, log)
        self._db.execute("UPDATE log SET last_turn = ?, entries = ? WHERE id = ?", done)
        rows = [(log, identifier, row) for identifier, row in self._ids.items()]
        self._db.executemany("REPLACE INTO entry VALUES (?, ?, ?)", rows)
        self._ids, self._is_fresh = {}, False

    def _mark(self, log: int, entry: Entry) -> None:
        target = entry.target
        if target is None:
            return  # a blanked line: its random id may be that of an entry that lives
        row = self._row_of(log, target)
        if entry.type == "erased":
            self._ids.pop(target, None)
            self._db.execute("DELETE FROM entry WHERE log = ? AND id = ?", (log, target))
        if row is not None and entry.type == "undelete":
            self._living += self._db.execute("DELETE FROM dead WHERE row = ?", (row,)).rowcount
        elif row is not None:
            self._kill(row)

    def _kill(self, row: int) -> None:
        kill = self._db.execute("INSERT OR IGNORE INTO dead VALUES (?)", (row,))
        self._living -= kill.rowcount

    def _row_of(self, log: int, identifier: str) -> int | None:
        row = self._ids.get(identifier)
        if row is not None or self._is_fresh:
            return row
        query = "SELECT row FROM entry WHERE log = ? AND id = ?"
        found = self._db.execute(query, (log, identifier)).fetchone()
        return None if found is None else int(found[0])

    def _row(self, log: int, fed: Fed, last: int | None) -> int | None:
        """Add a row; a revision takes the place of the one before it. Says which turn is last."""
        entry, row = fed.entry, self.rows
        before = self._row_of(log, entry.id)
        if before is None:
            time = _milliseconds(entry.created or entry.timestamp)
            kept = _Kept(time, row, NONE if last is None else last, 0, 0)
            last = row
        else:
            kept = self._kept(before)
            self._kill(before)
        self._living += 1
        self._add_values(log, fed, kept)
        said = spoken(entry)
        self._texts.append(said)
        self._searchable.append(searchable(entry, said))
        self._add_links(row, entry)
        self._ids[entry.id] = row
        self.rows += 1
        return last

    def _kept(self, row: int) -> _Kept:
        return _Kept(*(self._value(name, row) for name in _Kept._fields))

    def take_uses(self, log: int, uses: Iterable[Use]) -> None:
        """Count that entries were used."""
        found: dict[str, tuple[int, int]] = {}
        for use in uses:
            times, last = found.get(use.id, (0, 0))
            found[use.id] = times + 1, max(last, _milliseconds(use.at))
        for identifier, (times, last) in found.items():
            row = self._row_of(log, identifier)
            if row is not None:
                times += self._value("uses", row)
                self._count(row, times, max(last, self._value("used", row)))

    def _count(self, row: int, times: int, last: int) -> None:
        """Set how often a row was used; the columns follow once it is committed."""
        if row >= self._first:
            self._values[self._at("uses", row)] = times
            self._values[self._at("used", row)] = last
        else:
            self._counted[row] = (times, last)

    def _value(self, name: str, row: int) -> int:
        """What a column holds, be it written already or not."""
        if row >= self._first:
            return int(self._values[self._at(name, row)])
        if name in ("uses", "used") and row in self._counted:
            return self._counted[row][name == "used"]
        return int(self._columns.read(name, self._first)[row])

    def _at(self, name: str, row: int) -> int:
        return int(row - self._first) * len(_COLUMNS) + _PLACES[name]

    def _add_values(self, log: int, fed: Fed, kept: _Kept) -> None:
        entry = fed.entry
        self._values += (
            log,
            self._home,
            self._words.number("type", entry.type),
            SCOPES.index(entry.scope),
            self._words.number("agent", entry.agent_id),
            kept.time,
            importance(entry),
            0,  # the length, which is known once all texts are cut
            kept.turn,
            kept.previous,
            entry.seq,
            fed.after.segment,
            fed.after.offset - fed.after.length,
            fed.after.length,
            kept.uses,
            kept.used,
        )

    def _add_links(self, row: int, entry: Entry) -> None:
        if entry.tags or entry.context:
            self._tags += [(tag, row) for tag in topics(entry)]
        if entry.references:
            self._links += [(row, target) for target in entry.references]

    def store(self) -> None:
        """Write the rows taken so far; the caller's commit publishes them."""
        if self._values:
            found = tokens.occurrences(self._searchable)
            self._store_values(found)
            self._store_postings(postings.counted(found.rows, found.hashes))
            self._store_forms(found.words)
            self._db.executemany("INSERT INTO tag VALUES (?, ?)", self._tags)
            self._db.executemany("INSERT OR IGNORE INTO link VALUES (?, ?)", self._links)
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'rows'", (self.rows,))
        use_counts.store(self._db, self._counted)
        self._first = self.rows
        self._values, self._searchable, self._texts = [], [], []
        self._tags, self._links = [], []

    def _store_values(self, found: tokens.Occurrences) -> None:
        # Every number here is exact as a float: times are the largest, and far below 2 ** 53.
        rows = np.array(self._values, np.float64).reshape(-1, len(_COLUMNS))
        values = dict(zip(_COLUMNS, rows.T, strict=True))
        values["length"] = np.minimum(np.bincount(found.rows, minlength=len(rows)), 65535)
        self._columns.write(self._first, values)

    def texts(self) -> list[str]:
        """What was said in the rows that are not stored yet, for whoever embeds it."""
        return self._texts

    def _store_postings(self, terms: postings.Counted) -> None:
        """Large batches become segments at once; small ones wait in the tail."""
        query = "SELECT count(*), min(row) FROM tail"
        waiting, base = self._db.execute(query).fetchone()
        rows = self.rows - self._first
        if waiting + rows < postings.SEAL:
            packed = enumerate(postings.packed_rows(terms, rows), self._first)
            self._db.executemany("INSERT INTO tail VALUES (?, ?)", packed)
            return
        old = [blob for (blob,) in self._db.execute("SELECT terms FROM tail ORDER BY row")]
        self._db.execute("DELETE FROM tail")
        moved = terms._replace(rows=terms.rows + np.uint32(waiting))
        both = postings.joined([postings.unpacked(old), moved])
        base = self._first if base is None else base
        postings.seal_counted(self._db, base, both, waiting + rows)
        postings.merge(self._db)

    def _store_forms(self, words: list[str]) -> None:
        """Remember words as they stood, for wildcards; runs without spaces have none."""
        rows = [
            (word, *found) for word in sorted(words) if len(found := tokens.hashes_of(word)) == 1
        ]
        self._db.executemany("INSERT OR IGNORE INTO term VALUES (?, ?)", rows)


def _milliseconds(stamp: str) -> int:
    try:
        return round(to_moment(stamp).timestamp() * 1000)
    except ValueError:
        return 0  # written by hand: no time at all is as good as a wrong one
