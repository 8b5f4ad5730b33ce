"""Leafing: a session in parts, single entries, exact lines, revisions."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TypeVar

import msgspec

from mnemolog.errors import EntryNotFoundError, StorageError
from mnemolog.memory.counting import Counting
from mnemolog.model import given, plain
from mnemolog.model.entry import MARKS, type_name
from mnemolog.model.ids import check_id
from mnemolog.model.inspecting import Bucket, RawLine, Revision, Timeline, Told
from mnemolog.model.times import hours_between, known_moment, shifted, to_text
from mnemolog.policy import decay as decaying
from mnemolog.policy import filters as filtering
from mnemolog.policy.importance import importance
from mnemolog.ports import LogKey
from mnemolog.ports.looking import Leafer, Placed, Span, Window, counter_of, looker_of

MOST = 200
_STEP = 1000
_BUCKETS = 400
_DAY = 1440

T = TypeVar("T")


class Leafing(Counting):
    """The verbs that show what a session holds, at the cost of what is shown."""

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
        most = max(1, min(given.whole(limit, "limit"), MOST))
        for name, place in (("after", after), ("before", before), ("around", around)):
            if place is not None:
                given.whole(place, name)
        wanted = _Wanted(types, agents, tags, given.text(text, "text"), with_hidden)
        if around is not None:
            back = self._part(
                session_id, wanted, Span(before=around + 1, backwards=True), most // 2 + 1
            )
            onward = self._part(session_id, wanted, Span(after=around), most - most // 2)
        elif after is not None and before is None:
            onward = self._part(session_id, wanted, Span(after), most)
            back = _Part([], after > 0, onward.total)
        else:
            span = Span(after or 0, before, backwards=True)
            back = self._part(session_id, wanted, span, most)
            onward = _Part([], before is not None, back.total)
        placed = [*reversed(back.placed), *onward.placed]
        return Timeline(
            entries=tuple(self._told(session_id, placed)),
            total=onward.total,
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
        for log in self._own_logs(session_id):
            found = self._exact(log, memory_id)
            if found is not None:
                return found
        raise _no_entry(memory_id)

    def revisions(self, session_id: str, memory_id: str) -> list[Revision]:
        """Every line about an entry that is still there, oldest first."""
        log, _ = self._placed(session_id, check_id(memory_id, "memory id"))
        return [
            Revision(
                entry=line,
                kind=line.type if line.type in MARKS else "revision",
                at=line.written_at,
            )
            for line in self._keeper.lines(log)
            if memory_id in (line.target, line.id)
        ]

    def hidden_entries(
        self, session_id: str | None = None, *, skip: int = 0, limit: int | None = None
    ) -> list[Told]:
        """What was deleted and can still be brought back, latest first; of one session or all."""
        plain.count(limit, "limit")
        given.whole(skip, "skip")
        if session_id is not None:
            self._manifest(session_id)
        counter = counter_of(self._index)
        if counter is not None:
            with suppress(StorageError):
                window = counter.hidden(session_id, self._viewer, skip, limit)
                return [next(self._told(str(one.entry.session_id), [one])) for one in window.placed]
        return self._all_hidden(session_id)[skip:][:limit]

    def _all_hidden(self, session_id: str | None) -> list[Told]:
        names = [session_id] if session_id is not None else self._names()
        found: list[Told] = []
        for name in names:
            log = LogKey("session", name)
            span = Span(only_hidden=True)
            window = looker_of(self._store).part(log, self._viewer, span, None)
            found += self._told(name, window.placed)
        return sorted(found, key=lambda one: one.hidden_at or "", reverse=True)

    def minimap(self, session_id: str, most: int = _BUCKETS, ahead: int = 0) -> list[Bucket]:
        """A session in at most 400 parts: from where to where, when, and of which types.

        `ahead` says by how many minutes the clock is ahead of UTC where its days are told apart.
        """
        self._manifest(session_id)
        log, size = LogKey("session", session_id), max(1, min(given.whole(most, "most"), _BUCKETS))
        minutes = max(-_DAY, min(given.whole(ahead, "ahead"), _DAY))
        return self._leafed(lambda one: one.minimap(log, self._viewer, size, minutes))

    def _leafed(self, ask: Callable[[Leafer], T]) -> T:
        """Ask the index, at the cost of what is shown; without one the log itself is read."""
        counter = counter_of(self._index)
        if counter is not None:
            with suppress(StorageError):  # derived, so it may be missing
                return ask(counter)
        return ask(looker_of(self._store))

    def _window(self, session_id: str, span: Span, most: int | None) -> Window:
        log = LogKey("session", session_id)
        return self._leafed(lambda one: one.part(log, self._viewer, span, most))

    def _part(self, session_id: str, wanted: "_Wanted", span: Span, most: int) -> "_Part":
        span = wanted.narrowed(span)
        if not wanted.looks_inside:
            window = self._window(session_id, span, most)
            return _Part(window.placed, window.within > most, window.total)
        found: list[Placed] = []
        while True:
            window = self._window(session_id, span, _STEP)
            found += filter(wanted.matches, window.placed)
            if len(found) > most or window.within <= _STEP:
                return _Part(found[:most], len(found) > most, window.total)
            span = _beyond(span, window.placed[-1].place)

    def _told(self, session_id: str, placed: list[Placed]) -> Iterator[Told]:
        settings = self._settings(self._manifest(session_id))
        now = self._clock.now()
        days = settings.privacy.undelete_days
        for one in placed:
            weight = importance(one.entry)
            boost = decaying.boost(float(one.uses), weight)
            age = hours_between(one.entry.timestamp, now)
            yield Told(
                entry=one.entry,
                place=one.place,
                importance=weight,
                decay=round(decaying.factor(one.entry.type, age, settings.decay, boost), 6),
                revisions=one.revisions,
                accesses=one.uses,
                last_access=one.used,
                hidden_at=one.died,
                hidden_until=_until(one.died, days) if one.died else None,
                redactions=one.redactions,
            )

    def _placed(self, session_id: str, memory_id: str) -> tuple[LogKey, Placed]:
        for log in self._own_logs(session_id):
            found = self._single(log, memory_id)
            if found is not None:
                return log, found
        raise _no_entry(memory_id)

    def _single(self, log: LogKey, memory_id: str) -> Placed | None:
        return self._leafed(lambda one: one.one(log, self._viewer, memory_id))

    def _exact(self, log: LogKey, memory_id: str) -> RawLine | None:
        return self._leafed(lambda one: one.raw(log, self._viewer, memory_id))


class _Part(msgspec.Struct):
    """Some entries, and whether there are more on that side."""

    placed: list[Placed]
    is_more: bool
    total: int


def _beyond(span: Span, place: int) -> Span:
    """What is left of a span past a place."""
    return span._replace(before=place) if span.backwards else span._replace(after=place)


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
        kinds = map(type_name, plain.several(types, "types"))
        self._types = None if types is None else frozenset(kinds)
        self._agents = None if agents is None else frozenset(plain.several(agents, "agents"))
        self._filters = filtering.prepare({"tags": plain.several(tags, "tags")} if tags else {})
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


def _no_entry(memory_id: str) -> EntryNotFoundError:
    return EntryNotFoundError(
        f"There is no entry {memory_id!r:.140}.",
        advice="`get_entries` lists what there is.",
        id=memory_id,
    )


def _until(died: str, days: int) -> str:
    """Until when what was hidden then can be brought back."""
    return to_text(shifted(known_moment(died), days=days))
