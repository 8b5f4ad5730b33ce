"""With very many sessions a tick looks at those that are due, never at all of them."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing

import msgspec
import pytest

from mnemolog.fs.real import RealDisk
from mnemolog.index import database, unlearned
from mnemolog.model.session import Manifest
from mnemolog.ports import Asked
from mnemolog.worker import Worker
from tests.worker.scribes import open_memory, talk

NOW = Asked("2026-11-16T00:00:00.000Z", "2026-11-15T00:00:00.000Z", 5, 80)
OLD = "2026-11-01T00:00:00.000Z"


@pytest.fixture
def table() -> Iterator[sqlite3.Connection]:
    """The catalogue of an index with 20,000 sessions and 5,000 users, all learned from."""
    with closing(sqlite3.connect(":memory:")) as db:
        _fill(db)
        yield db


def _fill(db: sqlite3.Connection) -> None:
    db.executescript(database._SCHEMA)
    facts = msgspec.json.encode(Manifest(v=1, session_id="s", created_at=OLD))
    insert = "INSERT INTO log (name, session, written, seq, processed, facts) VALUES (?,?,?,?,?,?)"
    rows = ((f"sessions/s{n}", f"s{n}", OLD, 5, 5, facts) for n in range(20_000))
    db.executemany(insert, rows)
    db.executemany(insert, ((f"users/u{n}", None, OLD, 5, 5, None) for n in range(5_000)))
    db.executemany(insert, ((f"nodes/u{n}", None, OLD, 5, 0, None) for n in range(5_000)))


def steps(db: sqlite3.Connection, asked: Asked) -> tuple[int, int]:
    """How much SQLite works for an answer, in hundreds of its steps; and how long the answer is."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    db.set_progress_handler(count, 100)
    found = unlearned.due(db, asked)
    db.set_progress_handler(None, 0)
    return taken, len(found)


@pytest.mark.parametrize("asked", [NOW, NOW._replace(parked=True)], ids=["due", "parked"])
def test_those_that_were_learned_from_cost_nothing(table, asked):
    assert steps(table, asked) == (0, 0)


def test_the_work_grows_with_what_is_due(table):
    table.execute("UPDATE log SET seq = 6 WHERE name IN ('sessions/s7', 'users/u9')")
    taken, found = steps(table, NOW)
    assert found == 2
    assert taken < 10


@pytest.fixture
def calls(monkeypatch) -> Counter[str]:
    counted: Counter[str] = Counter()
    for name in ("open", "stat", "ident", "list", "survey"):
        real = getattr(RealDisk, name)

        def asked(self, *given, name=name, real=real):
            counted[name] += 1
            return real(self, *given)

        monkeypatch.setattr(RealDisk, name, asked)
    return counted


def test_a_tick_asks_the_disk_as_often_with_eighty_sessions_as_with_ten(root, clock, calls):
    with open_memory(root, clock, sessions_per_tick=100) as memory:
        needed = []
        for first, last in ((0, 10), (10, 80)):
            for number in range(first, last):
                memory.reset_session(talk(memory, f"s{number}", f"fact {number}"))
            worker = Worker(memory)
            while memory.due_sessions():
                worker.tick()
            calls.clear()
            assert worker.tick() == []
            needed.append(dict(calls))
    assert needed[0] == needed[1]
