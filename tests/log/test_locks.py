"""One lock file per session: the system's own lock on it, nothing to expire, nothing to steal."""

import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import ConcurrencyError, LockTimeoutError, SizeLimitError
from mnemolog.fs.lock import Lock
from mnemolog.settings import Settings

HOLD = """
import fcntl, sys
file = open(sys.argv[1], "rb+")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def held_by_another(lock):
    """Another process holds the lock inside the block; it is killed after it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"held\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


@contextmanager
def held(lock):
    """The lock is held on a descriptor of its own, as another process would."""
    descriptor = os.open(lock, os.O_RDWR)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@pytest.fixture
def impatient(root, sid):
    """A memory that waits 200 ms for a lock."""
    with Memory.open(root, settings={"concurrency.lock_timeout_ms": 200}, environ={}) as opened:
        yield opened


@pytest.mark.req("S001-052", "S002-058")
def test_a_writer_waits_5_seconds_by_default():
    assert Settings().concurrency.lock_timeout_ms == 5000


@pytest.mark.req(
    "S001-042", "S001-052", "S001-057", "S001-145", "S001-157", "S002-058", "S002-063", "S002-103"
)
def test_a_lock_held_for_too_long_is_a_timeout_that_names_the_session(impatient, sid, folder):
    with held_by_another(folder / "lock"):
        for write in (
            lambda: impatient.add_memory(sid, content="hello"),
            lambda: impatient.update_session(sid, metadata={"a": 1}),
            lambda: impatient.close_session(sid),
            lambda: impatient.delete_session(sid),
        ):
            begun = time.monotonic()
            with pytest.raises(LockTimeoutError) as caught:
                write()
            assert time.monotonic() - begun >= 0.2
            assert f"Lock acquisition timeout for {sid}" in str(caught.value)
            assert caught.value.code == "E_LOCK_TIMEOUT"
            assert isinstance(caught.value, ConcurrencyError)
            assert isinstance(caught.value, TimeoutError)
            assert "lock_timeout_ms" in caught.value.advice
    assert impatient.get_entries(sid) == []
    assert impatient.add_memory(sid, content="hello").seq == 1


@pytest.mark.req("S001-055")
def test_a_timeout_tells_who_signed_the_lock(impatient, sid, folder):
    signed = {"v": 1, "pid": 4242, "operation": "compact", "acquired_at": "2026-11-15T09:00:00Z"}
    (folder / "lock").write_text(json.dumps(signed))
    with held_by_another(folder / "lock"), pytest.raises(LockTimeoutError, match=r"4242.*compact"):
        impatient.add_memory(sid, content="hello")


@pytest.mark.req("S001-054", "S001-058", "S002-061", "S002-064")
def test_the_lock_of_a_killed_holder_is_free_at_once(root, sid, folder):
    eager = Memory.open(root, settings={"concurrency.lock_timeout_ms": 0}, environ={})
    with eager, held_by_another(folder / "lock") as holder:
        with pytest.raises(LockTimeoutError):
            eager.add_memory(sid, content="hello")
        holder.kill()
        holder.wait()
        assert eager.add_memory(sid, content="hello").durable


@pytest.mark.req("S001-054", "S001-058", "S002-018", "S002-061", "S002-064")
def test_a_lock_file_that_nobody_holds_stops_nobody_and_is_never_removed(memory, sid, folder):
    lock = folder / "lock"
    stale = {"pid": 1, "operation": "write", "expires_at": "2099-01-01T00:00:00Z"}
    lock.write_text(json.dumps(stale))
    before = lock.stat().st_ino
    assert memory.add_memory(sid, content="hello").durable
    assert lock.stat().st_ino == before


@pytest.mark.req("S002-060", "S002-061")
def test_a_held_lock_is_not_stolen_however_old_it_says_it_is(impatient, sid, folder):
    expired = {"pid": 1, "operation": "write", "expires_at": "2001-01-01T00:00:00Z"}
    (folder / "lock").write_text(json.dumps(expired))
    with held(folder / "lock"), pytest.raises(LockTimeoutError):
        impatient.add_memory(sid, content="hello")


@pytest.mark.req("S001-051", "S002-018")
def test_the_lock_lies_in_the_sessions_own_folder(memory, sid, root, folder):
    assert (folder / "lock").exists()
    other = memory.create_session().id
    with held(folder / "lock"):
        assert memory.add_memory(other, content="not held up").durable


