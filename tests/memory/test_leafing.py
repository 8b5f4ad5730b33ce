"""Leafing: what the index shows is what the log says, at the cost of what is shown."""

import random

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    NotAllowedError,
    SchemaInvalidError,
    SessionNotFoundError,
    StorageIOError,
)
from mnemolog.ports import LogKey
from mnemolog.ports.looking import Span, looker_of
from tests.index.counting import CountingDisk
from tests.index.searching import opened_on

TALK = LogKey("session", "talk")


def change(memory: Memory, chance: random.Random, known: list[str]) -> None:
    """Something that happens to a session."""
    view = memory.for_agent(chance.choice(["architect", "analyst"]))
    own = [one.id for one in view.get_entries("talk") if one.agent_id == view._viewer.agent]
    act = chance.choice(["add"] * 6 + ["revise", "delete", "delete", "undelete", "erase"])
    if act == "add":
        secret = f"mail{len(known)}@firm.example" if chance.random() < 0.2 else ""
        kind = chance.choice(["note", "conversation", "event"])
        scope = chance.choice(["session", "session", "agent"])
        done = view.add_memory(
            "talk", type=kind, content=f"said {len(known)} {secret}", scope=scope
        )
        known.append(done.id)
    elif act == "revise" and own:
        view.update_memory("talk", chance.choice(own), content=f"again {len(known)}")
    elif act == "delete" and own:
        view.delete("talk", ids=[chance.choice(own)])
    elif act == "undelete" and (hidden := memory.hidden_entries("talk")):
        memory.undelete("talk", [chance.choice(hidden).entry.id])
    elif act == "erase" and known and chance.random() < 0.5:
        memory.erase("talk", ids=[chance.choice(known)], verify=False)


def told_alike(view: Memory, chance: random.Random) -> None:
    """Both ways to look at a log show the same."""
    index, log = view._counter, looker_of(view._store)
    span = Span(
        after=chance.choice([0, 0, 5, 17]),
        before=chance.choice([None, None, 12, 30]),
        backwards=chance.random() < 0.5,
        types=chance.choice([None, {"note"}, {"note", "event"}, {"nobody's"}]),
        agents=chance.choice([None, {"architect"}]),
        with_hidden=chance.random() < 0.5,
        only_hidden=chance.random() < 0.2,
    )
    most = chance.choice([0, 3, 100, None])
    assert index.part(TALK, view._viewer, span, most) == log.part(TALK, view._viewer, span, most)
    ahead = chance.choice([0, -660, 845])
    parts = index.minimap(TALK, view._viewer, 7, ahead)
    assert parts == log.minimap(TALK, view._viewer, 7, ahead)
    numbers, counted = view.numbers("talk"), view.get_statistics("talk")
    summary = numbers.summary
    assert (summary.counts, summary.agents) == (counted.by_type, counted.by_agent)
    assert (summary.revisions, summary.redactions) == (counted.revisions, counted.redactions)
    assert (summary.size_bytes, summary.damaged) == (counted.size_bytes, counted.corrupted_lines)
    hidden = log.part(TALK, view._viewer, Span(only_hidden=True), None)
    assert numbers.hidden == hidden.total


@pytest.mark.parametrize("seed", range(6))
def test_the_index_and_the_log_tell_the_same_whatever_happened(memory, sid, seed):
    chance = random.Random(seed)
    known: list[str] = []
    views = [memory, memory.for_agent("architect"), memory.for_user("u1")]
    for step in range(60):
        change(memory, chance, known)
        if step % 20 == 19:
            memory.compact_session(sid)
        if step % 6 == 5:
            for view in views:
                told_alike(view, chance)
    for identifier in known:
        for view in views:
            ways = (view._counter, looker_of(view._store))
            one, other = (way.one(TALK, view._viewer, identifier) for way in ways)
            assert one == other
            one, other = (way.raw(TALK, view._viewer, identifier) for way in ways)
            assert one == other


def test_a_line_that_cannot_be_read_is_counted_once_something_follows_it(memory, sid, folder):
    memory.add_memory(sid, content="before")
    assert memory.numbers(sid).summary.damaged == 0
    with open(folder / "memory.jsonl", "ab") as file:
        file.write(b'{"v":1,"id":"broken"}\n')
    memory.add_memory(sid, content="after")
    for _ in range(2):
        assert memory.numbers(sid).summary.damaged == 1
    assert memory.get_statistics(sid).corrupted_lines == 1


def test_the_numbers_of_all_sessions_are_those_that_a_view_may_see(memory, sid):
    memory.add_memory(sid, content="ours")
    memory.create_session("u2", agent_ids=["other"], session_id="theirs")
    memory.add_many("theirs", [{"type": "note", "content": f"{n}"} for n in range(3)])
    found = memory.numbers()
    assert (found.sessions, sum(found.summary.counts.values())) == (2, 4)
    own = memory.for_agent("architect").numbers()
    assert (own.sessions, own.summary.counts) == (1, {"conversation": 1})
    assert memory.for_user("u9").numbers().sessions == 0
    assert memory.growth("day") == {"2026-11-15": {"conversation": 1, "note": 3}}
    assert memory.for_user("u9").growth("month") == {}
    assert list(memory.growth("hour")) == ["2026-11-15T09"]


