"""The ports: what `Memory` needs of a back end, and nothing more."""

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import Literal, NamedTuple, Protocol

from mnemolog.model.entry import Damage, Entry
from mnemolog.model.session import Manifest, Summary
from mnemolog.policy.access import Viewer
from mnemolog.settings import Storage


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """This moment, with its time zone."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """This moment, in UTC."""
        return datetime.now(UTC)


class LogKey(NamedTuple):
    """Which log: a session's, a user's own, or the one that is shared."""

    kind: Literal["session", "user", "shared"]
    id: str = ""


SHARED = LogKey("shared")


class Write(NamedTuple):
    """One entry to append."""

    entry: Entry
    is_given: bool = False
    """The id was given, so an entry with it may exist already."""
    expected_seq: int | None = None
    """The revision that this one replaces; any other there now means that somebody was faster."""


class Appended(NamedTuple):
    """What became of a batch: the number of each line, which ids were there before, and more."""

    seqs: tuple[int, ...]
    revised: frozenset[str]
    durable: bool
    warnings: tuple[str, ...] = ()


class Listed(NamedTuple):
    """A session's facts, with the number and the time of its last line."""

    manifest: Manifest
    last_seq: int
    last_written: str | None


class Reading(NamedTuple):
    """What was read: counts first, then the entries, one at a time; and what was skipped."""

    summary: Summary
    damage: tuple[Damage, ...]
    entries: Iterator[Entry]


class Store(Protocol):
    """A back end. Everything it acknowledges is durable, unless it says otherwise."""

    def create(self, manifest: Manifest) -> None:
        """Create a session; raises `SessionExistsError`."""

    def load(self, session_id: str) -> Manifest:
        """A session's facts as they are now, at next to no cost; raises `SessionNotFoundError`."""

    def change(self, session_id: str, edit: Callable[[Manifest], Manifest]) -> Manifest:
        """Change a session's facts; no other change comes between reading and writing them."""

    def delete(self, session_id: str) -> None:
        """Remove a session and everything in it."""

    def sessions(self, only: str | None = None) -> Iterator[Listed]:
        """All sessions in no particular order, or only one; a damaged one is left out."""

    def append(
        self, log: LogKey, writes: Sequence[Write], viewer: Viewer, storage: Storage
    ) -> Appended:
        """Append entries in one step; all are refused if one of them may not be written."""

    def read(
        self,
        log: LogKey,
        viewer: Viewer,
        *,
        ids: Collection[str] | None = None,
        types: Collection[str] | None = None,
        after: int = 0,
        last: int | None = None,
    ) -> Reading:
        """The living entries that the viewer may see: those named, of these types, with a number
        above `after`, or only the last so many."""

    def close(self) -> None:
        """Sync what is not synced yet, and let go of everything held open."""
