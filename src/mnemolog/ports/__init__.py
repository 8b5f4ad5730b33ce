"""The ports: what `Memory` needs of a back end, and nothing more."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from mnemolog.errors import InvalidQueryError, MnemologError
from mnemolog.model.entry import FORMAT, Damage, Entry
from mnemolog.model.lesson import OWN
from mnemolog.model.query import Hit, Hits, Query
from mnemolog.model.session import Manifest, Summary
from mnemolog.policy import learning
from mnemolog.policy.access import Viewer
from mnemolog.policy.drafting import Write as Write
from mnemolog.settings import Decay, Storage

Progress = Callable[[int, int], None]
"""Told how much is done, and of how much."""


def unwatched(done: int, total: int) -> None:
    """The progress that nobody wants to be told of."""


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
    """Which log: a session's, a user's own, the one that is shared, or one of a session's runs."""

    kind: Literal["session", "user", "shared", "run"]
    id: str = ""
    run: str = ""


SHARED = LogKey("shared")


class Appended(NamedTuple):
    """What became of a batch: each line's number, and whether its id was there before."""

    seqs: tuple[int, ...]
    revised: tuple[bool, ...]
    durable: bool
    warnings: tuple[str, ...] = ()
    used: int = 0
    """How many bytes the log holds now."""


class Listed(NamedTuple):
    """A session's facts, with the number and the time of its last line."""

    manifest: Manifest
    last_seq: int
    last_written: str | None


Unread = Callable[[str, MnemologError], None]
"""Told of what cannot be read: where it lies, for nobody knows the id of such a session; why."""


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

    def sessions(self, only: str | None = None, left_out: Unread | None = None) -> Iterator[Listed]:
        """All sessions in no particular order, or only one; a damaged one is left out, and
        `left_out` is told of each that could not be read."""

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
        as_of: str | None = None,
        before: str | None = None,
    ) -> Reading:
        """The living entries that the viewer may see: those named, of these types, with a number
        above `after`, first said `before` a moment, or only the last so many; with `as_of` those
        that lived at that moment."""

    def close(self) -> None:
        """Sync what is not synced yet, and let go of everything held open."""


class Position(NamedTuple):
    """How far a log has been read: which file, which byte, and what the line before it was."""

    generation: int = 0
    segment: int = 0
    offset: int = 0
    length: int = 0
    sum: str | None = None


class Fed(NamedTuple):
    """One line of a log, and the position after it; without a number, what damage hides."""

    entry: Entry
    after: Position
    secrets: tuple[str, ...] = ()
    """The kinds of the secrets that were hidden in it, one for each placeholder."""
    damaged: int = 0
    """How many lines before it, after the one that came last, could not be read."""


class News(NamedTuple):
    """What is new in one log."""

    restart: bool
    """The log was rewritten: what was known of it is void, and the lines are all of them."""
    lines: Iterator[Fed]
    generation: int
    size: int
    manifest: Manifest | None
    """A session's facts; a user's or the shared log has none."""
    markers: Mapping[str, Any] = {}
    """How far such a log was learned from."""


class Use(NamedTuple):
    """An entry was found or read, at this time."""

    id: str
    at: str


class Feed(Protocol):
    """Where an index learns what was written. Logs go by the names of their folders."""

    def marked(self) -> list[str]:
        """The logs that were written to since their mark was last removed."""

    def unmark(self, name: str) -> None:
        """Remove a mark; before the lines are read, so that no later write goes unnoticed."""

    def all(self) -> Iterator[str]:
        """Every log there is."""

    def listed(self, name: str) -> Listed | None:
        """A session's facts and its last line; None if it is gone, or no session's log."""

    def read(self, name: str, since: Position | None) -> News | None:
        """The lines after a position; None if there is no such log any more."""

    def entries(
        self, name: str, generation: int, places: Sequence[tuple[int, int, int]]
    ) -> list[Entry | None]:
        """The entries at these places of a log (segment, offset, length); None where none is any
        more, as everywhere after a rewrite."""

    def uses(self, name: str, after: int) -> tuple[list[Use], int]:
        """The uses of a log's entries noted past so many bytes, and how many bytes there are."""


