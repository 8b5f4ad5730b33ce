"""The simulated disk behaves like a real one, and loses exactly what was not synced."""

import threading
from collections import Counter
from datetime import UTC, datetime
from random import Random

import pytest

from mnemolog.errors import StorageFullError, StorageIOError
from mnemolog.fs import read_all, replace, swapping, write_new
from mnemolog.fs.real import RealDisk
from mnemolog.testing import FixedClock, Recorder, SimulatedDisk, sampled


def crashed(disk, times=400):
    """The trees of so many power losses."""
    return [disk.crash(Random(number)).tree() for number in range(times)]


def contents(disk, path="file"):
    """Everything that power losses may leave of a file; None when it is gone."""
    return {tree.get(path) for tree in crashed(disk)}


def put(disk, path, content=b"old"):
    """A file that is there for good."""
    write_new(disk, path, content)
    disk.sync_folder(path.rpartition("/")[0])
    return disk.open(path, "append")


@pytest.fixture
def disk():
    return SimulatedDisk()


# --- it is a disk: the same holds for the real one


@pytest.fixture(params=["real", "simulated"])
def either(request, tmp_path):
    return RealDisk(str(tmp_path)) if request.param == "real" else SimulatedDisk()


def test_a_created_file_is_empty_private_and_there_once(either):
    either.open("file", "create")
    found = either.stat("file")
    assert (found.size, found.mode, found.is_folder, found.is_link) == (0, 0o600, False, False)
    with pytest.raises(FileExistsError):
        either.open("file", "create")


@pytest.mark.parametrize("mode", ["read", "append", "update"])
def test_only_creating_creates(either, mode):
    with pytest.raises(FileNotFoundError):
        either.open("file", mode)
    with pytest.raises(FileNotFoundError):
        either.open("nowhere/file", "create")


def test_what_is_written_can_be_read(either):
    file = either.open("file", "create")
    assert file.append(b"hello") == 5
    assert file.append(b" world") == 6
    assert (file.size(), file.read(0, 99), file.read(3, 4)) == (11, b"hello world", b"lo w")
    file.truncate(7)
    assert file.append(b"!") == 1
    either.open("file", "update").write_at(0, b"J")
    assert either.open("file", "read").read(0, 99) == b"Jello w!"


def test_folders_are_made_with_their_parents_and_listed_in_order(either):
    either.mkdir("a/b")
    either.mkdir("a/b")
    either.open("a/z", "create")
    assert either.list("a") == ["b", "z"]
    assert either.list("") == ["a"]
    assert either.list("nowhere") == either.list("a/z") == []
    found = either.stat("a/b")
    assert (found.is_folder, found.mode) == (True, 0o700)


def test_a_rename_replaces_a_file_and_keeps_its_identity(either):
    new, old = either.open("new", "create"), either.open("file", "create")
    new.append(b"new")
    old.append(b"old")
    either.rename("new", "file")
    assert either.ident("file") == new.ident != old.ident
    assert either.ident("new") is None
    assert either.open("file", "read").read(0, 9) == b"new"
    assert old.read(0, 9) == b"old"


def test_a_rename_replaces_an_empty_folder_but_no_full_one(either):
    for path in ("source", "empty", "full"):
        either.mkdir(path)
    either.open("full/file", "create")
    either.rename("source", "empty")
    with pytest.raises(FileExistsError):
        either.rename("empty", "full")
    with pytest.raises(FileNotFoundError):
        either.rename("source", "other")
    assert either.list("") == ["empty", "full"]


def test_removing_what_is_gone_does_nothing(either):
    either.mkdir("folder")
    either.open("folder/file", "create")
    with pytest.raises(StorageIOError):
        either.rmdir("folder")
    with pytest.raises(StorageIOError):
        either.unlink("folder")
    for _ in range(2):
        either.unlink("folder/file")
    for _ in range(2):
        either.rmdir("folder")
    assert either.list("") == []


def test_an_open_file_outlives_its_name(either):
    file = either.open("file", "create")
    either.unlink("file")
    either.open("file", "create")
    file.append(b"still here")
    assert file.read(0, 99) == b"still here"
    assert either.stat("file").size == 0
    assert either.ident("file") != file.ident


@pytest.mark.parametrize("path", ["..", "folder/..", "", "folder/", "."])
def test_a_path_that_names_nothing_below_the_root_is_refused(either, path):
    either.mkdir("folder")
    with pytest.raises(StorageIOError):
        either.open(path, "create")


