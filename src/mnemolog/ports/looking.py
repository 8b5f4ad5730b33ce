"""The port of looking closely: windows of a long log, exact lines, files. A capability."""

from collections.abc import Collection
from typing import NamedTuple, Protocol, runtime_checkable

from mnemolog.errors import InvalidQueryError
from mnemolog.model.entry import Entry
from mnemolog.model.inspecting import Bucket, FileFact, RawLine
from mnemolog.policy.access import Viewer
from mnemolog.ports import LogKey


class Span(NamedTuple):
    """Which part of a log: between two places in its order, forwards or backwards."""

    after: int = 0
    """Only what was first said after this number."""
    before: int | None = None
    """Only what was first said before this one."""
    backwards: bool = False
    """The nearest to the end come first."""
    types: Collection[str] | None = None
    agents: Collection[str] | None = None
    with_hidden: bool = False


class Placed(NamedTuple):
    """An entry, its place in the order of the log, and what became of it."""

    entry: Entry
    place: int
    revisions: int
    died: str | None = None
    redactions: tuple[str, ...] = ()


class Used(NamedTuple):
    """How often an entry was found or read, and when last."""

    times: int
    last: str


class Looker(Protocol):
    """What can be seen of a log beside its entries."""

    def window(self, log: LogKey, viewer: Viewer, span: Span) -> "Window":
        """The entries of a part of a log, read one at a time, in order."""

    def one(self, log: LogKey, viewer: Viewer, identifier: str) -> Placed | None:
        """One entry, a hidden one too; None if the viewer may not see it."""

    def raw(self, log: LogKey, viewer: Viewer, identifier: str) -> RawLine | None:
        """The exact bytes of an entry's line, and whether they are still those that were written;
        None if the viewer may not see it."""

    def minimap(self, log: LogKey, viewer: Viewer, most: int) -> list[Bucket]:
        """A log in at most so many parts of equal length."""

    def files(self, session_id: str) -> list[FileFact]:
        """The files that make up a session."""

    def used(self, session_id: str) -> dict[str, Used]:
        """The uses of a session's entries."""

    def quarantined(self, log: LogKey) -> int:
        """How many damaged pieces of a log are kept aside."""


class Window(Protocol):
    """A part of a log: how many entries there are in it, and the entries themselves."""

    @property
    def total(self) -> int:
        """How many entries the span holds."""

    def take(self, skip: int, most: int) -> list[Placed]:
        """So many of them, after the first few."""


@runtime_checkable
class CanLook(Protocol):
    """A store whose logs can be looked at closely."""

    def looker(self) -> Looker:
        """What looks."""


def looker_of(store: object) -> Looker:
    """The way to look into a store's logs."""
    if isinstance(store, CanLook):
        return store.looker()
    raise InvalidQueryError("This back end cannot show its lines.")
