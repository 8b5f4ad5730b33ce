"""A query: what is searched for, and what is found."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from mnemolog.errors import InvalidQueryError, MnemologError, did_you_mean, shown
from mnemolog.model import plain
from mnemolog.model.entry import Entry, type_name
from mnemolog.model.shapes import snake
from mnemolog.model.times import normalise, to_text

KINDS = ("entry", "node")
SORTS = ("relevance_desc", "time_desc", "time_asc")
SCORERS = ("recall", "weighted", "product")
MAX_LIMIT = 1000
MAX_DEPTH = 16

_UNITS = {"minute": 60, "min": 60, "hour": 3600, "h": 3600, "day": 86400, "d": 86400,
          "week": 604800, "w": 604800, "month": 2592000, "year": 31536000,
          "y": 31536000}  # fmt: skip
_RELATIVE = re.compile(
    r"(?:last|past)\s+(?:(\d{1,5})\s*)?(minute|min|hour|h|day|d|week|w|month|year|y)s?"
)
_ALIASES = {"sort_by": "sort", "type": "types", "tag": "tags", "agent": "agents", "user": "users",
            "agent_id": "agents", "made_by": "agents", "discovered_by": "agents",
            "user_id": "users", "kind": "kinds"}  # fmt: skip
# What others call a field; no spelling of ours, so that each has one.
_MEANT = {"query": "text", "q": "text", "search": "text", "content": "text", "topic": "tags",
          "start": "time_range", "end": "time_range", "since": "time_range",
          "until": "time_range"}  # fmt: skip
_SORT_ALIASES = {"relevance": "relevance_desc", "time": "time_desc", "timestamp": "time_desc",
                 "newest": "time_desc", "oldest": "time_asc"}  # fmt: skip
# Filled in by us.
_NEVER_ASKED = frozenset({"unowned"})


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for. Filters narrow; the text ranks; no text ranks by time and weight alone."""

    text: str = ""
    types: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    all_tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    start: str | None = None
    end: str | None = None
    references: tuple[str, ...] = ()
    max_depth: int = 1
    min_relevance: float = 0.0
    min_importance: float = 0.0
    limit: int = 20
    sort: str = "relevance_desc"
    scorer: str = "recall"
    kinds: tuple[str, ...] = ("entry",)
    """What is searched: entries, nodes, or both."""
    unowned: str = ""
    """Whose nodes the sessions without a user add to; filled in, never asked for."""
    recalls: int = MAX_LIMIT
    """How many of the first hits count as recalled; 0 where somebody only looks."""

    @property
    def is_filtered(self) -> bool:
        """Whether what an entry is decides about it, beside its text and its references."""
        named = self.types or self.agents or self.users or self.start or self.end
        return bool(
            named or self.tags or self.all_tags or self.exclude_tags or self.min_importance > 0
        )


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that was found, how relevant it is from 0 to 1, and why."""

    entry: Entry
    relevance: float
    why: dict[str, float]


class Hits(list[Hit]):
    """Hits in order; `semantic` says whether meaning was compared: ready, pending or off.

    `missing` counts what matched and could not be read, because its log was rewritten each time.
    `notes` says what was done differently than the query asked for.
    """

    def __init__(
        self,
        hits: list[Hit],
        semantic: str = "off",
        missing: int = 0,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(hits)
        self.semantic = semantic
        self.missing = missing
        self.notes = notes


def parse(given: Mapping[str, Any], now: datetime) -> Query:
    """Make a query of the source documents' objects or keywords; bad filters are refused."""
    named = {_name(str(key)): value for key, value in given.items()}
    if len(named) < len(given):
        raise _double(given)
    fields: dict[str, Any] = {}
    try:
        for name, value in named.items():
            if value is not None:
                more = _field(name, value, now)
                if twice := fields.keys() & more.keys():
                    raise _said_twice(min(twice))
                fields |= more
    except InvalidQueryError:
        raise
    except MnemologError as error:
        advice = "" if error.advice == error.usual_advice else error.advice
        raise InvalidQueryError(error.message, advice=advice, **error.details) from error
    return Query(**fields)


def as_mapping(query: object) -> Mapping[str, Any]:
    """A query in whichever form it was given: an object, a dictionary, a text, or nothing."""
    if query is None:
        return {}
    if isinstance(query, str):
        return {"text": query}
    if isinstance(query, Query):
        given = {name: value for name, value in msgspec.structs.asdict(query).items()
                 if value != getattr(Query(), name) and name not in _NEVER_ASKED}  # fmt: skip
        span = {side: given.pop(side) for side in ("start", "end") if side in given}
        return {**given, "time_range": span} if span else given
    if isinstance(query, Mapping):
        return query
    raise InvalidQueryError(f"A query is an object or a text, not {shown(query)}.")


def _name(key: str) -> str:
    name = snake(key)
    return _ALIASES.get(name, name)


