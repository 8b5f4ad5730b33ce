"""What a write costs, counted at the door to the disk."""

import sys
from types import FrameType

import pytest

from mnemolog import Memory
from mnemolog.errors import StorageFullError, StorageIOError
from tests.log.disks import RecordingDisk, open_on

LOG = "memory.jsonl"


@pytest.fixture
def disk(root):
    return RecordingDisk(root)


def opened(disk, entries=1, **settings):
    memory = open_on(disk, **settings)
    memory.create_session(session_id="talk")
    memory.add_many("talk", [{"content": f"entry {number}"} for number in range(entries)])
    disk.calls.clear()
    return memory


@pytest.mark.req("S001-048", "S002-057")
@pytest.mark.parametrize("entries", [10, 20_000])
def test_an_append_is_one_write_one_sync_and_no_rename_at_any_size(disk, entries):
    memory = opened(disk, entries)
    for _ in range(5):
        assert memory.add_memory("talk", content="one more").durable
    assert disk.names("append", "sync", "rename", "truncate", "write_at") == ["append", "sync"] * 5
    assert disk.count("append", LOG) == disk.count("sync", LOG) == 5


@pytest.mark.parametrize("entries", [10, 20_000])
def test_an_append_reads_nothing_of_what_is_there_at_any_size(disk, entries):
    memory = opened(disk, entries)
    memory.add_memory("talk", content="one more")
    assert disk.count("read") == 0
    assert disk.count("open") == 0
    assert disk.count("sync_folder") == 0


def test_an_append_looks_at_each_path_no_more_often_than_it_must(disk):
    memory = opened(disk)
    memory.add_memory("talk", content="one more")
    looks = [path for name, path in disk.calls if name in ("ident", "stat")]
    manifest, lock, log = (f"sessions/talk/{name}" for name in ("manifest.json", "lock", LOG))
    locked = [lock, manifest, log]
    assert looks == [manifest, *locked, "index/dirty/talk"], "the facts; then under the lock"
    assert disk.count("size") == 1


def test_what_others_wrote_is_followed_with_one_look_and_one_read(disk, root):
    memory = opened(disk)
    with Memory.open(root, environ={}) as other:
        other.add_many("talk", [{"content": f"entry {number}"} for number in range(20)])
    assert memory.add_memory("talk", content="one more").seq == 22
    assert disk.count("read") == disk.count("size") == 1


def called_by_an_append(memory):
    """The functions that are called while one message is added."""
    calls: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls.append(frame.f_code.co_qualname)

    message = {"role": "user", "content": "one more", "agent_id": "architect"}
    sys.setprofile(note)
    memory.add_conversation("talk", message)
    sys.setprofile(None)
    return calls


def test_an_append_takes_few_calls_of_functions(root):
    """Each costs an append a third of a microsecond; there were 170 of them once."""
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", content="the first")
        calls = called_by_an_append(memory)
    assert 40 < len(calls) <= 90, calls


def test_a_line_that_somebody_else_wrote_costs_an_append_a_handful_of_calls(root):
    with Memory.open(root, environ={}) as memory, Memory.open(root, environ={}) as other:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", content="the first")
        alone = called_by_an_append(memory)
        other.add_memory("talk", content="by somebody else")
        after = called_by_an_append(memory)
        assert memory.get_entries("talk")[-1].seq == 4
    assert len(after) - len(alone) <= 6, after


def test_a_batch_of_100_is_one_write_and_one_sync(disk):
    memory = opened(disk)
    receipts = memory.add_many("talk", [{"content": f"entry {n}"} for n in range(100)])
    assert disk.names("append", "sync", "rename") == ["append", "sync"]
    assert [one.seq for one in receipts] == list(range(2, 102))
    assert all(one.durable for one in receipts)


def test_the_sync_comes_after_the_lock_is_given_back(disk):
    memory = opened(disk)
    memory.add_memory("talk", content="one more")
    wanted = ["try_lock", "append", "unlock", "sync"]
    assert disk.names(*wanted) == wanted


def test_an_update_and_a_preference_cost_one_write_and_one_sync_too(disk):
    memory = opened(disk)
    first = memory.get_entries("talk")[0].id
    memory.update_preference("talk", key="k", value="v")
    disk.calls.clear()
    memory.update_memory("talk", first, tags=["x"])
    memory.update_preference("talk", key="k", value="w")
    assert disk.names("append", "sync", "rename") == ["append", "sync"] * 2


def test_a_refused_write_costs_nothing(disk):
    memory = opened(disk)
    with pytest.raises(ValueError, match="empty"):
        memory.add_many("talk", [{"content": "good"}, {"content": ""}])
    assert disk.names("append", "sync", "try_lock") == []
    assert len(memory.get_entries("talk")) == 1


def test_reading_writes_nothing(disk):
    memory = opened(disk, 10)
    memory.get_entries("talk")
    memory.get_statistics("talk")
    memory.get_global_statistics()
    memory.list_sessions()
    memory.load_session("talk")
    memory.get_preferences("talk")
    writing = ("append", "write_at", "truncate", "sync", "rename", "unlink", "mkdir", "try_lock")
    assert disk.names(*writing) == []


