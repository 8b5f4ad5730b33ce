"""The stories that `test_crash.py` tells: calls of the public API, and a book of what they promise.

A ledger says for each fact which values may be found after a power loss. While a call is in flight
that is the old value and the new one; once it has returned, only the new one.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

import pytest

from mnemolog import Memory, fs
from mnemolog.errors import StorageFullError, StorageIOError
from mnemolog.log import lines, sessions
from mnemolog.log.writer import Handle, Writer
from mnemolog.model.entry import Entry
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on

SEED = os.environ.get("MNEMOLOG_CRASH_SEED", "1")

USER = "ann"
MIB = 1024 * 1024

# --- the ledger

Key = tuple[str, ...]
Ledger = Mapping[Key, frozenset[str | None]]
"""For each fact the values that may be found after a power loss; None: that it is not there."""

NOT_THERE: frozenset[str | None] = frozenset({None})


class Book:
    """Keeps the ledger: a call in flight adds a possible value, its return leaves only that one."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    def now(self) -> Ledger:
        return self.ledger

    def begin(self, changes: Mapping[Key, str | None]) -> None:
        before = self.ledger
        more = {key: before.get(key, NOT_THERE) | {value} for key, value in changes.items()}
        self.ledger = {**before, **more}

    def settle(self, changes: Mapping[Key, str | None]) -> None:
        self.ledger = {**self.ledger, **{key: frozenset({v}) for key, v in changes.items()}}

    def give_up(self) -> None:
        """What was in flight did not happen, and will not."""
        undone = {key: None for key, values in self.ledger.items() if values > NOT_THERE}
        self.settle(undone)

    @contextmanager
    def promise(self, changes: Mapping[Key, str | None]) -> Iterator[None]:
        self.begin(changes)
        yield
        self.settle(changes)


# --- calling the API, keeping the book


def opened(disk: SimulatedDisk, settings: Settings) -> Memory:
    return open_on(disk, settings, FixedClock())


def shown(metadata: Mapping[str, object]) -> str:
    return json.dumps(metadata, sort_keys=True)


class Caller:
    """A program that uses the memory and remembers what it was told."""

    def __init__(self, disk: SimulatedDisk, book: Book, settings: Settings) -> None:
        self.disk = disk
        self.book = book
        self.memory = opened(disk, settings)
        self._waiting: dict[Key, str | None] = {}

    def create(self, session: str, **metadata: str) -> None:
        with self.book.promise({("session", session): shown(metadata)}):
            self.memory.create_session(USER, session_id=session, metadata=metadata)

    def add(self, session: str, *labels: str, **more: str) -> None:
        """One call for all labels; with `id` the entry can be revised later."""
        changes: dict[Key, str | None] = {
            ("entry", session, label): f"{label}: it is so" for label in labels
        }
        self.book.begin(changes)
        seen = shown(self.memory.load_session(session).metadata)
        notes = [{"type": "note", "content": text, **more} for text in changes.values()]
        receipts = self.memory.add_many(session, notes)
        # What an acknowledged entry stands in has to be there as well.
        self._waiting |= {**changes, ("session", session): seen}
        if receipts[-1].durable:
            self.settle_all()

    def settle_all(self) -> None:
        self.book.settle(self._waiting)
        self._waiting = {}

    def revise(self, session: str, label: str, entry_id: str, text: str) -> None:
        content = f"{label}: {text}"
        with self.book.promise({("entry", session, label): content}):
            self.memory.update_memory(session, entry_id, content=content)

    def update(self, session: str, **metadata: str) -> None:
        with self.book.promise({("session", session): shown(metadata)}):
            self.memory.update_session(session, metadata=metadata)

    def close(self, session: str) -> None:
        with self.book.promise({("closed", session): "yes"}):
            self.memory.close_session(session)

    def prefer(self, scope: str, key: str, value: str) -> None:
        wanted = {"scope": scope, "key": key, "value": value}
        with self.book.promise({("preference", scope, key): value}):
            self.memory.update_preference(
                None, wanted | ({"user_id": USER} if scope == "user" else {})
            )

    def delete(self, session: str) -> None:
        mine = [key for key in self.book.ledger if key[1] == session]
        changes: dict[Key, str | None] = dict.fromkeys([("session", session), *mine])
        with self.book.promise(changes):
            self.memory.delete_session(session)

    def rewrite(self, session: str, *dropped: str) -> None:
        """A new generation without older revisions and without the entries of these labels."""
        place = sessions.place(session)
        with self.book.promise(dict.fromkeys(("entry", session, label) for label in dropped)):
            sessions.rewrite(
                self.disk,
                Writer(self.disk, place, 5.0),
                place,
                lambda handle: living(self.disk, handle, dropped),
                operation="compact",
                since="now",
            )


