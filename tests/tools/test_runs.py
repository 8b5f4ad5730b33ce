"""A run: begun, gone on with, ended; whose it is, and that nothing of it stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    InvalidFormatError,
    NotAllowedError,
    SessionArchivedError,
    SessionCorruptError,
    SessionNotFoundError,
)
from mnemolog.tools import bind
from tests.forgetting.scanner import traces, word
from tests.index.searching import marks

RUNNER = Path(__file__).with_name("runner.py")


def contents(notes):
    return [note.content for note in notes]


def runs_of(folder: Path) -> list[str]:
    """The names of the files of a session's runs."""
    return sorted(path.name for path in (folder / "runs").iterdir())


# --- begun and ended


@pytest.mark.req("S004-061", "S004-062", "S004-003")
def test_a_run_is_a_file_from_its_first_moment_and_gone_after_its_last(memory, sid, folder):
    with memory.run(sid, agent_id="architect") as run:
        assert runs_of(folder) == [f"{run.id}.jsonl"]
        run.save("run", "step 1")
        run.save("session", "kept")
        run.save("plan", "kept too")
    assert not run.is_open
    assert runs_of(folder) == []
    assert {entry.content for entry in memory.get_entries(sid)} == {"kept", "kept too"}
    run.end()
    for use in (run.notes, run.get, run.clear, run.size):
        with pytest.raises(NotAllowedError, match="has ended"):
            use("run")
    assert contents(run.notes("session")) == ["kept"]


def test_leaving_the_block_by_an_error_ends_the_run_and_hands_the_error_on(memory, sid, folder):
    def fail():
        with memory.run(sid) as run:
            run.save("run", "x")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert runs_of(folder) == []


def test_ending_overwrites_every_byte_before_the_name_goes(memory, sid, root, folder):
    texts = [word() for _ in range(4)]
    run = memory.run(sid, agent_id="architect", run_id=texts[0])
    run.save("run", texts[1], id=texts[2], category=texts[3])
    run.save("run", "newer", id=texts[2])
    run.get("run")
    path = folder / "runs" / f"{texts[0]}.jsonl"
    twin = folder / "twin"
    os.link(path, twin)  # the same bytes under another name: what the disk still holds afterwards
    assert set(traces(root, texts)) == set(texts)
    run.end()
    assert set(twin.read_bytes()) == {0}
    twin.unlink()
    assert traces(root, texts) == {}


@pytest.mark.req("S004-060", "S004-088")
def test_run_notes_are_never_indexed_embedded_or_found(memory, sid, root):
    secret, shared = word(), word()
    run = memory.run(sid, agent_id="architect")
    run.save("run", f"the {secret} valve", tags=[secret], category=secret)
    run.save("session", f"the {shared} valve")
    memory.query(text="valve")
    memory.rebuild_index()
    found = [hit.entry for hit in memory.query(text=f"{secret} valve", limit=50)]
    assert contents(found) == [f"the {shared} valve"]
    assert contents(memory.get_entries(sid)) == [f"the {shared} valve"]
    memory.close()
    assert traces(root / "index", [secret]) == {}
    assert set(traces(root / "index", [shared])) == {shared}
    assert traces(root, [secret]) == {secret: [f"sessions/talk/runs/{run.id}.jsonl"]}


def test_a_plan_that_ends_with_the_run_is_never_indexed_either(root, clock):
    secret = word()
    settings = {"compartments.plan_scope": "run", "search.embedder": "none"}
    with Memory.open(root, settings=settings, clock=clock, environ={}) as memory:
        memory.create_session(session_id="talk")
        with memory.run("talk") as run:
            run.save("plan", f"first {secret}")
            assert list(memory.query(text=secret)) == []
        memory.close()
    assert traces(root, [secret]) == {}


def test_damage_in_a_run_leaves_no_copy_behind(memory, sid, root, folder):
    secret = word()
    run = memory.run(sid)
    run.save("run", secret)
    path = folder / "runs" / f"{run.id}.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"note"', b'"nxte"') + b"torn " + secret.encode())
    assert len(run.get("run").warnings) == 1
    run.end()
    assert traces(root, [secret]) == {}


