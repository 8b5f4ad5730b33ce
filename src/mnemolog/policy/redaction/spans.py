"""Places in a text: found by rules, settled into disjoint ones."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from mnemolog.policy.redaction.kinds import KINDS


class Span(NamedTuple):
    """From `start` up to `end`, something of this kind."""

    start: int
    end: int
    kind: str


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
    for span in sorted(found):
        if settled and span.start < settled[-1].end:
            settled[-1] = _joined(settled[-1], span)
        elif span.start < span.end:
            settled.append(span)
    return settled


def _joined(one: Span, other: Span) -> Span:
    kind = min(one.kind, other.kind, key=lambda name: _RANK.get(name, len(_RANK)))
    return Span(one.start, max(one.end, other.end), kind)