def living(disk: SimulatedDisk, handle: Handle, dropped: Sequence[str]) -> list[tuple[int, bytes]]:
    """The last revision of every entry whose label is not among those dropped."""
    found: dict[str, tuple[int, bytes]] = {}
    for segment in handle.chain.segments:
        for line, entry in valid_lines(fs.read_all(disk, handle.chain.path(segment))):
            found[entry.id] = (entry.seq, line + b"\n")
    marks = [f'"content":"{label}:'.encode() for label in dropped]
    return sorted(
        (seq, line) for seq, line in found.values() if not any(mark in line for mark in marks)
    )


def valid_lines(content: bytes) -> Iterator[tuple[bytes, Entry]]:
    """The lines of a segment that verify, also one that is glued to damage before it."""
    for line in content.split(b"\n"):
        start = 0 if lines.verify(line) else lines.salvage(line)
        entry = lines.entry(line[start:]) if start >= 0 else None
        if entry is not None:
            yield line[start:], entry


# --- the stories


class Story(NamedTuple):
    """Something that a program does; from each telling so many states are drawn."""

    tell: Callable[[Caller], None]
    states: int
    settings: Settings = Settings()


def starting_from_nothing(caller: Caller) -> None:
    caller.create("spare", project="pay")
    caller.create("talk")
    caller.add("talk", "first")
    caller.create("UPPER case", colour="red")


def appending(caller: Caller) -> None:
    caller.create("talk")
    for label in ("one", "two", "three"):
        caller.add("talk", label)
    caller.add("talk", "four", id="four")


def adding_batches(caller: Caller) -> None:
    caller.create("talk")
    caller.add("talk", "a", "b", "c")
    caller.add("talk", "d")
    caller.add("talk", "e", "f", "g", "h")


def filling_segments(caller: Caller) -> None:
    caller.create("talk")
    for label in ("one", "two", "three", "four"):
        caller.add("talk", label)
    caller.add("talk", "five", "six", "seven")
    caller.add("talk", "eight")


def changing_the_manifest(caller: Caller) -> None:
    caller.create("talk", colour="red")
    caller.add("talk", "one")
    caller.update("talk", colour="green")
    caller.close("talk")
    caller.add("talk", "two")
    caller.update("talk", colour="blue")


def deleting_sessions(caller: Caller) -> None:
    caller.create("talk")
    caller.create("other")
    caller.add("talk", "one", "two")
    caller.add("other", "three")
    caller.delete("talk")
    caller.create("talk", again="yes")
    caller.add("talk", "four")
    caller.delete("other")


def setting_preferences(caller: Caller) -> None:
    caller.create("talk")
    caller.prefer("user", "theme", "dark")
    caller.prefer("shared", "style", "brief")
    caller.prefer("user", "theme", "light")
    caller.prefer("user", "font", "serif")
    caller.prefer("shared", "style", "long")


def revising_entries(caller: Caller) -> None:
    caller.create("talk")
    caller.add("talk", "one", id="rev-1")
    caller.add("talk", "two")
    caller.revise("talk", "one", "rev-1", "it is not so")
    caller.revise("talk", "one", "rev-1", "it may be so")


def rewriting_a_generation(caller: Caller) -> None:
    caller.create("talk")
    caller.add("talk", "one", id="rev-1")
    caller.add("talk", "secret", "two")
    caller.revise("talk", "one", "rev-1", "it is not so")
    caller.rewrite("talk", "secret")
    caller.add("talk", "three")
    caller.rewrite("talk", "two")
    caller.add("talk", "four")


def sealing_a_torn_tail(caller: Caller) -> None:
    caller.create("talk")
    for label in ("one", "two", "three"):
        caller.add("talk", label)
        torn = caller.disk.open("sessions/talk/memory.jsonl", "append")
        torn.append(b'{"v":1,"id":"mem_torn","session_id":"talk","timest')
    caller.add("talk", "four", "five")


def meeting_a_failed_sync(caller: Caller) -> None:
    caller.create("talk")
    caller.add("talk", "one")
    for label in ("two", "three"):
        caller.disk.refuse("sync", "*/memory.jsonl", StorageIOError("The disk is ill."))
        with pytest.raises(StorageIOError, match=f"rev-{label}"):
            caller.add("talk", label, id=f"rev-{label}")
    caller.add("talk", "two", id="rev-two")
    caller.add("talk", "four")


