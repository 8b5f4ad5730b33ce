"""What a search costs, counted at the door to the disk."""

import os
import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from mnemolog.fs.real import RealDisk
from tests.index.counting import CountingDisk
from tests.index.searching import opened_on


@pytest.mark.req("S001-023", "S001-135", "S002-110")
def test_catching_up_reads_what_is_new_and_not_the_rest(root, clock):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    for number in range(40):
        sid = memory.create_session(session_id=f"s{number}").id
        memory.add_many(sid, [{"content": f"filler {n} " + "x" * 200} for n in range(25)])
    assert memory.query(None, limit=0) == []
    assert disk.taken > 40 * 25 * 200, "the first search reads everything"
    disk.reset()
    memory.query(None, limit=0)
    assert disk.taken == 0, "nothing is new, nothing is read"
    memory.add_memory("s7", content="needle " + "y" * 1000)
    disk.reset()
    memory.query(None, limit=0)
    assert 1000 < disk.taken < 4000, "one line, and a look at the one before it"
    assert "sessions" not in disk.listed, "no search lists all sessions"
    assert disk.sessions() == {"s7"}


def test_a_search_opens_only_the_logs_that_it_returns(root, clock):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    for number in range(30):
        sid = memory.create_session(session_id=f"s{number}").id
        memory.add_memory(sid, content=f"word{number}")
    memory.query(None, limit=0)
    disk.reset()
    assert len(memory.query(None, text="word3", limit=1)) == 1
    assert disk.sessions() == {"s3"}
    assert disk.taken < 1000
    assert "sessions" not in disk.listed


@pytest.mark.req("S001-136", "S002-113")
def test_only_the_lines_that_are_returned_are_read(root, clock):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    sid = memory.create_session(session_id="talk").id
    memory.add_many(sid, [{"content": f"entry {n} " + "x" * 5000} for n in range(100)])
    memory.query(sid, limit=0)
    disk.reset()
    assert len(memory.query(sid, text="entry", limit=3)) == 3
    assert 3 * 5000 < disk.taken < 4 * 6000


@pytest.mark.req("S001-138")
def test_a_rebuild_reads_every_log_once(root, clock):
    disk = CountingDisk(str(root))
    memory = opened_on(disk, clock=clock)
    for number in range(10):
        sid = memory.create_session(session_id=f"s{number}").id
        memory.add_many(sid, [{"content": "x" * 300} for _ in range(40)])
    held = sum(path.stat().st_size for path in root.glob("sessions/*/memory.jsonl"))
    disk.reset()
    memory.rebuild_index()
    assert held <= disk.taken < held * 1.05


def statements(memory: Any) -> list[str]:
    """What the index asks its database from now on."""
    asked: list[str] = []
    memory._index._index._build.db.set_trace_callback(asked.append)
    return asked


def test_a_search_that_finds_nothing_new_asks_the_database_little(root, clock):
    memory = opened_on(RealDisk(str(root)), clock=clock)
    for number in range(12):
        sid = memory.create_session(session_id=f"s{number}").id
        memory.add_many(sid, [{"content": f"word{n} common", "agent_id": "a"} for n in range(20)])
    memory.query(None, text="common word3", limit=10)
    asked = statements(memory)
    hits = memory.query(None, text="common word3", limit=10)
    assert len({hit.entry.session_id for hit in hits}) > 3
    assert len(asked) <= 4, "\n".join(asked)


def test_a_search_that_finds_nothing_new_looks_at_few_files(root, clock, monkeypatch):
    memory = opened_on(RealDisk(str(root)), clock=clock)
    sid = memory.create_session(session_id="talk").id
    memory.add_many(sid, [{"content": f"word{n} common"} for n in range(200)])
    memory.query(None, text="common word3", limit=10)
    calls: Counter[str] = Counter()
    for name in ("open", "stat", "fstat", "listdir", "pread"):
        monkeypatch.setattr(os, name, _counted(calls, name, getattr(os, name)))
    assert len(memory.query(None, text="common word3", limit=10)) == 10
    assert calls["pread"] == 10, "one for each line"
    assert calls["open"] == 3, "down to the marks"
    assert calls["listdir"] == 1
    assert calls["stat"] + calls["fstat"] <= 8, calls


def _counted(calls: Counter[str], name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*args: Any, **options: Any) -> Any:
        calls[name] += 1
        return call(*args, **options)

    return counted


def test_a_search_while_nothing_changes_asks_for_the_words_alone_and_takes_few_calls(root, clock):
    """Each call costs a third of a microsecond or more; there were 1,400 of them once."""
    memory = opened_on(RealDisk(str(root)), clock=clock)
    for number in range(10):
        sid = memory.create_session(session_id=f"s{number}").id
        memory.add_many(sid, [{"content": f"word{n % 7} harbour cat{n}"} for n in range(100)])
    memory.query(None, text="harbour of a cat", limit=10)
    asked = statements(memory)
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event in ("call", "c_call"):
            calls.append(frame.f_code.co_qualname)

    sys.setprofile(note)
    found = memory.query(None, text="harbour of a cat", limit=10)
    sys.setprofile(None)
    assert len(found) == 10
    assert [one.split()[0] for one in asked] == ["BEGIN", "PRAGMA", "SELECT", "ROLLBACK"]
    assert 300 < len(calls) <= 1000, Counter(calls).most_common(20)