@pytest.mark.parametrize("count", [1_000, 10_000])
def test_a_page_reads_the_lines_that_it_shows_however_long_the_session_is(root, clock, count):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    sid = memory.create_session("u1", session_id="talk").id
    for start in range(0, count, 1000):
        memory.add_many(
            sid, [{"content": f"{n:06}" + "x" * 194} for n in range(start, start + 1000)]
        )
    length = memory.raw_line(sid, memory.timeline(sid, limit=1).entries[0].entry.id).line
    for ask in (
        lambda: memory.timeline(sid, limit=100),
        lambda: memory.timeline(sid, around=count // 2, limit=100),
        lambda: memory.timeline(sid, after=count // 3, limit=100, with_hidden=True),
    ):
        disk.reset()
        assert len(ask().entries) in (100, 101)
        assert disk.taken <= 102 * len(length)
    disk.reset()
    assert len(memory.minimap(sid)) > 300
    assert sum(memory.numbers(sid).summary.counts.values()) == count
    assert memory.numbers().sessions == 1
    assert memory.hidden_entries(sid) == []
    assert sum(memory.growth("day")["2026-11-15"].values()) == count
    assert disk.taken == 0


def test_a_session_is_shown_though_the_index_cannot_be_made(memory, sid, root, monkeypatch):
    memory.add_memory(sid, content="still here")

    def fails(*_: object) -> None:
        raise StorageIOError("The index is gone.")

    hidden = memory.add_memory(sid, content="hidden").id
    memory.delete(sid, ids=[hidden])
    before = memory.numbers(sid), memory.numbers()
    monkeypatch.setattr(type(memory._index), "counter", lambda one: one)
    for name in ("part", "minimap", "numbers", "hidden"):
        monkeypatch.setattr(type(memory._index), name, fails, raising=False)
    assert [one.entry.content for one in memory.timeline(sid).entries] == ["still here"]
    assert len(memory.minimap(sid)) == 1
    assert [one.entry.id for one in memory.hidden_entries()] == [hidden]
    assert (memory.numbers(sid), memory.numbers()) == before


def test_a_single_name_narrows_a_timeline_as_a_list_of_it_does(memory, sid):
    memory.for_agent("analyst").add_memory(sid, type="note", content="x", tags=["tea"])
    memory.add_conversation(sid, role="user", content="y")
    for one in ({"types": "note"}, {"agents": "analyst"}, {"tags": "tea"}):
        assert [told.entry.content for told in memory.timeline(sid, **one).entries] == ["x"]
    with pytest.raises(SchemaInvalidError, match="types"):
        memory.timeline(sid, types=5)


def test_a_view_of_several_agents_sees_exactly_what_each_of_them_sees(memory, sid):
    chance = random.Random(7)
    memory.create_session("u2", agent_ids=["lone"], session_id="apart")
    memory.create_session("u3", agent_ids=["other"], session_id="foreign")
    for number in range(60):
        agent, home = chance.choice(
            [("architect", sid), ("analyst", sid), ("lone", "apart"), ("other", "foreign")]
        )
        scope = chance.choice(["session", "agent"])
        memory.for_agent(agent).add_memory(home, content=f"heron {number}", scope=scope)
    views = [memory.for_agent(name) for name in ("architect", "lone")]
    both = memory.for_agents(["architect", "lone"])

    def found(view: Memory) -> set[str]:
        return {hit.entry.id for hit in view.query(text="heron", limit=100)}

    def shown(view: Memory, home: str) -> set[str]:
        return {one.entry.id for one in view.timeline(home, limit=200).entries}

    assert found(both) == found(views[0]) | found(views[1])
    assert shown(both, sid) == shown(views[0], sid)
    assert shown(both, "apart") == shown(views[1], "apart")
    assert {one.id for one in both.list_sessions()} == {sid, "apart"}
    assert both.numbers().summary.counts["conversation"] == sum(
        view.numbers().summary.counts["conversation"] for view in views
    )
    with pytest.raises(SessionNotFoundError):
        both.timeline("foreign")
    for other in (["architect", "other"], ["architect", "lone", "other"]):
        with pytest.raises(NotAllowedError):
            both.for_agents(other)
        with pytest.raises(NotAllowedError):
            views[0].for_agents(other)


def test_what_was_hidden_at_once_is_listed_alike_by_a_new_index(memory):
    for session in ("d", "a", "c", "b"):
        memory.create_session(session_id=session)
        for number in (2, 1, 3):
            memory.add_memory(session, id=f"{session}{number}", content="x")
        memory.query(None)
    for session in ("b", "d", "a", "c"):
        memory.delete(session, ids=[f"{session}{number}" for number in (1, 3, 2)])
    listed = [one.entry.id for one in memory.hidden_entries()]
    memory.rebuild_index()
    assert [one.entry.id for one in memory.hidden_entries()] == listed
    parts = [memory.hidden_entries(skip=skip, limit=5) for skip in (0, 5, 10)]
    assert [one.entry.id for part in parts for one in part] == listed


def test_a_last_use_that_can_be_no_moment_is_no_error(memory, sid, root):
    memory.add_memory(sid, content="still here")
    memory.query(sid)
    memory.close()
    (used,) = (root / "index").glob("used.*.col")
    (uses,) = (root / "index").glob("uses.*.col")
    for path in (used, uses):
        path.write_bytes(b"\x7f" * path.stat().st_size)
    assert [one.entry.content for one in memory.timeline(sid).entries] == ["still here"]
