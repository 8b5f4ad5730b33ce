"""Runs that nobody ends: `doctor` shows them, and `maintain` removes them after a week."""

from pathlib import Path

import pytest

from mnemolog.fs.real import RealDisk
from mnemolog.settings import Settings
from mnemolog.stores.files import doctor
from mnemolog.stores.files.doctor import Visit
from tests.forgetting.scanner import traces, word


def found(root: Path, now) -> list[tuple[str, str]]:
    """What the doctor finds: code and path."""
    visit = Visit(RealDisk(str(root)), Settings(), now=now)
    return [(one.code, one.path) for one in doctor.examine(visit)]


@pytest.fixture
def left(memory, sid):
    """A run with a secret in its notes that nobody ended; the secret."""
    secret = word()
    memory.run(sid, agent_id="architect", run_id="long job").save("run", secret)
    return secret


def test_the_doctor_shows_a_run_and_warns_of_it_after_a_week(memory, left, root, clock):
    path = "sessions/talk/runs/long%20job.jsonl"
    assert found(root, clock.now()) == [("run_open", path)]
    clock.advance(days=7)
    assert found(root, clock.now()) == [("run_open", path)]
    clock.advance(minutes=1)
    assert found(root, clock.now()) == [("run_left", path)]
    visit = Visit(RealDisk(str(root)), Settings(), now=clock.now())
    (outcome,) = doctor.repair(visit)
    assert (outcome.done, outcome.failed) == (None, None)
    assert "'long job' of 'architect' has not ended" in outcome.finding.what
    assert traces(root, [left]) != {}, "the doctor never removes a line"
    memory.end_run("talk", "long job")
    assert found(root, clock.now()) == []


def test_maintaining_ends_what_was_left_for_a_week_and_nothing_younger(memory, left, root, clock):
    clock.advance(days=4)
    memory.run("talk", agent_id="analyst", run_id="young").save("run", "x")
    clock.advance(days=3)
    assert memory.maintain().ended_runs == ()
    clock.advance(hours=1)
    would = memory.maintain(dry_run=True)
    assert would.ended_runs == ("long job",)
    assert "would be ended, for it was left behind: the run long job" in str(would)
    assert traces(root, [left]) != {}
    assert memory.maintain().ended_runs == ("long job",)
    assert traces(root, [left]) == {}
    assert [one.run_id for one in memory.left_runs("talk")] == ["young"]


def test_whoever_goes_on_with_a_run_or_reads_in_it_keeps_it_from_being_left(memory, left, clock):
    for use in (lambda run: None, lambda run: run.get("run")):
        clock.advance(days=6)
        use(memory.run("talk", agent_id="architect", run_id="long job"))
        clock.advance(days=6)
        assert memory.maintain().ended_runs == ()
        memory.run("talk", agent_id="architect", run_id="long job")
    clock.advance(days=8)
    assert memory.maintain().ended_runs == ("long job",)


def test_a_run_without_notes_is_left_behind_too(memory, sid, clock):
    memory.run(sid, run_id="empty")
    memory.run(sid, run_id="cleared").save("run", "x")
    memory.run(sid, run_id="cleared").clear("run")
    clock.advance(days=8)
    assert set(memory.maintain().ended_runs) == {"empty", "cleared"}
    assert memory.left_runs(sid) == []


def test_an_idle_session_is_archived_once_its_left_run_is_gone(memory, left, clock):
    clock.advance(days=60)
    done = memory.maintain()
    assert (done.ended_runs, done.archived, done.failed) == (("long job",), ("talk",), {})


def test_what_a_crash_left_of_an_end_is_mended_by_the_doctor_or_by_the_next_run(
    memory, left, root, clock, folder
):
    file = folder / "runs" / "long%20job.jsonl"
    half = file.rename(f"{file}.tmp")
    assert found(root, clock.now()) == [("temporary", f"sessions/talk/runs/{half.name}")]
    visit = Visit(RealDisk(str(root)), Settings(), now=clock.now())
    (outcome,) = doctor.repair(visit)
    assert outcome.done == "overwritten and removed"
    assert traces(root, [left]) == {}

    memory.run("talk", run_id="another").save("run", left)
    (folder / "runs" / "another.jsonl").rename(half)
    with memory.run("talk"):
        assert traces(root, [left]) == {}
    memory.run("talk", run_id="third").save("run", left)
    (folder / "runs" / "third.jsonl").rename(half)
    clock.advance(days=60)
    assert memory.maintain().failed == {}
    assert traces(root, [left]) == {}


def test_a_run_whose_file_is_nothing_but_rubbish_is_still_found_and_removed(
    memory, left, clock, folder
):
    file = folder / "runs" / "long%20job.jsonl"
    file.write_bytes(b"\0" * 500)
    (one,) = memory.left_runs("talk")
    assert (one.run_id, one.agent_id) == ("long job", None)
    memory.end_run("talk", "long job")
    assert not file.exists()
