"""Power loss before every operation of archiving and restoring.

Told like the stories of `test_crash.py`: each state that a power loss may leave is opened; every
session has to be whole, in exactly one place, and to take new entries there.
"""

import os
from collections.abc import Callable, Iterable
from random import Random

import pytest

from mnemolog import Memory, paths
from mnemolog.errors import SessionNotFoundError, StorageFullError
from mnemolog.fs import full
from mnemolog.log import sessions, sidecars
from mnemolog.settings import Settings
from mnemolog.testing import Moment, Recorder, SimulatedDisk, sampled
from tests.crash_stories import SEED, Book, Caller, Key, Ledger, opened, shown, tiny_segments

Tell = Callable[["Archivist"], None]


class Archivist(Caller):
    """A caller who also archives; the ledger says where a session may be found."""

    def create(self, session: str, **metadata: str) -> None:
        with self.book.promise({("place", session): "live"}):
            super().create(session, **metadata)

    def add(self, session: str, *labels: str, **more: str) -> None:
        with self.book.promise({("place", session): "live"}):
            super().add(session, *labels, **more)

    def archive(self, session: str) -> None:
        with self.book.promise({("place", session): "archived"}):
            self.memory.archive_session(session)

    def restore(self, session: str) -> None:
        with self.book.promise({("place", session): "live"}):
            self.memory.restore_session(session)


def archiving(caller: Archivist) -> None:
    caller.create("talk", colour="red")
    caller.add("talk", "one", "two")
    caller.add("talk", "three")
    caller.archive("talk")


def restoring(caller: Archivist) -> None:
    caller.create("talk", colour="red")
    caller.add("talk", "one", "two")
    caller.archive("talk")
    caller.restore("talk")
    caller.add("talk", "three")


def to_and_fro(caller: Archivist) -> None:
    caller.create("talk")
    caller.create("UPPER case")
    caller.add("talk", "one", id="rev-1")
    caller.archive("talk")
    caller.add("talk", "two")
    caller.revise("talk", "one", "rev-1", "it is not so")
    caller.archive("UPPER case")
    caller.archive("talk")
    caller.add("UPPER case", "three")


def deleting(caller: Archivist) -> None:
    caller.create("talk")
    caller.add("talk", "one")
    caller.archive("talk")
    caller.delete("talk")
    caller.create("talk", again="yes")
    caller.add("talk", "two")
    caller.archive("talk")


def being_refused(caller: Archivist) -> None:
    """Whatever the disk refuses, the session stays where it was, and goes there the next time."""
    caller.create("talk")
    caller.add("talk", "one", "two")
    for operation, path in (("append", "archive/*.tar.gz"), ("sync", "archive/*.tmp")):
        caller.disk.refuse(operation, path, full("write"))
        with pytest.raises(StorageFullError):
            caller.archive("talk")
        caller.book.settle({("place", "talk"): "live"})
    caller.archive("talk")
    for operation, path in (("append", "sessions/.new-*"), ("sync", "sessions/.new-*")):
        caller.disk.refuse(operation, path, full("write"))
        with pytest.raises(StorageFullError):
            caller.restore("talk")
        caller.book.settle({("place", "talk"): "archived"})
    caller.add("talk", "three")


TALES: dict[str, tuple[Tell, Settings, int]] = {
    "archiving": (archiving, Settings(), 400),
    "archiving several segments": (archiving, tiny_segments(300), 500),
    "restoring": (restoring, Settings(), 600),
    "to and fro": (to_and_fro, tiny_segments(400), 1200),
    "deleting": (deleting, Settings(), 600),
    "being refused": (being_refused, Settings(), 500),
}
# Of the moments after a crash only some are gone on from; `make soak` takes all of them.
EVERY = 17
STATES = 25

every_tale = pytest.mark.parametrize("name", TALES)


@pytest.fixture(autouse=True)
def _the_same_names_every_time(monkeypatch):
    monkeypatch.setattr(os, "urandom", Random(SEED).randbytes)


def told(tell: Tell, settings: Settings) -> list[Moment[Ledger]]:
    disk, book = SimulatedDisk(), Book({})
    recorder = Recorder(disk, book.now)
    tell(Archivist(disk, book, settings))
    return recorder.stop()


