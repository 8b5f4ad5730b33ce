"""The name of a session may be what it is deleted for: only the audit keeps it."""

import json
import os
import signal
import sqlite3
import subprocess
import sys

import pytest

from mnemolog.index import catch_up, purging
from mnemolog.index.index import Index
from mnemolog.testing import FixedClock
from tests.forgetting.dying import LATER
from tests.forgetting.planting import opened
from tests.forgetting.scanner import traces, word
from tests.index.searching import leave_mark

SEARCH = """
import sys
from mnemolog import Memory
with Memory.open(sys.argv[1], settings={"search.embedder": "none"}, environ={}) as memory:
    assert [hit.entry.id for hit in memory.query(None, text="orange")] == ["o"]
"""
SCAN = """
import json, sys
from pathlib import Path
from tests.forgetting.scanner import traces
print(json.dumps(traces(Path(sys.argv[1]), sys.argv[2:])))
"""
ONLY_THE_AUDIT = ["audit.jsonl"]


def fill(memory, name):
    memory.create_session(session_id="other")
    memory.add_memory("other", id="o", content="orange")
    memory.create_session(session_id=name, agent_ids=["a"])
    for number in range(5):
        memory.add_memory(name, content=f"orange {number}", agent_id="a")


def search(root):
    subprocess.run([sys.executable, "-c", SEARCH, str(root)], check=True)


def found(root, name):
    """The files that hold a name; by another process, for one that closes a file loses its locks
    on it, and SQLite would lose its own."""
    command = [sys.executable, "-c", SCAN, str(root), name]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(told).get(name, [])


@pytest.mark.parametrize("is_searched", [True, False], ids=["searched before", "never searched"])
@pytest.mark.parametrize("is_archived", [False, True], ids=["live", "archived"])
def test_the_name_of_a_deleted_session_stays_in_the_audit_alone(root, is_searched, is_archived):
    name = word()
    with opened(root, FixedClock(LATER)) as memory:
        fill(memory, name)
        if is_searched:
            assert len(memory.query(None, text="orange")) == 6
        if is_archived:
            memory.archive_session(name)
        memory.delete_session(name)
        assert found(root, name) == ONLY_THE_AUDIT
        assert len(memory.query(None, text="orange")) == 1
        assert found(root, name) == ONLY_THE_AUDIT
    assert found(root, name) == ONLY_THE_AUDIT, "nor does a note of use bring it back"
    search(root)
    assert traces(root, [name]) == {name: ONLY_THE_AUDIT}


def test_a_mark_and_a_note_that_others_left_of_a_session_that_is_gone_leave_no_name(root):
    name = word()
    with opened(root, FixedClock(LATER)) as memory, opened(root, FixedClock(LATER)) as other:
        fill(memory, name)
        assert len(other.query(None, text="orange")) == 6
        memory.delete_session(name)
        leave_mark(root, name)
        assert len(memory.query(None, text="orange")) == 1
        assert found(root, name) == ONLY_THE_AUDIT
    assert traces(root, [name]) == {name: ONLY_THE_AUDIT}


def in_a_child(work):
    """Do something in a child that is killed over it."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)


KILLS = {
    "before the index is told": (Index, "purge"),
    "before its rows go": (purging, "purge"),
    "before its mark goes": (catch_up.CatchUp, "run_for"),
    "after the note": (catch_up.CatchUp, "_take_names"),
    "before the journal is emptied": (purging, "let_go"),
}


@pytest.mark.parametrize("when", KILLS)
def test_a_kill_between_leaves_no_name_once_somebody_has_searched(root, when):
    name = word()
    with opened(root, FixedClock(LATER)) as memory:
        fill(memory, name)
        memory.query(None, text="orange")

    def work():
        with opened(root, FixedClock(LATER)) as memory:
            setattr(*KILLS[when], kill)
            memory.delete_session(name)

    in_a_child(work)
    search(root)
    assert traces(root, [name]) == {name: ONLY_THE_AUDIT}


@pytest.mark.parametrize("when", ["after the note", "before the journal is emptied"])
def test_a_search_that_is_killed_over_a_mark_leaves_no_name_after_the_next(root, when):
    name = word()
    with opened(root, FixedClock(LATER)) as memory:
        fill(memory, name)
        memory.query(None, text="orange")
        memory.delete_session(name)
    leave_mark(root, name)

    def work():
        with opened(root, FixedClock(LATER)) as memory:
            setattr(*KILLS[when], kill)
            memory.query(None, text="orange")

    in_a_child(work)
    assert "index/index.db-wal" in traces(root, [name])[name]
    search(root)
    assert traces(root, [name]) == {name: ONLY_THE_AUDIT}


def test_another_session_of_the_same_name_is_found(root):
    with opened(root, FixedClock(LATER)) as memory:
        fill(memory, "talk")
        memory.query(None, text="orange")
        memory.delete_session("talk")
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="new", content="orange again")
        assert {hit.entry.id for hit in memory.query(None, text="orange")} == {"o", "new"}
    db = sqlite3.connect(f"file:{root}/index/index.db?mode=ro", uri=True)
    assert db.execute("SELECT count(*) FROM meta WHERE key = ?", (purging.LEFT,)).fetchone() == (0,)
    db.close()
