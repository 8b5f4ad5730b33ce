"""Retention: what has been kept for long enough. Pure: no clock, no disk.

An entry's age counts from the later of when it happened and when it arrived, so that an old chat
that was imported yesterday is a day old. What is overdue is hidden first, and erased once it has
been hidden for longer than it can be undone. What no tombstone reaches without being brought back,
an archived session or an entry that a compaction moved out, goes when both times are over.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

import msgspec

from mnemolog.model.entry import Entry
from mnemolog.model.times import shifted, to_text
from mnemolog.policy.compaction import Weighed, is_approved
from mnemolog.settings import Privacy


class Kept(NamedTuple):
    """What a log holds: entries that live, those that are hidden, and those that were moved out."""

    living: Iterable[Entry]
    hidden: Collection[Weighed] = ()
    moved: Mapping[str, Weighed] = {}
    archived_at: str | None = None


class Due(NamedTuple):
    """What a purge is to do with one log; `is_whole` means that all of it goes."""

    hide: tuple[Entry, ...] = ()
    erase: tuple[Entry, ...] = ()
    is_whole: bool = False
    spared: tuple[Entry, ...] = ()
    """What would go by its age, and stays because somebody approved it."""


class Terms:
    """How long entries are kept under some settings, as of one moment."""

    def __init__(self, privacy: Privacy, now: datetime) -> None:
        self._privacy = privacy
        self._now = now
        self._moments: dict[tuple[str, bool], str | None] = {}
        self._undone = to_text(shifted(now, days=-privacy.undelete_days))

    def is_overdue(self, entry: Entry) -> bool:
        """Whether an entry is past the retention of its type."""
        return not self._is_exempt(entry) and self._is_before(entry, is_late=False)

    def is_spared(self, entry: Entry) -> bool:
        """Whether an entry is past the retention of its type and stays all the same."""
        return self._is_exempt(entry) and self._is_before(entry, is_late=False)

    def is_expired(self, died: str | None) -> bool:
        """Whether something was hidden so long ago that it cannot be undone any more."""
        return died is not None and died < self._undone

    def is_past(self, entry: Entry, died: str | None = None) -> bool:
        """Whether an entry would have been hidden and erased by now."""
        if died is not None:
            return self.is_expired(died)
        return not self._is_exempt(entry) and self._is_before(entry, is_late=True)

    def is_empty_past(self, archived_at: str) -> bool:
        """Whether a session that holds nothing lies in the archive for long enough: it counts as a
        conversation that happened when it was archived."""
        last = self._last("conversation", is_late=True)
        return last is not None and archived_at < last

    @property
    def latest(self) -> str | None:
        """The moment from which on nothing can be overdue; None if nothing ever is."""
        kept = msgspec.structs.astuple(self._privacy.retention_days)
        days = min((one for one in kept if one is not None), default=None)
        return None if days is None else to_text(shifted(self._now, days=-days))

    def may_be_overdue(self, kind: str, first: str) -> bool:
        """Whether an entry that first happened then can be overdue; a look at the whole tells."""
        last = self._last(kind, is_late=False)
        return last is not None and first < last

    def _is_exempt(self, entry: Entry) -> bool:
        return self._privacy.keep_approved_decisions and is_approved(entry)

    def _is_before(self, entry: Entry, *, is_late: bool) -> bool:
        last = self._last(entry.type, is_late=is_late)
        return last is not None and max(entry.timestamp, entry.written_at) < last

    def _last(self, kind: str, *, is_late: bool) -> str | None:
        """The moment before which an entry of a type is overdue, or past both times."""
        key = (kind, is_late)
        if key not in self._moments:
            days = self._privacy.retention_days.for_type(kind)
            more = self._privacy.undelete_days if is_late else 0
            last = None if days is None else to_text(shifted(self._now, days=-days - more))
            self._moments[key] = last
        return self._moments[key]


def due(kept: Kept, terms: Terms) -> Due:
    """What is to be hidden and what is to be erased."""
    if kept.archived_at is not None:
        return _due_in_archive(kept, kept.archived_at, terms)
    living = list(kept.living)
    expired = {one.entry.id: one.entry for one in kept.hidden if terms.is_expired(one.died)}
    known = {entry.id for entry in living} | {one.entry.id for one in kept.hidden}
    for identifier, one in kept.moved.items():
        # A newer revision of it in the log has a life of its own.
        if identifier not in known and terms.is_past(one.entry, one.died):
            expired[identifier] = one.entry
    hide = tuple(entry for entry in living if terms.is_overdue(entry))
    return Due(hide, tuple(expired.values()), spared=tuple(filter(terms.is_spared, living)))


def _due_in_archive(kept: Kept, archived_at: str, terms: Terms) -> Due:
    """An archived session goes as a whole once all of it is past; until then, what is past goes."""
    found: list[tuple[Entry, str | None]] = [(entry, None) for entry in kept.living]
    found += [(one.entry, one.died) for one in (*kept.hidden, *kept.moved.values())]
    is_past = all(terms.is_past(entry, died) for entry, died in found)
    if is_past and (found or terms.is_empty_past(archived_at)):
        return Due(erase=tuple({entry.id: entry for entry, _ in found}.values()), is_whole=True)
    kept_ids = {entry.id for entry, died in found if not terms.is_past(entry, died)}
    gone = {entry.id: entry for entry, _ in found if entry.id not in kept_ids}
    spared = tuple(entry for entry, died in found if died is None and terms.is_spared(entry))
    return Due(erase=tuple(gone.values()), spared=spared)
