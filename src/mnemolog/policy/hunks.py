"""Hunks: where two texts differ, line by line, with a few lines around."""

from collections.abc import Iterator
from difflib import SequenceMatcher

from mnemolog.model.node import Hunk

AROUND = 3
# Beyond so many comparisons the middle counts as replaced as a whole.
_MOST = 4_000_000

_Change = tuple[int, int, int, int]


def hunks(old: str, new: str) -> list[Hunk]:
    """What to take out of one text and put in to make it the other."""
    before, after = old.splitlines(), new.splitlines()
    groups: list[list[_Change]] = []
    for change in _changes(before, after):
        if groups and change[0] - groups[-1][-1][1] <= 2 * AROUND:
            groups[-1].append(change)
        else:
            groups.append([change])
    return [_hunk(before, after, group) for group in groups]


def _changes(before: list[str], after: list[str]) -> Iterator[_Change]:
    """Which lines become which others; what both begin and end with is left aside."""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    if len(old) * len(new) > _MOST:
        yield start, start + len(old), start, start + len(new)
        return
    for kind, low, high, first, last in SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            yield start + low, start + high, start + first, start + last


def _common(one: list[str], other: list[str]) -> int:
    pairs = zip(one, other, strict=False)
    same = (at for at, (left, right) in enumerate(pairs) if left != right)
    return next(same, min(len(one), len(other)))


def _hunk(before: list[str], after: list[str], group: list[_Change]) -> Hunk:
    low = max(0, group[0][0] - AROUND)
    shift = group[0][2] - group[0][0]
    lines: list[str] = []
    at = low
    for start, end, first, last in group:
        lines += (f" {line}" for line in before[at:start])
        lines += (f"-{line}" for line in before[start:end])
        lines += (f"+{line}" for line in after[first:last])
        at = end
    lines += (f" {line}" for line in before[at : at + AROUND])
    return Hunk(low + 1, low + shift + 1, tuple(lines))