class Spot(NamedTuple):
    """Where the index says that a line lies."""

    log: str
    generation: int
    segment: int
    offset: int
    length: int
    time: int
    """The entry's first timestamp, in epoch milliseconds."""
    seq: int
    """The number that the line must have, or it is another one."""


class Candidate(NamedTuple):
    """A row that the index found, its relevance, and what that is made of."""

    spot: Spot
    relevance: float
    why: dict[str, float]


class Found(NamedTuple):
    """What a search brought; whether meaning was compared is in `semantic`."""

    candidates: list[Candidate]
    semantic: Literal["ready", "pending", "off"]
    notes: tuple[str, ...] = ()
    """What was done differently than the query asked for."""


class Wanted(NamedTuple):
    """Which sessions to list."""

    user_id: str | None = None
    agent_id: str | None = None
    state: str | None = None
    limit: int | None = None


class Asked(NamedTuple):
    """Which sessions with lines that nobody has learned from are meant."""

    now: str
    idle_since: str
    """A session without a line after this moment is due."""
    turns: int
    """So many answers without a call of `end_turn` make it due too."""
    limit: int | None = None
    parked: bool = False
    """Only those that are parked."""


class Unlearned(NamedTuple):
    """A session with lines that nobody has learned from; `turns` of them are answers.

    A user's own log and the shared one have no facts but their markers: then `log` names it, every
    line counts as a turn, and the manifest holds nothing else.
    """

    manifest: Manifest
    last_seq: int
    last_written: str | None
    turns: int
    log: LogKey | None = None

    @property
    def since(self) -> str:
        """Since when it is due, or when it was written to last."""
        marks = learning.marks_of(self.manifest.markers)
        last = self.last_written or self.manifest.created_at
        return marks.invalidated_at if marks.is_due else last


def of_own_log(
    log: LogKey, markers: Mapping[str, Any], last_seq: int, last_written: str | None, turns: int
) -> Unlearned:
    """A log that is no session's, with lines that nobody has learned from."""
    facts = Manifest(
        v=FORMAT,
        session_id=f"{OWN}{log.id}",
        user_id=log.id or None,
        created_at=last_written or "",
        markers=dict(markers),
    )
    return Unlearned(facts, last_seq, last_written, turns, log)


class Follower(Protocol):
    """Follows what is written, from where it stands."""

    def news(self) -> list[Hit]:
        """What was written since and matches, some at a time, of each session in order; nothing
        comes twice. Relevance is the share of the text's words that an entry holds."""


class Index(Protocol):
    """Finds what was stored. Everything in it is derived and comes back when it is deleted."""

    def search(
        self, query: Query, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> Hits:
        """The best entries for a query, of one session or of all that the viewer may see."""

    def follow(
        self, query: Query, viewer: Viewer, session_id: str | None, after: Mapping[str, int] | None
    ) -> Follower:
        """Follow a session or all that the viewer may see: from the line that `after` names for
        each, else from its first; with None from now on."""

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        """The sessions that the viewer may see, last changed first, without looking at each."""

    def unlearned(self, asked: Asked) -> list[Unlearned]:
        """The sessions that are due to be learned from, and the logs that are no session's,
        oldest first, without looking at each."""

    def catch_up(self, progress: Progress | None = None) -> int:
        """Read what is new; a search does so by itself. Says how many entries were added."""

    def rebuild(self, progress: Progress | None = None) -> int:
        """Throw everything away and read it again."""

    def close(self) -> None:
        """Let go of everything held open."""


@runtime_checkable
class Exporter(Protocol):
    """What an index over files can do beside: tell what it knows of each line as plain JSON."""

    def export(
        self, shape: str, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> dict[str, Any]:
        """The index of one session, or of all that the viewer may see, in one of its shapes."""


def exporter_of(index: object) -> Exporter:
    """The index as one that can be exported."""
    if isinstance(index, Exporter):
        return index
    raise InvalidQueryError("This back end has no index that could be exported as JSON.")
