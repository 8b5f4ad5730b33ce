"""Many writers at once, killed writers, forked writers: nothing acknowledged is ever lost."""

import json
import multiprocessing
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from mnemolog import Memory
from mnemolog.errors import MnemologError, SessionNotFoundError
from tests.log.independent import raw_lines, records
from tests.log.rewriting import rewrite
from tests.memory.crowds import Crowd, Noted, acknowledged, check_log, meanwhile

# Only the fork itself is meant: these tests are about what happens after it.
forking = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.mark.req("S001-004", "S001-163", "S001-164", "S001-165", "S002-003", "S002-013", "S002-136")
def test_ten_processes_of_ten_threads_with_rewrites_changes_and_deletions_meanwhile(
    memory, sid, root, folder, tmp_path
):
    noted = tmp_path / "noted"
    changes = iter(range(1_000_000))

    def change() -> None:
        memory.update_session(sid, metadata={f"key {next(changes)}": True})

    def read() -> None:
        found = memory.get_entries(sid)
        assert found.warnings == ()
        assert len({one.id for one in found}) == len(found)

    def come_and_go() -> None:
        other = memory.create_session().id
        memory.add_memory(other, content="x")
        memory.delete_session(other)

    crowd = Crowd(root, sid, noted, name="w", processes=10, threads=10, count=8)
    with (
        meanwhile(lambda: rewrite(root, sid), 0.05) as rewrites,
        meanwhile(change, 0.05) as changed,
        meanwhile(read) as readings,
        meanwhile(come_and_go, 0.05) as removals,
    ):
        crowd.finish()
    assert min(rewrites[0], changed[0], readings[0], removals[0]) > 2
    found = acknowledged(noted)
    assert len(found) == 10 * 10 * 8
    check_log(folder, found)
    assert len(records(folder)) == len(found), "and nothing else"
    assert memory.get_statistics(sid).total_messages == len(found)
    assert len(memory.load_session(sid).metadata) == changed[0], "no change was lost"


@pytest.mark.req("S002-136", "S002-137")
def test_ten_processes_killed_again_and_again_lose_nothing(memory, sid, root, folder, tmp_path):
    noted = tmp_path / "noted"
    for number in range(4):
        before = len(acknowledged(noted))
        crowd = Crowd(root, sid, noted, name=f"r{number}w", processes=10, threads=1, count=0)
        deadline = time.monotonic() + 60
        while len({one.writer for one in acknowledged(noted)[before:]}) < 10:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        crowd.kill()
        found = {one.id: one for one in memory.get_entries(sid)}
        lost = [one for one in acknowledged(noted) if one.id not in found]
        assert lost == []
        assert memory.add_memory(sid, content=f"after {number}", agent_id="me").durable
    intact = [line for line in raw_lines(folder) if line.endswith(b'"}') and line[:1] == b"{"]
    seqs = [json.loads(line)["seq"] for line in intact]
    assert seqs == sorted(set(seqs))
    assert len({one.writer for one in acknowledged(noted)}) == 40


def test_a_session_moved_away_and_back_under_waiting_writers_loses_nothing(
    memory, sid, root, folder, tmp_path
):
    noted, away = tmp_path / "noted", root / "sessions" / ".away"

    def move() -> None:
        folder.rename(away)
        time.sleep(0.005)
        away.rename(folder)

    crowd = Crowd(root, sid, noted, name="w", processes=3, threads=3, count=40)
    with meanwhile(move, 0.02) as moves:
        crowd.finish()
    assert moves[0] > 2
    found = acknowledged(noted)
    assert len(found) == 3 * 3 * 40
    check_log(folder, found)


def test_a_session_restored_from_a_copy_is_written_to_and_not_its_old_files(
    memory, sid, root, folder
):
    """The copy has other inodes: whoever holds the old files open must notice."""
    memory.add_memory(sid, content="before")
    copy = root / "sessions" / ".copy"
    shutil.copytree(folder, copy)
    folder.rename(root / "sessions" / ".old")
    with pytest.raises(SessionNotFoundError):
        memory.add_memory(sid, content="nowhere")
    copy.rename(folder)
    memory.add_memory(sid, content="after")
    assert [one["content"] for one in records(folder)] == ["before", "after"]
    assert [one.content for one in memory.get_entries(sid)] == ["before", "after"]


