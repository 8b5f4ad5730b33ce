"""Places in a text: found by rules, settled into disjoint ones."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mnemolog.policy.redaction.kinds import KINDS


class Span(NamedTuple):
    """From `start` up to `end`, something of this kind."""

    start: int
    end: int
    kind: str

    def moved(self, by: int) -> "Span":
        """The same, so much further on."""
        return Span(self.start + by, self.end + by, self.kind)


# Takes the text and the same text in lower case, character for character.
Find = Callable[[str, str], Iterator[Span]]

_RANK = {name: rank for rank, name in enumerate(KINDS)}


def fold(text: str) -> str:
    """The text in lower case with every character in its old place."""
    folded = text.lower()
    # One capital becomes two characters; everything else keeps its length.
    return folded if len(folded) == len(text) else text.replace("\u0130", "i").lower()


def settle(found: Iterable[Span]) -> list[Span]:
    """Disjoint spans in order; those that overlap become one, named by the kind that precedes."""
    settled: list[Span] = []
    reached = 0
    for span in sorted(found):
        start, end, _ = span
        if start < reached:
            if span != settled[-1]:
                settled[-1] = _joined(settled[-1], span)
        elif start < end:
            settled.append(span)
        reached = max(reached, end)
    return settled


def _joined(one: Span, other: Span) -> Span:
    kind = one.kind
    if kind != other.kind:
        kind = min(kind, other.kind, key=lambda name: _RANK.get(name, len(_RANK)))
    return Span(one.start, max(one.end, other.end), kind)