def syncing_now_and_then(caller: Caller) -> None:
    caller.create("talk")
    for label in ("one", "two", "three", "four", "five"):
        caller.add("talk", label)
    caller.memory.close()
    caller.settle_all()
    caller.add("talk", "six")


def filling_the_disk(caller: Caller) -> None:
    caller.create("talk")
    caller.add("talk", "one")
    for room in (0, 100, 300):
        caller.disk.capacity = room + sum(map(len, filter(None, caller.disk.tree().values())))
        with pytest.raises(StorageFullError):
            caller.add("talk", f"room for {room}", "and another", "and one more")
        caller.book.give_up()
        caller.disk.capacity = None
        caller.add("talk", f"after {room}")


# --- a story of calls in any order


def any_session(caller: Caller, rng: Random) -> str:
    return rng.choice(sorted(session.id for session in caller.memory.list_sessions()))


def any_label(caller: Caller, session: str, rng: Random, start: str = "") -> tuple[str, str]:
    """The label and the id of an entry whose id starts so; empty if there is none."""
    entries = caller.memory.get_entries(session)
    found = [(entry.text.partition(":")[0], entry.id) for entry in entries]
    return rng.choice([pair for pair in found if pair[1].startswith(start)] or [("", "")])


def add_one(caller: Caller, rng: Random, label: str) -> None:
    caller.add(any_session(caller, rng), label)


def add_several(caller: Caller, rng: Random, label: str) -> None:
    caller.add(any_session(caller, rng), *(f"{label}.{n}" for n in range(rng.randint(2, 4))))


def add_revisable(caller: Caller, rng: Random, label: str) -> None:
    caller.add(any_session(caller, rng), label, id=f"rev-{label}")


def revise_one(caller: Caller, rng: Random, label: str) -> None:
    session = any_session(caller, rng)
    old, entry_id = any_label(caller, session, rng, "rev-")
    if old:
        caller.revise(session, old, entry_id, f"as {label} says")


def rewrite_one(caller: Caller, rng: Random, label: str) -> None:
    session = any_session(caller, rng)
    caller.rewrite(session, *filter(None, any_label(caller, session, rng)[:1]))


def change_one(caller: Caller, rng: Random, label: str) -> None:
    session = any_session(caller, rng)
    caller.update(session, colour=label)
    caller.close(session)


def prefer_something(caller: Caller, rng: Random, label: str) -> None:
    caller.prefer("user", rng.choice(("theme", "font")), label)
    caller.prefer("shared", rng.choice(("style", "tone")), label)


def create_one(caller: Caller, rng: Random, label: str) -> None:
    caller.create(f"session {label}", colour=label)


def replace_one(caller: Caller, rng: Random, label: str) -> None:
    session = any_session(caller, rng)
    caller.delete(session)
    caller.create(session, colour=label)


ACTIONS = (
    add_one, add_several, add_revisable, revise_one, rewrite_one, change_one,
    prefer_something, create_one, replace_one,
)  # fmt: skip


def anything(seed: str, steps: int = 8) -> Callable[[Caller], None]:
    """A story that follows from its seed."""

    def tell(caller: Caller) -> None:
        rng = Random(seed)
        caller.create("talk")
        for number in range(steps):
            rng.choice(ACTIONS)(caller, rng, f"n{number}")

    return tell


def tiny_segments(size: int) -> Settings:
    return Settings().changed({"storage.segment_size_mb": size / MIB})


NOW_AND_THEN = tiny_segments(400).changed(
    {
        "storage.durability": "batch",
        "storage.batch_write_size": 3,
        "storage.batch_write_interval_ms": 3_600_000,
    }
)

STORIES: dict[str, Story] = {
    "starting from nothing": Story(starting_from_nothing, 800),
    "appending": Story(appending, 2500),
    "adding batches": Story(adding_batches, 3000),
    "filling segments": Story(filling_segments, 3500, tiny_segments(600)),
    "changing the manifest": Story(changing_the_manifest, 1500),
    "deleting sessions": Story(deleting_sessions, 2500),
    "setting preferences": Story(setting_preferences, 2500),
    "revising entries": Story(revising_entries, 2000),
    "rewriting a generation": Story(rewriting_a_generation, 3000, tiny_segments(900)),
    "sealing a torn tail": Story(sealing_a_torn_tail, 2500),
    "meeting a failed sync": Story(meeting_a_failed_sync, 2500),
    "syncing now and then": Story(syncing_now_and_then, 2500, NOW_AND_THEN),
    "filling the disk": Story(filling_the_disk, 1000),
    "doing anything": Story(anything(SEED), 2500, tiny_segments(700)),
}
