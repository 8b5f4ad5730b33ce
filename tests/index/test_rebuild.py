"""The index can be deleted, damaged or outdated at any time: the same results come back."""

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.index import database
from mnemolog.model.session import Session
from mnemolog.testing.clock import FixedClock
from tests.index.searching import (
    WORDS_ONLY,
    Ranking,
    assert_alike,
    ids,
    scored,
    searcher,
    steady,
)  # fmt: skip
from tests.memory.machine import QUICK

QUERIES: list[dict[str, Any]] = [
    {},
    {"text": "database"},
    {"text": "which database did we choose", "scorer": "weighted"},
    {"text": "data*", "scorer": "product"},
    {"types": ["decision"], "sort": "time_desc"},
    {"tags": ["storage"]},
    {"references": ["m3"], "max_depth": 3},
    {"text": "数据库"},
]


def fill(memory: Memory) -> None:
    for session in ("s1", "s2"):
        memory.create_session("u1", agent_ids=["a", "b"], session_id=session)
    for number in range(24):
        memory.add_memory(
            f"s{1 + number % 2}",
            id=f"m{number}",
            type=("conversation", "decision", "finding")[number % 3],
            content=f"entry {number}: the database 数据库 {'engine' if number % 4 else 'choice'}",
            tags=["storage.disk"] if number % 5 == 0 else [],
            references=[f"m{number - 2}"] if number > 1 else [],
            agent_id="ab"[number % 2],
            timestamp=f"2026-11-{1 + number % 14:02}T00:00:00.{number:03}Z",
        )
    memory.update_memory("s1", "m4", content="revised: the databases are gone")
    memory.update_preference("s1", key="style", value="database", scope="user")
    memory.add_memory("s1", id="shared", content="a shared database", scope="shared")


class Shown(NamedTuple):
    """All that searching shows: hits, order, scores, sessions."""

    rankings: list[Ranking]
    sessions: list[Session]

    def check(self, memory: Memory) -> None:
        """A memory must show the same."""
        again = everything(memory)
        assert again.sessions == self.sessions
        for ours, theirs in zip(self.rankings, again.rankings, strict=True):
            assert_alike(ours, theirs, rough=1e-4)


def everything(memory: Memory) -> Shown:
    found = [scored(memory.query(s, q)) for s in (None, "s1", "s2") for q in QUERIES]
    found += [scored(memory.for_agent("a").query(None, q)) for q in QUERIES]
    return Shown(found, memory.list_sessions() + memory.list_sessions(agent_id="b", limit=1))


@pytest.fixture
def full(root, clock):
    """A root with an index, and what it shows."""
    with steady(root, clock) as memory:
        fill(memory)
        shown = everything(memory)
        assert len(shown.rankings[1]) > 10
    return shown


def assert_the_same(root: Path, clock: Any, shown: Shown) -> None:
    with steady(root, clock) as memory:
        shown.check(memory)
        memory.add_memory("s1", id="later", content="entirely later")
        assert "later" in ids(memory.query("s1", text="later"))


@pytest.mark.req("S001-130", "S002-054", "S002-082")
@pytest.mark.parametrize("session", [None, "s1"])
def test_a_rebuilt_index_shows_the_same(root, clock, full, session):
    with steady(root, clock) as memory:
        memory.rebuild_index(session)
        full.check(memory)
    assert_the_same(root, clock, full)


@pytest.mark.req("S001-130", "S002-054")
def test_a_rebuild_says_how_many_entries_the_index_holds(memory, sid):
    assert memory.rebuild_index() == 0
    memory.add_many(sid, [{"id": f"m{n}", "content": "x"} for n in range(5)])
    assert memory.rebuild_index() == 5
    memory.add_memory(sid, id="m1", content="y")
    assert memory.rebuild_index() == 5, "a revision is no second entry"


@pytest.mark.req("S001-024", "S001-130", "S002-108")
def test_an_index_deleted_between_two_searches_comes_back(root, clock, full):
    with steady(root, clock) as memory:
        for _ in range(3):
            full.check(memory)
            shutil.rmtree(root / "index")
        full.check(memory)
        for path in (root / "index").glob("index.db*"):
            path.unlink()
        full.check(memory)


def test_an_index_built_at_once_shows_what_one_built_step_by_step_shows(root, clock):
    with steady(root, clock) as memory:
        fill(memory)
        once = everything(memory)
    shutil.rmtree(root)
    with steady(root, clock) as memory:
        original = memory.add_memory

        def add_and_look(*args: Any, **fields: Any) -> Any:
            receipt = original(*args, **fields)
            memory.query(None, text="database")
            return receipt

        memory.add_memory = add_and_look  # type: ignore[method-assign]
        fill(memory)
        once.check(memory)


def test_ties_across_sessions_are_ordered_the_same_after_a_rebuild(root, clock):
    with steady(root, clock) as memory:
        for name in ("b", "c", "a"):
            memory.create_session(session_id=name)
            memory.add_memory(name, id=f"in-{name}", content="alike")
            memory.query(None)
        before = [ids(memory.query(None, q)) for q in ({}, {"text": "alike"}, {"sort": "time_asc"})]
        memory.rebuild_index()
        after = [ids(memory.query(None, q)) for q in ({}, {"text": "alike"}, {"sort": "time_asc"})]
        assert after == before


