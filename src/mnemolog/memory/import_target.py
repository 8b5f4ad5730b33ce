"""Where an import is going: one log, and what of it waits, was written, or must not come back."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from mnemolog.errors import MnemologError
from mnemolog.layouts.contract import EntryFound
from mnemolog.model.entry import MARKS, Entry
from mnemolog.ports import LogKey

_SAID = ("type", "role", "content", "context", "tags", "metadata")


class Queued(NamedTuple):
    """An entry that waits to be stored with others."""

    found: EntryFound
    entry: Entry
    hidden: tuple[str, ...] = ()
    """The kinds of secrets that were hidden in it."""


class Away(NamedTuple):
    """Ids that have no living line in a log: deleted ones, and those moved to the archive."""

    deleted: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()


class Target:
    """Where entries go: one log, and what of it was written by this import."""

    def __init__(self, log: LogKey, session: str | None, user: str | None, exists: bool) -> None:
        self.log = log
        self.session = session
        self.user = user
        self.exists = exists
        self.refusal: MnemologError | None = None
        self.written: set[str] = set()
        self.away: Away | None = None
        self.held: list[Queued] = []
        self.size = 0
        self.seen = 0
        """The number of the last line when it was looked what is there."""
        self.progress = Progress()


class Progress:
    """How far an earlier import came with entries that the files hold several times.

    It may have been killed between two revisions. Such an entry has as many lines here as the files
    have said of it when they come to what it says here now: what follows there is new here.
    """

    def __init__(self) -> None:
        self._met: Counter[str] = Counter()
        self._same: defaultdict[str, set[int]] = defaultdict(set)
        self._ahead: set[str] = set()
        self._lines: Counter[str] | None = None

    def goes_on(self, entry: Entry, living: Entry, lines: Callable[[], Iterable[Entry]]) -> bool:
        """Take the next that the files say of an entry that lives here; whether it is new here.

        `lines` are all that the log holds.
        """
        name = entry.id
        self._met[name] += 1
        if name not in self._ahead and says_the_same(entry, living):
            self._same[name].add(self._met[name])
        elif name in self._same and self._counted(lines)[name] in self._same[name]:
            self._ahead.add(name)
        return name in self._ahead

    def _counted(self, lines: Callable[[], Iterable[Entry]]) -> Counter[str]:
        if self._lines is None:
            self._lines = Counter(line.id for line in lines() if line.type not in MARKS)
        return self._lines

    def look_again(self) -> None:
        """Somebody else has written here meanwhile."""
        self._ahead.clear()
        self._lines = None


def says_the_same(one: Entry, other: Entry) -> bool:
    """Whether two lines about an entry say the same of it."""
    return all(getattr(one, name) == getattr(other, name) for name in _SAID)
