"""The port of forgetting and keeping: what `Memory` needs of a back end beside storing."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple, Protocol

from mnemolog.model.entry import Entry
from mnemolog.policy.access import Viewer
from mnemolog.ports import Listed, LogKey, Progress


class Gone(NamedTuple):
    """What an erasure reached: lines per place, and what it could not reach now."""

    lines: int
    places: dict[str, int]
    pending: tuple[str, ...] = ()


class Weighed(NamedTuple):
    """An entry as a compaction sees it: what it is, since when it is hidden, what it takes up."""

    entry: Entry
    died: str | None
    bytes: int


class Verdict(NamedTuple):
    """What a compaction is to do: the ids to drop for good, and those to move to the archive."""

    drop: frozenset[str] = frozenset()
    move: frozenset[str] = frozenset()


class Compacted(NamedTuple):
    """What a compaction did."""

    before_bytes: int
    after_bytes: int
    dropped: int
    moved: int
    superseded: int


class Archived(NamedTuple):
    """A session in the archive: its facts and sizes, from the sidecar alone."""

    listed: Listed
    archived_at: str
    original_bytes: int
    compressed_bytes: int


class Audited(NamedTuple):
    """One line of the audit: that something was done, never what it said."""

    at: str
    action: str
    session_id: str | None
    entries: int
    actor: str
    reason: str
    criteria: dict[str, int]
    place: str = ""


class Trace(NamedTuple):
    """Something that should be gone and is not: in which file, where, and in which form."""

    path: str
    offset: int
    form: str


class Keeper(Protocol):
    """The back end's part of forgetting and keeping. Every step survives a crash."""

    def erase(self, log: LogKey, ids: Collection[str]) -> Gone:
        """Remove every line about these ids, and what was derived from them, for good."""

    def hidden(self, log: LogKey, viewer: Viewer) -> Iterator[Weighed]:
        """The entries that are deleted and can still be brought back."""

    def compact(
        self, session_id: str, judge: Callable[[list[Weighed]], Verdict], now: str
    ) -> Compacted:
        """Rewrite a log without superseded and erased lines, and as the judge decides."""

    def moved(self, session_id: str, ids: Collection[str] | None = None) -> Iterator[Entry]:
        """The entries that a compaction moved to the archive."""

    def archive(self, session_id: str, now: str, progress: Progress | None = None) -> Archived:
        """Move a whole session to the archive, where it stays readable."""

    def restore(self, session_id: str) -> None:
        """Bring an archived session back to where it is written to."""

    def archived(self) -> Iterator[Archived]:
        """The sessions in the archive."""

    def record(self, line: Audited) -> None:
        """Add a line to the audit; durable when this returns."""

    def audited(self) -> Iterator[Audited]:
        """The lines of the audit; raises `CorruptionError` where its chain is broken."""

    def scan(
        self, needles: Mapping[str, bytes], progress: Progress | None = None
    ) -> Iterator[Trace]:
        """Look for bytes in every file, also inside archives; `needles` are named by their form."""
