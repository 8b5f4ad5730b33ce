"""A folder, a pipe or a link where a session's file belongs costs that session, and no other."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import StorageIOError

STRANGE: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "junk": lambda path: path.write_text("junk"),
}
FILES = ["manifest.json", "memory.jsonl"]
# A segment of junk is a damaged line, which is told elsewhere.
WAYS = [(what, name) for name in FILES for what in STRANGE][:-1]


@pytest.fixture(params=WAYS, ids=" for ".join)
def spoiled(request, root, memory, clock):
    """A memory with the sessions `well` and `ill`, of which the second lost a file."""
    for name in ("well", "ill"):
        memory.create_session("u1", session_id=name, agent_ids=["architect"])
        memory.add_conversation(name, role="user", content="We need ACID.")
    memory.close()
    what, name = request.param
    path = root / "sessions/ill" / name
    path.unlink()
    STRANGE[what](path)
    with Memory.open(root, clock=clock, environ={}) as opened:
        yield opened


def test_statistics_count_the_others_and_say_which_is_missing(spoiled):
    found = spoiled.get_global_statistics()
    assert (found.sessions, found.total_entries) == (1, 1)
    (warning,) = found.warnings
    assert "ill is not counted" in warning
    assert "sessions/ill" in warning


def test_without_an_index_the_others_are_listed_too(spoiled, clock):
    bare = Memory(spoiled._store, spoiled.settings, clock)
    assert "well" in [one.id for one in bare.list_sessions()]


def test_nobody_is_told_of_a_session_that_may_be_somebody_elses(spoiled, root):
    assert spoiled.for_user("u2").get_global_statistics().warnings == ()
    agent = spoiled.for_agent("architect")
    heard = agent.get_global_statistics().warnings
    assert len(heard) == can_tell_whose(root)


def test_a_purge_says_what_it_could_not_look_at_and_does_the_rest(spoiled):
    done = spoiled.purge(confirm=True)
    assert [name.removeprefix("sessions/") for name in done.failed] == ["ill"]


def test_maintaining_goes_on_with_the_others_and_says_so(spoiled, root):
    done = spoiled.maintain(purge=True, confirm=True)
    assert done.purge is not None
    assert len(done.purge.failed) == 1
    assert spoiled.maintain(dry_run=True).compacted == ()
    assert list(done.failed) == ([] if can_tell_whose(root) else ["sessions/ill"])


def can_tell_whose(root) -> bool:
    manifest = root / "sessions/ill/manifest.json"
    return not manifest.is_symlink() and manifest.is_file() and manifest.read_text() != "junk"


def test_an_export_or_a_backup_without_it_says_so_or_is_not_made(spoiled, tmp_path):
    for work in (
        lambda: spoiled.export_native(tmp_path / "all.jsonl").left_out,
        lambda: spoiled.export_native(tmp_path / "user.jsonl", user_id="u1").left_out,
        lambda: spoiled.backup(tmp_path / "root.tar.gz").warnings,
    ):
        try:
            assert any("sessions/ill" in text for text in work())
        except StorageIOError as error:
            assert "sessions/ill" in error.message  # noqa: PT017