@settings(deadline=None, max_examples=10)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["s1", "s2"]),
            st.sampled_from(["m1", "m2", "m3", "m4"]),
            st.sampled_from(["alpha", "alpha beta", "gamma beta", "alpha alpha gamma"]),
            st.booleans(),
        ),
        min_size=1, max_size=14,
    )
)  # fmt: skip
def test_any_story_gives_the_same_index_step_by_step_and_at_once(steps):
    """Entries, revisions, searches between them: a later rebuild changes nothing."""
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(), **WORDS_ONLY) as memory,
    ):
        for session in ("s1", "s2"):
            memory.create_session(session_id=session)
        for session, identifier, text, is_searched in steps:
            memory.add_memory(session, id=f"{session}-{identifier}", content=text)
            if is_searched:
                memory.query(None, text="alpha")
        asked = [(s, t) for s in ("s1", "s2") for t in ("", "alpha", "beta gamma")]
        before = [scored(memory.query(s, text=t)) for s, t in asked]
        memory.rebuild_index()
        assert [scored(memory.query(s, text=t)) for s, t in asked] == before


# --- damage

Damage = Callable[[Path], object]


def overwrite(content: bytes) -> Damage:
    return lambda index: (index / "index.db").write_bytes(content)


def column(index: Path, name: str) -> Path:
    (found,) = index.glob(f"{name}.*col")
    return found


def cut(name: str, size: int) -> Damage:
    return lambda index: os.truncate(column(index, name), size)


def overfill(index: Path, name: str) -> None:
    path = column(index, name)
    path.write_bytes(b"\x7f" * path.stat().st_size)


def a_pipe_instead(name: str) -> Damage:
    def damage(index: Path) -> None:
        (path,) = index.glob(f"{name}.*.col")
        path.unlink()
        os.mkfifo(path)

    return damage


def remove_columns(index: Path) -> None:
    for path in index.glob("*.col"):
        path.unlink()


def remove(name: str) -> Damage:
    return lambda index: column(index, name).unlink()


def scramble(index: Path) -> None:
    """Keep the first page, so that it still looks like a database."""
    content = bytearray((index / "index.db").read_bytes())
    for at in range(4096, len(content)):
        content[at] ^= 0x5A
    (index / "index.db").write_bytes(content)


