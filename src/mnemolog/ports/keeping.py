"""The port of forgetting and keeping: what `Memory` needs of a back end beside storing."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from mnemolog.model.entry import Entry
from mnemolog.policy.access import Viewer
from mnemolog.policy.compaction import Verdict, Weighed
from mnemolog.policy.drafting import Redact
from mnemolog.ports import Listed, LogKey, Progress, Unread, Use
from mnemolog.settings import RedactionPattern


class Gone(NamedTuple):
    """What an erasure reached: how many lines in all, and how many in each kind of place."""

    lines: int
    places: dict[str, int]


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


Looked = Callable[[str, int], None]
"""Told which file was looked through, and how many bytes of it, unpacked ones included."""


class Trace(NamedTuple):
    """Something that should be gone and is not: in which file, where, and in which form."""

    path: str
    offset: int
    form: str
    entry_id: str | None = None
    """The entry whose valid line it stands in, if it is in one."""
    session_id: str | None = None
    """The session whose archive it stands in, if it is in one."""
    homes: frozenset[LogKey] = frozenset()
    """The logs that the valid line, and the file around it, say they are of."""


class LeftRun(NamedTuple):
    """A run that has not ended: its session, its id, when it wrote last, where, and whose it is."""

    session_id: str
    run_id: str
    last_written: str
    path: str = ""
    agent_id: str | None = None
    began: str | None = None
    notes: int = 0
    """How many it holds, as far as somebody has counted."""


class Wiped(NamedTuple):
    """What an index must know to let go of some of a log's entries and to keep the rest."""

    log: str
    ids: frozenset[str]
    generation: int
    """The log's generation from now on; its lines lie where they lay."""
    blanked: tuple[tuple[int, int, str], ...]
    """The lines that are blank now: segment, where each begins, and its new sum."""


Purge = Callable[[Wiped | str], bool]
"""Makes an index forget some entries of a log, or a whole log; False if it could not."""


class Concealed(NamedTuple):
    """In how many places of each kind secrets were hidden, and how many of which kinds."""

    places: dict[str, int]
    kinds: dict[str, int]


class Lines(Protocol):
    """Looks at the lines of one log, superseded and hidden ones too."""

    def knows(self, log: LogKey, identifier: str) -> bool:
        """Whether a log has an entry of this id, living or hidden."""

    def lines(self, log: LogKey) -> Iterator[Entry]:
        """Every line that a log holds: superseded and hidden ones too, and marks."""

    def hidden(self, log: LogKey, viewer: Viewer, *ids: str) -> list[Weighed]:
        """The entries that are deleted and still there, or those of them with these ids."""

    def in_damage(self, log: LogKey, ids: Collection[str]) -> set[str]:
        """Those of the ids that damaged bytes of a log name."""

    def settled(self, log: LogKey) -> tuple[int, str]:
        """Make a log durable; gives the number and the sum of its last line."""


