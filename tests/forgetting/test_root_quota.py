"""The quota of a whole root: refused with numbers, and at no cost for each write."""

import time

import pytest

from mnemolog import Memory
from mnemolog.errors import SizeLimitError
from mnemolog.settings import Settings
from mnemolog.stores.files import root_size
from mnemolog.stores.files.root_size import RootSize
from tests.log.disks import RecordingDisk, open_on

MIB = 1024 * 1024
LIMIT = 40_000


@pytest.fixture
def small(root, clock, monkeypatch):
    """A memory whose root may hold 40,000 bytes; measuring is cheap on a busy machine, too."""
    monkeypatch.setattr(root_size, "_PAUSE", 0.0)
    settings = {"storage.max_root_size_mb": LIMIT / MIB}
    with Memory.open(root, settings=settings, clock=clock, environ={}) as memory:
        yield memory


def size(root) -> int:
    rooms = [root / name for name in ("sessions", "users", "shared", "archive")]
    return sum(path.stat().st_size for room in rooms for path in room.rglob("*") if path.is_file())


def fill(memory: Memory, sid: str, size: int = 1000) -> None:
    """Write until nothing more fits."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            memory.add_memory(sid, content="x" * size)
        except SizeLimitError:
            return
    pytest.fail("it never was full")


def test_what_would_pass_the_limit_of_the_root_is_refused_with_numbers(small, root):
    sid = small.create_session().id
    for _ in range(3):
        small.add_memory(small.create_session().id, content="x" * 10_000)
    used = size(root)
    with pytest.raises(SizeLimitError, match=f"{LIMIT:,}") as caught:
        small.add_memory(sid, content="y" * 10_000)
    error = caught.value
    assert error.code == "E_SIZE_LIMIT"
    assert error.details["size_bytes"] == used
    assert error.details["limit_bytes"] == LIMIT
    needed = error.details["needed_bytes"]
    assert isinstance(needed, int)
    assert 10_000 < needed < 10_500
    assert "max_root_size_mb" in error.advice
    assert "maintain" in error.advice
    assert size(root) == used
    assert small.get_entries(sid) == []
    assert small.add_memory(sid, content="y" * 100).durable, "what fits is stored"


def test_it_can_be_filled_but_never_passed(small, root):
    sids = [small.create_session().id for _ in range(3)]
    for sid in sids:
        fill(small, sid)
    assert LIMIT - 1500 < size(root) <= LIMIT


def test_deleting_works_in_a_full_root_and_makes_room(small, root):
    first, second = (small.create_session().id for _ in range(2))
    kept = small.add_memory(first, content="x" * 10_000).id
    fill(small, second)
    assert small.delete_memory(first, kept)
    assert small.undelete(first, [kept]).ids == (kept,)
    small.delete_session(second)
    deadline = time.monotonic() + 30
    while True:  # it is measured again as soon as that is cheap
        try:
            assert small.add_memory(first, content="x" * 1000).durable
            return
        except SizeLimitError:
            assert time.monotonic() < deadline


def test_logs_of_users_and_the_archive_count(small, root):
    old = small.create_session().id
    small.add_memory(old, content="".join(map(chr, range(0x4E00, 0x4E00 + 3000))))
    small.archive_session(old)
    for number in range(2):
        small.update_preference(None, key=f"k{number}", value="x" * 9000, scope="user", user_id="u")
    small.update_preference(None, key="k", value="x" * 9000, scope="shared")
    assert size(root / ".") > 30_000
    with pytest.raises(SizeLimitError):
        small.add_memory(small.create_session().id, content="x" * 9000)


def test_another_program_that_fills_the_root_is_noticed(small, root):
    sid = small.create_session().id
    small.add_memory(sid, content="x")
    with Memory.open(root, environ={}) as other:
        other.add_memory(other.create_session().id, content="x" * (LIMIT - 3000))
    fill(small, sid, 200)
    assert size(root) <= LIMIT + LIMIT // 8 + 1000, "it is noticed before an eighth more is used"


def test_without_a_limit_nothing_is_measured(root):
    disk = RecordingDisk(root)
    memory = open_on(disk)
    sid = memory.create_session().id
    memory.add_memory(sid, content="x")
    disk.calls.clear()
    memory.add_memory(sid, content="x")
    assert disk.count("list") == disk.count("stat") == 0


def test_the_root_is_measured_once_for_many_writes(root):
    disk = RecordingDisk(root)
    memory = open_on(disk, **{"storage.max_root_size_mb": 100})
    sid = memory.create_session().id
    memory.add_memory(sid, content="x")
    measured = disk.count("list", "archive")
    assert measured >= 1
    for _ in range(200):
        memory.add_memory(sid, content="x" * 100)
    assert disk.count("list", "archive") == measured
    disk.calls.clear()
    memory.add_memory(sid, content="x")
    assert (disk.count("append"), disk.count("list"), disk.count("stat")) == (1, 0, 0)


def test_the_closer_to_the_limit_the_sooner_it_is_measured_again(root):
    disk = RecordingDisk(root)
    memory = open_on(disk, **{"storage.max_root_size_mb": 1})
    sid = memory.create_session().id
    memory.add_memory(sid, content="x")
    measured = disk.count("list", "archive")
    for _ in range(8):
        memory.add_memory(sid, content="x" * 50_000)
        time.sleep(0.05)
    assert disk.count("list", "archive") > measured


def test_what_is_refused_again_and_again_does_not_measure_each_time(root):
    disk = RecordingDisk(root)
    memory = open_on(disk, **{"storage.max_root_size_mb": LIMIT / MIB})
    sid = memory.create_session().id
    disk.before = lambda name, path: time.sleep(0.002) if name == "list" else None
    refused = 0
    disk.calls.clear()
    for _ in range(30):
        try:
            memory.add_memory(sid, content="x" * LIMIT)
        except SizeLimitError:
            refused += 1
    assert refused == 30
    assert disk.count("list", "archive") < 15


def test_a_threads_writes_are_counted_before_they_are_made(root):
    counted = RootSize(RecordingDisk(root))
    for _ in range(10):
        counted.admit(1000, 10_000, is_needed=False)
        time.sleep(0.02)  # until measuring again is cheap: it finds nothing of them
        counted.prepare(10_000)
    with pytest.raises(SizeLimitError):
        counted.admit(1000, 10_000, is_needed=False)
    counted.admit(1000, 10_000, is_needed=True)
    counted.end(2000, 0)  # they could not be made, or were refused for another reason
    counted.admit(1000, 10_000, is_needed=False)


def test_writes_that_are_refused_elsewhere_use_up_no_room(root):
    disk = RecordingDisk(root)
    limits = {"storage.max_root_size_mb": LIMIT / MIB, "storage.max_session_size_mb": 5000 / MIB}
    memory = open_on(disk, **limits)
    sid = memory.create_session().id
    disk.before = lambda name, path: time.sleep(0.02) if name == "list" else None
    for _ in range(30):
        with pytest.raises(SizeLimitError, match="5,000"):
            memory.add_memory(sid, content="x" * 6000)
    for _ in range(6):
        assert memory.add_memory(memory.create_session().id, content="x" * 4000).durable


def test_a_limit_is_for_the_whole_root_alone():
    assert Settings().storage.max_root_bytes == 0
    assert Settings().changed({"storage.max_root_size_mb": 0.5}).storage.max_root_bytes == MIB // 2
