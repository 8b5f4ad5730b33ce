"""Power loss before every operation of an import and of a migration.

As in `test_crash.py`: from every moment many states are drawn that a power loss may leave. Each one
must open, hold what was acknowledged before, show each log as it was or as it is to be, and let the
same work be done again to its end.
"""

import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.log import sessions
from mnemolog.settings import Settings
from mnemolog.stores.files.moving.mover import FilesMover
from mnemolog.testing import FixedClock, Recorder, SimulatedDisk, sampled
from tests.crash_stories import SEED, opened, tiny_segments
from tests.forgetting.scanner import found_in, word
from tests.log.second import SECOND, open_second

STATES = 500
TINY = tiny_segments(700)


@pytest.fixture(autouse=True)
def _the_same_names_every_time(monkeypatch):
    monkeypatch.setattr(os, "urandom", Random(SEED).randbytes)


def told(memory: Memory) -> dict[str, list[Any]]:
    """Everything that a memory shows: the entries of each session, and the preferences."""
    found: dict[str, list[Any]] = {
        one.id: [(entry.id, entry.seq, entry.content) for entry in memory.get_entries(one.id)]
        for one in memory.list_sessions()
    }
    kept = memory.get_preferences(user_id="ann")
    return {**found, "preferences": sorted((one.id, one.seq, one.text) for one in kept)}


def source(disk: SimulatedDisk) -> Memory:
    """A memory with a session `talk`, to be exported twice: early and late."""
    memory = opened(disk, TINY)
    memory.create_session("ann", session_id="talk")
    memory.add_many("talk", [{"content": f"line {n}", "id": f"m{n}"} for n in range(4)])
    memory.update_preference(None, scope="shared", key="style", value="brief")
    return memory


def grow(memory: Memory) -> None:
    memory.update_memory("talk", "m1", content="revised")
    memory.add_many("talk", [{"content": f"late {n}", "id": f"l{n}"} for n in range(3)])
    memory.create_session("ann", session_id="fresh")
    for number in range(5):
        memory.add_memory("fresh", content=f"fresh {number}", id=f"f{number}")
    memory.update_preference(None, scope="shared", key="tone", value="calm")
    memory.update_preference(None, scope="user", user_id="ann", key="font", value="serif")


def exported(disk: SimulatedDisk, path: Path) -> str:
    FilesMover(disk, TINY).export_native(None, str(path), "2026-11-15T09:00:00.000Z")
    return str(path)


def take(disk: SimulatedDisk, path: str) -> None:
    report = FilesMover(disk, TINY).import_native(path)
    assert report.refused == (), report


def test_an_import_happens_log_by_log_or_not_at_all(tmp_path):
    there = SimulatedDisk()
    memory = source(there)
    early = exported(there, tmp_path / "early.jsonl")
    grow(memory)
    late = exported(there, tmp_path / "late.jsonl")
    final = told(memory)

    here = SimulatedDisk()
    mine = opened(here, TINY)
    mine.create_session(session_id="mine")
    mine.add_memory("mine", content="acknowledged", id="a1")
    take(here, early)
    before = told(mine)
    after = {**final, "mine": before["mine"]}
    done: list[bool] = []
    recorder = Recorder(here, lambda: bool(done))
    take(here, late)
    done.append(True)
    moments = recorder.stop()
    count = 0
    for sample in sampled(moments, f"importing/{SEED}", STATES):
        count += 1
        check_import(sample.disk, late, before, after, sample.promises)
    assert count >= STATES


def check_import(disk, path, before, after, is_done) -> None:
    memory = opened(disk, TINY)
    found = told(memory)
    assert found.keys() <= after.keys()
    assert found["mine"] == before["mine"]
    for name in ("talk", "fresh"):
        assert found.get(name) in ([after[name]] if is_done else [before.get(name), after[name]])
    assert set(found["preferences"]) >= set(before["preferences"])
    assert not is_done or found == after
    take(disk, path)
    assert told(opened(disk, TINY)) == after
    assert memory.add_memory("talk", content="goes on").durable
    hidden = [name for name in disk.list("sessions") if name.startswith(".")]
    assert all(name.startswith(sessions.NEW) for name in hidden)


def test_what_a_crash_leaves_of_an_import_does_not_outlive_an_erasure(tmp_path):
    """Not even where the log knows nothing of what was to come into it."""
    there, secret = SimulatedDisk(), word()
    memory = opened(there, TINY)
    memory.create_session("ann", session_id="talk")
    memory.add_memory("talk", id="own", content=secret, type="note", scope="user")
    memory.add_memory("talk", id="all", content=secret, type="note", scope="shared")
    path = exported(there, tmp_path / "all.jsonl")
    here = SimulatedDisk()
    opened(here, TINY)
    recorder = Recorder(here, lambda: None)
    take(here, path)
    for number, moment in enumerate(recorder.stop()):
        for left in (moment.disk.kill(), moment.disk.crash(Random(f"{SEED}/{number}"))):
            again = opened(left, TINY)
            again.erase(None, ids=["own", "all"])
            assert found_in(left.tree(), [secret]) == {}, moment.before


def test_a_migration_loses_nothing_whenever_the_power_fails():
    disk = SimulatedDisk()
    grow(source(disk))
    clock = FixedClock()
    memory = open_second(disk, TINY, clock)
    before = told(memory)
    recorder = Recorder(disk, lambda: None)
    memory.migrate()
    moments = recorder.stop()
    count = 0
    for sample in sampled(moments, f"migrating/{SEED}", STATES):
        count += 1
        check_migration(sample.disk, before)
    assert count >= STATES


def check_migration(disk: SimulatedDisk, before) -> None:
    memory = open_second(disk, TINY)
    assert told(memory) == before
    assert memory.add_memory("talk", content="written between", id="w1").durable
    assert {one.status for one in memory.migrate()} <= {"rewritten", "current"}
    assert {one.status for one in memory.migrate()} == {"current"}
    found = told(open_second(disk, TINY))
    assert found.pop("talk")[:-1] == before["talk"]
    assert found == {name: rows for name, rows in before.items() if name != "talk"}


def test_what_is_acknowledged_between_survives_a_second_loss():
    """A kill in the middle of a migration, then a writer, then the power fails."""
    disk = SimulatedDisk()
    grow(source(disk))
    recorder = Recorder(disk, lambda: None)
    open_second(disk, TINY).migrate()
    moments = recorder.stop()
    for number, moment in enumerate(moments):
        killed = moment.disk.kill()
        memory = open_second(killed, TINY)
        memory.add_memory("talk", content="acknowledged", id="ack")
        before = told(memory)
        left = killed.crash(Random(f"{SEED}/{number}"))
        assert told(open_second(left, TINY)) == before
    assert len(moments) > 20


def test_a_full_disk_stops_a_migration_and_harms_nothing():
    disk = SimulatedDisk()
    grow(source(disk))
    memory = open_second(disk, TINY)
    before = told(memory)
    used = sum(map(len, filter(None, disk.tree().values())))
    for room in (0, 200, 800):
        disk.capacity = used + room
        with pytest.raises(OSError, match="No space"):
            memory.migrate()
        assert told(open_second(disk, TINY)) == before
    disk.capacity = None
    memory.migrate()
    assert SECOND.current == 2
    assert told(open_second(disk, Settings())) == before