@pytest.mark.parametrize("backup", [True, False])
def test_a_log_that_an_editor_saved_is_written_to_and_read_and_not_its_old_file(
    memory, sid, root, folder, backup
):
    """Editors write a new file and put it in the place of the old one, or that one aside before."""
    memory.add_memory(sid, content="before")
    assert memory.add_memory(sid, id="m2", content="taken out by hand").seq == 2
    assert len(memory.get_entries(sid)) == 2
    log, saved = folder / "memory.jsonl", folder / "memory.jsonl.saved"
    saved.write_bytes(log.read_bytes().splitlines(keepends=True)[0])
    if backup:
        log.rename(folder / "memory.jsonl~")
    saved.rename(log)
    assert [one.content for one in memory.get_entries(sid)] == ["before"]
    assert memory.add_memory(sid, content="after").durable
    with Memory.open(root, environ={}) as fresh:
        for one in (memory, fresh):
            assert [entry.content for entry in one.get_entries(sid)] == ["before", "after"]
            assert one.query(sid, text="after")[0].entry.content == "after"


def test_a_session_deleted_and_created_anew_under_writers_keeps_what_came_after(
    memory, sid, root, folder
):
    born, written, stop = [0], [], threading.Event()

    def write(name: str) -> None:
        with Memory.open(root, environ={}) as own:
            while not stop.is_set():
                before = born[0]
                with suppress(SessionNotFoundError):
                    receipt = own.add_memory(sid, content=name)
                    written.append((receipt.id, before, born[0]))

    threads = [threading.Thread(target=write, args=(f"w{n}",)) for n in range(6)]
    for thread in threads:
        thread.start()
    for _ in range(8):
        memory.delete_session(sid)
        memory.create_session("u1", session_id=sid)
        born[0] += 1
        time.sleep(0.02)
    stop.set()
    for thread in threads:
        thread.join()
    there = {one["id"] for one in records(folder)}
    last = [one for one, before, after in written if before == after == born[0]]
    assert last
    assert set(last) <= there
    assert [path.name for path in (root / "sessions").iterdir()] == [sid]


