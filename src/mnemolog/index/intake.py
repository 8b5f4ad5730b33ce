"""Intake: lines of a log become rows of the index."""

import sqlite3
from binascii import crc32
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog import paths
from mnemolog.index import database, postings, voices
from mnemolog.index import uses as use_counts
from mnemolog.index.build import Build
from mnemolog.index.columns import FIELDS, NONE
from mnemolog.index.crew import Crew
from mnemolog.index.rounds import Round
from mnemolog.model.entry import MARKS, SCOPES, Entry
from mnemolog.model.times import to_moment
from mnemolog.policy.filters import topics
from mnemolog.policy.importance import importance
from mnemolog.ports import Fed, Use

_MONTHS = ("January February March April May June July August September October November"
           " December").split()  # fmt: skip
# So many rounds are held back, the one that is being filled included.
_HELD = 2
_COLUMNS = tuple(FIELDS)
_STAMP = "2026-11-15T09:00:00.000Z"
_DAY = len("2026-11-15")
_PLACES = {name: place for place, name in enumerate(_COLUMNS)}


def beside(entry: Entry) -> str:
    """What an entry is found by beside what was said: its tags, its category, its date."""
    return " ".join((*entry.tags, entry.category or "", _date(entry.timestamp)))


def spoken(entry: Entry) -> str:
    """Who spoke and what was said; what an embedding is made of."""
    return f"{entry.agent_id or entry.role or ''} {entry.text}".strip()


@lru_cache(maxsize=1024)
def _day(stamp: str) -> str:
    """A day as it is written out; nothing if a stamp was written by hand and is none."""
    try:
        moment = to_moment(stamp)
    except ValueError:
        return ""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def _date(stamp: str) -> str:
    return _day(stamp[:_DAY] if len(stamp) == len(_STAMP) and stamp[-1] == "Z" else stamp)


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
    place: int
    revisions: int
    uses: int
    used: int


