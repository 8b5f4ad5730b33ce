"""Filters over entries: what the getters take, beside types."""

from collections.abc import Mapping
from typing import Any

from mnemolog.errors import SchemaInvalidError, did_you_mean
from mnemolog.model import plain
from mnemolog.model.entry import Entry
from mnemolog.model.shapes import snake
from mnemolog.model.times import normalise
from mnemolog.policy.importance import importance

_AGENTS = ("agents", "agent_id", "made_by", "discovered_by")
_ENVELOPE = ("category", "role", "origin", "scope", "run_id", "user_id")
_CONTENT = ("severity", "status", "impact", "key", "approved_by")
KNOWN = (*_AGENTS, *_ENVELOPE, *_CONTENT, "tags", "time_range", "min_importance")


def prepare(filters: Mapping[str, Any], also: tuple[str, ...] = ()) -> dict[str, Any]:
    """Check filters once, so that matching them is quick; None means no filter.

    `also` are names that the caller takes beside them, for whoever misspells one.
    """
    given = {snake(str(name)): value for name, value in filters.items() if value is not None}
    for name in given:
        if name not in KNOWN:
            raise _unknown(name, (*also, *KNOWN))
    for name in (*_AGENTS, *_ENVELOPE, *_CONTENT, "tags"):
        if name in given:
            given[name] = plain.strings(given[name], name)
    if "time_range" in given:
        given["time_range"] = _range(given["time_range"])
    if "min_importance" in given:
        given["min_importance"] = plain.unit(given["min_importance"], "min_importance")
    return given


def matches(entry: Entry, filters: Mapping[str, Any]) -> bool:
    """Whether an entry passes every filter; a filter with several values wants any of them."""
    return all(_passes(entry, name, wanted) for name, wanted in filters.items())


def topics(entry: Entry) -> tuple[str, ...]:
    """What an entry is about: its tags, and the topic of its context."""
    topic = entry.context.get("topic")
    own = (topic,) if isinstance(topic, str) else ()
    return tuple(dict.fromkeys((*entry.tags, *own)))


def has_tag(tags: tuple[str, ...], wanted: str) -> bool:
    """Whether a tag or one of its children is there: `security` finds `security.login`."""
    return any(tag == wanted or tag.startswith(f"{wanted}.") for tag in tags)


def _passes(entry: Entry, name: str, wanted: Any) -> bool:
    if name in _AGENTS:
        return entry.agent_id in wanted
    if name in _ENVELOPE:
        return getattr(entry, name) in wanted
    if name == "tags":
        return any(has_tag(entry.tags, tag) for tag in wanted)
    if name == "time_range":
        start, end = wanted
        return (start is None or start <= entry.timestamp) and (
            end is None or entry.timestamp <= end
        )
    if name == "min_importance":
        return importance(entry) >= float(wanted)
    return _content_passes(entry, name, wanted)


def _content_passes(entry: Entry, name: str, wanted: tuple[str, ...]) -> bool:
    found = entry.content.get(name) if isinstance(entry.content, dict) else None
    values = found if isinstance(found, list) else [found]
    return any(value in wanted for value in values)


def _unknown(name: str, known: tuple[str, ...]) -> SchemaInvalidError:
    advice = did_you_mean(name, known, f"Use {', '.join(known)}.")
    return SchemaInvalidError(f"There is no filter {name!r:.60}.", advice=advice, field=name)


def _range(value: object) -> tuple[str | None, str | None]:
    if not isinstance(value, Mapping) or set(value) - {"start", "end"}:
        raise SchemaInvalidError(
            "time_range must be an object with `start`, `end` or both.", field="time_range"
        )
    start, end = (
        None if value.get(side) is None else normalise(value[side], f"time_range.{side}")
        for side in ("start", "end")
    )
    return start, end
