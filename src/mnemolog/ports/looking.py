"""The port of looking closely: parts of a long log, exact lines, files. A capability."""

from collections.abc import Collection
from typing import NamedTuple, Protocol, runtime_checkable

from mnemolog.errors import InvalidQueryError
from mnemolog.model.entry import Entry
from mnemolog.model.inspecting import Bucket, FileFact, Numbered, RawLine
from mnemolog.policy.access import Viewer
from mnemolog.ports import LogKey

UNITS = ("hour", "day", "month")


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
    only_hidden: bool = False


class Placed(NamedTuple):
    """An entry, its place in the order of the log, and what became of it."""

    entry: Entry
    place: int
    revisions: int
    died: str | None = None
    redactions: tuple[str, ...] = ()
    uses: int = 0
    """How often it was found or read."""
    used: str | None = None
    """When last."""


class Window(NamedTuple):
    """Some entries of a span, the nearest first; how many it holds, and the whole log."""

    placed: list[Placed]
    within: int
    total: int


class Leafer(Protocol):
    """Shows parts of a log in the order in which things were first said."""

    def part(self, log: LogKey, viewer: Viewer, span: Span, most: int | None) -> Window:
        """The first few entries of a span, as the viewer may see it."""

    def one(self, log: LogKey, viewer: Viewer, identifier: str) -> Placed | None:
        """One entry, a hidden one too; None if the viewer may not see it."""

    def raw(self, log: LogKey, viewer: Viewer, identifier: str) -> RawLine | None:
        """The exact bytes of an entry's line, and whether they are still those that were written;
        None if the viewer may not see it."""

    def minimap(self, log: LogKey, viewer: Viewer, most: int, ahead: int) -> list[Bucket]:
        """A log in at most so many parts of equal length; days begin so many minutes ahead."""


class Counter(Leafer, Protocol):
    """Shows and counts entries at the cost of those that are shown."""

    def numbers(self, session_id: str | None, viewer: Viewer) -> Numbered:
        """A session in numbers, or all that the viewer may see."""

    def hidden(self, session_id: str | None, viewer: Viewer, skip: int, most: int | None) -> Window:
        """What is hidden and the viewer might bring back, latest first; of a session or all."""

    def growth(self, viewer: Viewer, unit: str) -> dict[str, dict[str, int]]:
        """How many entries of each type were said in each hour, day or month."""


class Looker(Leafer, Protocol):
    """What can be seen of a log beside its entries; whatever it is asked, it reads the log."""

    def files(self, session_id: str) -> list[FileFact]:
        """The files that make up a session."""

    def quarantined(self, log: LogKey) -> int:
        """How many damaged pieces of a log are kept aside."""


@runtime_checkable
class CanLook(Protocol):
    """A store whose logs can be looked at closely."""

    def looker(self) -> Looker:
        """What looks."""


@runtime_checkable
class CanCount(Protocol):
    """An index that knows where each entry of a log stands."""

    def counter(self) -> Counter:
        """What counts and shows."""


def counter_of(index: object) -> Counter | None:
    """The way to look into logs by an index; None if it knows none."""
    return index.counter() if isinstance(index, CanCount) else None


def looker_of(store: object) -> Looker:
    """The way to look into a store's logs."""
    if isinstance(store, CanLook):
        return store.looker()
    raise InvalidQueryError("This back end cannot show its lines.")
