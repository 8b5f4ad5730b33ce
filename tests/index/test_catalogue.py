"""The catalogue: sessions listed from the index, against a plain look at every manifest."""

import itertools
import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.fs.real import RealDisk
from mnemolog.testing.clock import FixedClock
from tests.index.counting import CountingDisk
from tests.index.searching import WORDS_ONLY, opened_on, steady
from tests.log.independent import records
from tests.log.rewriting import rewrite
from tests.memory.machine import QUICK

NAMES = st.sampled_from(["s1", "S1", "s2", "sé", "a/b"])
AGENTS = st.lists(st.sampled_from(["a", "b"]), unique=True)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), NAMES, st.sampled_from([None, "u1", "u2"]), AGENTS),
        st.tuples(st.just("add"), NAMES),
        st.tuples(st.just("close"), NAMES),
        st.tuples(st.just("agents"), NAMES, AGENTS),
        st.tuples(st.just("rewrite"), NAMES),
        st.tuples(st.just("delete"), NAMES),
        st.tuples(st.just("list")),
        st.tuples(st.just("wait")),
    ),
    max_size=20,
)


def take(memory: Memory, clock: FixedClock, root: Path, step: tuple[Any, ...]) -> None:
    """One step; what makes no sense at this point is passed over."""
    verb, *rest = step
    if verb == "wait":
        clock.advance(seconds=1)
    elif verb == "list":
        memory.list_sessions()
    elif verb == "create":
        name, user, agents = rest
        if name not in names(root):
            memory.create_session(user, agent_ids=agents, session_id=name)
    elif rest[0] in names(root):
        change(memory, root, verb, *rest)


def change(memory: Memory, root: Path, verb: str, name: str, *rest: Any) -> None:
    if verb == "add":
        memory.add_memory(name, content="x")
    elif verb == "close":
        memory.close_session(name)
    elif verb == "agents":
        memory.update_session(name, agent_ids=rest[0], metadata={"changed": True})
    elif verb == "delete":
        memory.delete_session(name)
    else:
        rewrite(root, name)
        memory.update_session(name, metadata={"rewritten": True})


def manifests(root: Path) -> list[tuple[Path, dict[str, Any]]]:
    found = (root / "sessions").glob("*/manifest.json")
    return [(path.parent, json.loads(path.read_bytes())) for path in found]


def names(root: Path) -> set[str]:
    return {manifest["session_id"] for _, manifest in manifests(root)}


def plainly(root: Path, **wanted: Any) -> list[tuple[str, str, str]]:
    """The sessions that are wanted, found by reading everything: id, state, last change."""
    found = []
    for folder, manifest in manifests(root):
        lines = records(folder)
        seq = lines[-1]["seq"] if lines else 0
        written = (lines[-1].get("at") or lines[-1]["timestamp"]) if lines else ""
        closed = manifest.get("markers", {}).get("closed_seq")
        state = "idle" if closed is not None and seq <= closed else "active"
        updated = max(written, manifest["created_at"])
        agents, user = manifest.get("agent_ids", []), manifest.get("user_id")
        if (
            all(agent in (None, *agents) for agent in (wanted.get("agent"), wanted.get("view")))
            and wanted.get("user") in (None, user)
            and wanted.get("state") in (None, state)
        ):
            found.append((updated, manifest["session_id"], state))
    found.sort(reverse=True)
    return [(name, state, updated) for updated, name, state in found][: wanted.get("limit")]


@pytest.mark.req("S002-112")
@settings(deadline=None, max_examples=20)
@given(steps=STEPS)
def test_the_catalogue_is_what_a_plain_look_at_every_manifest_shows(steps):
    clock = FixedClock()
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as folder,
        steady(Path(folder), clock, **WORDS_ONLY) as memory,
    ):
        root = Path(folder)
        for step in steps:
            take(memory, clock, root, step)
        check_every_filter(memory, root)


