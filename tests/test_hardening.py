"""What a hostile reviewer found once; each stays found."""

import errno
import json
import os
import shutil
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import pytest

from mnemolog.errors import (
    LockTimeoutError,
    MnemologError,
    SessionCorruptError,
    SettingsError,
    StorageIOError,
)
from mnemolog.log.writer import Handle
from mnemolog.memory import Memory


def test_an_error_between_locking_and_working_leaves_no_lock_behind(memory, sid, monkeypatch):
    memory.add_memory(sid, content="one")

    def fail(handle: Handle) -> bool:
        raise StorageIOError("cannot look")

    with monkeypatch.context() as patch:
        patch.setattr(Handle, "is_here", fail)
        with pytest.raises(StorageIOError):
            memory.add_memory(sid, content="two")
    assert memory.add_memory(sid, content="three").seq == 2


def interrupted(delay: float, work: Callable[[], object]) -> None:
    """Do `work`, with one alarm after `delay` seconds unless it was quicker.

    The alarm may still ring while it is being switched off, so the outer `try` holds that too.
    """
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass


def test_a_signal_at_any_moment_leaves_no_lock_behind(root):
    settings = {"concurrency.lock_timeout_ms": 2000}
    with Memory.open(root, settings=settings, environ={}) as memory:
        memory.create_session(session_id="s")
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            for number in range(300):
                delay = 5e-5 + number % 40 * 1e-5
                interrupted(delay, lambda: memory.add_memory("s", content="interrupted"))
        finally:
            signal.signal(signal.SIGALRM, before)
        try:
            memory.add_memory("s", content="after the storm")
        except LockTimeoutError:
            pytest.fail("an interrupt kept the lock")


def interrupted_at(name: str, work: Callable[[], object]) -> bool:
    """Do `work`, with an interrupt where the function of this name begins; whether there was one.

    That is where Python looks for signals, so one in the function before arrives there.
    """
    was_there = False

    def look(frame: FrameType, event: str, arg: object) -> None:
        nonlocal was_there
        if frame.f_code.co_qualname == name and not was_there:
            was_there = True
            raise KeyboardInterrupt

    sys.settrace(look)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return was_there


@pytest.mark.parametrize(
    "name", ["Locked.__exit__", "Lock.release", "RealFile.unlock", "Batch.compose", "Handle.write"]
)
def test_who_is_interrupted_while_writing_keeps_nobody_out(root, name):
    settings = {"concurrency.lock_timeout_ms": 0}
    with (
        Memory.open(root, settings=settings, environ={}) as memory,
        Memory.open(root, settings=settings, environ={}) as other,
    ):
        memory.create_session(session_id="s")
        assert interrupted_at(name, lambda: memory.add_memory("s", content="interrupted"))
        assert other.add_memory("s", content="from elsewhere").status == "stored"
        from_a_thread: list[str] = []
        thread = threading.Thread(
            target=lambda: from_a_thread.append(memory.add_memory("s", content="beside").status)
        )
        thread.start()
        thread.join()
        assert from_a_thread == ["stored"]


def interrupted_at_line(number: int, files: tuple[str, ...], work: Callable[[], object]) -> bool:
    """Do `work`, with an interrupt at so many lines of these files; whether there were as many."""
    left = number

    def look(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(files) or frame.f_code.co_name == "__del__":
            return None
        left -= event == "line"
        if left == 0 and event == "line":
            sys.settrace(None)
            raise KeyboardInterrupt
        return look

    sys.settrace(look)
    try:
        work()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    return left <= 0


LOCKING: dict[str, Callable[[Memory, int], object]] = {
    "a change of the session's facts": lambda memory, _: memory.update_session(
        "s", metadata={"a": 1}
    ),
    "compaction": lambda memory, _: memory.compact_session("s"),
    "erasure": lambda memory, _: memory.erase("s", {"ids": ["mem_gone"]}),
    "a node": lambda memory, number: memory.write_node(f"{number}.md", "# A", user_id="u1"),
}


@pytest.mark.parametrize("name", LOCKING)
def test_an_interrupt_at_any_line_of_the_locks_keeps_nobody_out(root, name):
    settings = {"concurrency.lock_timeout_ms": 0}
    with (
        Memory.open(root, settings=settings, environ={}) as memory,
        Memory.open(root, settings=settings, environ={}) as other,
    ):
        memory.create_session("u1", session_id="s")
        for number in range(1, 500):
            memory.add_memory("s", id="mem_gone", content="x")
            work = partial(LOCKING[name], memory, number)
            if not interrupted_at_line(number, ("fs/lock.py", "log/writer.py"), work):
                break
            assert other.add_memory("s", content="from elsewhere").status == "stored"
            other.write_node(f"{number}-elsewhere.md", "# B", user_id="u1")
        assert number > 20


def test_a_manifest_cannot_name_a_file_outside_its_folder(memory, sid, root, tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("untouched")
    manifest = root / "sessions" / sid / "manifest.json"
    facts = json.loads(manifest.read_text())
    facts["segments"] = [{"name": os.path.relpath(victim, manifest.parent)}]
    manifest.write_text(json.dumps(facts))
    with pytest.raises(SessionCorruptError):
        memory.add_memory(sid, content="x")
    assert victim.read_text() == "untouched"


@pytest.mark.parametrize("name", ["index.db", "index.db-wal"])
def test_a_link_in_the_index_is_not_followed(root, tmp_path, name):
    outside = tmp_path / "outside.db"
    other = sqlite3.connect(outside)
    other.execute("CREATE TABLE theirs (x)")
    other.commit()
    other.close()
    before = outside.read_bytes()
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="s")
        (root / "index" / name).symlink_to(outside)
        memory.add_memory("s", content="a word")
        assert len(memory.query("s", text="word")) == 1
    assert outside.read_bytes() == before


def test_an_index_that_is_a_link_is_refused(root, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "their.col").write_text("theirs")
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="s")
        shutil.rmtree(root / "index")
        (root / "index").symlink_to(elsewhere, target_is_directory=True)
        receipt = memory.add_memory("s", content="a word")
        assert receipt.durable
        assert receipt.warnings
        with pytest.raises(MnemologError):
            memory.query("s", text="word")
    assert [path.name for path in elsewhere.iterdir()] == ["their.col"]