class Markers(Protocol):
    """What is noted of logs beside their lines: how far they were learned from, what was used."""

    def markers(self, log: LogKey) -> dict[str, Any]:
        """The markers of a user's own log or the shared one; a session has its own facts."""

    def mark(
        self, log: LogKey, change: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> dict[str, Any]:
        """Change them durably; nobody else writes to the log or its markers meanwhile."""

    def use(self, session_id: str, ids: Collection[str], at: str) -> None:
        """Note that entries were used; relaxed, so an error costs only the note."""

    def uses(self, session_id: str) -> list[Use]:
        """Every use of an entry of a session that was noted, oldest first."""


class Eraser(Protocol):
    """Removes for good, in every file, and looks whether it is gone."""

    def erase(self, log: LogKey, ids: Collection[str], record: Audited) -> Gone:
        """Remove every line about these ids, and what was derived from them, for good."""

    def erase_older(
        self, log: LogKey, limits: Mapping[str, int], record: Audited, *, is_part: bool = False
    ) -> Gone:
        """The same for each id only up to a number: what was written about it later stays.

        As a part of a larger work it leaves no line of its own, unless a crash comes between.
        """

    def remove(self, session_id: str, record: Audited, *, only_archived: bool = False) -> Gone:
        """Remove a session and everything in it, wherever it lies, for good.

        With `only_archived`, one that has left the archive raises `ConcurrentModificationError`.
        """

    def scan(
        self,
        needles: Mapping[str, bytes],
        progress: Progress | None = None,
        looked: Looked | None = None,
    ) -> Iterator[Trace]:
        """Look for bytes in every file, also inside archives; `needles` are named by their form."""

    def redaction(
        self, patterns: tuple[RedactionPattern, ...], kinds: tuple[str, ...] = ()
    ) -> Redact:
        """What hides secrets of some kinds, or of all, and what these patterns find."""

    def hide_learned(
        self, user_ids: Collection[str] | None, redact: Redact, *, dry_run: bool = False
    ) -> Concealed:
        """Hide secrets in the nodes, versions and proposals of these users, or of all."""


class Compactor(Protocol):
    """Rewrites logs without what nobody needs, and keeps what it moved out of them."""

    def compact(
        self, session_id: str, judge: Callable[[list[Weighed]], Verdict], now: str
    ) -> Compacted:
        """Rewrite a log without superseded and erased lines, and as the judge decides."""

    def tidy(self, log: LogKey, least: int, now: str) -> Compacted:
        """Rewrite a user's log or the shared one without superseded and erased lines; not if that
        frees fewer than so many bytes."""

    def moved(self, session_id: str, *, is_salvage: bool = False) -> dict[str, Weighed]:
        """The entries that compactions moved to the archive, hidden ones too, by their ids.

        What is damaged there is refused, or if that is asked for left out."""

    def change_moved(self, session_id: str, change: Callable[[Entry], Entry]) -> int:
        """Change entries where they lie in the archive; says how many were."""

    def forget_moved(self, session_id: str, ids: Collection[str], before: int) -> int:
        """Take entries out of there again, which came back to the log with this number; what was
        moved there since stays. Says how many lines there were."""


class Archiver(Protocol):
    """Where sessions rest."""

    def archive(self, session_id: str, now: str, progress: Progress | None = None) -> Archived:
        """Move a whole session to the archive, where it stays readable."""

    def restore(self, session_id: str) -> None:
        """Bring an archived session back to where it is written to."""


class OpenRuns(Protocol):
    """The notes of runs, which are gone when these end."""

    def begin_run(self, session_id: str, first: Entry) -> bool:
        """Begin a run with the line that says whose it is; False if it is there already."""

    def end_run(self, session_id: str, run_id: str) -> None:
        """Remove the notes of a run for good."""

    def runs(self, session_id: str) -> Iterator[LeftRun]:
        """The runs of a session that nobody has ended yet."""


class Ledger(Protocol):
    """The audit."""

    def record(self, line: Audited) -> None:
        """Add a line to the audit; durable when this returns."""

    def audited(self, *, is_strict: bool = True) -> Iterator[Audited]:
        """The lines of the audit; if strict, raises `CorruptionError` where the chain is broken."""


class Root(Protocol):
    """What belongs to a root as a whole."""

    def users(self) -> list[str]:
        """The users who have a log of their own."""

    def sizes(self, left_out: Unread) -> Iterator[tuple[str, int]]:
        """How many bytes the log of each session takes, at the cost of a glance; not of archived
        ones. `left_out` is told of each that could not be read."""

    def lease(self, name: str) -> AbstractContextManager[bool]:
        """Hold a piece of work; False inside if somebody else does. It ends with its holder."""

    def holds(self, path: str) -> bool:
        """Whether a path leads to where everything is kept: nothing else may be written there."""


class Keeper(Lines, Markers, Eraser, Compactor, Archiver, OpenRuns, Ledger, Root, Protocol):
    """The back end's part of forgetting and keeping. Every step survives a crash."""
