"""A kill or a power loss at every operation of a purge: the next one completes it.

The purge hides what is overdue in a session and in a user's log, erases what was hidden in a live
session and in an archived one, and removes an archived session as a whole.
"""

from datetime import timedelta

import pytest

from mnemolog import Memory
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, Moment, Recorder, SimulatedDisk, sampled
from mnemolog.testing.opening import open_on
from tests.crash_stories import SEED
from tests.forgetting.scanner import found_in
from tests.forgetting.test_purge import ids, purges, say

START = FixedClock().now()
END = START + timedelta(days=800)

KEPT = {"talk": ["n-talk"], "half": ["n-half"]}
HIDDEN = {"talk": ["c1", "c2", "c3"]}
GONE = ["said in c4", "said in h1", "said in w1"]
STATES = 200


def opened(disk: SimulatedDisk, clock: FixedClock) -> Memory:
    return open_on(disk, Settings(), clock)


def prepared() -> SimulatedDisk:
    disk, clock = SimulatedDisk(), FixedClock(START)
    memory = opened(disk, clock)
    for session in ("talk", "half", "whole"):
        memory.create_session("ann", session_id=session)
    say(memory, "talk", "c1", "c2", "c3", "c4")
    say(memory, "half", "h1")
    say(memory, "whole", "w1")
    for session in KEPT:
        memory.add_memory(session, type="note", content=f"kept in {session}", id=f"n-{session}")
    memory.delete_memory("talk", "c4")
    memory.delete_memory("half", "h1")
    memory.update_preference(None, key="k", value="v", scope="user", user_id="ann")
    memory.archive_session("half")
    memory.archive_session("whole")
    memory.close()
    return disk


@pytest.fixture(scope="module")
def moments() -> list[Moment[None]]:
    """Every moment of the purge."""
    disk = prepared()
    memory = opened(disk, FixedClock(END))
    recorder = Recorder(disk, lambda: None)
    report = memory.purge(confirm=True)
    assert report.tombstoned.by_session == {"talk": 3}
    assert report.tombstoned.by_user == {"ann": 1}
    assert report.erased.by_session == {"talk": 1, "half": 1, "whole": 1}
    assert (report.removed_sessions, report.failed) == (("whole",), {})
    return recorder.stop()


def complete(disk: SimulatedDisk, name: str, most: int = 2) -> None:
    """Purge what a crash left, and check that all of it is as it has to be."""
    memory = opened(disk, FixedClock(END))
    for session, kept in KEPT.items():
        assert set(kept) <= set(ids(memory, session)), f"{name}: something else went"
    report = memory.purge(confirm=True)
    assert report.failed == {}, name
    assert {one.id for one in memory.list_sessions()} == {"talk", "half"}, name
    assert {session: ids(memory, session) for session in KEPT} == KEPT, name
    assert memory.get_preferences(user_id="ann") == [], name
    assert found_in(disk.tree(), GONE) == {}, name
    assert sorted(memory.undelete("talk", HIDDEN["talk"]).ids) == HIDDEN["talk"], name
    assert memory.undelete("talk", ["c4"]).ids == (), name
    assert 1 <= len(purges(memory)) <= most, name  # one for each that came so far


def test_a_purge_that_is_killed_anywhere_is_completed_by_the_next(moments):
    assert len(moments) > 50
    for number, moment in enumerate(moments):
        complete(moment.disk.kill(), f"killed at {number}, before {moment.before}")


def test_a_purge_that_loses_power_anywhere_is_completed_by_the_next(moments):
    count = 0
    for sample in sampled(moments, f"purge/{SEED}", STATES):
        complete(sample.disk, sample.name)
        count += 1
    assert count >= STATES


def test_a_purge_that_is_killed_twice_is_completed_all_the_same(moments):
    for first in moments[:: len(moments) // 8]:
        disk = first.disk.kill()
        recorder = Recorder(disk, lambda: None)
        opened(disk, FixedClock(END)).purge(confirm=True)
        later = recorder.stop()
        for second in later[:: max(1, len(later) // 8)]:
            name = f"before {first.before}, then before {second.before}"
            complete(second.disk.kill(), name, most=3)
