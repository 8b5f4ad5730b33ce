"""Power loss before every operation of a run: begun, written to, cleared, ended, begun anew.

Told like the stories of `test_crash.py`: from each moment states are drawn that a power loss may
leave, and each one is opened and held against what had been acknowledged by then. Notes of a run
that has ended are nowhere; a run whose end was interrupted is whole, or not there at all.
"""

import os
from collections.abc import Callable, Sequence
from random import Random

import pytest

from mnemolog import Memory
from mnemolog.memory.run import Run
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, Moment, Recorder, SimulatedDisk, sampled
from mnemolog.testing.opening import open_on
from tests.crash_stories import NOT_THERE, SEED, Book, Key, Ledger

SESSION = "talk"
AFTER_A_KILL = 60
AFTER_A_SECOND_LOSS = 60
EVERY = 4
"""After how many moments of a story the next visitor comes."""
OF_VISITS = 100
"""About so many moments of all visits are drawn from, spread evenly."""


def text_of(run: str, label: str) -> str:
    return f"zq-{run}-{label}-qz"


class Caller:
    """A program with runs that remembers what it was told."""

    def __init__(self, disk: SimulatedDisk, book: Book) -> None:
        self.book = book
        self.memory = open_on(disk, Settings(), FixedClock())

    def create(self) -> None:
        self.memory.create_session(session_id=SESSION)

    def begin(self, run: str) -> Run:
        with self.book.promise({("run", run): "begun"}):
            return self.memory.run(SESSION, run_id=run)

    def save(self, run: Run, *labels: str, compartment: str = "run") -> None:
        key = run.id if compartment == "run" else "session"
        for label in labels:
            with self.book.promise({("note", key, label): text_of(key, label)}):
                run.save(compartment, text_of(key, label), id=label)

    def clear(self, run: Run, label: str) -> None:
        with self.book.promise({("note", run.id, label): None}):
            run.clear("run", id=label)

    def end(self, run: Run) -> None:
        mine = [key for key in self.book.ledger if key[:2] in (("note", run.id), ("run", run.id))]
        changes: dict[Key, str | None] = dict.fromkeys([("run", run.id), *mine])
        with self.book.promise(changes):
            run.end()


def one_after_the_other(caller: Caller) -> None:
    caller.create()
    run = caller.begin("first")
    caller.save(run, "a", "b")
    caller.save(run, "kept", compartment="session")
    caller.end(run)
    run = caller.begin("second")
    caller.save(run, "c")
    caller.clear(run, "c")
    caller.save(run, "d")
    caller.end(run)


def two_at_once(caller: Caller) -> None:
    caller.create()
    first, second = caller.begin("first"), caller.begin("second")
    caller.save(first, "a")
    caller.save(second, "b")
    caller.end(first)
    caller.save(second, "c")
    caller.end(second)


def begun_anew(caller: Caller) -> None:
    caller.create()
    run = caller.begin("first")
    caller.save(run, "old")
    caller.end(run)
    run = caller.begin("first")
    caller.save(run, "new")
    caller.save(caller.begin("first"), "on")
    caller.end(run)


STORIES: dict[str, tuple[Callable[[Caller], None], int]] = {
    "one after the other": (one_after_the_other, 300),
    "two at once": (two_at_once, 200),
    "begun anew": (begun_anew, 200),
}
every_story = pytest.mark.parametrize("name", STORIES)


def told(name: str) -> list[Moment[Ledger]]:
    """Every moment of a story, from the session's creation on."""
    disk, book = SimulatedDisk(), Book({})
    caller = Caller(disk, book)
    recorder = Recorder(disk, book.now)
    STORIES[name][0](caller)
    return recorder.stop()


def revisited(disk: SimulatedDisk, ledger: Ledger) -> list[Moment[Ledger]]:
    """Another program goes on with every run that it finds, and ends one of them."""
    book = Book(ledger)
    recorder = Recorder(disk, book.now)
    caller = Caller(disk, book)
    if any(session.id == SESSION for session in caller.memory.list_sessions()):
        runs = [caller.begin(name) for name in ("first", "visitor")]
        for run in runs:
            caller.save(run, "visited")
        caller.end(runs[0])
    return recorder.stop()