def test_syncing_a_missing_folder_and_setting_modes(either):
    with pytest.raises(FileNotFoundError):
        either.sync_folder("nowhere")
    either.mkdir("folder")
    either.open("file", "create")
    for path in ("folder", "file"):
        either.chmod(path, 0o640)
        assert either.stat(path).mode == 0o640


def test_a_lock_belongs_to_one_open_file(either):
    first, second = either.open("lock", "create"), either.open("lock", "update")
    assert first.try_lock()
    assert first.try_lock()
    assert not second.try_lock()
    second.unlock()
    assert not second.try_lock()
    first.unlock()
    assert second.try_lock()


def test_a_lock_ends_with_the_file_that_holds_it(either):
    assert either.open("lock", "create").try_lock()
    assert either.open("lock", "update").try_lock()


# --- power loss: content


def test_a_write_may_be_kept_dropped_torn_or_zeroed_until_it_is_synced(disk):
    file = put(disk, "file", b"")
    file.append(b"abcd")
    found = contents(disk)
    assert {b"", b"a", b"ab", b"abc", b"abcd", b"\0\0\0\0", b"ab\0\0", b"\0\0cd"} <= found
    file.sync()
    assert contents(disk) == {b"abcd"}


def test_a_later_write_may_survive_an_earlier_one(disk):
    file = put(disk, "file", b"")
    file.append(b"ab")
    file.append(b"cd")
    assert {b"\0\0cd", b"ab", b"abcd"} <= contents(disk)


def test_an_overwrite_leaves_old_bytes_where_it_is_lost(disk):
    put(disk, "file", b"1234")
    disk.open("file", "update").write_at(1, b"bc")
    assert contents(disk) == {b"1234", b"1bc4", b"1b34", b"12c4"}


def test_a_truncation_is_kept_or_dropped(disk):
    file = put(disk, "file", b"1234")
    file.truncate(1)
    assert contents(disk) == {b"1", b"1234"}
    file.sync()
    assert contents(disk) == {b"1"}


def test_no_later_sync_settles_what_one_failed_to_write(disk):
    file = put(disk, "file", b"old ")
    file.append(b"lost")
    disk.refuse("sync", "file", StorageIOError("ill"))
    with pytest.raises(StorageIOError, match="ill"):
        file.sync()
    file.append(b" new")
    file.sync()
    assert file.read(0, 99) == b"old lost new"
    found = contents(disk)
    assert {b"old lost new", b"old \0\0\0\0 new"} <= found
    assert all(text.startswith(b"old ") and text.endswith(b" new") for text in found)


# --- power loss: names


def test_a_synced_file_may_lose_its_name_and_a_synced_name_its_content(disk):
    write_new(disk, "named late", b"text")
    assert contents(disk, "named late") == {None, b"text"}
    disk.open("synced late", "create").append(b"text")
    disk.sync_folder("")
    assert {b"", b"text"} <= contents(disk, "synced late")
    assert None not in contents(disk, "synced late")


def test_a_folder_that_is_lost_takes_everything_with_it(disk):
    disk.mkdir("folder")
    put(disk, "folder/file")
    assert {frozenset(tree) for tree in crashed(disk)} == {
        frozenset(),
        frozenset({"folder", "folder/file"}),
    }


def test_a_removal_may_be_undone_until_the_folder_is_synced(disk):
    put(disk, "file")
    disk.unlink("file")
    assert contents(disk) == {None, b"old"}
    disk.sync_folder("")
    assert contents(disk) == {None}


def test_a_rename_happens_as_a_whole_or_not_at_all(disk):
    disk.mkdir("a")
    disk.mkdir("b")
    disk.sync_folder("")
    put(disk, "a/file")
    disk.rename("a/file", "b/file")
    places = {tuple(path for path in tree if "/" in path) for tree in crashed(disk)}
    assert places == {("a/file",), ("b/file",)}
    disk.sync_folder("a")
    assert contents(disk, "b/file") == {b"old"}


def test_a_replaced_file_has_either_content(disk):
    put(disk, "file", b"old")
    put(disk, "new", b"new")
    disk.rename("new", "file")
    assert contents(disk) == {b"old", b"new"}
    assert all(len(tree) == 2 - (tree["file"] == b"new") for tree in crashed(disk))


def test_what_was_moved_twice_is_in_one_place(disk):
    put(disk, "one")
    disk.rename("one", "two")
    disk.rename("two", "three")
    assert {tuple(tree) for tree in crashed(disk)} == {("one",), ("two",), ("three",)}


