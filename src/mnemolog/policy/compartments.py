"""Compartments: how long a note lives, who sees it, and how much of it there may be."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, SizeLimitError, shown
from mnemolog.model.entry import Entry
from mnemolog.settings import Compartments

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


RUN = Compartment("run", "run", "task state, progress and results on the way; gone with this run")
SESSION = Compartment("session", "session", "what matters beyond this run, shared with sub-agents")


def plan(settings: Compartments) -> Compartment:
    """The plan, which lives as long as the settings say."""
    return Compartment("plan", settings.plan_scope, "steps to take, and how far they are")


def standard(settings: Compartments) -> dict[str, Compartment]:
    """The three that are always there."""
    return {one.name: one for one in (RUN, SESSION, plan(settings))}


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


def check_room(
    compartment: Compartment, held: Iterable[Entry], note: Entry, settings: Compartments
) -> None:
    """Refuse a note that would overfill its compartment; what it replaces does not count."""
    limit = compartment.limit or settings.max_characters
    used = sum(size_of(one) for one in held if one.id != note.id)
    incoming = size_of(note)
    if used + incoming > limit:
        raise SizeLimitError(
            f"The compartment {compartment.name!r} holds {used:,} of {limit:,} characters; "
            f"{incoming:,} more do not fit.",
            advice="Make room with clear_memory, or save less.",
            size=used,
            incoming=incoming,
            limit=limit,
            compartment=compartment.name,
        )


def check_rule(compartment: Compartment, note: Mapping[str, Any]) -> None:
    """Refuse a note that its compartment's own rule objects to."""
    wrong = compartment.rule(note) if compartment.rule else None
    if wrong:
        raise SchemaInvalidError(wrong, field="content")
