"""A disk that is full, or ill: clear errors, nothing torn, and writing goes on afterwards."""

import errno
import os
import subprocess
from contextlib import suppress
from random import Random

import pytest

from mnemolog import Memory
from mnemolog.errors import StorageFullError, StorageIOError
from mnemolog.fs import read_all
from mnemolog.fs.real import RealDisk
from mnemolog.log import lines
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on

LOG = "sessions/talk/memory.jsonl"
MANY_SEGMENTS = Settings().changed({"storage.segment_size_mb": 600 / 1024 / 1024})

full_disk = pytest.mark.req("S001-143")


def opened(disk, settings=None):
    settings = settings or Settings()
    return open_on(disk, settings, FixedClock())


@pytest.fixture
def disk():
    return SimulatedDisk()


@pytest.fixture
def memory(disk):
    """A memory with a session `talk` that holds one entry."""
    memory = opened(disk)
    memory.create_session("ann", session_id="talk", metadata={"colour": "red"})
    memory.add_memory("talk", type="note", content="the first")
    return memory


def used(disk):
    return sum(len(content) for content in disk.tree().values() if content is not None)


def leave_room(disk, room):
    disk.capacity = used(disk) + room


def texts(memory, session="talk"):
    return [entry.text for entry in memory.get_entries(session)]


def segments(disk, session="talk"):
    names = [name for name in disk.list(f"sessions/{session}") if name.endswith(".jsonl")]
    return [read_all(disk, f"sessions/{session}/{name}") for name in names]


def assert_nothing_is_torn(disk, session="talk"):
    for content in segments(disk, session):
        assert not content or content.endswith(b"\n")
        assert all(lines.verify(line) for line in content.splitlines())


def add_until_full(memory, batch=1, size=20):
    """What was acknowledged before the disk was full."""
    stored: list[str] = []

    def add_on_and_on():
        while len(stored) < 10_000:
            entries = [f"{len(stored)}.{part} {'x' * size}" for part in range(batch)]
            memory.add_many("talk", [{"type": "note", "content": text} for text in entries])
            stored.extend(entries)

    with pytest.raises(StorageFullError, match="No space left") as caught:
        add_on_and_on()
    assert caught.value.code == "E_STORAGE_FULL"
    assert "free some space" in caught.value.advice
    return stored


# --- full


@full_disk
@pytest.mark.parametrize("settings", [Settings(), MANY_SEGMENTS], ids=["one segment", "many"])
@pytest.mark.parametrize("batch", [1, 3])
def test_what_fits_is_stored_and_the_rest_refused_without_a_trace(settings, batch):
    base = SimulatedDisk()
    opened(base, settings).create_session(session_id="talk")
    counts = set()
    for room in range(0, 3000, 41):
        disk = base.kill()
        leave_room(disk, room)
        memory = opened(disk, settings)
        stored = add_until_full(memory, batch)
        assert texts(memory) == texts(opened(disk, settings)) == stored
        assert_nothing_is_torn(disk)
        disk.capacity = None
        memory.add_memory("talk", type="note", content="later")
        assert texts(memory) == [*stored, "later"]
        assert_nothing_is_torn(disk)
        counts.add(len(stored))
    assert len(counts) > 3


@full_disk
def test_a_full_disk_and_then_a_power_loss_lose_nothing(disk, memory):
    leave_room(disk, 700)
    stored = add_until_full(memory)
    disk.capacity = None
    for number in range(300):
        after = opened(disk.crash(Random(number)))
        assert texts(after) == ["the first", *stored]
        after.add_memory("talk", type="note", content="later")
        assert texts(after) == ["the first", *stored, "later"]


@full_disk
def test_a_session_that_has_no_room_leaves_nothing_behind(disk, memory):
    leave_room(disk, 50)
    before = disk.tree()
    for _ in range(3):
        with pytest.raises(StorageFullError):
            memory.create_session(session_id="other")
    assert disk.tree() == before


