"""`mnemolog maintain` and `doctor --privacy`: what they say, and how they end."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog import Memory
from mnemolog.testing import FixedClock
from tests.forgetting.scanner import tree_of


@pytest.fixture
def old(root):
    """A root with two conversations of 100 days ago, whose session does not go into the archive."""
    past = FixedClock(datetime.now(UTC) - timedelta(days=100))
    root.mkdir(mode=0o700)
    (root / "config.toml").write_text("[archive]\nauto = false\n")
    (root / "config.toml").chmod(0o600)
    with Memory.open(root, clock=past, environ={}) as memory:
        memory.create_session(session_id="talk")
        for one in ("m1", "m2"):
            memory.add_conversation("talk", role="user", content="x", id=one)
        memory.delete_memory("talk", "m2")
    return root


def test_a_first_purge_is_shown_then_confirmed_then_done(run, ask, old):
    would = run("maintain", "--purge").stdout
    assert "would be hidden, for they are past retention: 1 entry (1 conversation)" in would
    assert "    1 in the session talk" in would
    assert "maintain --purge --confirm" in would
    done = run("maintain", "--purge", "--confirm").stdout
    assert "hidden, for they are past retention: 1 entry" in done
    assert "would" not in done
    assert "archived: 0 sessions" in done
    (again,) = ask("maintain", "--purge")
    assert again["purge"]["tombstoned"]["ids"] == []
    assert run("show", "talk").stdout.strip() == "" or "m1" not in run("show", "talk").stdout


def test_programs_get_the_whole_report(ask, old):
    (told,) = ask("maintain", "--purge", "--confirm")
    assert (told["is_dry_run"], told["is_elsewhere"], told["failed"]) == (False, False, {})
    assert told["purge"]["tombstoned"]["by_session"] == {"talk": 1}
    assert told["purge"]["erased"]["ids"] == ["m2"]
    assert told["purge"]["is_dry_run"] is False


def test_without_agreement_nothing_is_purged_by_itself(run, old):
    told = run("maintain").stdout
    assert "the first purge has to be confirmed" in told
    assert "past retention" not in told


def test_a_dry_run_changes_no_byte(run, old):
    run("maintain")
    before = tree_of(old)
    told = run("maintain", "--purge", "--dry-run").stdout
    assert "would be erased, for that cannot be undone any more: 1 entry" in told
    assert tree_of(old) == before


def test_a_confirmation_without_a_purge_is_a_mistake(run, old):
    assert "--purge" in run("maintain", "--confirm", code=2).stderr


@pytest.mark.parametrize("view", ["--agent", "--user"])
def test_it_is_for_the_owner(run, old, view):
    refused = json.loads(run("--json", "maintain", view, "x", code=None).stderr)
    assert refused["code"] == "E_NOT_ALLOWED"


def test_what_could_not_be_done_has_an_exit_code(run, root):
    past = FixedClock(datetime.now(UTC) - timedelta(days=40))
    with Memory.open(root, clock=past, environ={}) as memory:
        memory.create_session(session_id="talk")
    (root / "sessions" / "talk" / "mine.txt").write_text("not part of the log")
    told = run("maintain", code=10).stdout
    assert "could not be archived or compacted: talk" in told


def test_the_doctor_looks_at_privacy_alone_when_asked(run, old):
    (old / "sessions" / "talk" / "old.tmp").write_text("")
    told = run("doctor", "--privacy", code=10).stdout
    assert "retention_overdue" in told
    assert "hidden_overdue" in told
    assert "orphan" not in told
    assert "1 sessions, 1 logs checked" in told
    run("maintain", "--purge", "--confirm")
    (old / "sessions" / "talk" / "old.tmp").unlink(missing_ok=True)
    assert run("doctor", "--privacy").stdout.endswith("healthy\n")
