"""Maintaining: purge on schedule, archive what is idle, compact what is large; one at a time."""

import json
import subprocess
import sys
import tarfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from mnemolog import Memory
from mnemolog.testing import FixedClock
from tests.forgetting.scanner import tree_of
from tests.forgetting.test_purge import ids, purges, say
from tests.log.independent import records

# Holds the lease of a root until its input ends.
HOLDER = """
import sys
from mnemolog import Memory
with Memory.open(sys.argv[1], environ={}) as memory:
    with memory._keeper.lease("maintain") as is_mine:
        print(is_mine, flush=True)
        sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def in_utc():
    """The schedule follows the local clock; these tests count in UTC."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.fixture
def resting(root, clock):
    """A memory that archives nothing by itself."""
    with Memory.open(root, settings={"archive.auto": False}, clock=clock, environ={}) as memory:
        yield memory


@pytest.fixture
def agreed(memory: Memory) -> Memory:
    memory.purge(confirm=True)  # on Sunday, 15 November 2026, at 09:00
    return memory


@pytest.mark.parametrize("is_dry", [False, True])
def test_a_broken_audit_is_told_and_keeps_nothing_from_being_kept_in_order(
    root, agreed, sid, clock, is_dry
):
    say(agreed, sid, "m1")
    agreed.create_session(session_id="quiet")
    path = root / "audit.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"actor":"owner"', b'"actor":"nobody"'))
    clock.advance(days=91)
    done = agreed.maintain(dry_run=is_dry)
    assert done.purge is not None
    assert done.purge.tombstoned.count == 1
    assert "quiet" in done.archived
    assert "audit" in " ".join(done.notes)


# --- when it purges


@pytest.mark.req("S001-099", "S001-117")
def test_it_purges_every_sunday_at_two(agreed, sid, clock):
    agreed.update_session(sid, settings={"privacy.retention_days.conversation": 1})
    seen = []
    for hour in range(0, 24 * 22, 7):
        clock.moment = datetime(2026, 11, 15, 9, tzinfo=UTC) + timedelta(hours=hour)
        if agreed.maintain().purge is not None:
            seen.append(clock.now())
    sundays = [datetime(2026, 11, day, 2, tzinfo=UTC) for day in (22, 29)]
    sundays.append(datetime(2026, 12, 6, 2, tzinfo=UTC))
    assert len(seen) == 3
    late = [at - sunday for at, sunday in zip(seen, sundays, strict=True)]
    assert all(timedelta(0) <= wait < timedelta(hours=7) for wait in late)


def test_nothing_is_purged_by_itself_before_somebody_agreed(memory, sid, clock):
    say(memory, sid, "m1")
    clock.advance(days=91)
    done = memory.maintain()
    assert done.purge is None
    assert "confirmed" in done.notes[0]
    assert ids(memory, sid) == ["m1"]
    assert purges(memory) == []


def test_asked_to_purge_it_asks_back_the_first_time(resting, clock):
    memory, sid = resting, resting.create_session().id
    say(memory, sid, "m1")
    clock.advance(days=91)
    asked = memory.maintain(purge=True).purge
    assert asked is not None
    assert (asked.is_dry_run, asked.needs_confirmation) == (True, True)
    done = memory.maintain(purge=True, confirm=True).purge
    assert done is not None
    assert done.tombstoned.ids == ("m1",)
    assert memory.maintain(purge=True).purge is not None


def test_the_switch_turns_it_off(root, clock):
    with Memory.open(root, settings={"privacy.auto_purge": False}, clock=clock, environ={}) as off:
        off.purge(confirm=True)
        clock.advance(days=30)
        assert off.maintain().purge is None
        assert off.maintain(purge=True).purge is not None


def test_a_session_may_keep_out_of_what_is_done_by_itself(resting, clock):
    resting.purge(confirm=True)
    usual = resting.create_session().id
    apart = resting.create_session(settings={"privacy.auto_purge": False}).id
    say(resting, usual, "m1")
    say(resting, apart, "m2")
    clock.advance(days=91)
    done = resting.maintain().purge
    assert done is not None
    assert done.tombstoned.ids == ("m1",)
    assert resting.purge().tombstoned.ids == ("m2",), "asked for, it is purged as well"


# --- what else it does


def test_idle_sessions_go_into_the_archive(memory, sid, clock):
    say(memory, sid, "m1")
    clock.advance(days=20)
    busy = memory.create_session().id
    clock.advance(days=11)
    assert memory.maintain(dry_run=True).archived == (sid,)
    assert memory.load_session(sid).state == "active"
    assert memory.maintain().archived == (sid,)
    assert memory.load_session(sid).state == "archived"
    assert memory.load_session(busy).state == "active"
    assert memory.maintain().archived == ()


