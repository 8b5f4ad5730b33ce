"""Which entries leave a log when it is compacted. Pure: no clock, no disk.

The order, each step only as far as the one before it did not suffice:

1. what was deleted longer ago than it can be undone is dropped for good;
2. what is less relevant than the floor moves to the archive;
3. only if the log is still too large: what was deleted lately moves there too, then the least
   relevant fifth of the rest, as often as it takes.

Preferences and decisions that somebody approved are never moved.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from mnemolog.model.entry import Entry
from mnemolog.model.times import hours_between, shifted, to_text
from mnemolog.policy import decay
from mnemolog.policy.importance import importance
from mnemolog.settings import Settings

_DAY = 24.0
_RECENT = 1.5
_MOST_ROUNDS = 64


class Weighed(NamedTuple):
    """An entry as a compaction sees it: what it is, since when it is hidden, what it takes up."""

    entry: Entry
    died: str | None
    bytes: int
    uses: int = 0


class Verdict(NamedTuple):
    """What a compaction is to do: the ids to drop for good, and those to move to the archive."""

    drop: frozenset[str] = frozenset()
    move: frozenset[str] = frozenset()


class Needs(NamedTuple):
    """How small a log has to become, and what counts meanwhile."""

    now: datetime
    settings: Settings
    room: int
    """Bytes that may stay."""


def judge(entries: list[Weighed], needs: Needs) -> Verdict:
    """What to drop and what to move, so that no more than `room` bytes stay if that can be."""
    drop = expired(entries, needs.now, needs.settings.privacy.undelete_days)
    rest = [one for one in entries if one.entry.id not in drop]
    scored = [(relevance(one, needs), one) for one in rest if not one.died and is_free(one.entry)]
    free = sorted(scored, key=lambda pair: (pair[0], pair[1].entry.seq))
    floor = needs.settings.compaction.relevance_floor
    faint = [one for score, one in free if score < floor]
    more = _until_it_fits(rest, faint, free[len(faint) :], needs)
    return Verdict(drop, frozenset(one.entry.id for one in (*faint, *more)))


def expired(entries: list[Weighed], now: datetime, undelete_days: int) -> frozenset[str]:
    """The ids of what was deleted longer ago than it can be undone."""
    last = to_text(shifted(now, days=-undelete_days))
    return frozenset(one.entry.id for one in entries if one.died is not None and one.died < last)


def _until_it_fits(
    rest: list[Weighed], moved: list[Weighed], free: list[tuple[float, Weighed]], needs: Needs
) -> Iterator[Weighed]:
    """Deleted entries first, then the least relevant share of what is left, again and again."""
    size = sum(one.bytes for one in rest) - sum(one.bytes for one in moved)
    for one in (one for one in rest if one.died):
        if size <= needs.room:
            return
        size -= one.bytes
        yield one
    left = [one for _, one in free]
    share = 1 - needs.settings.compaction.keep_fraction
    for _ in range(_MOST_ROUNDS):
        if size <= needs.room or not left:
            return
        count = max(1, round(len(left) * share))
        for one in left[:count]:
            size -= one.bytes
            yield one
        left = left[count:]


def relevance(one: Weighed, needs: Needs) -> float:
    """What an entry is worth without a question: importance, decay, and whether it is fresh."""
    entry = one.entry
    age = hours_between(entry.timestamp, needs.now)
    weight = importance(entry)
    boost = decay.boost(float(one.uses), weight)
    recency = _RECENT if age < _DAY else 1.0
    return min(1.0, weight * decay.factor(entry.type, age, needs.settings.decay, boost) * recency)


def is_free(entry: Entry) -> bool:
    """Whether an entry may leave the log without anybody asking for it."""
    return entry.type != "preference" and not is_approved(entry)


def is_approved(entry: Entry) -> bool:
    """Whether somebody approved this decision."""
    content = entry.content if isinstance(entry.content, dict) else {}
    return entry.type == "decision" and bool(content.get("approved_by"))
