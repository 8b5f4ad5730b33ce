"""What compactions moved out comes back, while others erase, compact and bring it back too."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import EntryNotFoundError, LockTimeoutError
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock
from mnemolog.testing.opening import open_on
from tests.forgetting.scanner import traces, word
from tests.log.disks import RecordingDisk

FIRST, SECOND = "the-first-that-moved", "the-second-that-moved"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


def on(disk: RecordingDisk, **chosen: object) -> Memory:
    settings = Settings().changed(chosen)
    return open_on(disk, settings, FixedClock(), purge=lambda gone: True)


def move_out(memory: Memory, secret: str) -> None:
    """A session of which two compactions have moved one entry each to the archive."""
    memory.create_session(session_id="s")
    memory.add_memory("s", id="kept", type="note", content="stays")
    for name in (FIRST, SECOND):
        memory.add_memory("s", id=name, type="note", content=f"{secret} {name}", importance=0.001)
        assert memory.compact_session("s").archived == 1


def once(disk: RecordingDisk, name: str, part: str, work: Callable[[], object]) -> list[str]:
    """Has work done before the first call of this name on a path with this part."""
    done: list[str] = []

    def before(call: str, path: str) -> None:
        if not done and call == name and part in path:
            done.append(path)
            work()

    disk.before = before
    return done


def second_file(root: Path) -> str:
    """The archive's second file; when it is opened, the first one was read."""
    return sorted(path.name for path in (root / "archive").glob("s.g*.gz"))[1]


BACK = {
    "undelete": lambda memory: memory.undelete("s", [FIRST]),
    "delete": lambda memory: memory.delete("s", ids=[FIRST]),
    "revise": lambda memory: memory.update_memory("s", FIRST, tags=["new"]),
}


@pytest.mark.parametrize("verb", BACK)
def test_what_is_erased_before_it_is_back_does_not_come_back(root, verb):
    secret, disk = word(), RecordingDisk(root)
    with on(disk) as memory, on(RecordingDisk(root)) as other:
        move_out(memory, secret)
        done = once(
            disk,
            "open",
            second_file(root),
            lambda: other.erase("s", ids=[FIRST, SECOND], verify=False),
        )
        try:
            BACK[verb](memory)
        except EntryNotFoundError:
            assert verb == "revise"
        assert done
        assert memory.get_memory("s", FIRST) is None
    assert traces(root, [secret, FIRST]) == {}


@pytest.mark.parametrize("verb", ["undelete", "delete", "revise"])
def test_what_a_compaction_moves_out_again_before_it_is_taken_out_is_not_lost(root, verb):
    secret, disk = word(), RecordingDisk(root)
    with on(disk) as memory, on(RecordingDisk(root)) as other:
        move_out(memory, secret)
        done = once(disk, "sync", "sessions/s/memory", lambda: other.compact_session("s"))
        BACK[verb](memory)
        assert done
        if verb == "delete":
            assert memory.get_memory("s", FIRST) is None
            memory.undelete("s", [FIRST])
        found = memory.get_memory("s", FIRST)
        assert found is not None
        assert secret in found.text


@pytest.mark.parametrize("verb", [*BACK, "plain revision"])
def test_what_comes_back_or_is_revised_while_an_erasure_begins_goes_too(root, verb):
    secret, disk = word(), RecordingDisk(root)
    with on(disk) as memory, on(RecordingDisk(root)) as other:
        move_out(memory, secret)
        gone = [FIRST, SECOND]
        work = lambda: BACK[verb](other)  # noqa: E731
        if verb == "plain revision":
            memory.add_memory("s", id="plain", type="note", content=f"{secret} plain")
            gone.append("plain")
            work = lambda: other.update_memory("s", "plain", tags=["new"])  # noqa: E731
        done = once(disk, "open", "intents/", work)
        memory.erase("s", ids=gone, verify=False)
        assert done
        assert memory.get_memory("s", gone[-1]) is None
    assert traces(root, [secret, *gone]) == {}


def test_what_a_compaction_moves_out_while_it_is_redacted_stays_and_says_no_secret(root):
    """Compacted before each look at the log, in turn."""
    secret = "gh" + "p_" + "".join(f"{one}{n}" for n, one in enumerate(word(20)))
    step, went_on = 0, True
    while went_on:
        step, at, disk = step + 1, root / str(step), RecordingDisk(root / str(step))
        hasty = {"concurrency.lock_timeout_ms": 1, "privacy.redaction": False}
        with on(disk) as memory, on(RecordingDisk(at), **hasty) as other:
            other.create_session(session_id="s")
            other.add_memory("s", id=FIRST, type="note", content=f"so {secret}", importance=0.001)
            left = step

            def before(name: str, path: str) -> None:
                nonlocal left
                left -= name == "open" and "sessions/s" in path
                if left == 0 and name == "open":
                    with suppress(LockTimeoutError):
                        other.compact_session("s")

            disk.before = before
            memory.redact("s")
            went_on = left <= 0
            found = memory.get_memory("s", FIRST)
            assert found is not None, step
            assert found.text.startswith("so [REDACTED"), step
        assert traces(at, [secret]) == {}, step
    assert step > 4


def test_an_id_that_was_moved_keeps_its_first_time_and_its_place_when_it_is_written_again(
    root: Path,
) -> None:
    memory, long_ago = on(RecordingDisk(root)), "2020-01-01T00:00:00.000Z"
    memory.create_session(session_id="s")
    for name in (FIRST, SECOND):
        memory.add_memory(
            "s", id=name, type="note", content="old", importance=0.001, timestamp=long_ago
        )
    memory.add_memory("s", id="last", content="here all the time", importance=1.0)
    assert memory.compact_session("s").archived == 2
    assert memory.update_memory("s", SECOND, content="changed").status == "revised"
    assert memory.add_memory("s", id=FIRST, type="note", content="new").status == "revised"
    found = memory.get_entries("s")
    assert [one.id for one in found] == [FIRST, SECOND, "last"]
    assert [one.text for one in found] == ["new", "changed", "here all the time"]
    assert [one.timestamp for one in found[:2]] == [long_ago, long_ago]