def test_archiving_can_be_turned_off(resting, clock):
    resting.create_session()
    clock.advance(days=31)
    assert resting.maintain().archived == resting.maintain(dry_run=True).archived == ()


def test_large_sessions_are_compacted_once(memory, clock):
    small = {"storage.max_session_size_mb": 0.01, "compaction.size_trigger": 1.0}
    sid = memory.create_session(settings=small).id
    for number in range(3):
        memory.add_memory(sid, id="m1", type="note", content=f"{number}" * 3000)
    assert memory.maintain().compacted == ()
    memory.update_session(sid, settings={"compaction.size_trigger": 0.5})
    assert memory.maintain(dry_run=True).compacted == (sid,)
    assert memory.maintain().compacted == (sid,)
    assert memory.get_statistics(sid).size_bytes < 0.5 * 0.01 * 1024 * 1024
    assert memory.maintain().compacted == ()


def test_a_session_that_cannot_be_archived_is_told(memory, sid, folder, clock):
    (folder / "mine.txt").write_text("not part of the log")
    clock.advance(days=31)
    done = memory.maintain()
    assert done.archived == ()
    assert "mine.txt" in done.failed[sid]
    assert sid in str(done)


def test_a_dry_run_changes_no_byte(agreed, sid, root, clock):
    say(agreed, sid, "m1")
    clock.advance(days=91)
    before = tree_of(root)
    would = agreed.maintain(dry_run=True)
    assert would.is_dry_run
    assert would.purge is not None
    assert would.purge.tombstoned.ids == ("m1",)
    assert "would be archived: 1 session" in str(would)
    assert tree_of(root) == before


# --- one at a time


def test_while_another_process_maintains_nothing_is_done_and_that_is_said(agreed, sid, root, clock):
    say(agreed, sid, "m1")
    clock.advance(days=91)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        elsewhere = agreed.maintain()
        assert elsewhere.is_elsewhere
        assert "Another program" in str(elsewhere)
        assert ids(agreed, sid) == ["m1"]
        holder.kill()
    done = agreed.maintain()  # the lease died with its holder
    assert not done.is_elsewhere
    assert ids(agreed, sid) == []


def test_of_many_threads_one_works_and_each_entry_is_hidden_once(agreed, sid, folder, clock):
    say(agreed, sid, *(f"m{number}" for number in range(30)))
    clock.advance(days=91)
    start = Barrier(6)

    def work(_):
        start.wait()
        return agreed.maintain(purge=True)

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(work, range(6)))
    worked = [one for one in done if not one.is_elsewhere]
    assert worked
    assert sum(one.purge.tombstoned.count for one in worked) == 30
    marks = [one["target"] for one in records(folder) if one["type"] == "tombstone"]
    assert Counter(marks) == {f"m{number}": 1 for number in range(30)}
    assert len(purges(agreed)) == 1 + len(worked)


def test_several_commands_at_once_do_no_harm(root):
    past = FixedClock(datetime.now(UTC) - timedelta(days=100))
    with Memory.open(root, settings={"archive.auto": False}, clock=past, environ={}) as memory:
        sid = memory.create_session(session_id="talk").id
        say(memory, sid, *(f"m{number}" for number in range(20)))
        memory.purge(confirm=True)
    command = [sys.executable, "-m", "mnemolog", "--root", str(root), "--json", "maintain"]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    told = [json.loads(one.communicate()[0]) for one in started]
    assert [one.returncode for one in started] == [0] * 4
    purges_told = [one["purge"] for one in told if one["purge"]]
    hidden = [name for one in purges_told for name in one["tombstoned"]["ids"]]
    assert sorted(hidden) == sorted(f"m{number}" for number in range(20))
    assert any(one["archived"] or one["purge"] for one in told)
    with Memory.open(root, environ={}) as memory:
        assert ids(memory, "talk") == []
        assert len(purges(memory)) == 2


DAYS = ["0001-01-01", "1960-05-05", "2300-01-01", "9999-12-31"]


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("day", DAYS)
def test_a_clock_may_stand_anywhere_in_the_calendar(
    memory, sid, root, clock, monkeypatch, day, zone
):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    clock.moment = datetime.fromisoformat(f"{day}T12:00:00+00:00")
    for name in ("one", "two"):
        memory.add_memory(sid, id=name, type="note", content=name)
    assert memory.delete_memory(sid, "one")
    assert memory.told(sid, "one").hidden_until
    memory.purge_runs()
    assert memory.undelete(sid, ["one"]).ids == ("one",)
    memory.compact_session(sid)
    done = memory.maintain(purge=True, confirm=True)
    assert not done.failed
    if done.archived:
        memory.restore_session(sid)
    memory.archive_session(sid)
    (packed,) = (root / "archive").glob("*.tar.gz")
    with tarfile.open(packed) as tar:
        assert "manifest.json" in tar.getnames()
    assert len(memory.get_entries(sid)) == 2