@full_disk
def test_a_session_that_finds_no_room_is_not_created(disk, memory):
    leave_room(disk, 100)
    with pytest.raises(StorageFullError):
        memory.create_session(session_id="other")
    assert [session.id for session in memory.list_sessions()] == ["talk"]
    disk.capacity = None
    memory.create_session(session_id="other")
    memory.add_memory("other", type="note", content="later")
    assert texts(memory, "other") == ["later"]


@full_disk
@pytest.mark.req("S001-049")
def test_a_change_that_finds_no_room_leaves_the_facts_as_they_are(disk, memory):
    leave_room(disk, 100)
    before = disk.tree()
    with pytest.raises(StorageFullError):
        memory.update_session("talk", metadata={"colour": "blue"})
    with pytest.raises(StorageFullError):
        memory.close_session("talk")
    assert disk.tree() == before
    assert memory.load_session("talk").metadata == {"colour": "red"}
    disk.capacity = None
    memory.update_session("talk", metadata={"colour": "blue"})
    assert opened(disk).load_session("talk").metadata == {"colour": "blue"}


@full_disk
@pytest.mark.parametrize("scope", ["user", "shared"])
def test_a_preference_that_finds_no_room_can_be_set_later(disk, memory, scope):
    leave_room(disk, 100)
    preference = {"scope": scope, "key": "theme", "value": "dark"}
    with pytest.raises(StorageFullError):
        memory.update_preference("talk", preference)
    assert not memory.get_preferences("talk")
    disk.capacity = None
    memory.update_preference("talk", preference)
    assert [entry.content["value"] for entry in memory.get_preferences("talk")] == ["dark"]


@full_disk
def test_what_is_hidden_on_a_disk_that_fills_up_is_told_in_the_audit_too():
    outcomes = set()
    for room in range(0, 1000, 50):
        disk = SimulatedDisk()
        memory = opened(disk)
        memory.create_session("ann", session_id="talk")
        memory.add_memory("talk", id="gone", type="note", content="the first")
        leave_room(disk, room)
        with suppress(StorageFullError):
            assert memory.delete("talk", ids=["gone"]).deleted_count == 1
        is_hidden = memory.get_memory("talk", "gone") is None
        assert [line.action for line in memory.audit()] == ["delete"] * is_hidden, room
        outcomes.add(is_hidden)
    assert outcomes == {True, False}


@full_disk
def test_a_session_can_be_deleted_when_no_byte_is_left(disk, memory):
    memory.add_memory("talk", type="note", content="more than the audit needs " * 100)
    leave_room(disk, 0)
    assert disk.free_bytes() == 0
    memory.delete_session("talk")
    assert memory.list_sessions() == []
    assert disk.list("sessions") == []
    assert [name for name in disk.list("intents") if name.endswith(".json")] == []
    memory.create_session(session_id="other")
    memory.add_memory("other", type="note", content="there is room again")
    assert texts(opened(disk), "other") == ["there is room again"]


@full_disk
def test_the_reserve_for_deleting_comes_back_when_there_is_room(disk, memory):
    memory.create_session(session_id="other")
    whole = disk.stat("intents/reserve").size
    leave_room(disk, 0)
    memory.delete_session("other")
    disk.capacity = None
    memory.delete_session("talk")
    assert disk.stat("intents/reserve").size == whole == 64 * 1024


def test_a_reserve_that_a_crash_left_short_is_made_anew(disk, memory):
    disk.open("intents/reserve", "append").truncate(10)
    opened(disk)
    assert disk.stat("intents/reserve").size == 64 * 1024


# --- full, for real


