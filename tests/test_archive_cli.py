"""`mnemolog archive` and `mnemolog restore`."""

import json

import pytest
from click.testing import CliRunner

from mnemolog import Memory
from mnemolog.faces.cli.app import app

OLD = "2020-01-01T00:00:00.000Z"


@pytest.fixture
def run(root):
    """Run a verb on the root; gives exit code, output, and what was said on the side."""

    def call(*words):
        done = CliRunner().invoke(app, [*words, "--root", str(root)])
        return done.exit_code, done.stdout, done.stderr

    return call


@pytest.fixture
def _two_sessions(root):
    with Memory.open(root, environ={}) as memory:
        for name in ("a", "b"):
            memory.create_session(session_id=name, created_at=OLD)
            memory.add_memory(name, content=f"hello {name} " * 500)


@pytest.mark.req("S001-119")
@pytest.mark.usefixtures("_two_sessions")
def test_sessions_are_archived_listed_shown_and_restored(run, root):
    code, out, _ = run("archive", "a", "b", "--json")
    assert code == 0
    told = [json.loads(line) for line in out.splitlines()]
    assert [one["session_id"] for one in told] == ["a", "b"]
    assert all(one["compressed_size_bytes"] < one["original_size_bytes"] for one in told)
    assert (root / "archive/a.tar.gz").exists()
    code, out, _ = run("sessions", "--state", "archived", "--json")
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == ["a", "b"]
    for words in (["show", "a"], ["log", "a"], ["show", "a", "--raw"]):
        code, out, _ = run(*words)
        assert code == 0
        assert "hello a" in out
    assert run("restore", "a", "--json")[0] == 0
    assert not (root / "archive/a.tar.gz").exists()
    assert (root / "archive/b.tar.gz").exists()


@pytest.mark.usefixtures("_two_sessions")
def test_a_person_sees_sizes_and_a_program_exact_numbers(run):
    code, out, err = run("archive", "a")
    assert (code, err) == (0, "")
    assert "session" in out
    assert "KiB" in out
    code, out, _ = run("restore", "a")
    assert (code, out) == (0, "a  active\n")


@pytest.mark.req("S001-101")
def test_idle_sessions_are_archived_together(run, root, clock):
    with Memory.open(root, clock=clock, environ={}) as memory:
        clock.moment = clock.moment.replace(year=2020)
        memory.create_session(session_id="old")
        clock.moment = clock.moment.replace(year=2100)
        memory.create_session(session_id="new")
    code, out, _ = run("archive", "--idle", "--json")
    assert (code, [json.loads(line)["session_id"] for line in out.splitlines()]) == (0, ["old"])
    assert run("archive", "--idle") == (0, "no session has been idle for so long\n", "")


def test_what_cannot_be_archived_is_told_and_changes_the_exit_code(run, root, clock):
    with Memory.open(root, clock=clock, environ={}) as memory:
        clock.moment = clock.moment.replace(year=2020)
        memory.create_session(session_id="old")
    (root / "sessions/old/mine.txt").write_text("x")
    code, _, err = run("archive", "--idle")
    assert code == 10
    assert "old was not archived" in err


@pytest.mark.usefixtures("_two_sessions")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["archive"], 2, "--idle"),
        (["archive", "a", "--idle"], 2, "--idle"),
        (["archive", "none"], 6, "E_SESSION_NOT_FOUND"),
        (["restore", "none"], 6, "E_SESSION_NOT_FOUND"),
        (["restore"], 2, "SESSIONS"),
        (["archive", "a", "--user", "u1"], 6, "E_SESSION_NOT_FOUND"),
    ],
)
def test_what_makes_no_sense_is_refused(run, words, code, said):
    found, _, err = run(*words)
    assert found == code
    assert said in err
