"""What a layout is: a name, and pure functions that tell, read and write a set of files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

from mnemolog.model.entry import Entry
from mnemolog.model.node import Node
from mnemolog.model.session import Session

NODE = "a node of the graph"
"""Why a node is left out, by a layout or by an import."""

RUN_NOTE = "a note of an open run"
"""The same of what a run has noted that has not ended."""


class Line(NamedTuple):
    """A line without its newline; None stands for one that is too long to be read."""

    number: int
    content: bytes | None


class Refused(NamedTuple):
    """Something that cannot be taken: where it stands and why, never what it says."""

    file: str
    line: int | None
    reason: str
    code: str = "E_INVALID_FORMAT"


class Skipped(NamedTuple):
    """Something that is not meant to be stored, by its kind."""

    what: str
    times: int = 1


@runtime_checkable
class FileSource(Protocol):
    """Files to read from. Reading is bounded, and no name leads outside."""

    @property
    def passed_over(self) -> Sequence[Refused | Skipped]:
        """What stands among the files and is none that may be read: links, pipes, odd names."""

    def names(self) -> list[str]:
        """The files' relative names, sorted, with `/` between their parts."""

    def size(self, name: str) -> int:
        """A file's length in bytes."""

    def lines(self, name: str) -> Iterator[Line]:
        """A file's lines, one at a time."""

    def read(self, name: str) -> bytes:
        """A whole file; raises `SizeLimitError` if it is longer than a document may be."""


class SessionFound(NamedTuple):
    """A session that a source tells of; comes before its entries."""

    id: str
    user_id: str | None = None
    agent_ids: tuple[str, ...] = ()
    created_at: object = None
    metadata: Mapping[str, Any] = {}
    preferences: Mapping[str, Any] = {}
    settings: Mapping[str, Any] = {}
    file: str = ""


class EntryFound(NamedTuple):
    """An entry as `add_many` takes it; without a session it is a user's own or shared."""

    session: str | None
    record: dict[str, Any]
    file: str
    line: int | None = None
    written_in: object = None
    """The session in which a user's own or a shared entry was written."""
    deleted: "Tombstone | None" = None
    """If it was deleted there: it comes in as deleted, too."""
    uses: int = 0
    """How often it was used there."""
    used_at: object = None


AnyFound = SessionFound | EntryFound | Refused | Skipped


class Derived(NamedTuple):
    """What is computed about an entry as of now; None where nobody knows."""

    decay_factor: float
    importance: float
    relevance: float | None = None
    access_count: int | None = None
    last_accessed: str | None = None


class Tombstone(NamedTuple):
    """A deleted entry: its id, when it was deleted as far as that is told, and why."""

    id: str
    timestamp: str
    reason: str = ""


class SessionOut(NamedTuple):
    """A session to write out, with what of its entries belongs to the subject."""

    session: Session
    entries: Sequence[Entry]
    derived: Callable[[], Mapping[str, Derived]]
    inverted: Callable[[], Mapping[str, Any] | None]
    decay_config: Mapping[str, Any] = {}
    tombstones: Sequence[Tombstone] = ()
    warnings: Sequence[str] = ()
    runs: Mapping[str, Sequence[Entry]] = {}
    """What each run has noted that has not ended."""

    def notes(self) -> Iterator[Entry]:
        """The notes of all these runs."""
        return (note for run in self.runs.values() for note in run)

    def of_runs(self) -> "Iterator[LeftOut]":
        """The same, for a layout that has no place for them."""
        return (LeftOut(note.id, RUN_NOTE) for note in self.notes())


class Bundle(NamedTuple):
    """Everything to write out; the sessions come one at a time."""

    subject: Mapping[str, str]
    exported_at: str
    sessions: Iterator[SessionOut]
    users: Mapping[str, Sequence[Entry]]
    shared: Sequence[Entry]
    warnings: Sequence[str] = ()
    """What could not be read; known when the last session was taken."""
    nodes: Mapping[str, Sequence[Node]] = {}
    """The graph of each user."""

    def of_no_session(self) -> "Iterator[LeftOut]":
        """What stands in no session's log, for a layout that has a place only for sessions."""
        for entry in (*(each for own in self.users.values() for each in own), *self.shared):
            yield LeftOut(entry.id, "belongs to no session")
        yield from self.of_graphs()

    def of_graphs(self) -> "Iterator[LeftOut]":
        """The nodes, for a layout that has no place for them."""
        for node in (each for own in self.nodes.values() for each in own):
            yield LeftOut(node.address, NODE)


class FileOut(NamedTuple):
    """A file to write, by its relative name."""

    name: str
    content: bytes


class LeftOut(NamedTuple):
    """An entry that a layout has no place for, and why."""

    id: str
    why: str


class Layout(NamedTuple):
    """A way in which files hold memory."""

    name: str
    says: str
    detect: Callable[[FileSource], bool] | None = None
    read: Callable[[FileSource], Iterator[AnyFound]] | None = None
    write: Callable[[Bundle], Iterator[FileOut | LeftOut]] | None = None
