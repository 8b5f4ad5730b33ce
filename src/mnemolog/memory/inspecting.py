"""Inspecting: a session in windows, exact lines, revisions, files; what would be forgotten."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from hashlib import sha256
from math import log
from typing import Any

import msgspec

from mnemolog.errors import EntryNotFoundError, NotAllowedError
from mnemolog.memory.forgetting import Forgetting
from mnemolog.model import plain
from mnemolog.model.entry import MARKS, Entry, type_name
from mnemolog.model.ids import check_id
from mnemolog.model.inspecting import (
    Bucket,
    DecayCurve,
    FileFact,
    Meant,
    PurgeRuns,
    RawLine,
    Revision,
    Timeline,
    Told,
)
from mnemolog.model.times import hours_between, to_moment, to_text
from mnemolog.policy import decay as decaying
from mnemolog.policy import filters as filtering
from mnemolog.policy import schedule
from mnemolog.policy.access import OWNER
from mnemolog.policy.importance import importance
from mnemolog.policy.selection import Selection, select
from mnemolog.ports import SHARED, LogKey
from mnemolog.ports.keeping import Audited
from mnemolog.ports.looking import Placed, Span, Used, Window, looker_of

MOST = 200
_STEP = 200
_BUCKETS = 400


class Inspecting(Forgetting):
    """The verbs that look closely; none of them writes to a log."""

    def timeline(
        self,
        session_id: str,
        *,
        after: int | None = None,
        before: int | None = None,
        around: int | None = None,
        limit: int = 100,
        types: Iterable[str] | None = None,
        agents: Iterable[str] | None = None,
        tags: Iterable[str] | None = None,
        text: str = "",
        with_hidden: bool = False,
    ) -> Timeline:
        """A part of a session in the order in which things were first said.

        The first entries after a place, the last before one, or those around one; without any, the
        last. An entry's place never changes, also when it is revised.
        """
        self._manifest(session_id)
        most = max(1, min(limit, MOST))
        wanted = _Wanted(types, agents, tags, text, with_hidden)
        if around is not None:
            back = self._part(
                session_id, wanted, Span(before=around + 1, backwards=True), most // 2 + 1
            )
            onward = self._part(session_id, wanted, Span(after=around), most - most // 2)
        elif after is not None and before is None:
            back, onward = _Part([], after > 0), self._part(session_id, wanted, Span(after), most)
        else:
            span = Span(after or 0, before, backwards=True)
            back = self._part(session_id, wanted, span, most)
            onward = _Part([], before is not None)
        placed = [*reversed(back.placed), *onward.placed]
        everything = self._window(session_id, wanted, Span())
        return Timeline(
            entries=tuple(self._told(session_id, placed)),
            total=everything.total,
            more_before=back.is_more,
            more_after=onward.is_more,
        )

    def told(self, session_id: str, memory_id: str) -> Told:
        """One entry of a session with what is known about it; a hidden one too."""
        check_id(memory_id, "memory id")
        _, found = self._placed(session_id, memory_id)
        return next(self._told(session_id, [found]))

    def raw_line(self, session_id: str, memory_id: str) -> RawLine:
        """The exact line of an entry, where it stands, and whether its checksum holds."""
        check_id(memory_id, "memory id")
        for each in self._own_logs(session_id):
            found = looker_of(self._store).raw(each, self._viewer, memory_id)
            if found is not None:
                return found
        raise _no_entry(memory_id)

    def revisions(self, session_id: str, memory_id: str) -> list[Revision]:
        """Every line about an entry that is still there, oldest first."""
        log, _ = self._placed(session_id, memory_id)
        return [
            Revision(
                entry=line,
                kind=line.type if line.type in MARKS else "revision",
                at=line.written_at,
            )
            for line in self._keeper.lines(log)
            if memory_id in (line.target, line.id)
        ]

    def hidden_entries(self, session_id: str | None = None) -> list[Told]:
        """What was deleted and can still be brought back, latest first; of one session or all."""
        names = [session_id] if session_id is not None else self._names()
        found: list[Told] = []
        for name in names:
            self._manifest(name)
            weighed = self._keeper.hidden(LogKey("session", name), self._viewer)
            placed = [Placed(one.entry, one.entry.seq, 1, one.died) for one in weighed]
            found += self._told(name, placed)
        return sorted(found, key=lambda one: one.hidden_at or "", reverse=True)

    def minimap(self, session_id: str, most: int = _BUCKETS) -> list[Bucket]:
        """A session in at most 400 parts: from where to where, when, and of which types."""
        self._manifest(session_id)
        size = max(1, min(most, _BUCKETS))
        return looker_of(self._store).minimap(LogKey("session", session_id), self._viewer, size)

    def session_files(self, session_id: str) -> list[FileFact]:
        """The files that make up a session, as they are on disk."""
        self._manifest(session_id)
        return looker_of(self._store).files(session_id)

    def session_markers(self, session_id: str) -> dict[str, Any]:
        """What is noted about a session beside its entries: how far it was learned from, …"""
        return dict(self._manifest(session_id).markers)

    def quarantined(self, session_id: str) -> int:
        """How many damaged pieces of a session's log are kept aside."""
        self._manifest(session_id)
        return looker_of(self._store).quarantined(LogKey("session", session_id))

    def would_forget(
        self, session_id: str, criteria: Mapping[str, Any] | None = None, *, erase: bool = False
    ) -> Meant:
        """What a deletion, or with `erase` an erasure, would reach now; None means everything."""
        chosen = (
            Selection(None, None, (), {}, {"all": 1}) if criteria is None else select(criteria, {})
        )
        found = self._chosen(self._where(session_id), chosen, is_all=erase)
        entries = [entry for each in found.values() for entry in each]
        return _meant(entries)

    def decay_curves(self, types: Iterable[str], points: int = 49) -> list[DecayCurve]:
        """How much of each type is left as it grows older, by the settings in force."""
        decay = self.settings.decay
        found = []
        for kind in types:
            per_hour = decaying.rate(kind, decay)
            half = log(2) / per_hour if per_hour else None
            span = 8 * half if half else 24.0 * 365
            hours = [span * step / (points - 1) for step in range(points)]
            left = tuple((round(at, 3), round(decaying.factor(kind, at, decay), 6)) for at in hours)
            found.append(
                DecayCurve(type=kind, half_life_hours=half, floor=decay.minimum, points=left)
            )
        return found

    def purge_runs(self) -> PurgeRuns:
        """When retention was last applied, and when it is due next; for the owner alone."""
        self._for_the_owner("see when retention is applied")
        lines = self._keeper.audited(is_strict=False)
        last = max((line.at for line in lines if line.action == "purge"), default=None)
        privacy = self.settings.privacy
        if not privacy.auto_purge:
            return PurgeRuns(last=last, next=None)
        now = self._clock.now().astimezone()
        return PurgeRuns(last=last, next=_next_run(schedule.parse(privacy.purge_schedule), now))

    def readable_audit(self) -> list[Audited]:
        """What can be read of an audit whose chain is broken; for the owner alone."""
        self._for_the_owner("read the audit")
        return list(self._keeper.audited(is_strict=False))

    def _for_the_owner(self, what: str) -> None:
        if self._viewer != OWNER:
            raise NotAllowedError(f"Only the owner may {what}.", advice="Use the owner's handle.")

    def _names(self) -> list[str]:
        return [one.manifest.session_id for one in self._visible()]

    def _window(self, session_id: str, wanted: "_Wanted", span: Span) -> Window:
        log = LogKey("session", session_id)
        return looker_of(self._store).window(log, self._viewer, wanted.narrowed(span))

    def _part(self, session_id: str, wanted: "_Wanted", span: Span, most: int) -> "_Part":
        window = self._window(session_id, wanted, span)
        if not wanted.looks_inside:
            return _Part(window.take(0, most), window.total > most)
        found: list[Placed] = []
        for start in range(0, window.total, _STEP):
            found += filter(wanted.matches, window.take(start, _STEP))
            if len(found) > most:
                break
        return _Part(found[:most], len(found) > most)

    def _told(self, session_id: str, placed: list[Placed]) -> Iterator[Told]:
        settings = self._settings(self._manifest(session_id))
        used = looker_of(self._store).used(session_id) if placed else {}
        now = self._clock.now()
        days = timedelta(days=settings.privacy.undelete_days)
        for one in placed:
            weight = importance(one.entry)
            use = used.get(one.entry.id, Used(0, ""))
            boost = decaying.boost(float(use.times), weight)
            age = hours_between(one.entry.timestamp, now)
            yield Told(
                entry=one.entry,
                place=one.place,
                importance=weight,
                decay=round(decaying.factor(one.entry.type, age, settings.decay, boost), 6),
                revisions=one.revisions,
                accesses=use.times,
                last_access=use.last or None,
                hidden_at=one.died,
                hidden_until=to_text(to_moment(one.died) + days) if one.died else None,
                redactions=one.redactions,
            )

    def _placed(self, session_id: str, memory_id: str) -> tuple[LogKey, Placed]:
        for each in self._own_logs(session_id):
            found = looker_of(self._store).one(each, self._viewer, memory_id)
            if found is not None:
                return each, found
        raise _no_entry(memory_id)

    def _own_logs(self, session_id: str) -> list[LogKey]:
        manifest = self._manifest(session_id)
        users = [LogKey("user", manifest.user_id)] if manifest.user_id else []
        return [LogKey("session", session_id), *users, SHARED]


