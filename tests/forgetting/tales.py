"""What a program that forgets does, and a book of what it was promised.

A ledger says for each entry what may be found of it after a power loss: its text, or None when it
is hidden or gone. A second kind of fact says whether the bytes may still be there.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from mnemolog import Memory
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on
from tests.crash_stories import USER, Book, Key, tiny_segments

EARLY = datetime(2026, 11, 15, 9, tzinfo=UTC)
LATE = datetime(2027, 6, 1, tzinfo=UTC)
DAYS = 10

PLAIN = Settings().changed({"privacy.undelete_days": DAYS, "compaction.relevance_floor": 0.2})
SMALL = tiny_segments(700).changed(
    {"privacy.undelete_days": DAYS, "compaction.relevance_floor": 0.2}
)
SCOPES = {"u": "user", "s": "shared"}


def opened_at(disk: SimulatedDisk, settings: Settings, moment: datetime = LATE) -> Memory:
    """A memory on a disk at some time."""
    return open_on(disk, settings, FixedClock(moment))


def secret(label: str) -> str:
    """What an entry says: nothing else says it."""
    return f"{label}: <{'-'.join(label * 3)}> it is so"


class Forgetter:
    """Writes, deletes, erases and compacts, and remembers what it was told."""

    def __init__(self, disk: SimulatedDisk, book: Book, settings: Settings) -> None:
        self.disk = disk
        self.book = book
        self.settings = settings
        self.memory = opened_at(disk, settings, EARLY)

    def later(self) -> None:
        """Half a year passes."""
        self.memory = opened_at(self.disk, self.settings)

    def create(self, session: str) -> None:
        with self.book.promise({("session", session): "yes"}):
            self.memory.create_session(USER, session_id=session)

    def add(self, session: str, *labels: str, importance: float = 1.0) -> None:
        """A label that begins with u or s goes to the user's or the shared log."""
        with self.book.promise({("entry", session, label): secret(label) for label in labels}):
            self.memory.add_many(
                session,
                [
                    {"id": label, "type": "note", "content": secret(label)}
                    | {"importance": importance, "scope": SCOPES.get(label[0], "session")}
                    for label in labels
                ],
            )

    def hide(self, session: str, *labels: str) -> None:
        with self.book.promise(dict.fromkeys(("entry", session, label) for label in labels)):
            assert set(self.memory.delete(session, ids=list(labels)).ids) == set(labels)

    def bring_back(self, session: str, *labels: str) -> None:
        with self.book.promise({("entry", session, label): secret(label) for label in labels}):
            assert set(self.memory.undelete(session, list(labels)).ids) == set(labels)

    def erase(self, session: str, *labels: str) -> None:
        changes: dict[Key, str | None] = dict.fromkeys(("entry", session, one) for one in labels)
        bytes_gone: dict[Key, str | None] = {("bytes", session, one): "gone" for one in labels}
        with self.book.promise(changes | bytes_gone):
            self.memory.erase(session, ids=list(labels), verify=False)

    def compact(self, session: str, *dropped: str) -> None:
        """What was deleted long ago goes for good; the rest is found as before."""
        with self.book.promise({("bytes", session, one): "gone" for one in dropped}):
            self.memory.compact_session(session)

    def remove(self, session: str) -> None:
        mine = [key for key in self.book.ledger if key[0] == "entry" and key[1] == session]
        mine = [key for key in mine if key[2][0] not in SCOPES]
        changes: dict[Key, str | None] = dict.fromkeys([("session", session), *mine])
        changes |= {("bytes", *key[1:]): "gone" for key in mine}
        with self.book.promise(changes):
            self.memory.delete_session(session)

    def damage(self, session: str, label: str) -> None:
        """A copy of the entry's line that lost its sum, and one in quarantine."""
        log = f"sessions/{session}/memory.jsonl"
        line = b'{"v":1,"id":"%s","content":"%s","se' % (label.encode(), secret(label).encode())
        file = self.disk.open(log, "append")
        file.append(line + b"\n")
        file.sync()
        self.memory.get_entries(session)


class Tale(NamedTuple):
    """Something that a program does; from each telling so many states are drawn."""

    tell: Callable[[Forgetter], None]
    states: int
    settings: Settings = PLAIN


def deleting(caller: Forgetter) -> None:
    caller.create("talk")
    caller.add("talk", "one", "two", "three")
    caller.add("talk", "ua")
    caller.hide("talk", "one", "three")
    caller.bring_back("talk", "one")
    caller.hide("talk", "ua", "two")
    caller.add("talk", "three")


def erasing(caller: Forgetter) -> None:
    caller.create("talk")
    caller.add("talk", "one", "two", "three", "four")
    caller.hide("talk", "two")
    caller.erase("talk", "one", "two")
    caller.add("talk", "five")
    caller.erase("talk", "five")


def erasing_everywhere(caller: Forgetter) -> None:
    caller.create("talk")
    caller.add("talk", "one", "two")
    caller.add("talk", "ua", "ub")
    caller.add("talk", "sa", "sb")
    caller.damage("talk", "one")
    caller.erase("talk", "one", "ua", "sa")


def erasing_in_an_archived_session(caller: Forgetter) -> None:
    caller.create("talk")
    caller.add("talk", "one", "two", "three")
    caller.memory.archive_session("talk")
    caller.erase("talk", "two")
    caller.memory.archive_session("talk")


def removing(caller: Forgetter) -> None:
    caller.create("talk")
    caller.create("other")
    caller.add("talk", "one", "two", importance=0.1)
    caller.add("talk", "three")
    caller.add("other", "four")
    caller.later()
    caller.compact("talk")
    caller.remove("talk")
    caller.create("talk")
    caller.add("talk", "five")


def compacting(caller: Forgetter) -> None:
    caller.create("talk")
    caller.add("talk", "one", "two", importance=0.1)
    caller.add("talk", "three", "four", "five")
    caller.hide("talk", "four", "two")
    caller.later()
    caller.hide("talk", "five")
    caller.add("talk", "three")
    caller.compact("talk", "four", "two")
    caller.add("talk", "six")
    caller.bring_back("talk", "five")


def erasing_what_was_moved(caller: Forgetter) -> None:
    caller.create("talk")
    caller.add("talk", "one", "two", "three", importance=0.1)
    caller.add("talk", "four", "five")
    caller.later()
    caller.compact("talk")
    caller.bring_back("talk", "two")
    caller.erase("talk", "one", "two", "four")
    caller.compact("talk")
    caller.erase("talk", "three")


TALES: dict[str, Tale] = {
    "deleting": Tale(deleting, 150),
    "erasing": Tale(erasing, 150),
    "erasing in several segments": Tale(erasing, 150, SMALL),
    "erasing everywhere": Tale(erasing_everywhere, 150),
    "erasing in an archived session": Tale(erasing_in_an_archived_session, 150),
    "removing": Tale(removing, 150),
    "compacting": Tale(compacting, 150),
    "compacting several segments": Tale(compacting, 150, SMALL),
    "erasing what was moved": Tale(erasing_what_was_moved, 150),
}


def labels_of(session: str, keys: Sequence[Key]) -> list[str]:
    """The entries that were ever written in a session."""
    return [key[2] for key in keys if key[:2] == ("entry", session)]