def test_a_settled_name_is_not_undone_by_an_earlier_doubtful_one(disk):
    disk.mkdir("a")
    disk.mkdir("b")
    disk.sync_folder("")
    put(disk, "a/new", b"new")
    disk.open("b/file", "create")
    disk.rename("a/new", "b/file")
    disk.sync_folder("a")
    assert contents(disk, "b/file") == {b"new"}


def test_an_atomic_replacement_leaves_one_of_both_at_every_moment(disk):
    put(disk, "file", b"old")
    recorder = Recorder(disk, lambda: None)
    replace(disk, "file", b"new")
    moments = recorder.stop()
    assert [moment.before.split()[0] for moment in moments] == (
        ["unlink", "create", "append", "sync", "rename", "sync_folder", "the"]
    )
    found = [contents(moment.disk) for moment in moments]
    assert found == [{b"old"}] * 5 + [{b"old", b"new"}, {b"new"}]


# --- snapshots


def test_a_crash_leaves_the_disk_as_it_is_and_follows_from_its_seed(disk):
    put(disk, "file").append(b" and new")
    before = disk.tree()
    assert crashed(disk) == crashed(disk)
    assert disk.tree() == before
    assert len({disk.crash(Random(number)).fingerprint() for number in range(400)}) > 20


def test_a_killed_process_loses_its_locks_and_nothing_else(disk):
    file = put(disk, "file")
    file.append(b" and new")
    assert file.try_lock()
    after = disk.kill()
    found = after.open("file", "append")
    assert found.try_lock()
    assert found.read(0, 99) == b"old and new"
    file.append(b", too late")
    assert found.read(0, 99) == b"old and new"
    assert {b"old", b"old and new"} <= contents(after)


def test_snapshots_share_nothing_that_changes(disk):
    file = put(disk, "file", b"1")
    copies = [disk.kill() for _ in range(2)]
    for number, copy in enumerate(copies):
        copy.open("file", "append").append(b"%d" % (number + 2))
    file.append(b"4")
    file.truncate(1)
    file.append(b"5")
    assert [each.tree()["file"] for each in (*copies, disk)] == [b"12", b"13", b"15"]


def test_what_is_in_doubt_is_counted(disk):
    disk.open("file", "create").append(b"text")
    assert disk.in_doubt() == 2
    disk.open("file", "append").sync()
    assert disk.in_doubt() == 1
    disk.sync_folder("")
    assert disk.in_doubt() == 0


def test_every_drawn_state_is_another_one_until_there_are_no_more(disk):
    file = put(disk, "file", b"")
    recorder = Recorder(disk, lambda: None)
    file.append(b"ab")
    moments = recorder.stop()
    names = [sample.name for sample in sampled(moments, "seed", 5)]
    assert names == [sample.name for sample in sampled(moments, "seed", 5)]
    assert names[0] == "seed/0/0, before append file"
    states = Counter(sample.disk.tree()["file"] for sample in sampled(moments, "seed", 6))
    assert states == Counter([b"", b"\0\0", b"\0b", b"a", b"a\0", b"ab"])
    with pytest.raises(ValueError, match="only 6 states"):
        list(sampled(moments, "seed", 7))


# --- faults and hooks


def test_a_full_disk_takes_a_part_and_then_nothing():
    disk = SimulatedDisk(capacity=10)
    file = disk.open("file", "create")
    assert [file.append(b"123456"), file.append(b"123456"), file.append(b"123456")] == [6, 4, 0]
    assert file.read(0, 99) == b"1234561234"
    assert disk.free_bytes() == 0
    with pytest.raises(StorageFullError):
        write_new(disk, "other", b"text")
    with pytest.raises(StorageFullError):
        disk.open("file", "update").write_at(8, b"12345")
    assert list(disk.tree()) == ["file"]
    disk.unlink("file")
    write_new(disk, "other", b"text")
    assert disk.free_bytes() == 6


def test_an_operation_fails_as_often_as_asked_on_the_paths_asked(disk):
    disk.open("a.json", "create")
    disk.refuse("open", "*.json", StorageIOError("ill"), times=2)
    for _ in range(2):
        with pytest.raises(StorageIOError, match="ill"):
            disk.open("a.json", "read")
    disk.open("a.json", "read")
    disk.refuse("append", "*", StorageIOError("ill"), times=None)
    for _ in range(3):
        with pytest.raises(StorageIOError):
            disk.open("a.json", "append").append(b"text")
    disk.allow_all()
    assert disk.open("a.json", "append").append(b"text") == 4


