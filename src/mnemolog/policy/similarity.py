"""Similarity: pairs of nodes that are perhaps the same, in about linear time.

Texts are compared by their runs of three words. Two texts that share enough of them share one of
their rarest ones, so only nodes that meet at a rare run are looked at together; and at each run a
node meets only the last few before it, so that even a thousand copies of one form stay cheap.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from math import ceil
from typing import NamedTuple

from mnemolog.model.node import FILES, SimilarNodes
from mnemolog.policy.words import words_in

SHARE = 0.6
"""How much of all runs two texts must have in common."""
PEOPLE = "people/"

# A shorter text says too little to be compared.
_LEAST_RUNS = 4
_MEETINGS = 16
_MOST_PAIRS = 3
# A name that so many others contain tells nobody apart.
_MOST_NAMESAKES = 8
_MOST_BEARERS = 200


class Sketch(NamedTuple):
    """What is compared of a node."""

    address: str
    title: str
    body: str


class _Runs:
    """The runs of three words of a text, as numbers."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, body: str) -> frozenset[int]:
        numbers = [self._numbers.setdefault(one, len(self._numbers)) for one in _words(body)]
        found = zip(numbers, numbers[1:], numbers[2:], strict=False)
        return frozenset(one << 64 | two << 32 | three for one, two, three in found)


def _words(text: str) -> list[str]:
    """The words that a reader sees: comments are for those who look behind the text."""
    first, *rest = text.split("<!--")
    return words_in(" ".join([first, *(one.partition("-->")[2] for one in rest)]))


def similar(sketches: Iterable[Sketch]) -> list[SimilarNodes]:
    """The pairs that are perhaps the same, best reason first, each pair once."""
    chosen = sorted(one for one in sketches if one.address not in FILES)
    found: dict[tuple[str, str], SimilarNodes] = {}
    for pair in (*_same_titles(chosen), *_near_texts(chosen), *_contained_names(chosen)):
        found.setdefault((pair.address, pair.other), pair)
    order = {"title": 0, "text": 1, "name": 2}
    return sorted(found.values(), key=lambda one: (order[one.why], -one.share, one))


def _pair(one: str, other: str, why: str, share: float) -> SimilarNodes:
    return SimilarNodes(min(one, other), max(one, other), why, round(share, 3))


def _same_titles(sketches: list[Sketch]) -> Iterator[SimilarNodes]:
    """Each with the first of those whose titles have the same words."""
    first: dict[frozenset[str], str] = {}
    for one in sketches:
        words = frozenset(_words(one.title))
        if words and first.setdefault(words, one.address) != one.address:
            yield _pair(first[words], one.address, "title", 1.0)


def _contained_names(sketches: list[Sketch]) -> Iterator[SimilarNodes]:
    """People one of whose names is a part of the other's."""
    names = {
        one.address: frozenset(_words(one.title))
        for one in sketches
        if one.address.startswith(PEOPLE)
    }
    bearers: dict[str, list[str]] = defaultdict(list)
    for address, words in names.items():
        for word in words:
            bearers[word].append(address)
    for address, words in names.items():
        rarest = min((bearers[word] for word in words), key=len, default=[])
        if len(rarest) > _MOST_BEARERS:
            continue
        longer = [one for one in rarest if words < names[one]]
        if len(longer) <= _MOST_NAMESAKES:
            for one in longer:
                yield _pair(address, one, "name", len(words) / len(names[one]))


def _near_texts(sketches: list[Sketch]) -> Iterator[SimilarNodes]:
    reader = _Runs()
    runs: dict[str, frozenset[int]] = {}
    first: dict[frozenset[int], str] = {}
    for one in sketches:
        own = reader.of(one.body)
        if len(own) < _LEAST_RUNS:
            continue
        if own in first:
            yield _pair(first[own], one.address, "text", 1.0)
        else:
            first[own] = one.address
            runs[one.address] = own
    yield from _near_runs(runs)


def _near_runs(runs: dict[str, frozenset[int]]) -> Iterator[SimilarNodes]:
    often = Counter(run for own in runs.values() for run in own)
    met: dict[int, list[str]] = defaultdict(list)
    for address, own in runs.items():
        near: set[str] = set()
        # Two sets with this share in common have one in common among so many of their rarest.
        rarest = sorted((one for one in own if often[one] > 1), key=lambda one: (often[one], one))
        alone = len(own) - len(rarest)
        for run in rarest[: max(0, len(own) - ceil(SHARE * len(own)) + 1 - alone)]:
            near.update(met[run][-_MEETINGS:])
            met[run].append(address)
        alike = sorted((-_share(own, runs[other]), other) for other in near)
        for share, other in alike[:_MOST_PAIRS]:
            if -share >= SHARE:
                yield _pair(other, address, "text", -share)


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)