# --- ids and owners


@pytest.mark.req("S004-086")
@pytest.mark.parametrize("run_id", ["Run/../7", "läuft", "x" * 900, "CON", ".", "a\nb"])
def test_a_run_may_have_any_id(memory, sid, folder, run_id):
    with memory.run(sid, run_id=run_id) as run:
        run.save("run", "x")
        assert run.notes("run")[0].run_id == run_id
        assert [one.run_id for one in memory.left_runs(sid)] == [run_id]
        again = memory.run(sid, run_id=run_id)
        assert contents(again.notes("run")) == ["x"]
    assert runs_of(folder) == []


@pytest.mark.parametrize("run_id", ["", "a\x00b", "x" * 1025, 7, b"x"])
def test_an_id_that_no_file_can_hold_is_refused_and_nothing_begins(memory, sid, folder, run_id):
    with pytest.raises(InvalidFormatError):
        memory.run(sid, run_id=run_id)
    assert not (folder / "runs").exists()


@pytest.mark.req("S004-002")
def test_ending_a_run_touches_no_other_one(memory, sid):
    first, second = (memory.run(sid, agent_id="architect") for _ in range(2))
    third = memory.run(sid, agent_id="analyst")
    for run in (first, second, third):
        run.save("run", f"of {run.id}", id="same")
    first.end()
    assert contents(second.get("run")) == [f"of {second.id}"]
    assert contents(third.get("run")) == [f"of {third.id}"]
    assert [note.run_id for note in second.notes("run")] == [second.id]


def test_nobody_goes_on_with_or_ends_the_run_of_another_agent(memory, sid):
    run = memory.run(sid, agent_id="architect", run_id="mine")
    run.save("run", "state")
    for thief in (
        lambda: memory.run(sid, agent_id="analyst", run_id="mine"),
        lambda: memory.for_agent("analyst").run(sid, run_id="mine"),
    ):
        with pytest.raises(NotAllowedError, match="is taken"):
            thief()
    for verb in ("end_run", "left_runs"):
        with pytest.raises(NotAllowedError):
            getattr(memory.for_agent("analyst"), verb)(*[sid, "mine"][: 1 + (verb == "end_run")])
    with pytest.raises(NotAllowedError):
        memory.for_agent("architect").run(sid, agent_id="analyst")
    assert contents(run.get("run")) == ["state"]


def test_a_users_view_tells_only_of_that_users_runs(memory):
    for user in ("ann", "bob"):
        memory.create_session(user, session_id=f"of {user}")
        memory.run(f"of {user}")
    assert [one.session_id for one in memory.for_user("bob").left_runs()] == ["of bob"]
    assert len(memory.left_runs()) == 2


def test_a_run_without_notes_is_its_agents_too(memory, sid):
    memory.run(sid, agent_id="architect", run_id="mine")
    with pytest.raises(NotAllowedError, match="is taken"):
        memory.run(sid, agent_id="analyst", run_id="mine")


def test_the_owner_may_look_into_a_run_that_was_left_and_it_stays_its_agents(memory, sid):
    memory.run(sid, agent_id="architect", run_id="mine").save("run", "state")
    assert contents(memory.run(sid, run_id="mine").notes("run")) == ["state"]
    (left,) = memory.left_runs(sid)
    assert (left.run_id, left.agent_id) == ("mine", "architect")
    assert contents(memory.run(sid, run_id="mine", agent_id="architect").notes("run")) == ["state"]
    memory.end_run(sid, "mine")
    assert memory.left_runs(sid) == []


def test_a_session_that_is_not_the_agents_has_no_runs_for_it(memory, sid):
    for open_run in (
        lambda: memory.run(sid, agent_id="stranger"),
        lambda: memory.for_agent("stranger").run(sid),
        lambda: memory.for_user("somebody").run(sid),
        lambda: memory.run("no such session"),
    ):
        with pytest.raises(SessionNotFoundError):
            open_run()


