"""What typed entries state: decisions, findings, preferences and notes are facts as they are."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemolog.distillers.rules.facts import Fact, inline, slug
from mnemolog.distillers.rules.homes import ABOUT_TOOLS, ABOUT_USER, Home, home_of, tool_of
from mnemolog.model.entry import Entry
from mnemolog.model.lesson import Source, source_name

_CLOSED = frozenset("resolved fixed closed done obsolete withdrawn superseded rejected".split())


def facts(entry: Entry, source: Source) -> Iterator[Fact]:
    """The facts of an entry that is no conversation."""
    make = _MAKERS.get(entry.type)
    if make is not None and entry.compartment != "plan":
        yield from make(entry, source)


def _decision(entry: Entry, source: Source) -> Iterator[Fact]:
    told = _fields(entry, "decision")
    about = home_of(entry, "decisions")
    details = [_text(told.get("rationale")), _instead(told)]
    by = [f"by {entry.agent_id}" if entry.agent_id else "", _impact(told), _approved(told)]
    yield _fact(
        entry, source, about, "Decisions", _line(_text(told.get("decision")), details, by),
        kind="decision", key=_key(entry, told),
    )  # fmt: skip


def _finding(entry: Entry, source: Source) -> Iterator[Fact]:
    told = _fields(entry, "description")
    details = [_text(told.get("recommendation"))]
    by = [_text(told.get("severity"))]
    text = _line(_text(told.get("description")), details, by)
    tool = tool_of(entry)
    if tool:
        about, text = ABOUT_TOOLS, f"**{tool}**: {text}"
    else:
        about = home_of(entry, "findings")
    yield _fact(
        entry, source, about, "Findings", text, kind="finding", key=_key(entry, told),
        is_over=_text(told.get("status")).lower() in _CLOSED,
    )  # fmt: skip


def _preference(entry: Entry, source: Source) -> Iterator[Fact]:
    told = _fields(entry, "value")
    key, value = _text(told.get("key")), _text(told.get("value"))
    text = f"**{inline(key, 80)}**: {inline(value)}" if key else inline(value)
    yield _fact(
        entry, source, ABOUT_USER, "Preferences", text,
        kind="preference", key=f"preference.{slug(key)}" if key else "",
    )  # fmt: skip


def _note(entry: Entry, source: Source) -> Iterator[Fact]:
    tool = tool_of(entry)
    text = inline(entry.text)
    if tool:
        text = f"**{tool}**: {text}"
        yield _fact(entry, source, ABOUT_TOOLS, "Lessons", text, key=_key(entry, {}))
    else:
        yield _fact(entry, source, home_of(entry, "topics"), "Facts", text, key=_key(entry, {}))


def _event(entry: Entry, source: Source) -> Iterator[Fact]:
    """Most of what happens is no knowledge; what somebody gave a home is."""
    home = home_of(entry, "")
    if home.address and not entry.metadata.get("internal"):
        yield _fact(entry, source, home, "Events", inline(entry.text), kind="event")


_MAKERS = {
    "decision": _decision,
    "finding": _finding,
    "preference": _preference,
    "note": _note,
    "event": _event,
}


def _fact(entry: Entry, source: Source, home: Home, section: str, text: str, **more: Any) -> Fact:
    return Fact(
        home.address, home.title, home.description, section, text, _day(entry, **more),
        entry.written_at[:10], source, replaces=_replaced(entry), is_whole=True, **more,
    )  # fmt: skip


def _day(entry: Entry, *, is_over: bool = False, **_: Any) -> str:
    """Since when it holds; since when it is over, which is when that was written."""
    return (entry.written_at if is_over else entry.timestamp)[:10]


def _fields(entry: Entry, main: str) -> Mapping[str, Any]:
    return entry.content if isinstance(entry.content, dict) else {main: entry.content}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    if isinstance(value, dict):
        return _text(value.get("option") or value.get("name") or list(value.values()))
    return "" if value is None else str(value)


def _instead(told: Mapping[str, Any]) -> str:
    others = told.get("alternatives_considered") or told.get("alternatives")
    named = _text(others)
    return f"instead of {named}" if named else ""


def _impact(told: Mapping[str, Any]) -> str:
    impact = _text(told.get("impact"))
    return f"impact {impact}" if impact else ""


def _approved(told: Mapping[str, Any]) -> str:
    names = _text(told.get("approved_by"))
    return f"approved by {names}" if names else ""


def _line(main: str, details: list[str], by: list[str]) -> str:
    told = "; ".join(inline(one) for one in details if one)
    end = f" [{inline(', '.join(one for one in by if one), 120)}]" if any(by) else ""
    return f"**{inline(main)}**{f' — {told}' if told else ''}{end}"


def _key(entry: Entry, told: Mapping[str, Any]) -> str:
    """Entries of the same type that name the same key are about the same thing."""
    key = told.get("key") or entry.metadata.get("key")
    return f"{entry.type}.{slug(key)}" if isinstance(key, str) and key else ""


def _replaced(entry: Entry) -> tuple[str, ...]:
    """The entries that this one says it takes the place of: by id, or by session and id."""
    told = entry.content if isinstance(entry.content, dict) else {}
    named = [
        value
        for where in (told, entry.metadata, entry.context)
        for value in (where.get("supersedes"), where.get("replaces"))
    ]
    ids = [one for value in named for one in (value if isinstance(value, list) else [value])]
    return tuple(_source(one) for one in ids if isinstance(one, str) and one)


def _source(given: str) -> str:
    session, _, identifier = given.rpartition("/")
    return source_name(session, identifier)
