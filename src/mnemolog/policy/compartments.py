"""Compartments: how long a note lives, who sees it, and how much of it there may be."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, SizeLimitError, shown
from mnemolog.model import plain
from mnemolog.model.entry import Entry
from mnemolog.model.times import to_moment
from mnemolog.policy.access import Viewer, may_change
from mnemolog.policy.filters import has_tag
from mnemolog.settings import Compartments

NOTE = "note"
USE = "use"
"""The category of the lines which tell that notes of a run were got."""
LEFT_DAYS = 7
"""So long after its last line, a run that nobody ended counts as left behind."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")

Rule = Callable[[Mapping[str, Any]], str | None]
"""Looks at a note before it is stored; says what is wrong with it, or None."""


@dataclass(frozen=True)
class Compartment:
    """A lifetime of notes under a name."""

    name: str
    scope: Literal["run", "session"]
    use: str = ""
    limit: int | None = None
    """Most characters; None means what the settings say."""
    rule: Rule | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(str(self.name)):
            raise InvalidFormatError(
                f"A compartment cannot be called {shown(self.name)}.",
                advice="Use a lower-case letter, then up to 31 letters, digits, '_' or '-'.",
                field="name",
            )
        if self.scope not in ("run", "session") or self.scope != _FIXED.get(self.name, self.scope):
            raise InvalidFormatError(
                f"The compartment {self.name!r} cannot have the scope {shown(self.scope)}.",
                advice="A scope is run or session; those two compartments keep their own.",
                field="scope",
            )
        if self.limit is not None and (type(self.limit) is not int or self.limit < 1):
            raise InvalidFormatError(
                f"The compartment {self.name!r} cannot have the limit {shown(self.limit)}.",
                advice="Give a whole number from 1 on, or leave it out.",
                field="limit",
            )
        if self.rule is not None and not callable(self.rule):
            raise InvalidFormatError(
                f"The compartment {self.name!r} cannot have the rule {shown(self.rule)}.",
                advice="Give a function that takes a note and says what is wrong with it, or None.",
                field="rule",
            )

    @property
    def mark(self) -> str | None:
        """What its notes carry as their compartment: those of a run or a session nothing."""
        return None if self.name in _FIXED else self.name

    def holds(self, entry: Entry) -> bool:
        """Whether an entry is one of its notes."""
        marks = (entry.type, entry.scope, entry.compartment)
        return marks == (NOTE, self.scope, self.mark)


class Room(NamedTuple):
    """How many characters a compartment holds, and how many it may."""

    used: int
    limit: int


_FIXED: Mapping[str, str] = {"run": "run", "session": "session"}
RUN = Compartment("run", "run", "task state, progress and results on the way; for this run alone")
SESSION = Compartment(
    "session", "session", "preferences, context, what sub-agents and later runs should know"
)


def plan(settings: Compartments) -> Compartment:
    """The plan, which lives as long as the settings say."""
    return Compartment("plan", settings.plan_scope, "steps to take, what each needs, how far it is")


def known(settings: Compartments, own: object = ()) -> dict[str, Compartment]:
    """The three that are always there, and those of one's own, which may take their place."""
    mine: dict[str, Compartment] = {}
    for one in own if isinstance(own, Iterable) else [own]:
        if not isinstance(one, Compartment):
            raise InvalidFormatError(
                f"compartments are a list of Compartment, not of {shown(one)}.",
                advice="Make one with `Compartment(name, scope, use)`.",
                field="compartments",
            )
        if one.name in mine:
            raise InvalidFormatError(
                f"Two compartments are called {one.name!r}.",
                advice="Give each a name of its own.",
                field="compartments",
            )
        mine[one.name] = one
    return {one.name: one for one in (RUN, SESSION, plan(settings))} | mine


def named(known: Mapping[str, Compartment], name: object) -> Compartment:
    """The compartment of this name; else an error that lists those there are."""
    if isinstance(name, str) and name in known:
        return known[name]
    raise InvalidFormatError(
        f"There is no compartment {shown(name)}.",
        advice=f"Use one of {', '.join(known)}.",
        field="compartment",
    )