def revisited(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> list[Moment[Ledger]]:
    """Another program opens what it finds, writes to some and archives others."""
    disk.capacity = None
    book = Book(ledger)
    recorder = Recorder(disk, book.now)
    caller = Archivist(disk, book, settings)
    for session in caller.memory.list_sessions():
        caller.add(session.id, "visited")
        caller.archive(session.id)
    return recorder.stop()


def place_of(disk: SimulatedDisk, session: str) -> str:
    """Where a session is; it must be in one place only, and whole there."""
    name = paths.file_name(session)
    is_live = disk.ident(f"sessions/{name}/manifest.json") is not None
    is_archived = disk.ident(sidecars.path_of(name)) is not None
    assert is_live != is_archived
    assert (disk.ident(sidecars.tar_of(name)) is not None) == is_archived
    return "live" if is_live else "archived"


def found_on(memory: Memory, disk: SimulatedDisk) -> dict[Key, str]:
    found: dict[Key, str] = {}
    for session in memory.list_sessions():
        found["session", session.id] = shown(session.metadata)
        found["place", session.id] = place_of(disk, session.id)
        assert (session.state == "archived") == (found["place", session.id] == "archived")
        for entry in memory.get_entries(session.id):
            label = entry.text.partition(":")[0]
            assert ("entry", session.id, label) not in found
            found["entry", session.id, label] = entry.text
    return found


def check_no_leftovers(disk: SimulatedDisk) -> None:
    tree = disk.tree()
    assert not [path for path in tree if sessions.GONE in path]
    assert not [
        path for path, text in tree.items() if sessions.NEW in path and b'"id"' in (text or b"")
    ]
    assert not [path for path in tree if path.startswith("intents/") and path.endswith(".json")]
    assert not [path for path in tree if path.startswith("archive/") and path.endswith(".tmp")]
    tars = {path.removesuffix(".tar.gz") for path in tree if path.endswith(".tar.gz")}
    assert tars == {
        path.removesuffix(".manifest.json") for path in tree if path.endswith(".manifest.json")
    }


def check(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> None:
    disk.capacity = None
    memory = opened(disk, settings)
    check_no_leftovers(disk)
    found = found_on(memory, disk)
    assert not found.keys() - ledger.keys()
    for key, values in ledger.items():
        owner = ("session", key[1])
        if key == owner or owner in found:
            assert found.get(key) in values, f"{key} is {found.get(key)!r}, not in {set(values)}"
    for kind, name, *_ in ledger.keys() - found.keys():
        if kind == "session":
            with pytest.raises(SessionNotFoundError):
                memory.load_session(name)
    for kind, name, *_ in found:
        if kind == "session":
            go_on_writing(memory, name)


def go_on_writing(memory: Memory, session: str) -> None:
    before = [(entry.id, entry.seq) for entry in memory.get_entries(session)]
    receipt = memory.add_memory(session, type="note", content="after: all")
    after = [(entry.id, entry.seq) for entry in memory.get_entries(session)]
    *others, last = after
    assert last == (receipt.id, receipt.seq)
    assert others[: len(before)] == before
    # A line that lacked nothing but its newline counts once it has one (docs/format.md).
    assert len(others) <= len(before) + 1
    memory.archive_session(session)
    assert [(entry.id, entry.seq) for entry in memory.get_entries(session)] == after


def check_states(
    moments: Iterable[Moment[Ledger]], name: str, wanted: int, settings: Settings
) -> None:
    states = set()
    for sample in sampled(list(moments), name, wanted):
        states.add(sample.fingerprint)
        before = sample.disk.kill()
        try:
            check(sample.disk, sample.promises, settings)
        except BaseException as error:
            sizes = {path: text and len(text) for path, text in before.tree().items()}
            error.add_note(f"In the state {sample.name}: {sizes}")
            raise
    assert len(states) >= wanted


@every_tale
def test_a_power_loss_leaves_every_session_whole_in_one_place(name):
    tell, settings, states = TALES[name]
    check_states(told(tell, settings), f"{name}/{SEED}", states, settings)


def after_a_kill(name: str, every: int) -> list[Moment[Ledger]]:
    """What somebody else does after a kill, at every so many of the moments of a tale."""
    tell, settings, _ = TALES[name]
    return [
        later
        for moment in list(told(tell, settings))[::every]
        for later in revisited(moment.disk.kill(), moment.promises, settings)
    ]


def lost_twice(name: str, every: int) -> list[Moment[Ledger]]:
    """What somebody does after a power loss, at every so many of the moments of a tale."""
    tell, settings, _ = TALES[name]
    return [
        later
        for number, moment in enumerate(list(told(tell, settings))[::every])
        for later in revisited(
            moment.disk.crash(Random(f"{name}/{number}/{SEED}")), moment.promises, settings
        )
    ]


@every_tale
def test_what_is_acknowledged_after_a_kill_survives_a_power_loss(name):
    moments = after_a_kill(name, EVERY)
    check_states(moments, f"killed while {name}/{SEED}", STATES, TALES[name][1])


@every_tale
def test_a_second_power_loss_while_the_first_is_mended_does_no_harm(name):
    check_states(lost_twice(name, EVERY), f"twice while {name}/{SEED}", STATES, TALES[name][1])