class Intake:
    """Takes lines in, inside a transaction that the caller began and will commit."""

    def __init__(self, build: Build, crew: Crew) -> None:
        self._build = build
        self._db = db = build.db
        self._columns = build.columns
        self._crew = crew
        crew.drop()
        self._words = Words(db)
        self._living = 0
        self._home = 0
        self.rows = database.rows_of(db)
        self._rounds = [Round(self.rows, len(_COLUMNS), crew)]
        self._terms: list[postings.Counted] = []
        self._unsealed = 0
        self._ids: dict[str, int] = {}
        self._is_fresh = False
        self._counted = use_counts.waiting(db)

    def take(self, log: int, lines: Iterable[Fed]) -> None:
        """Take the lines of one log, in order."""
        query = "SELECT name, last_turn, entries FROM log WHERE id = ?"
        name, last, self._living = self._db.execute(query, (log,)).fetchone()
        self._home = crc32(name.encode())
        self._is_fresh = last is None
        is_apart = name.startswith(f"{paths.NODES}/")
        for fed in lines:
            if fed.entry.type in MARKS:
                self._mark(log, fed.entry)
            else:
                # Nodes do not follow each other as turns do: none is another's neighbour.
                row = self._row(log, fed, None if is_apart else last)
                last = last if row is None else row
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
        if row is not None and entry.type == "tombstone":
            hide = "REPLACE INTO hidden VALUES (?, ?)"
            self._db.execute(hide, (row, entry.written_at))
        elif row is not None:
            self._show(row)

    def _kill(self, row: int) -> None:
        kill = self._db.execute("INSERT OR IGNORE INTO dead VALUES (?)", (row,))
        self._living -= kill.rowcount

    def _show(self, row: int) -> None:
        """What becomes of a row now is not that somebody hid it."""
        self._db.execute("DELETE FROM hidden WHERE row = ?", (row,))

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
            place = entry.first_seq or entry.seq
            kept = _Kept(time, row, NONE if last is None else last, place, 1, 0, 0)
            last = row
        else:
            kept = self._kept(before)
            kept = kept._replace(revisions=kept.revisions + 1)
            self._kill(before)
            self._show(before)
        self._living += 1
        values = self._values(log, fed, kept)
        self._rounds[-1].add(values, spoken(entry), beside(entry))
        self._add_links(row, entry)
        if fed.secrets:
            self._db.execute("INSERT INTO secret VALUES (?, ?)", (row, " ".join(fed.secrets)))
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
        held = self._round_of(row)
        if held is None:
            self._counted[row] = (times, last)
        else:
            held.values[held.at(_PLACES["uses"], row)] = times
            held.values[held.at(_PLACES["used"], row)] = last

    def _value(self, name: str, row: int) -> int:
        """What a column holds, be it written already or not."""
        held = self._round_of(row)
        if held is not None:
            return int(held.values[held.at(_PLACES[name], row)])
        if name in ("uses", "used") and row in self._counted:
            return self._counted[row][name == "used"]
        return int(self._columns.read(name, self._rounds[0].first)[row])

    def _round_of(self, row: int) -> Round | None:
        """The round that holds a row; None if it is stored already."""
        return next((held for held in reversed(self._rounds) if row >= held.first), None)

    def _values(self, log: int, fed: Fed, kept: _Kept) -> tuple[float, ...]:
        entry = fed.entry
        return (
            log,
            self._home,
            self._words.number("type", entry.type),
            _scope(entry.scope),
            self._words.number("agent", entry.agent_id),
            voices.is_users(entry),
            voices.is_lasting(entry),
            kept.time,
            importance(entry),
            0,  # the length, which is known once all texts are cut
            kept.turn,
            kept.previous,
            entry.seq,
            kept.place,
            kept.revisions,
            fed.after.segment,
            fed.after.offset - fed.after.length,
            fed.after.length,
            kept.uses,
            kept.used,
        )

    def _add_links(self, row: int, entry: Entry) -> None:
        if entry.tags or entry.context:
            self._rounds[-1].tags += [(tag, row) for tag in topics(entry)]
        if entry.references:
            self._rounds[-1].links += [(row, target) for target in entry.references]

    def pause(self) -> None:
        """Between two logs: once a round is full, the one before it is stored.

        Not the full one: others still work it out, and go on with it meanwhile.
        """
        if self._rounds[-1].is_full:
            self._rounds[-1].hand_over()
            self._rounds.append(Round(self.rows, len(_COLUMNS), self._crew))
        while len(self._rounds) > _HELD:
            self._store(self._rounds[0])
            del self._rounds[0]

    def store(self) -> None:
        """Write all rows that are not yet; the caller's commit publishes them."""
        for held in self._rounds:
            self._store(held)
        self._rounds = [Round(self.rows, len(_COLUMNS), self._crew)]
        self._seal()
        use_counts.store(self._db, self._counted)

    def _store(self, held: Round) -> None:
        if not held.rows:
            return
        worked = held.worked()
        self._store_values(held, worked.lengths)
        terms = worked.terms
        self._terms.append(terms._replace(rows=terms.rows + np.uint32(self._unsealed)))
        self._unsealed += held.rows
        forms = sorted(worked.forms.items())
        self._db.executemany("INSERT OR IGNORE INTO term VALUES (?, ?)", forms)
        self._db.executemany("INSERT INTO tag VALUES (?, ?)", held.tags)
        self._db.executemany("INSERT OR IGNORE INTO link VALUES (?, ?)", held.links)
        rows = held.first + held.rows
        self._db.execute("UPDATE meta SET value = ? WHERE key = 'rows'", (rows,))
        self._build.embed(held.first, worked.vectors)

    def _store_values(self, held: Round, lengths: NDArray[np.int64]) -> None:
        # Every number here is exact as a float: times are the largest, and far below 2 ** 53.
        rows = np.array(held.values, np.float64).reshape(-1, len(_COLUMNS))
        values = dict(zip(_COLUMNS, rows.T, strict=True))
        values["length"] = lengths.astype(np.float64)
        self._columns.write(held.first, values)

    def _seal(self) -> None:
        """The postings of all rows: many become segments at once, few wait in the tail."""
        terms, rows = postings.joined(self._terms), self._unsealed
        self._terms, self._unsealed = [], 0
        query = "SELECT count(*), min(row) FROM tail"
        waiting, base = self._db.execute(query).fetchone()
        first = self.rows - rows
        if waiting + rows < postings.SEAL:
            packed = enumerate(postings.packed_rows(terms, rows), first)
            self._db.executemany("INSERT INTO tail VALUES (?, ?)", packed)
            return
        old = [blob for (blob,) in self._db.execute("SELECT terms FROM tail ORDER BY row")]
        self._db.execute("DELETE FROM tail")
        if waiting:
            moved = terms._replace(rows=terms.rows + np.uint32(waiting))
            terms = postings.joined([postings.unpacked(old), moved])
        base = first if base is None else base
        postings.seal(self._db, base, terms, waiting + rows)
        postings.merge(self._db)


def _scope(name: str) -> int:
    """A scope as a number; one of a later version, or written by hand, is for its writer alone."""
    return SCOPES.index(name if name in SCOPES else "agent")


def _milliseconds(stamp: str) -> int:
    try:
        return round(to_moment(stamp).timestamp() * 1000)
    except ValueError:
        return 0  # written by hand: no time at all is as good as a wrong one