def size_of(entry: Entry) -> int:
    """How much a note counts: the characters of its content, category, tags and metadata."""
    words = [entry.text, entry.category or "", *entry.tags]
    words += [str(part) for pair in entry.metadata.items() for part in pair]
    return sum(map(len, words))


def room_in(compartment: Compartment, held: Iterable[Entry], settings: Compartments) -> Room:
    """How full a compartment is with these notes."""
    limit = settings.max_characters if compartment.limit is None else compartment.limit
    return Room(sum(map(size_of, held)), limit)


def check_room(
    compartment: Compartment,
    held: Iterable[Entry],
    note: Entry,
    settings: Compartments,
    viewer: Viewer,
) -> Room:
    """Refuse a note that would overfill its compartment; what it replaces does not count."""
    others = [one for one in held if one.id != note.id]
    room = room_in(compartment, others, settings)
    incoming = size_of(note)
    if room.used + incoming > room.limit:
        mine = sum(size_of(one) for one in others if may_change(viewer, one))
        raise _too_much(compartment, room, incoming, mine)
    return Room(room.used + incoming, room.limit)


def check_length(
    compartment: Compartment,
    content: object,
    metadata: Mapping[str, str],
    settings: Compartments,
) -> None:
    """Refuse at once what no clearing could make room for."""
    room = room_in(compartment, (), settings)
    said = content if isinstance(content, str) else ""
    incoming = len(said) + sum(len(name) + len(text) for name, text in metadata.items())
    if incoming > room.limit:
        raise _too_much(compartment, room, incoming)


def _too_much(compartment: Compartment, room: Room, incoming: int, mine: int = 0) -> SizeLimitError:
    held = f"holds {room.used:,} of" if room.used else "has room for"
    advice = "Other agents' notes fill it: save less, or in another compartment."
    if incoming > room.limit:
        advice = "Save less at once."
    elif room.used - mine + incoming <= room.limit:
        advice = "Make room with clear_memory, or save less."
    return SizeLimitError(
        f"The compartment {compartment.name!r} {held} {room.limit:,} characters; "
        f"{incoming:,} more do not fit.",
        advice=advice,
        size=room.used,
        incoming=incoming,
        limit=room.limit,
        compartment=compartment.name,
    )


def check_rule(compartment: Compartment, note: Mapping[str, Any]) -> None:
    """Refuse a note that its compartment's own rule objects to."""
    wrong = compartment.rule(note) if compartment.rule else None
    if wrong:
        raise SchemaInvalidError(wrong, field="content")


def check_metadata(metadata: object) -> dict[str, str]:
    """The metadata of a note: texts under names, or nothing."""
    if metadata is None:
        return {}
    if isinstance(metadata, Mapping):
        parts = (part for pair in metadata.items() for part in pair)
        if all(isinstance(part, str) for part in parts):
            return dict(metadata)
    raise SchemaInvalidError(
        "`metadata` must be an object whose values are texts.",
        advice="Write numbers and lists as texts.",
        field="metadata",
    )


class Filter(NamedTuple):
    """Which notes are meant: those that fit all of what is given."""

    id: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()

    @classmethod
    def of(cls, id: str | None, category: str | None, tags: Iterable[str]) -> "Filter":
        """From what a caller gave; a single text counts as one tag."""
        return cls(id, category, plain.several(tags, "tags"))

    def fits(self, entry: Entry) -> bool:
        """Whether the id, the category and any of the tags are those of the entry."""
        return (
            self.id in (None, entry.id)
            and self.category in (None, entry.category)
            and (not self.tags or any(has_tag(entry.tags, tag) for tag in self.tags))
        )


def is_left(last_written: str, now: datetime) -> bool:
    """Whether a run that nobody ended has been silent for so long that nobody will."""
    return now - to_moment(last_written) > timedelta(days=LEFT_DAYS)