def check_every_filter(memory: Memory, root: Path) -> None:
    for view, user, agent, state, limit in itertools.product(
        (None, "a"), (None, "u1"), (None, "b"), (None, "active", "idle", "archived"), (None, 0, 1)
    ):
        seen = memory if view is None else memory.for_agent(view)
        listed = seen.list_sessions(user_id=user, agent_id=agent, state=state, limit=limit)
        found = [(one.id, one.state, one.updated_at) for one in listed]
        wanted = {"view": view, "user": user, "agent": agent, "state": state, "limit": limit}
        assert found == plainly(root, **wanted), wanted


def test_everything_that_is_known_of_a_session_is_listed(memory, sid):
    memory.update_session(
        sid, metadata={"a": {"b": [1]}}, preferences={"p": True}, settings={"decay.enabled": False}
    )
    memory.add_memory(sid, content="x")
    assert memory.list_sessions() == [memory.load_session(sid)]


def test_a_view_of_a_user_lists_that_users_sessions_only(memory, sid):
    other = memory.create_session("u2", session_id="other").id
    assert [one.id for one in memory.for_user("u2").list_sessions()] == [other]
    assert memory.for_user("u2").list_sessions(user_id="u1") == []
    assert memory.for_user("u3").list_sessions() == []


def test_a_damaged_session_is_left_out_until_it_is_mended(memory, sid, folder, root):
    other = memory.create_session("u1", session_id="other").id
    good = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(b"not json")
    memory.rebuild_index()
    assert [one.id for one in memory.list_sessions()] == [other]
    (folder / "manifest.json").write_bytes(good)
    assert {one.id for one in memory.list_sessions()} == {sid, other}


def test_a_listing_looks_at_no_session(root, clock):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    for number in range(60):
        memory.create_session("u1", session_id=f"s{number}")
        memory.add_memory(f"s{number}", content="x")
        clock.advance(seconds=1)
    memory.list_sessions()
    disk.reset()
    newest = memory.list_sessions(limit=5)
    assert [one.id for one in newest] == [f"s{number}" for number in range(59, 54, -1)]
    assert disk.taken == 0
    assert disk.sessions() == set()
    assert "sessions" not in disk.listed


def test_the_newest_session_is_found_without_reading_what_the_index_has_not_read(root, clock):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    for number in range(100):
        sid = memory.create_session(session_id=f"s{number}").id
        memory.add_many(sid, [{"content": f"filler {n} " + "x" * 2000} for n in range(40)])
        clock.advance(hours=1)
    memory.add_memory("s33", content="the latest")
    disk.reset()
    (newest,) = memory.list_sessions(limit=1)
    assert newest.id == "s33"
    assert disk.taken < 101 * 70_000, "of each log only the end, and there are 8 MB of them"
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        assert db.execute("SELECT value FROM meta WHERE key = 'rows'").fetchone() == (0,)


def test_the_newest_session_is_the_one_that_is_the_newest_once_all_is_read(root, clock):
    memory = opened_on(RealDisk(str(root)), clock=clock)
    for number in range(6):
        memory.create_session(f"u{number % 2}", agent_ids=["a"] if number % 3 else [],
                              session_id=f"s{number}")  # fmt: skip
        memory.add_memory(f"s{number}", content="x")
        clock.advance(hours=1)
    memory.query(None, limit=0)
    memory.add_memory("s1", content="again")
    memory.close_session("s4")
    memory.archive_session("s2")
    memory.delete_session("s5")
    questions: list[dict[str, Any]] = [
        {}, {"user_id": "u1"}, {"user_id": "u0"}, {"agent_id": "a"}, {"state": "idle"},
        {"state": "archived"}, {"state": "active", "user_id": "u0"}, {"user_id": "u2"},
    ]  # fmt: skip
    newest = [memory.list_sessions(limit=1, **one) for one in questions]
    assert [memory.list_sessions(**one)[:1] for one in questions] == newest
    names = [one.id for found in newest for one in found]
    assert names == ["s1", "s1", "s4", "s1", "s4", "s2", "s0"]
