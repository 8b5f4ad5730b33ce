"""Folding: many lines, in order, become the entries that live now.

The same id again is a newer revision; the first timestamp stays. A tombstone hides its target, an
undelete brings it back, a later revision revives it, and an erased target is gone for good.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from mnemolog.model.entry import Damage, Entry


class Spot(NamedTuple):
    """Where a line lies: which segment of the chain, and which bytes of it."""

    segment: int
    offset: int
    length: int


class Head(msgspec.Struct, frozen=True, gc=False):
    """What is known of one entry without reading its content."""

    id: str
    type: str
    scope: str
    agent_id: str | None
    first: str
    seq: int
    spot: Spot
    revisions: int = 1
    died: str | None = None
    """When it was deleted."""
    first_seq: int = 0
    """The number of its first line: where it stands among the others."""
    hidden: tuple[str, ...] = ()
    """The kinds of the secrets that were hidden in it."""

    @property
    def dead(self) -> bool:
        """Whether it is hidden."""
        return self.died is not None


class Fold:
    """The state of a log after the lines taken so far."""

    def __init__(self) -> None:
        self.heads: dict[str, Head] = {}
        self.damage: list[Damage] = []
        self.last_seq = 0
        self.last_written: str | None = None
        # Whether a rewrite has taken entries out of the order in which they were first said.
        self.is_merged = False

    def in_order(self) -> list[Head]:
        """The entries as they were first said."""
        heads = list(self.heads.values())
        return sorted(heads, key=lambda head: head.first_seq) if self.is_merged else heads

    def take(self, line: Entry, spot: Spot, hidden: tuple[str, ...] = ()) -> None:
        """Take the next line into account."""
        self.last_seq = max(self.last_seq, line.seq)
        self.last_written = line.at or line.timestamp
        if line.type == "tombstone":
            self._mark(line, line.written_at)
        elif line.type == "undelete":
            self._mark(line, None)
        elif line.type == "erased":
            # A blanked line has no target; its random id may be that of an entry that lives.
            self.heads.pop(line.target or "", None)
        else:
            self.is_merged |= line.first_seq is not None
            self.heads[line.id] = _revised(self.heads.get(line.id), line, spot, hidden)

    def hide(self, tombstone: Entry) -> None:
        """Hide what damage was seen to hide; that line says nothing else."""
        self._mark(tombstone, tombstone.written_at)

    def _mark(self, line: Entry, died: str | None) -> None:
        head = self.heads.get(line.target or "")
        if head is not None:
            self.heads[head.id] = msgspec.structs.replace(head, died=died)


def _revised(before: Head | None, line: Entry, spot: Spot, hidden: tuple[str, ...]) -> Head:
    return Head(
        line.id,
        line.type,
        line.scope,
        line.agent_id,
        before.first if before else line.created or line.timestamp,
        line.seq,
        spot,
        before.revisions + 1 if before else 1,
        first_seq=before.first_seq if before else line.first_seq or line.seq,
        hidden=hidden,
    )


def count(heads: Iterable[Head]) -> tuple[dict[str, int], dict[str, int]]:
    """How many entries there are of each type, and by each agent."""
    types: Counter[str] = Counter()
    agents: Counter[str] = Counter()
    for head in heads:
        types[head.type] += 1
        if head.agent_id is not None:
            agents[head.agent_id] += 1
    return dict(types), dict(agents)