def spread(moments: Sequence[Moment[Ledger]]) -> Sequence[Moment[Ledger]]:
    return moments[:: max(1, len(moments) // OF_VISITS)]


# --- what has to hold


def found_on(memory: Memory) -> dict[Key, str]:
    """The runs that have not ended, and every note."""
    found: dict[Key, str] = {}
    for one in memory.left_runs(SESSION):
        if not one.path.endswith(".tmp"):
            found["run", one.run_id] = "begun"
            notes = Run(memory, SESSION, one.run_id).notes("run")
            found |= {("note", one.run_id, note.id): note.text for note in notes}
    notes = memory.get_entries(SESSION)
    return found | {("note", "session", note.id): note.text for note in notes}


def hold_against(found: dict[Key, str], ledger: Ledger) -> None:
    assert not found.keys() - ledger.keys()
    for key, values in ledger.items():
        assert found.get(key) in values, f"{key} is {found.get(key)!r}, not one of {set(values)}"


def check_wholeness(found: dict[Key, str], ledger: Ledger) -> None:
    """While its end was under way, a run is there with all that it had, or not at all."""
    for run in {key[1] for key in ledger if key[0] == "run"}:
        if ledger["run", run] != frozenset({"begun", None}) or ("run", run) not in found:
            continue
        settled = [key for key in ledger if key[:2] == ("note", run) and None in ledger[key]]
        there = [key for key in settled if key in found]
        had = [key for key in settled if len(ledger[key]) == 2]
        assert set(there) == set(had)


def check_bytes(disk: SimulatedDisk, ledger: Ledger) -> None:
    """What was acknowledged to be gone with its run is in no file."""
    everything = b"\0".join(content or b"" for content in disk.tree().values())
    for key, values in ledger.items():
        if key[0] == "note" and ledger.get(("run", key[1])) == NOT_THERE == values:
            assert text_of(key[1], key[2]).encode() not in everything, key


def go_on(disk: SimulatedDisk, memory: Memory, ledger: Ledger) -> None:
    """Each run can be gone on with and ended; then nothing of any run is left."""
    for run_id in sorted({key[1] for key in ledger if key[0] == "run"} | {"fresh"}):
        before = [note.id for note in Run(memory, SESSION, run_id).notes("run")]
        with memory.run(SESSION, run_id=run_id) as run:
            run.save("run", text_of(run_id, "later"))
            after = [note.id for note in run.notes("run")]
            assert [one for one in after if one in before] == before
            # A whole line that only lacked its newline counts from now on.
            assert all(("note", run_id, one) in ledger for one in after[:-1])
    assert memory.left_runs(SESSION) == []
    tree = disk.tree()
    assert [path for path in tree if "/runs/" in path] == []
    everything = b"\0".join(content or b"" for content in tree.values())
    for key in ledger:
        if key[0] == "note" and key[1] != "session":
            assert text_of(key[1], key[2]).encode() not in everything, key


def check(disk: SimulatedDisk, ledger: Ledger, *, is_first: bool = False) -> None:
    memory = open_on(disk, Settings(), FixedClock())
    if not any(session.id == SESSION for session in memory.list_sessions()):
        assert all(None in values for values in ledger.values())
        return
    found = found_on(memory)
    hold_against(found, ledger)
    if is_first:  # later, more than one end may have been under way
        check_wholeness(found, ledger)
    check_bytes(disk, ledger)
    go_on(disk, memory, ledger)


def check_states(
    moments: Sequence[Moment[Ledger]], name: str, wanted: int, *, is_first: bool = False
) -> int:
    """Draw at least so many different states and check them all; how many there were."""
    states = set()
    for sample in sampled(moments, name, wanted):
        states.add(sample.fingerprint)
        try:
            check(sample.disk, sample.promises, is_first=is_first)
        except BaseException as error:
            error.add_note(f"In the state {sample.name}")
            raise
    return len(states)


@pytest.fixture(autouse=True)
def _the_same_names_every_time(monkeypatch):
    monkeypatch.setattr(os, "urandom", Random(SEED).randbytes)


@every_story
def test_acknowledged_notes_survive_and_those_of_ended_runs_never_come_back(name):
    wanted = STORIES[name][1]
    assert check_states(told(name), f"runs {name}/{SEED}", wanted, is_first=True) >= wanted


@every_story
def test_what_is_acknowledged_after_a_kill_survives_a_power_loss(name):
    moments = [
        later
        for moment in told(name)[::EVERY]
        for later in revisited(moment.disk.kill(), moment.promises)
    ]
    title = f"runs killed while {name}/{SEED}"
    assert check_states(spread(moments), title, AFTER_A_KILL) >= AFTER_A_KILL


@every_story
def test_a_second_power_loss_while_the_first_is_mended_does_no_harm(name):
    title = f"runs twice while {name}/{SEED}"
    moments = [
        later
        for number, moment in enumerate(told(name)[1::EVERY])
        for later in revisited(moment.disk.crash(Random(f"{title}/{number}")), moment.promises)
    ]
    assert check_states(spread(moments), title, AFTER_A_SECOND_LOSS) >= AFTER_A_SECOND_LOSS


@pytest.mark.req("S004-074", "S004-075")
@pytest.mark.parametrize("operation", ["sync", "rename", "write_at", "unlink", "sync_folder"])
def test_an_end_that_the_disk_refuses_is_told_and_can_be_done_again(operation):
    disk = SimulatedDisk()
    memory = open_on(disk, Settings(), FixedClock())
    memory.create_session(session_id=SESSION)
    run = memory.run(SESSION, run_id="r")
    run.save("run", text_of("r", "a"))
    disk.refuse(operation, "sessions/talk/runs*", OSError(5, "the disk is broken"))
    with pytest.raises(OSError, match="broken"):
        run.end()
    assert run.is_open
    run.end()
    assert [path for path in disk.tree() if "/runs/" in path] == []


@pytest.mark.req("S004-075")
def test_a_full_disk_refuses_a_note_with_what_to_do_and_a_run_still_ends():
    disk = SimulatedDisk()
    memory = open_on(disk, Settings(), FixedClock())
    memory.create_session(session_id=SESSION)
    run = memory.run(SESSION, run_id="r")
    run.save("run", text_of("r", "a"), id="a")
    disk.capacity = sum(len(content or b"") for content in disk.tree().values())
    with pytest.raises(OSError, match="free some space"):
        run.save("run", "no room for this one")
    assert [note.id for note in run.get("run")] == ["a"]
    run.end()
    assert [path for path in disk.tree() if "/runs/" in path] == []