def test_an_agent_that_is_taken_off_a_session_sees_its_notes_no_more(memory, sid):
    run = memory.run(sid, agent_id="architect")
    run.save("session", "x")
    memory.update_session(sid, agent_ids=["analyst"])
    for use in (run.get, run.notes, run.clear):
        with pytest.raises(SessionNotFoundError):
            use("session")
    assert bind(run).call("save_memory", {"compartment": "run", "content": "y"}).is_error


# --- crashes


@pytest.mark.req("S004-079")
def test_a_run_whose_process_is_killed_goes_on_under_its_id(memory, sid, root, folder):
    started = subprocess.Popen(
        [sys.executable, str(RUNNER), "linger", str(root), sid, "long job"],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    with started:
        acknowledged = [started.stdout.readline().strip() for _ in range(3)]
        os.kill(started.pid, signal.SIGKILL)
    assert started.returncode == -signal.SIGKILL
    assert [one.run_id for one in memory.left_runs(sid)] == ["long job"]
    with memory.run(sid, agent_id="architect", run_id="long job") as run:
        assert [note.id for note in run.notes("run")] == acknowledged
        assert run.uses("run")[acknowledged[0]] == 1
        run.save("run", "and on it goes")
        assert len(run.notes("run")) == 4
        assert "and on it goes" in bind(run).block()
    assert runs_of(folder) == []
    assert [entry.content for entry in memory.get_entries(sid)] == ["kept by long job"]


def test_a_run_id_that_has_ended_begins_anew_and_empty(memory, sid):
    memory.run(sid, run_id="r").save("run", "old")
    memory.end_run(sid, "r")
    with memory.run(sid, run_id="r") as run:
        assert run.notes("run") == []
        run.save("run", "new")
        assert contents(run.notes("run")) == ["new"]


def test_a_handle_on_a_run_that_somebody_ended_is_told_so(memory, sid, root, clock):
    run = memory.run(sid, run_id="r")
    run.save("run", "x")
    with Memory.open(root, clock=clock, environ={}) as other:
        other.end_run(sid, "r")
    assert run.notes("run") == []
    with pytest.raises(NotAllowedError, match="has ended"):
        run.save("run", "y")
    run.end()


# --- with the rest of a session's life


def test_a_session_takes_its_runs_with_it_and_their_end_is_quiet(memory, sid, root):
    secret = word()
    with memory.run(sid) as run:
        run.save("run", secret)
        memory.delete_session(sid)
        assert traces(root, [secret]) == {}
    assert not run.is_open


def test_tools_of_a_session_that_is_gone_give_no_block_and_do_not_raise(memory, sid):
    run = memory.run(sid)
    run.save("run", "half done")
    tools = bind(run)
    assert "half done" in tools.block()
    memory.delete_session(sid)
    assert (tools.block(), tools.variables()["has_memory"]) == ("", False)


def test_a_session_with_an_open_run_is_not_archived_and_then_it_is(memory, sid):
    with memory.run(sid) as run:
        run.save("run", "x")
        with pytest.raises(SessionCorruptError, match="End the run"):
            memory.archive_session(sid)
        assert contents(run.notes("run")) == ["x"]
    memory.archive_session(sid)
    assert memory.load_session(sid).state == "archived"


def test_a_run_brings_an_archived_session_back_unless_the_settings_forbid_it(root, clock):
    with Memory.open(root, clock=clock, environ={}) as memory:
        memory.create_session(session_id="talk")
        memory.archive_session("talk")
        strict = {"archive.auto_restore": False}
        other = Memory.open(root, settings=strict, clock=clock, environ={})
        with other, pytest.raises(SessionArchivedError):
            other.run("talk")
        assert memory.load_session("talk").state == "archived"
        with memory.run("talk") as run:
            run.save("run", "x")
        assert memory.load_session("talk").state == "active"


def test_a_run_costs_the_session_nothing_that_a_search_would_notice(memory, sid, root):
    memory.add_memory(sid, type="note", content="x")
    memory.query(text="x")
    log = root / "sessions" / sid / "memory.jsonl"
    before = log.read_bytes()
    with memory.run(sid) as run:
        for number in range(10):
            run.save("run", f"{number}")
        run.get("run")
    assert log.read_bytes() == before
    assert marks(root) == []