def test_calls_are_counted(disk):
    file = disk.open("file", "create")
    file.append(b"text")
    file.append(b"text")
    file.sync()
    disk.rename("file", "other")
    assert disk.calls == {"open": 1, "create": 1, "append": 2, "sync": 1, "rename": 1}


def test_the_hook_comes_before_every_change_and_can_prevent_it(disk):
    seen = []
    disk.before_operation = lambda operation, path: seen.append(
        (operation, path, list(disk.tree()))
    )
    disk.mkdir("folder")
    file = disk.open("folder/file", "create")
    file.append(b"text")
    file.read(0, 4)
    assert seen == [
        ("mkdir", "folder", []),
        ("create", "folder/file", ["folder"]),
        ("append", "folder/file", ["folder", "folder/file"]),
    ]

    def prevent(operation, path):
        raise RuntimeError(operation)

    disk.before_operation = prevent
    with pytest.raises(RuntimeError, match="unlink"):
        disk.unlink("folder/file")
    assert disk.list("folder") == ["file"]


@pytest.mark.parametrize(
    ("mode", "call"),
    [
        ("read", lambda file: file.append(b"x")),
        ("update", lambda file: file.append(b"x")),
        ("append", lambda file: file.write_at(0, b"x")),
        ("read", lambda file: file.truncate(0)),
    ],
)
def test_a_file_does_only_what_it_was_opened_for(disk, mode, call):
    put(disk, "file")
    with pytest.raises(StorageIOError, match=f"open for {mode}"):
        call(disk.open("file", mode))


def test_threads_lose_nothing_to_each_other(disk):
    file = put(disk, "file", b"")

    def write(letter):
        for _ in range(200):
            file.append(letter * 3)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = file.read(0, 9999)
    parts = [text[start : start + 3] for start in range(0, len(text), 3)]
    assert sorted(parts) == [b"aaa"] * 200 + [b"bbb"] * 200 + [b"ccc"] * 200
    assert disk.calls["append"] == 601


def test_a_fixed_clock_stands_still_until_it_is_moved():
    clock = FixedClock()
    assert clock.now() == clock.now() == datetime(2026, 11, 15, 9, tzinfo=UTC)
    clock.advance(hours=2, minutes=1)
    assert clock.now() == datetime(2026, 11, 15, 11, 1, tzinfo=UTC)
    clock.set(datetime(2030, 1, 1, tzinfo=UTC))
    assert clock.now().year == 2030


# --- exchanging and placing


def test_two_files_change_places(either):
    write_new(either, "ours", b"new")
    write_new(either, "theirs", b"old")
    before = either.ident("theirs")
    either.exchange("ours", "theirs")
    assert (read_all(either, "ours"), read_all(either, "theirs")) == (b"old", b"new")
    assert either.ident("ours") == before


def test_only_what_is_there_changes_places(either):
    write_new(either, "ours", b"new")
    for one, other in (("ours", "theirs"), ("theirs", "ours")):
        with pytest.raises(FileNotFoundError):
            either.exchange(one, other)
    assert (either.list(""), read_all(either, "ours")) == (["ours"], b"new")


def test_a_file_is_placed_only_where_nothing_is(either):
    write_new(either, "ours", b"new")
    write_new(either, "theirs", b"old")
    with pytest.raises(FileExistsError):
        either.place("ours", "theirs")
    either.place("ours", "free")
    assert (read_all(either, "theirs"), read_all(either, "free")) == (b"old", b"new")
    assert either.list("") == ["free", "theirs"]
    with pytest.raises(FileNotFoundError):
        either.place("ours", "other")


def test_a_power_loss_leaves_both_sides_of_an_exchange_or_none(disk):
    put(disk, "ours", b"new")
    put(disk, "theirs", b"old")
    disk.exchange("ours", "theirs")
    found = {(tree.get("ours"), tree.get("theirs")) for tree in crashed(disk)}
    assert found == {(b"new", b"old"), (b"old", b"new")}
    disk.sync_folder("")
    found = {(tree.get("ours"), tree.get("theirs")) for tree in crashed(disk)}
    assert found == {(b"old", b"new")}


def test_without_the_systems_help_files_change_places_by_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(swapping, "_call", None)
    real = RealDisk(str(tmp_path))
    test_two_files_change_places(real)
    for name in real.list(""):
        real.unlink(name)
    test_a_file_is_placed_only_where_nothing_is(real)
    for name in real.list(""):
        real.unlink(name)
    test_only_what_is_there_changes_places(real)
