"""Which entries a deletion means: all combinations of ids, types, times, tags, topic and agent."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mnemolog.errors import SchemaInvalidError, shown
from mnemolog.model import plain
from mnemolog.model.entry import Entry, type_name
from mnemolog.model.ids import check_id
from mnemolog.model.shapes import snake
from mnemolog.policy import filters

_ALIASES = {"id": "ids", "memory_ids": "ids", "type": "types", "topics": "topic", "agent": "agents"}
_OWN = ("ids", "types", "topic")


class Selection(NamedTuple):
    """Criteria, checked once; an entry must meet all of them."""

    ids: frozenset[str] | None
    types: frozenset[str] | None
    topics: tuple[str, ...]
    filters: Mapping[str, Any]
    kinds: dict[str, int]
    """How many values of each kind were given: what an audit may know."""

    def matches(self, entry: Entry) -> bool:
        """Whether an entry is meant."""
        return (
            (self.ids is None or entry.id in self.ids)
            and (self.types is None or entry.type in self.types)
            and ("topic" not in self.kinds or any(is_about(entry, one) for one in self.topics))
            and filters.matches(entry, self.filters)
        )


EVERYTHING = Selection(None, None, (), {}, {"all": 1})


def select(
    criteria: object, more: Mapping[str, Any], otherwise: str = "or use clear_session."
) -> Selection:
    """Check criteria given as an object, as keywords, or both; none at all is refused, with what
    to do `otherwise`."""
    if not isinstance(criteria, Mapping | None):
        raise SchemaInvalidError(
            f"Criteria are an object, not {shown(criteria)}.", advice='Say {"ids": [...]}.'
        )
    given: dict[str, Any] = {}
    for key, value in {**(criteria or {}), **more}.items():
        name = snake(str(key))
        if value is not None and not _is_open(value):
            given[_ALIASES.get(name, name)] = value
    if not given:
        raise SchemaInvalidError(
            "Nothing says which entries are meant.",
            advice=f"Give ids, types, time_range, tags, topic or agents; {otherwise}",
        )
    ids = plain.strings(given.get("ids"), "ids")
    types = plain.strings(given.get("types"), "types")
    rest = {name: value for name, value in given.items() if name not in _OWN}
    return Selection(
        frozenset(check_id(one, "memory id") for one in ids) if "ids" in given else None,
        frozenset(type_name(one) for one in types) if "types" in given else None,
        plain.strings(given.get("topic"), "topic"),
        filters.prepare(rest, also=_OWN),
        {name: _size(value) for name, value in given.items()},
    )


def is_about(entry: Entry, topic: str) -> bool:
    """Whether an entry has the topic, or one below it, as a tag or in its context."""
    return filters.has_tag(filters.topics(entry), topic)


def _is_open(value: object) -> bool:
    """Whether it is a range without a beginning and an end: it must not mean everything."""
    return isinstance(value, Mapping) and all(side is None for side in value.values())


def _size(value: object) -> int:
    return len(value) if isinstance(value, list | tuple | set | frozenset) else 1
