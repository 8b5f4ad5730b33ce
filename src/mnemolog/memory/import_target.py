"""Where an import is going: one log, and what of it waits, was written, or must not come back."""

from typing import NamedTuple

from mnemolog.errors import MnemologError
from mnemolog.layouts.contract import EntryFound
from mnemolog.model.entry import Entry
from mnemolog.ports import LogKey


class Held(NamedTuple):
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
        self.held: list[Held] = []
        self.size = 0
        self.seen = 0
        """The number of the last line when it was looked what is there."""