def _field(name: str, value: Any, now: datetime) -> dict[str, Any]:
    if name == "text":
        return {"text": _text(value)}
    if name == "types":
        return {"types": tuple(type_name(kind) for kind in plain.strings(value, "types"))}
    if name in ("agents", "users", "references", "all_tags", "exclude_tags"):
        return {name: _strings(value, name)}
    if name == "tags":
        return _tags(value)
    if name == "time_range":
        return _time_range(value, now)
    if name in ("min_relevance", "min_importance"):
        return {name: plain.unit(value, name)}
    if name in ("limit", "max_depth", "recalls"):
        return {name: _whole(value, name, MAX_DEPTH if name == "max_depth" else MAX_LIMIT)}
    return _choice(name, value)


def _choice(name: str, value: Any) -> dict[str, Any]:
    """One of a few words."""
    if name == "sort":
        return {"sort": _word(_SORT_ALIASES.get(str(value), value), SORTS, "sort")}
    if name == "scorer":
        return {"scorer": _word(value, SCORERS, "scorer")}
    if name == "kinds":
        return {"kinds": _kinds(value)}
    raise _unknown(name)


def _kinds(value: object) -> tuple[str, ...]:
    singular = {"entries": "entry", "nodes": "node"}
    given = plain.strings(value, "kinds")
    chosen = {_word(singular.get(one, one), KINDS, "kinds") for one in given}
    if not chosen:
        raise InvalidQueryError("kinds is empty.", advice=f"Use any of {', '.join(KINDS)}.")
    return tuple(one for one in KINDS if one in chosen)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise InvalidQueryError(f"text must be a string, not {type(value).__name__}.")
    return plain.plain_text(value, [])


def _tags(value: Any) -> dict[str, Any]:
    """A list wants any of its tags; an object may `include`, want `all`, and `exclude`."""
    if not isinstance(value, Mapping):
        return {"tags": _strings(value, "tags")}
    known = {"include": "tags", "any": "tags", "all": "all_tags", "exclude": "exclude_tags"}
    for key in value:
        _word(key, tuple(known), "tags")
    if {"include", "any"} <= value.keys():
        raise _said_twice("tags")
    return {known[key]: _strings(items, f"tags.{key}") for key, items in value.items()}


def _strings(value: object, name: str) -> tuple[str, ...]:
    return tuple(plain.plain_text(text, []) for text in plain.strings(value, name))


def _time_range(value: Any, now: datetime) -> dict[str, Any]:
    if isinstance(value, str):
        return {"start": _before(value, now), "end": None}
    if not isinstance(value, Mapping) or set(value) - {"start", "end"}:
        raise InvalidQueryError(
            "time_range must have `start`, `end` or both, or be a phrase such as 'last week'."
        )
    given = [side for side in ("start", "end") if value.get(side) is not None]
    return {side: _moment(value[side], side, now) for side in given}


def _moment(value: Any, side: str, now: datetime) -> str:
    if isinstance(value, str) and value.lower().split()[:1] in (["last"], ["past"]):
        return _before(value, now)
    return normalise(value, f"time_range.{side}")


def _before(phrase: str, now: datetime) -> str:
    try:
        return to_text(now - _span(phrase))
    except OverflowError as error:
        raise InvalidQueryError(f"{phrase!r:.60} reaches back before all time.") from error


def _span(phrase: str) -> timedelta:
    found = _RELATIVE.fullmatch(phrase.strip().lower())
    if found is None:
        raise InvalidQueryError(
            f"{phrase!r:.60} is no span of time.",
            advice="Say 'last hour', 'last 3 days', 'past week', …",
        )
    return timedelta(seconds=int(found[1] or 1) * _UNITS[found[2]])


def _whole(value: object, name: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InvalidQueryError(
            f"{name} must be a whole number from 0 to {most}, not {shown(value)}."
        )
    return value


def _word(value: object, known: tuple[str, ...], name: str) -> str:
    if isinstance(value, str) and value in known:
        return value
    raise InvalidQueryError(f"{name} is {shown(value)}.", advice=f"Use one of {', '.join(known)}.")


def _double(given: Mapping[str, Any]) -> InvalidQueryError:
    keys = list(map(str, given))
    names = list(map(_name, keys))
    twice = [key for key, name in zip(keys, names, strict=True) if names.count(name) > 1]
    return InvalidQueryError(
        f"{' and '.join(twice):.60} are spellings of the same field.", advice="Give one of them."
    )


def _said_twice(field: str) -> InvalidQueryError:
    return InvalidQueryError(f"What {field} are is said in two ways.", advice="Say it once.")


def _unknown(name: str) -> InvalidQueryError:
    known = sorted({*Query.__struct_fields__, "time_range"} - {"start", "end", *_NEVER_ASKED})
    advice = did_you_mean(_MEANT.get(name, name), known, f"Use {', '.join(known)}.")
    return InvalidQueryError(f"A query has no field {name!r:.60}.", advice=advice)