@pytest.fixture
def small_disk(tmp_path):
    """A real file system of one megabyte."""
    place = tmp_path / "small"
    place.mkdir()
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root may mount a small file system")
    options = ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(place)]
    mounted = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"a small file system cannot be mounted here: {mounted.stderr.strip()}")
    yield place
    # Lazily: what a memory holds open goes when it is collected.
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@full_disk
@pytest.mark.parametrize(("batch", "size"), [(1, 20), (1, 3000), (7, 3000)])
def test_a_real_disk_fills_up_and_is_freed_again(small_disk, batch, size):
    disk = RealDisk(str(small_disk / "root"))
    memory = opened(disk)
    memory.create_session(session_id="talk")
    memory.create_session(session_id="other", metadata={"note": "x" * 100_000})
    stored = add_until_full(memory, batch, size)
    assert len(stored) * size > 50_000
    assert texts(memory) == texts(opened(disk)) == stored
    assert_nothing_is_torn(disk)
    with pytest.raises(StorageFullError):
        memory.update_session("other", metadata={"more": "x" * 50_000})
    assert list(memory.load_session("other").metadata) == ["note"]
    memory.delete_session("other")
    memory.add_memory("talk", type="note", content="later")
    assert texts(opened(disk)) == [*stored, "later"]
    assert_nothing_is_torn(disk)


def fill_up(path):
    with path.open("wb", buffering=0) as filler, suppress(OSError):
        while filler.write(b"x" * 4096) == 4096:
            pass
    assert os.statvfs(path).f_bavail == 0


@full_disk
def test_a_session_can_be_deleted_on_a_real_disk_without_a_free_page(small_disk):
    disk = RealDisk(str(small_disk / "root"))
    memory = opened(disk)
    memory.create_session(session_id="talk")
    fill_up(small_disk / "filler")
    memory.delete_session("talk")
    assert opened(disk).list_sessions() == []
    assert disk.list("sessions") == []
    assert not list((small_disk / "root" / "intents").glob("*.json"))


@full_disk
@pytest.mark.parametrize("pages", [0, 1, 4, 9, 20, 40])
def test_a_search_without_room_for_an_index_says_so_and_goes_once_there_is_some(small_disk, pages):
    root, filler = small_disk / "root", small_disk / "filler"
    with Memory.open(root, environ={}, embedder="none") as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", content="hello")
        fill_up(filler)
        os.truncate(filler, filler.stat().st_size - pages * 4096)
        for _ in range(2):
            with pytest.raises(StorageFullError, match="No space left for the index"):
                memory.query("talk", text="hello")
        filler.unlink()
        assert len(memory.query("talk", text="hello")) == 1


# --- ill


def calls_during(disk, action):
    """What an action that fails asked of the disk, and the error."""
    before = disk.calls.copy()
    with pytest.raises(StorageIOError) as caught:
        action()
    return disk.calls - before, caught.value


@pytest.mark.req("S001-048", "S001-155")
def test_a_failed_sync_names_the_entry_and_the_next_write_starts_afresh(disk, memory):
    disk.refuse("sync", LOG, StorageIOError("The disk is ill."))
    asked, error = calls_during(
        disk, lambda: memory.add_memory("talk", type="note", content="second", id="mem_2")
    )
    assert (asked["append"], asked["sync"]) == (1, 1)
    assert error.code == "E_STORAGE_IO"
    assert "mem_2" in error.message
    assert "unknown" in error.message
    assert "same id" in error.advice

    opens = disk.calls["open"]
    receipt = memory.add_memory("talk", type="note", content="second", id="mem_2")
    assert disk.calls["open"] > opens, "the handle that failed is not used again"
    assert (receipt.status, receipt.durable) == ("revised", True)
    assert texts(memory) == ["the first", "second"]
    for number in range(200):
        assert texts(opened(disk.crash(Random(number)))) == ["the first", "second"]


def test_a_failed_sync_of_a_batch_says_how_many_are_in_doubt(disk, memory):
    disk.refuse("sync", LOG, StorageIOError("The disk is ill."))
    entries = [{"type": "note", "content": "text", "id": f"mem_{n}"} for n in range(3)]
    _, error = calls_during(disk, lambda: memory.add_many("talk", entries))
    assert "mem_0" in error.message
    assert "2 more" in error.message


@pytest.mark.req("S001-155")
def test_a_failed_write_is_not_tried_again_and_the_next_one_works(disk, memory):
    disk.refuse("append", LOG, StorageIOError("The disk is ill."))
    asked, error = calls_during(
        disk, lambda: memory.add_memory("talk", type="note", content="second")
    )
    assert (asked["append"], asked["sync"]) == (1, 0)
    assert error.code == "E_STORAGE_IO"
    assert texts(memory) == ["the first"]
    memory.add_memory("talk", type="note", content="third")
    assert texts(memory) == ["the first", "third"]