class _Part(msgspec.Struct):
    """Some entries, and whether there are more on that side."""

    placed: list[Placed]
    is_more: bool


class _Wanted:
    """Filters of a timeline: those that the head of an entry answers, and those inside of it."""

    def __init__(
        self,
        types: Iterable[str] | None,
        agents: Iterable[str] | None,
        tags: Iterable[str] | None,
        text: str,
        with_hidden: bool,
    ) -> None:
        self._types = None if types is None else frozenset(map(type_name, types))
        self._agents = None if agents is None else frozenset(agents)
        self._filters = filtering.prepare({"tags": list(tags)} if tags else {})
        self._text = plain.plain_text(text, []).casefold()
        self._with_hidden = with_hidden

    @property
    def looks_inside(self) -> bool:
        return bool(self._filters or self._text)

    def narrowed(self, span: Span) -> Span:
        return span._replace(types=self._types, agents=self._agents, with_hidden=self._with_hidden)

    def matches(self, one: Placed) -> bool:
        return (not self._text or self._text in one.entry.text.casefold()) and filtering.matches(
            one.entry, self._filters
        )


def _meant(entries: list[Entry]) -> Meant:
    names = sorted(f"{entry.id} {entry.seq}" for entry in entries)
    return Meant(
        ids=tuple(entry.id for entry in entries),
        by_type=dict(Counter(entry.type for entry in entries)),
        bytes=sum(len(msgspec.json.encode(entry)) for entry in entries),
        mark=sha256("\n".join(names).encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _next_run(planned: schedule.Schedule, now: datetime) -> str | None:
    """The first scheduled minute after a moment, within a year."""
    last = planned.last(now)
    for days in range(1, 367):
        found = planned.last(now + timedelta(days=days))
        if found is not None and found != last:
            return to_text(_first(planned, now, found))
    return None


def _first(planned: schedule.Schedule, now: datetime, found: datetime) -> datetime:
    """The earliest one between a moment and one that is scheduled."""
    while True:
        before = planned.last(found - timedelta(minutes=1))
        if before is None or before <= now:
            return found
        found = before


def _no_entry(memory_id: str) -> EntryNotFoundError:
    return EntryNotFoundError(
        f"There is no entry {memory_id!r:.140}.",
        advice="`get_entries` lists what there is.",
        id=memory_id,
    )
