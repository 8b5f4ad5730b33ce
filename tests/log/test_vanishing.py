"""A session that is moved away or deleted before the n-th call to the disk, for every n."""

from contextlib import suppress

import pytest

from mnemolog import Memory
from mnemolog.errors import LockTimeoutError, MnemologError, SessionNotFoundError
from tests.log.disks import RecordingDisk, nothing, open_on

MOMENTS = range(1, 40)


@pytest.fixture
def disk(root):
    return RecordingDisk(root)


def at_call(disk, number, work):
    """Do something once, before the n-th call on the session; tells whether it came to it."""
    calls = [0]
    done: list[bool] = []

    def before(name: str, path: str) -> None:
        calls[0] += path.startswith("sessions/talk")
        if calls[0] == number and not done:
            done.append(True)
            work()

    disk.before = before
    return done


@pytest.mark.parametrize("warm", [False, True], ids=["just opened", "in use"])
@pytest.mark.parametrize(
    "write",
    [
        lambda memory: memory.add_memory("talk", content="x"),
        lambda memory: memory.update_session("talk", metadata={"a": 1}),
        lambda memory: memory.get_entries("talk"),
        lambda memory: memory.get_statistics("talk"),
        lambda memory: memory.load_session("talk"),
    ],
    ids=["add_memory", "update_session", "get_entries", "get_statistics", "load_session"],
)
def test_a_session_moved_away_at_any_moment_is_missing_and_nothing_worse(disk, root, write, warm):
    folder, away = root / "sessions" / "talk", root / "sessions" / ".away"
    memory = open_on(disk)
    memory.create_session(session_id="talk")
    kept = [memory.add_memory("talk", content="first").id]
    problems = {}
    for number in MOMENTS:
        if not warm:
            memory.close()
        done = at_call(disk, number, lambda: folder.rename(away))
        try:
            receipt = write(memory)
            kept += [receipt.id] if hasattr(receipt, "seq") else []
        except SessionNotFoundError:
            pass
        except Exception as error:
            problems[number] = repr(error)
        disk.before = nothing
        if done:
            away.rename(folder)
        else:
            assert number > 1
            break
    assert not problems
    found = [one.id for one in memory.get_entries("talk")]
    assert set(kept) <= set(found), "what was acknowledged is there when the folder is back"


def test_a_session_archived_at_any_moment_is_read_whole(disk, root):
    """Its old bytes are overwritten: what is read of them is neither entries nor damage."""
    memory = open_on(disk)
    memory.create_session(session_id="talk")
    problems = {}
    with Memory.open(root, environ={}) as owner:
        for number in MOMENTS:
            owner.add_memory("talk", id=f"m{number}", content="x")  # which brings it back
            done = at_call(disk, number, lambda: owner.archive_session("talk"))
            found = memory.get_entries("talk")
            disk.before = nothing
            if found.warnings or len(found) != number:
                problems[number] = (found.warnings, len(found))
            if not done:
                assert number > 1
                break
    assert not problems


@pytest.mark.parametrize("verb", ["list_sessions", "get_global_statistics"])
def test_a_session_deleted_at_any_moment_disturbs_no_look_at_all_of_them(disk, root, verb):
    memory = open_on(disk)
    memory.create_session(session_id="other")
    problems = {}
    with Memory.open(root, environ={}) as owner:
        for number in MOMENTS:
            owner.create_session(session_id="talk")
            owner.add_memory("talk", content="x")
            done = at_call(disk, number, lambda: owner.delete_session("talk"))
            try:
                getattr(memory, verb)()
            except MnemologError as error:
                problems[number] = repr(error)
            disk.before = nothing
            if not done:
                assert number > 1
                break
    assert not problems


def test_a_session_replaced_at_any_moment_never_takes_an_entry_into_nowhere(disk, root):
    """Deleted and created anew between two calls: what comes after that is in the new one."""
    memory = open_on(disk)
    replaced, problems = [], {}
    with Memory.open(root, settings={"concurrency.lock_timeout_ms": 0}, environ={}) as owner:

        def replace() -> None:
            with suppress(LockTimeoutError):  # while the writer holds the lock, nobody deletes
                owner.delete_session("talk")
                owner.create_session(session_id="talk", metadata={"new": True})
                replaced.append(len(disk.calls))

        for number in MOMENTS:
            owner.create_session(session_id="talk")
            memory.add_memory("talk", content="warm")
            disk.calls.clear()
            done = at_call(disk, number, replace)
            receipt = memory.add_memory("talk", content="x")
            disk.before = nothing
            written = disk.calls.index(("append", "sessions/talk/memory.jsonl"))
            is_new = bool(owner.load_session("talk").metadata)
            found = owner.get_memory("talk", receipt.id)
            if found is None and (not is_new or replaced[-1] <= written):
                problems[number] = "acknowledged, and nowhere"
            owner.delete_session("talk")
            if not done:
                break
    assert not problems
    assert len(replaced) > 2
