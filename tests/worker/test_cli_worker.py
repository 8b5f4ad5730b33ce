"""`mnemolog worker`: one tick, a preview, what is due and parked, and a clean end."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.errors import DistillerError
from mnemolog.testing import FixedClock
from mnemolog.worker import default_prompt
from tests.worker.scribes import Scribe, open_memory, talk

COMMAND = [sys.executable, "-m", "mnemolog"]


@pytest.fixture
def run(root):
    environ = {**os.environ, "MNEMOLOG_ROOT": str(root), "MNEMOLOG_SEARCH_EMBEDDER": "none"}

    def called(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words],
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return called


@pytest.fixture
def due(root):
    """A root with one session that is due, whose decision the default distiller understands."""
    with open_memory(root) as memory:
        talk(memory, "s1")
        memory.add_decision("s1", made_by="guide", decision="Use PostgreSQL", tags=["database"])
        memory.reset_session("s1")
    return root


@pytest.mark.req("S003-01", "S003-09")
def test_once_learns_from_what_is_due(run, due):
    done = run("worker", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("learned  s1")
    written = [path.read_text() for path in (due / "users" / "u1" / "memory").rglob("*.md")]
    assert any("Use PostgreSQL" in text for text in written)
    assert run("worker", "--once").stdout == "Nothing is due.\n"


def test_one_node_is_told_as_one_and_what_says_nothing_only_where_there_is_some(run, root):
    with open_memory(root) as memory:
        memory.create_session("u1", session_id="s1")
        memory.add_decision("s1", made_by="guide", decision="Use PostgreSQL", tags=["database"])
        memory.reset_session("s1")
    told = run("worker", "--once").stdout
    assert "1 node written" in told
    assert "state nothing" not in told


def test_programs_get_each_outcome_as_a_line(run, due):
    (line,) = run("worker", "--once", "--json").stdout.splitlines()
    told = json.loads(line)
    assert (told["session_id"], told["status"], told["error"]) == ("s1", "learned", "")
    assert told["written"] >= 1


def test_a_dry_run_shows_the_proposals_and_changes_nothing(run, due):
    shown = run("worker", "--dry-run")
    assert shown.returncode == 0
    assert "Use PostgreSQL" in shown.stdout
    (told,) = map(json.loads, run("worker", "--dry-run", "--json").stdout.splitlines())
    assert told["due"]["session_id"] == "s1"
    assert told["proposal"]["edits"]
    assert not (due / "users" / "u1" / "memory").exists()
    assert json.loads(run("worker", "--status", "--json").stdout)["due"][0]["session_id"] == "s1"


def test_a_parked_session_is_shown_and_taken_up_again(run, due):
    past = FixedClock(datetime.now(UTC) - timedelta(days=1))
    with open_memory(due, past) as memory:
        (one,) = memory.due_sessions()
        for _ in range(5):
            memory.note_failure(one, DistillerError("x"))
    shown = run("worker", "--status")
    assert (shown.returncode, "parked" in shown.stdout) == (10, True)
    assert "E_DISTILLER" in shown.stdout
    assert "0 due, 1 parked, 0 half done" in shown.stdout
    found = run("doctor")
    assert "session_parked" in found.stdout
    assert run("worker", "--retry", "s1").stdout == "s1 is taken up again\n"
    assert run("worker", "--retry", "s1").stdout == "s1 was not parked\n"
    assert run("worker", "--once").stdout.startswith("learned  s1")


def test_the_doctor_tells_of_overdue_sessions_and_left_plans(run, root):
    past = FixedClock(datetime.now(UTC) - timedelta(days=3))
    with open_memory(root, past) as memory:
        memory.reset_session(talk(memory, "s1", "one"))
        (one,) = memory.due_sessions()
        lesson = memory.lesson_of(one)
        assert lesson is not None
        made = Scribe().distil(lesson, memory.node_reader("u1"))
        memory.keep_plan(lesson, made, "scribe")
        memory.reset_session(talk(memory, "s2", "two"))
    (plan,) = (root / "intents").glob("plan-*.json")
    os.utime(plan, (past.moment.timestamp(),) * 2)
    told = [json.loads(line) for line in run("doctor", "--json").stdout.splitlines()]
    codes = {one["code"] for one in told}
    assert {"session_overdue", "plan_left"} <= codes
    assert "intent_open" not in codes


def test_the_doctor_tells_of_a_prompt_that_cannot_be_used(run, root, due):
    run("worker", "--prompt")
    assert "prompt_refused" not in run("doctor", "--json").stdout
    (root / "prompts/memory/MEMORY_AGENT.md").chmod(0o666)
    assert "prompt_refused" in run("doctor", "--json").stdout


def test_a_healthy_root_has_none_of_these(run, due):
    told = run("doctor", "--json").stdout
    assert not any(code in told for code in ("session_parked", "session_overdue", "plan_left"))


@pytest.mark.parametrize("words", [["--once", "--status"], ["--dry-run", "--retry", "s1"]])
def test_one_thing_at_a_time(run, due, words):
    assert run("worker", *words).returncode == 2


@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_it_works_until_a_signal_and_ends_cleanly(due, word):
    environ = {
        **os.environ, "MNEMOLOG_ROOT": str(due), "MNEMOLOG_SEARCH_EMBEDDER": "none",
        "MNEMOLOG_KNOWLEDGE_TICK_SECONDS": "0.05",
    }  # fmt: skip
    with subprocess.Popen(
        [*COMMAND, "worker", "--json"], env=environ, stdout=subprocess.PIPE, text=True
    ) as working:
        assert working.stdout is not None
        assert json.loads(working.stdout.readline())["status"] == "learned"
        time.sleep(0.1)
        working.send_signal(word)
        assert working.wait(60) == 0


def test_a_session_is_taken_as_finished_when_somebody_says_so(run, root):
    with open_memory(root) as memory:
        memory.create_session(session_id="s2")
        memory.add_decision("s2", made_by="guide", decision="Use PostgreSQL", tags=["database"])
    assert "Nothing is due" in run("worker", "--once").stdout
    done = run("worker", "--once", "--finished", "s2")
    assert "learned" in done.stdout
    assert "Use PostgreSQL" in run("node", "read", "decisions/database").stdout


@pytest.mark.req("S003-15")
def test_prompt_writes_the_default_once_and_then_shows_what_is_used(run, root):
    began = run("worker", "--prompt")
    path = root / "prompts" / "memory" / "MEMORY_AGENT.md"
    assert (began.returncode, path.read_text()) == (0, default_prompt())
    assert (path.stat().st_mode & 0o777, "was written" in began.stdout) == (0o600, True)
    path.write_text("Learn only names.")
    shown = json.loads(run("worker", "--prompt", "--json").stdout)
    assert (shown["path"], shown["is_new"]) == ("prompts/memory/MEMORY_AGENT.md", False)
    assert path.read_text() == "Learn only names."
    path.write_text("")
    refused = run("worker", "--prompt")
    assert (refused.returncode != 0, "it is empty" in refused.stderr) == (True, True)