@pytest.mark.req("S001-056", "S002-062")
def test_a_writer_waits_and_goes_on_as_soon_as_the_lock_is_free(memory, sid, folder):
    done = threading.Event()

    def write() -> None:
        memory.add_memory(sid, content="waited")
        done.set()

    with held(folder / "lock"):
        thread = threading.Thread(target=write)
        thread.start()
        assert not done.wait(0.3), "it waits while the lock is held"
    assert done.wait(10)
    thread.join()
    assert [one.content for one in memory.get_entries(sid)] == ["waited"]


class _Busy:
    """A lock file that somebody else has for so many looks, or until a moment; and the clock."""

    ident = (0, 0)

    def __init__(self, looks: int = 0, until: float = 0.0) -> None:
        self.looks, self.until, self.now = looks, until, 0.0
        self.slept: list[float] = []

    def try_lock(self) -> bool:
        self.looks -= 1
        return self.looks < 0 and self.now >= self.until

    def unlock(self) -> None:
        pass

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def waited_for(monkeypatch, busy):
    """Takes the lock as soon as it is free; tells how long that took longer than it had to."""
    lock = Lock(busy, "talk")
    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", busy.sleep)
        patched.setattr(time, "monotonic", lambda: busy.now)
        lock.acquire(60)
    return busy.now - busy.until


@pytest.mark.parametrize(("looks", "sleeps"), [(0, 0), (5, 0), (40, 0), (43, 3)])
def test_a_lock_that_is_held_for_a_moment_only_is_waited_for_without_sleeping(
    monkeypatch, looks, sleeps
):
    busy: Any = _Busy(looks)
    waited_for(monkeypatch, busy)
    assert busy.slept == [0.0002] * sleeps


@pytest.mark.parametrize("held_for", [0.0001, 0.001, 0.003, 0.01, 0.04, 0.3, 5.0])
def test_whoever_waits_for_the_lock_oversleeps_by_a_small_part_of_the_wait(monkeypatch, held_for):
    busy: Any = _Busy(until=held_for)
    too_long = waited_for(monkeypatch, busy)
    assert too_long <= max(0.0002, held_for / 8)
    assert max(busy.slept) <= 0.005, "nobody waits for long after the lock was given back"


@pytest.mark.parametrize(("held_for", "looks"), [(0.04, 50), (5.0, 1100)])
def test_waiting_for_long_takes_few_looks(monkeypatch, held_for, looks):
    busy: Any = _Busy(until=held_for)
    waited_for(monkeypatch, busy)
    assert len(busy.slept) <= looks


@pytest.mark.req("S001-050", "S001-053", "S001-165", "S002-059")
def test_readers_need_no_lock(memory, sid, root, folder):
    memory.add_memory(sid, id="m1", content="hello")
    with held_by_another(folder / "lock"), Memory.open(root, environ={}) as other:
        for reader in (memory, other):
            assert [one.id for one in reader.get_entries(sid)] == ["m1"]
            assert reader.get_memory(sid, "m1") is not None
            assert reader.get_statistics(sid).total_entries == 1
            assert reader.load_session(sid).id == sid
            assert len(reader.list_sessions()) == 1


@pytest.mark.req("S001-042")
def test_the_lock_is_given_back_when_a_write_is_refused(root, sid, folder):
    tiny = {"storage.max_session_size_mb": 0.001, "concurrency.lock_timeout_ms": 0}
    with Memory.open(root, settings=tiny, environ={}) as small:
        for _ in range(2):
            with pytest.raises(SizeLimitError):
                small.add_memory(sid, content="x" * 2000)
        descriptor = os.open(folder / "lock", os.O_RDWR)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(descriptor)
        assert small.add_memory(sid, content="short").durable


@pytest.mark.req("S001-042", "S001-053", "S002-059")
def test_nothing_is_written_while_another_writer_holds_the_lock(impatient, sid, folder):
    before = (folder / "memory.jsonl").read_bytes(), (folder / "manifest.json").read_bytes()
    with held(folder / "lock"):
        for write in (
            lambda: impatient.add_memory(sid, content="hello"),
            lambda: impatient.update_session(sid, metadata={"a": 1}),
        ):
            with pytest.raises(LockTimeoutError):
                write()
    after = (folder / "memory.jsonl").read_bytes(), (folder / "manifest.json").read_bytes()
    assert after == before