def halve(index: Path) -> None:
    os.truncate(index / "index.db", (index / "index.db").stat().st_size // 2)


def in_database(statement: str) -> Damage:
    def run(index: Path) -> None:
        with closing(sqlite3.connect(index / "index.db")) as db, db:
            db.execute(statement)
        db.close()

    return run


def a_folder_instead(index: Path) -> None:
    (index / "index.db").unlink()
    (index / "index.db").mkdir()


def a_folder_for_a_journal(index: Path) -> None:
    (index / "index.db-wal").unlink(missing_ok=True)
    (index / "index.db-wal").mkdir()


DAMAGE: dict[str, Damage] = {
    "the database is garbage": overwrite(b"garbage" * 1000),
    "the database is empty": overwrite(b""),
    "the database is another one": overwrite(b"SQLite format 3\0" + bytes(5000)),
    "half of the database is missing": halve,
    "the database is scrambled": scramble,
    "the database is a folder": a_folder_instead,
    "the journal is a folder": a_folder_for_a_journal,
    "the database is missing": lambda index: (index / "index.db").unlink(),
    "a table is missing": in_database("DROP TABLE post"),
    "a table that every search reads is missing": in_database("DROP TABLE tail"),
    "the number of rows is missing": in_database("DELETE FROM meta WHERE key = 'rows'"),
    "the identity is missing": in_database("DELETE FROM meta WHERE key = 'identity'"),
    "a number is too large": in_database("UPDATE term SET hash = 1 << 40"),
    "a column is cut": cut("time", 12),
    "every time lies beyond all years": lambda index: overfill(index, "time"),
    "a column is cut at a row": cut("length", 10),
    "a column is empty": cut("log", 0),
    "a column is missing": remove("offset"),
    "a column is a pipe": a_pipe_instead("time"),
    "the vectors are a pipe": a_pipe_instead("vector"),
    "the vectors are cut": cut("vector", 100),
    "the vectors are missing": remove("vector"),
    "all columns are missing": remove_columns,
    "the marks are missing": lambda index: shutil.rmtree(index / "dirty"),
    "a stray file lies there": lambda index: (index / "notes.txt").write_text("x"),
}


@pytest.mark.req("S002-138")
@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_index_is_built_anew_and_never_an_error(root, clock, full, what):
    DAMAGE[what](root / "index")
    assert_the_same(root, clock, full)


@pytest.mark.req("S002-138")
@pytest.mark.parametrize(
    "what", ["the database is garbage", "the database is scrambled", "the database is missing"]
)
def test_an_index_damaged_under_an_open_handle_is_built_anew(root, clock, full, what):
    with steady(root, clock) as memory:
        full.check(memory)
        fresh = root / "index" / "fresh"
        fresh.mkdir()
        shutil.copy(root / "index" / "index.db", fresh / "index.db")
        DAMAGE[what](fresh)
        if (fresh / "index.db").exists():
            os.replace(fresh / "index.db", root / "index" / "index.db")
        else:
            (root / "index" / "index.db").unlink()
        fresh.rmdir()
        full.check(memory)


@pytest.mark.req("S001-038", "S002-036")
def test_an_index_of_another_version_is_built_anew(root, clock, full, monkeypatch):
    monkeypatch.setattr(database, "SCHEMA_VERSION", database.SCHEMA_VERSION + 1)
    assert_the_same(root, clock, full)
    found = identity(root)
    monkeypatch.undo()
    with steady(root, clock) as memory:
        memory.query(None)
    assert identity(root) != found


def identity(root: Path) -> str:
    db = sqlite3.connect(root / "index" / "index.db")
    (value,) = db.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
    db.close()
    return str(value)


def test_an_index_without_vectors_is_the_same_once_it_has_them_again(root, clock, full):
    with steady(root, clock, **WORDS_ONLY) as memory:
        memory.rebuild_index()
        other = scored(memory.query(None, text="database"))
        assert other
        assert all(why["semantic"] == 0 for _, _, why in other)
    assert_the_same(root, clock, full)


def test_types_are_told_apart_however_many_names_there_are(root, clock):
    """Types and agents are numbered together: a type may have a number beyond 65,535."""
    with steady(root, clock, **WORDS_ONLY) as memory:
        sid = memory.create_session().id
        memory.add_memory(sid, id="early", content="x")
        memory.query(sid)
        in_database("INSERT INTO word VALUES (70000, 'agent', 'the seventy thousandth')")(
            root / "index"
        )
        memory.add_memory(sid, id="late", type="stand-up", content="x")
        assert ids(memory.query(sid, types=["stand-up"])) == ["late"]
        assert ids(memory.query(sid, types=["conversation"])) == ["early"]
        assert {hit.why["decay"] for hit in memory.query(sid)} == {1.0}


@pytest.mark.req("S001-024")
def test_everything_in_the_index_is_for_its_owner_alone(root, full):
    for path in (root / "index").rglob("*"):
        wanted = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == wanted, path.name


def test_writing_needs_no_index_and_makes_none(root, clock):
    with Memory.open(root, clock=clock, environ={}) as memory:
        sid = memory.create_session().id
        memory.add_memory(sid, content="x")
        memory.get_entries(sid)
    assert not list((root / "index").glob("index.db*"))


@pytest.mark.req("S002-138")
def test_a_process_goes_on_searching_while_its_index_is_deleted_again_and_again(root, clock, full):
    wanted = {one[0] for one in full.rankings[0]}
    with searcher(root) as other:
        for _ in range(15):
            other.send(None, limit=100)
            shutil.rmtree(root / "index", ignore_errors=True)
            assert len(other.answer()) >= len(wanted)
            assert wanted <= set(other.ask(None, limit=100))


@pytest.mark.req("S002-138")
def test_an_index_deleted_again_as_soon_as_it_is_made_is_made_again(root, clock, full, monkeypatch):
    make, times = database.make, count(1)

    def in_vain(folder: str, identity: str) -> None:
        make(folder, identity)
        if next(times) <= 3:
            shutil.rmtree(folder)

    monkeypatch.setattr(database, "make", in_vain)
    shutil.rmtree(root / "index")
    assert_the_same(root, clock, full)
    assert next(times) == 5


@pytest.mark.req("S002-138")
def test_an_index_deleted_while_it_is_made_is_made_again(root, clock, full, monkeypatch):
    opened, times = database._open, count(1)

    def in_vain(path: str) -> sqlite3.Connection:
        connection = opened(path)
        if next(times) <= 3:
            shutil.rmtree(root / "index")
        return connection

    monkeypatch.setattr(database, "_open", in_vain)
    shutil.rmtree(root / "index")
    assert_the_same(root, clock, full)
    assert next(times) > 4


def test_a_process_goes_on_searching_while_another_one_rebuilds(root, clock, full):
    with steady(root, clock) as memory, searcher(root) as other:
        wanted = other.ask(None, limit=100)
        for _ in range(15):
            other.send(None, limit=100)
            memory.rebuild_index()
            assert sorted(other.answer()) == sorted(wanted)
        full.check(memory)


def test_many_processes_may_be_the_first_to_search(root, clock, full):
    for _ in range(2):
        shutil.rmtree(root / "index")
        with searcher(root) as one, searcher(root) as two, searcher(root) as three:
            everyone = (one, two, three)
            for other in everyone:
                other.send(None, limit=100)
            found = [sorted(other.answer()) for other in everyone]
            assert found[0] == found[1] == found[2]
            assert len(found[0]) == 26
    with steady(root, clock) as memory:
        assert len(memory.query(None, limit=100)) == 26
        assert len(memory.query(None, text="database", limit=100)) == 26