@pytest.mark.parametrize("operation", ["create", "append", "sync", "rename", "sync_folder"])
def test_a_change_that_fails_half_way_can_be_made_again(disk, memory, operation):
    disk.refuse(operation, "sessions*", StorageIOError("The disk is ill."))
    asked, _ = calls_during(
        disk, lambda: memory.update_session("talk", metadata={"colour": "blue"})
    )
    assert asked[operation] == 1
    memory.update_session("talk", metadata={"colour": "green"})
    memory.add_memory("talk", type="note", content="second")
    fresh = opened(disk)
    assert fresh.load_session("talk").metadata == {"colour": "green"}
    assert texts(fresh) == ["the first", "second"]


@pytest.mark.parametrize("operation", ["rename", "unlink", "rmdir", "sync_folder"])
def test_a_removal_that_fails_half_way_is_finished_at_the_next_opening(disk, memory, operation):
    disk.refuse(operation, "sessions*", StorageIOError("The disk is ill."))
    calls_during(disk, lambda: memory.delete_session("talk"))
    fresh = opened(disk)
    assert all(not name.startswith(".") for name in disk.list("sessions"))
    assert all(not name.endswith(".json") for name in disk.list("intents"))
    for session in fresh.list_sessions():
        assert texts(fresh, session.id) == ["the first"]


@pytest.fixture
def pauses():
    return []


@pytest.fixture
def real(tmp_path, pauses):
    disk = RealDisk(str(tmp_path / "root"), pauses.append)
    memory = opened(disk)
    memory.create_session(session_id="talk")
    memory.add_memory("talk", type="note", content="the first")
    return disk


def fail(monkeypatch, name, times):
    """Let a call of the operating system fail so many times; the list of its calls."""
    original, calls = getattr(os, name), []

    def call(*args, **kwargs):
        calls.append(args)
        if len(calls) <= times:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return original(*args, **kwargs)

    monkeypatch.setattr(os, name, call)
    return calls


@pytest.mark.req("S001-155")
@pytest.mark.parametrize("call", ["pread", "open"])
def test_reading_and_opening_are_tried_again_after_longer_and_longer_pauses(
    real, pauses, monkeypatch, call
):
    memory = opened(real)
    assert memory.load_session("talk").id == "talk"
    if call == "pread":
        fail(monkeypatch, call, 3)
    else:
        original, left = os.open, [3]

        def open_later(path, *args, **kwargs):
            if path == "memory.jsonl" and left[0]:
                left[0] -= 1
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            return original(path, *args, **kwargs)

        monkeypatch.setattr(os, "open", open_later)
    assert texts(memory) == ["the first"]
    assert pauses == [0.1, 0.5, 2.0]


@pytest.mark.req("S001-155")
def test_reading_gives_up_after_the_third_pause(real, pauses, monkeypatch):
    memory = opened(real)
    calls = fail(monkeypatch, "pread", 99)
    with pytest.raises(StorageIOError) as caught:
        memory.get_entries("talk")
    assert caught.value.code == "E_STORAGE_IO"
    assert (len(calls), pauses) == (4, [0.1, 0.5, 2.0])


@pytest.mark.req("S001-155")
@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_writing_and_syncing_are_never_tried_again(real, pauses, monkeypatch, call):
    memory = opened(real)
    memory.add_memory("talk", type="note", content="second")
    with monkeypatch.context() as patched:
        calls = fail(patched, call, 1)
        with pytest.raises(StorageIOError):
            memory.add_memory("talk", type="note", content="third", id="mem_3")
    assert (len(calls), pauses) == (1, [])
    memory.add_memory("talk", type="note", content="third", id="mem_3")
    assert texts(memory) == ["the first", "second", "third"]
    assert_nothing_is_torn(real)