@forking
@pytest.mark.parametrize("way", ["os.fork", "multiprocessing"])
def test_a_forked_child_writes_while_the_parents_threads_write(memory, sid, folder, way):
    stop, written = threading.Event(), []

    def write(name: str) -> None:
        while not stop.is_set():
            written.append(memory.add_memory(sid, content=name, agent_id=name).id)

    threads = [threading.Thread(target=write, args=(f"t{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for number in range(6):
        assert run_in_child(way, lambda name: child(memory, sid, name), f"c{number}") == 0
    stop.set()
    for thread in threads:
        thread.join()
    lines = records(folder)
    seqs = [one["seq"] for one in lines]
    assert seqs == sorted(set(seqs))
    ids = [one["id"] for one in lines]
    assert set(written) <= set(ids)
    assert sum(one["agent_id"].startswith("c") for one in lines) == 6 * 10
    assert len(ids) == len(set(ids)) == len(written) + 60


def child(memory: Memory, sid: str, name: str) -> None:
    """What a forked child does with the memory that it inherited."""
    for _ in range(10):
        assert memory.add_memory(sid, content=name, agent_id=name).durable
    assert len([one for one in memory.get_entries(sid) if one.agent_id == name]) == 10


def run_in_child(way: str, work: Callable[[str], None], name: str) -> int:
    """Run something in a forked child; 0 if it came to its end."""
    if way == "multiprocessing":
        process = multiprocessing.get_context("fork").Process(target=work, args=(name,))
        process.start()
        process.join(30)
        return process.exitcode if process.exitcode is not None else -1
    identifier = os.fork()
    if identifier == 0:
        status = 1
        try:
            work(name)
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(identifier, 0)[1])


@forking
def test_a_child_forked_while_the_lock_is_held_does_not_give_it_back(memory, sid, root, folder):
    """What the parent locked stays locked, whatever the child does and when it ends."""

    def fork_inside(line: bytes) -> bool:
        assert run_in_child("os.fork", lambda _: memory.close(), "x") == 0
        with (
            Memory.open(root, settings={"concurrency.lock_timeout_ms": 50}, environ={}) as other,
            pytest.raises(TimeoutError),
        ):
            other.add_memory(sid, content="too early")
        return True

    memory.add_memory(sid, content="x")
    rewrite(root, sid, fork_inside)
    assert [one["content"] for one in records(folder)] == ["x"]


@pytest.mark.req("S001-004", "S001-163", "S002-136")
def test_two_memories_in_one_process_share_a_session(root, sid, folder):
    with Memory.open(root, environ={}) as one, Memory.open(root, environ={}) as two:

        def write(memory: Memory, name: str) -> None:
            for number in range(25):
                memory.add_memory(sid, content=f"{name} {number}", agent_id=name)

        threads = [
            threading.Thread(target=write, args=(memory, f"{name}{n}"))
            for name, memory in (("one", one), ("two", two))
            for n in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(one.get_entries(sid)) == len(two.get_entries(sid)) == 150
    lines = records(folder)
    check_log(
        folder,
        [Noted(x["id"], x["seq"], x["agent_id"], int(x["content"].split()[1])) for x in lines],
    )
    assert [one["seq"] for one in lines] == list(range(1, 151))


@pytest.mark.req("S001-164")
def test_of_two_updates_of_one_entry_at_once_neither_is_lost(memory, sid, root):
    memory.add_memory(sid, id="m1", content="x", metadata={})

    def count(name: str) -> None:
        with Memory.open(root, environ={}) as own:
            for number in range(15):
                done = False
                while not done:
                    entry = own.get_memory(sid, "m1")
                    assert entry is not None
                    metadata = {**entry.metadata, f"{name}{number}": 1}
                    with suppress(MnemologError):
                        own.update_memory(sid, "m1", metadata=metadata, expected_seq=entry.seq)
                        done = True

    threads = [threading.Thread(target=count, args=(f"t{n}",)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entry = memory.get_memory(sid, "m1")
    assert entry is not None
    assert len(entry.metadata) == 45


@pytest.mark.req("S001-164")
def test_one_id_created_by_many_at_once_exists_once(root, memory):
    results: list[str] = []

    def create(number: int) -> None:
        with Memory.open(root, environ={}) as own:
            try:
                own.create_session(f"u{number}", session_id="wanted")
                results.append("created")
            except MnemologError as error:
                results.append(error.code)

    threads = [threading.Thread(target=create, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["E_SESSION_EXISTS"] * 7 + ["created"]
    assert [path.name for path in (root / "sessions").iterdir()] == ["wanted"]


@pytest.mark.req("S001-050", "S001-165")
def test_a_reader_sees_a_growing_prefix_and_never_half_a_line(memory, sid, root):
    stop = threading.Event()

    def write() -> None:
        with Memory.open(root, settings={"storage.segment_size_mb": 0.01}, environ={}) as own:
            while not stop.is_set():
                own.add_many(sid, [{"content": "x" * 300} for _ in range(3)])

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    seen: list[str] = []
    while len(seen) < 150:
        found = memory.get_entries(sid)
        assert found.warnings == ()
        ids = [one.id for one in found]
        assert ids[: len(seen)] == seen
        seen = ids
    stop.set()
    for thread in threads:
        thread.join()
    assert len(memory.get_entries(sid)) >= len(seen)


def test_threads_may_use_one_memory_for_everything_at_once(memory, sid):
    failures: list[BaseException] = []

    def use(number: int) -> None:
        try:
            for step in range(5):
                own = memory.create_session(f"u{number}").id
                memory.add_memory(own, content="x")
                memory.update_preference(own, key="k", value=step, scope="user")
                memory.update_preference(own, key=f"k{number}", value=step, scope="shared")
                assert memory.get_preferences(own)
                memory.get_global_statistics()
                memory.delete_session(own)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [one.id for one in memory.list_sessions()] == [sid]
    assert len(memory.get_preferences()) == 4
