"""`mnemolog runs`: which are open, and how what a crash left is ended."""

import shlex
from datetime import datetime, timedelta

import pytest

from mnemolog import Memory
from tests.forgetting.scanner import traces, word


@pytest.fixture
def left(memory, sid):
    """A run of an agent with a note that nobody ended; the note."""
    secret = word()
    memory.run(sid, agent_id="architect", run_id="long job").save("run", secret)
    return secret


def test_open_runs_are_listed_with_what_they_hold(run, ask, memory, left, clock):
    memory.create_session(session_id="other")
    began = clock.now()
    clock.advance(minutes=5)
    crashed = memory.run("talk", agent_id="architect", run_id="long job")
    for number in range(3):
        crashed.save("run", "x", id=f"n{number}")
    crashed.clear("run", id="n1")
    memory.run("other", run_id="r2")
    told = ask("runs")
    assert [(one["session_id"], one["run_id"], one["agent_id"], one["notes"]) for one in told] == [
        ("other", "r2", None, 0),
        ("talk", "long job", "architect", 3),
    ]
    assert datetime.fromisoformat(told[1]["began"]) == began
    assert datetime.fromisoformat(told[1]["last_written"]) == began + timedelta(minutes=5)
    assert [one["run_id"] for one in ask("runs", "list", "other")] == ["r2"]
    assert "talk     long job  architect" in run("runs").stdout
    assert left not in run("runs").stdout


def test_a_run_is_ended_and_nothing_of_its_notes_stays(run, ask, memory, left, root):
    (told,) = ask("runs", "end", "talk", "long job", "--yes")
    assert (told["run_id"], told["notes"], told["status"]) == ("long job", 1, "ended")
    assert traces(root, [left]) == {}
    assert run("runs").stdout == "No run is open.\n"


def test_nothing_is_ended_without_agreement(run, memory, left, monkeypatch):
    assert "--yes" in run("runs", "end", "talk", "long job", code=2).stderr
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True)
    refused = run("runs", "end", "talk", "long job", code=2, text="n\n")
    assert "End the run long job, last used" in refused.stdout
    assert len(memory.left_runs()) == 1
    run("runs", "end", "talk", "long job", text="y\n")
    assert memory.left_runs() == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["end", "talk", "nope", "--yes"], 5),
        (["end", "nope", "long job", "--yes"], 6),
        (["end", "talk", "--yes"], 2),
        (["list", "talk", "long job"], 2),
        (["stop"], 2),
        (["--agent", "architect"], 5),
    ],
)
def test_what_cannot_be_ended_or_listed_says_why(run, memory, left, words, code):
    assert run("runs", *words, code=code).stderr
    assert len(memory.left_runs()) == 1


@pytest.mark.parametrize(("session", "name"), [("talk", "long job"), ("it's", "-x; `RUN`")])
def test_the_doctor_names_the_command_that_ends_it(ask, root, session, name):
    with Memory.open(root) as memory:
        memory.create_session(session_id=session)
        memory.run(session, run_id=name).save("run", "x")
        (advice,) = (one["advice"] for one in ask("doctor") if one["code"] == "run_open")
        _, *command = shlex.split(advice.partition("`")[2].rpartition("`")[0])
        ask("runs", "--yes", *command[1:])
        assert memory.left_runs() == []