@pytest.mark.parametrize("content", [b"not a database", b"", b"SQLite format 3\0" + b"x" * 5000])
def test_a_damaged_database_is_made_anew(memory, sid, root, content):
    memory.add_memory(sid, content="a word")
    memory.query(sid, text="word")
    memory.close()
    (root / "index" / "index.db").write_bytes(content)
    assert len(memory.query(sid, text="word")) == 1


def test_short_columns_are_made_anew(memory, sid, root):
    memory.add_memory(sid, content="a word")
    memory.query(sid, text="word")
    memory.close()
    for column in (root / "index").glob("*.col"):
        os.truncate(column, 0)
    assert len(memory.query(sid, text="word")) == 1


def test_a_vanishing_index_costs_no_receipt(memory, sid, root):
    memory.add_memory(sid, content="a word")
    shutil.rmtree(root / "index")
    (root / "index").write_text("in the way")
    receipt = memory.add_memory(sid, content="another word")
    assert receipt.durable
    assert "index" in receipt.warnings[0]
    assert len(memory.get_entries(sid)) == 2
    assert [one.id for one in memory.list_sessions()] == [sid]


@pytest.mark.parametrize("content", ["[]", '"x"', "5", '{"folder": 5}', "[" * 100_000, "{"])
def test_a_strange_intent_does_not_keep_the_root_shut(root, content):
    Memory.open(root, environ={}).close()
    (root / "intents" / "zz.json").write_text(content)
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="s")
        memory.delete_session("s")


def test_batches_over_many_sessions_keep_few_files_open(root):
    settings = {"storage.durability": "batch"}
    with Memory.open(root, settings=settings, environ={}) as memory:
        before = len(os.listdir("/proc/self/fd"))
        for number in range(120):
            memory.create_session(session_id=f"s{number}")
            memory.add_memory(f"s{number}", content="x")
        assert len(os.listdir("/proc/self/fd")) - before < 256


class Name(str):
    """A text that is not exactly a `str`."""


class Half(float):
    """A number that is not exactly a `float`."""


def test_subclasses_of_plain_types_are_stored_as_what_they_are(memory, sid):
    memory.add_memory(
        sid, id=Name("m1"), content=Name("said"), tags=[Name("t")],
        metadata={Name("score"): Half(0.5)},
    )  # fmt: skip
    entry = memory.get_memory(sid, "m1")
    assert entry is not None
    assert (entry.content, entry.tags, entry.metadata) == ("said", ("t",), {"score": 0.5})


def test_settings_that_are_no_text_are_refused_with_advice(root):
    Memory.open(root, environ={}).close()
    (root / "config.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError) as caught:
        Memory.open(root, environ={})
    assert "UTF-8" in caught.value.advice


def test_a_session_is_deleted_though_the_folder_of_intents_is_gone(memory, sid, root):
    shutil.rmtree(root / "intents")
    memory.delete_session(sid)
    assert memory.list_sessions() == []


def test_an_agent_cannot_change_a_sessions_settings(memory, sid):
    with pytest.raises(MnemologError):
        memory.for_agent("architect").update_session(sid, settings={"storage.durability": "os"})


# --- a disk that may only be read


def test_a_root_that_may_only_be_read_is_read_whatever_is_missing_beside_it(
    memory, sid, root, monkeypatch
):
    memory.add_memory(sid, content="We need ACID.")
    memory.close()
    shutil.rmtree(root / "index")
    shutil.rmtree(root / "intents")
    closed = OSError(errno.EROFS, os.strerror(errno.EROFS))
    real = os.open

    def opened(path, flags, *more, **others):
        if flags & (os.O_RDWR | os.O_WRONLY | os.O_CREAT):
            raise closed
        return real(path, flags, *more, **others)

    def refused(*_: object, **__: object) -> None:
        raise closed

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "mkdir", refused)
    with Memory.open(root, environ={}) as again:
        assert [entry.content for entry in again.get_entries(sid)] == ["We need ACID."]
        assert [one.id for one in again.list_sessions()] == [sid]
        with pytest.raises(StorageIOError, match="Read-only"):
            again.add_memory(sid, content="more")
        with pytest.raises(StorageIOError, match="Mount it writable"):
            again.query(sid, text="ACID")
    with pytest.raises(StorageIOError, match="Read-only"):
        Memory.open(root.parent / "new", environ={})