def test_durability_os_never_syncs_and_says_so(disk):
    memory = opened(disk, **{"storage.durability": "os"})
    receipts = [memory.add_memory("talk", content="x") for _ in range(20)]
    assert not any(one.durable for one in receipts)
    assert disk.count("append", LOG) == 20
    assert disk.count("sync") == 0


def test_durability_batch_syncs_after_so_many_entries_and_at_close(disk):
    memory = opened(
        disk,
        entries=10,
        **{
            "storage.durability": "batch",
            "storage.batch_write_size": 10,
            "storage.batch_write_interval_ms": 3_600_000,
        },
    )
    receipts = [memory.add_memory("talk", content="x") for _ in range(25)]
    assert [number for number, one in enumerate(receipts, 1) if one.durable] == [10, 20]
    assert disk.count("sync", LOG) == 2
    memory.close()
    assert disk.count("sync", LOG) == 3


def test_durability_batch_syncs_after_so_many_milliseconds(disk):
    memory = opened(disk, **{"storage.durability": "batch", "storage.batch_write_interval_ms": 1})
    memory.add_memory("talk", content="x")
    while not memory.add_memory("talk", content="x").durable:
        pass
    assert disk.count("sync", LOG) >= 1


def test_a_session_may_have_a_durability_of_its_own(disk):
    memory = opened(disk)
    memory.create_session(session_id="fast", settings={"storage.durability": "os"})
    disk.calls.clear()
    assert not memory.add_memory("fast", content="x").durable
    assert memory.add_memory("talk", content="x").durable
    assert disk.count("sync") == 1


@pytest.mark.req("S001-049")
def test_a_manifest_is_replaced_by_temporary_file_sync_rename_and_folder_sync(disk, root):
    memory = opened(disk)
    memory.update_session("talk", metadata={"a": 1})
    steps = [
        (name, path.removeprefix("sessions/talk").lstrip("/"))
        for name, path in disk.calls
        if name in ("append", "sync", "rename", "sync_folder")
    ]
    assert steps == [
        ("append", "manifest.json.tmp"),
        ("sync", "manifest.json.tmp"),
        ("rename", "manifest.json.tmp"),
        ("sync_folder", ""),
    ]
    assert not (root / "sessions/talk/manifest.json.tmp").exists()


def fail(kind, ending):
    def before(name: str, path: str) -> None:
        if name == kind and path.endswith(ending):
            raise StorageIOError(f"Could not {name} {path}: Input/output error.")

    return before


@pytest.mark.req("S001-142", "S002-106")
def test_a_failed_sync_is_never_retried_or_acknowledged_and_names_the_entry(disk):
    memory = opened(disk)
    disk.before = fail("sync", LOG)
    with pytest.raises(StorageIOError, match=r"'m1'.*unknown") as caught:
        memory.add_memory("talk", id="m1", content="hello")
    assert caught.value.code == "E_STORAGE_IO"
    assert "same id" in caught.value.advice
    assert disk.count("sync", LOG) == 1
    disk.before = lambda name, path: None
    disk.calls.clear()
    again = memory.add_memory("talk", id="m1", content="hello")
    assert again.durable
    assert disk.count("open", LOG) >= 1, "the handle was dropped: the file is opened anew"
    assert [one.id for one in memory.get_entries("talk")][1:] == ["m1"]


@pytest.mark.req("S001-142", "S002-106")
def test_a_failed_write_is_never_retried(disk):
    memory = opened(disk)
    disk.before = fail("append", LOG)
    with pytest.raises(StorageIOError):
        memory.add_memory("talk", id="m1", content="hello")
    assert disk.count("append", LOG) == 1
    disk.before = lambda name, path: None
    assert memory.get_memory("talk", "m1") is None, "nothing is kept in memory to be written later"
    assert memory.add_memory("talk", id="m1", content="hello").durable


@pytest.mark.req("S001-143")
def test_a_short_write_is_cut_off_again_and_says_that_the_disk_is_full(disk, root):
    memory = opened(disk)
    before = (root / "sessions/talk/memory.jsonl").read_bytes()
    disk.room = 100
    with pytest.raises(StorageFullError, match="No space") as caught:
        memory.add_memory("talk", content="hello")
    assert caught.value.code == "E_STORAGE_FULL"
    assert caught.value.advice
    assert (root / "sessions/talk/memory.jsonl").read_bytes() == before
    disk.room = None
    assert memory.add_memory("talk", content="later").seq == 2
    assert memory.get_entries("talk").warnings == ()


def test_the_index_is_told_between_the_write_and_the_sync(disk, root):
    memory = opened(disk)
    mark = root / "index" / "dirty" / "talk"
    assert mark.exists()
    mark.unlink()
    memory.add_memory("talk", content="x")
    assert mark.exists()
    told = disk.calls.index(("open", "index/dirty/talk"))
    assert disk.calls.index(("unlock", "sessions/talk/lock")) < told
    assert told < disk.calls.index(("sync", "sessions/talk/memory.jsonl"))


def test_an_index_that_cannot_be_told_is_a_warning_and_not_a_lost_entry(disk, root):
    memory = opened(disk)
    (root / "index" / "dirty" / "talk").unlink()
    disk.before = fail("open", "index/dirty/talk")
    receipt = memory.add_memory("talk", content="x")
    assert receipt.durable
    assert any("index" in warning for warning in receipt.warnings)
    assert len(memory.get_entries("talk")) == 2
