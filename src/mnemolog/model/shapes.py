"""From what a caller hands in to the fields of an entry.

Both source documents' records are accepted: flat ones (`{"made_by": …, "decision": …}`) and
enveloped ones (`{"type": "decision", "content": {"decision": …}}`), in snake_case or camelCase.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, TypedDict

from mnemolog.errors import SchemaInvalidError, did_you_mean, nearest, shown
from mnemolog.model import plain
from mnemolog.model.entry import ORIGINS, SCOPES, TYPES, type_name
from mnemolog.model.ids import check_id
from mnemolog.model.times import normalise

ENVELOPE = frozenset(
    "id session_id timestamp type scope origin user_id agent_id run_id compartment role category"
    " content context tags references importance metadata".split()
)
# How alike two names of types are when the one may be meant for the other, from 0 to 1.
_ALIKE = 0.8
ALIASES = {"made_by": "agent_id", "discovered_by": "agent_id"}
# What other libraries call a field, where another of ours is spelled more alike.
_MEANT = {"text": "content", "message": "content"}
# Computed when asked for; a log never holds them.
DERIVED = frozenset(
    "v seq sum checksum schema_version version decay_factor access_count last_accessed"
    " last_decay_update current_relevance at created first_seq".split()
)
# The fields of each type's own content, and which of them it cannot do without.
SHAPES: dict[str, tuple[str, ...]] = {
    "conversation": (),
    "decision": (
        "decision", "rationale", "alternatives_considered", "alternatives", "impact", "approved_by",
    ),
    "finding": ("description", "severity", "evidence", "recommendation", "status"),
    "preference": ("key", "value", "context", "confidence", "learned_from"),
}  # fmt: skip
REQUIRED = {"decision": ("decision",), "finding": ("description",), "preference": ("key", "value")}
LISTS = frozenset({"alternatives_considered", "alternatives", "approved_by", "learned_from"})

# Every name that is spelled as it is stored; a record of these alone needs no respelling.
_SPELLED = frozenset({"priority", *ENVELOPE, *ALIASES, *DERIVED}.union(*SHAPES.values()))
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


class Common(TypedDict, total=False):
    """The fields that every typed writer takes."""

    id: str
    timestamp: object
    agent_id: str
    scope: str
    origin: str
    category: str
    run_id: str
    tags: list[str]
    references: Any
    importance: float
    priority: int
    metadata: Mapping[str, Any]


class Conversation(Common, total=False):
    """A message."""

    role: str
    content: Any
    context: Mapping[str, Any]


class Decision(Common, total=False):
    """What was decided, by whom, and why."""

    made_by: str
    approved_by: list[str]
    decision: str
    rationale: str
    alternatives_considered: list[Mapping[str, str]]
    alternatives: list[Any]
    impact: str
    context: Mapping[str, Any]


class Finding(Common, total=False):
    """What was found, how bad it is, and what to do about it."""

    discovered_by: str
    severity: str
    description: str
    evidence: Any
    recommendation: str
    status: str
    context: Mapping[str, Any]


class Preference(Common, total=False):
    """What a user likes, and how sure we are of it."""

    key: str
    value: Any
    context: Any
    confidence: float
    learned_from: list[str]
    user_id: str


def snake(name: str) -> str:
    """`agentId` as `agent_id`."""
    return _HUMP.sub(r"_\1", name).lower() if not name.islower() else name


def fields_of(record: Mapping[str, Any], notes: list[str]) -> dict[str, Any]:
    """The checked envelope fields of a record; `notes` collects what was changed or left out."""
    given = record if record.keys() <= _SPELLED else _respelled(record)
    kind = given.get("type", "conversation")
    if kind not in TYPES:
        kind = _other_type(kind, notes)
    own = SHAPES.get(kind, ())
    fields: dict[str, Any] = {}
    flat: dict[str, Any] = {}
    aliased: list[tuple[str, Any]] = []
    for name, value in given.items():
        if name in own and not (name == "context" and "content" in given):
            flat[name] = value
        elif name in ENVELOPE:
            if value is not None:
                fields[name] = value
        elif name in DERIVED:
            notes.append(f"{name} is derived and was not stored")
        elif value is not None:
            aliased.append(_aliased(name, value, own))
    for name, value in aliased:
        _put(fields, name, value)
    fields["type"] = kind
    _settle_content(kind, fields, flat, notes)
    _check(fields, notes)
    return fields


def _respelled(record: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in record.items():
        _put(found, snake(str(name)), value)
    return found


def _put(found: dict[str, Any], name: str, value: Any) -> None:
    """Take a value under a name that others may stand for too; never one of two in silence."""
    before = found.get(name)
    if before is not None and value is not None and before != value:
        raise SchemaInvalidError(
            f"{name} is given twice, with different values.",
            advice="It has more than one spelling; give it once.",
            field=name,
        )
    found[name] = value if before is None else before


def _other_type(given: object, notes: list[str]) -> str:
    """A type of one's own, or one that is spelled otherwise."""
    kind = type_name(given)
    if doubt := doubt_of(kind):
        notes.append(doubt)
    return kind


@lru_cache(maxsize=256)
def doubt_of(kind: str) -> str | None:
    """What is to be said of a type that may be a slip of the pen for one of ours."""
    near = None if kind in TYPES else nearest(kind, TYPES, _ALIKE)
    return f"{kind!r} is a type of your own; did you mean {near!r}?" if near else None


def _aliased(name: str, value: Any, own: tuple[str, ...]) -> tuple[str, Any]:
    """The field that goes by another name too, and its value; refuses a name that no field has."""
    if name in ALIASES:
        return ALIASES[name], value
    if name == "priority":
        return "importance", _importance_of(value)
    known = sorted({*ENVELOPE, *own, *ALIASES, "priority"})
    raise SchemaInvalidError(
        f"An entry has no field {name!r:.60}.",
        advice=did_you_mean(_MEANT.get(name, name), known, "Put your own values into `metadata`."),
        field=name,
    )


def _importance_of(priority: object) -> float:
    if isinstance(priority, bool) or not isinstance(priority, int) or not 1 <= priority <= 10:
        raise SchemaInvalidError(
            f"priority must be a whole number from 1 to 10, not {shown(priority)}.",
            field="priority",
        )
    return priority / 10


def _settle_content(
    kind: str, fields: dict[str, Any], flat: dict[str, Any], notes: list[str]
) -> None:
    content = fields.get("content")
    if flat or not isinstance(content, str):
        content = _composed(kind, content, fields, flat)
    fields["content"] = _checked_content(kind, content, notes)


def _composed(kind: str, content: Any, fields: dict[str, Any], flat: dict[str, Any]) -> Any:
    """The content of a record that does not give it as a text alone."""
    flat = {name: value for name, value in flat.items() if value is not None}
    if isinstance(content, Mapping):
        content = {**content, **flat}
    elif flat:
        if content is not None:
            raise SchemaInvalidError(f"Give `content` or {', '.join(flat)}, not both.")
        content = flat
    references = fields.get("references")
    if isinstance(references, Mapping) and isinstance(content, dict):
        content["references"] = references  # kept as it came; the envelope holds the plain list
    if kind == "conversation" and isinstance(content, Mapping):
        content = _unwrap_message(content, fields)
    return content


def _unwrap_message(content: Mapping[str, Any], fields: dict[str, Any]) -> Any:
    """`{"role": …, "message": …, "metadata": …}` is a message in an envelope of its own."""
    text = content.get("message")
    if not isinstance(text, str) or set(content) - {"role", "message", "metadata"}:
        return content
    if content.get("role") is not None:
        fields.setdefault("role", content["role"])
    if isinstance(content.get("metadata"), Mapping):
        fields["metadata"] = {**content["metadata"], **(fields.get("metadata") or {})}
    return text


def _checked_content(kind: str, content: object, notes: list[str]) -> str | dict[str, Any]:
    if isinstance(content, str) and content.strip():
        return plain.plain_text(content, notes)
    if isinstance(content, Mapping) and content:
        checked = plain.plain_object(content, "content", notes)
        _check_own_fields(kind, checked)
        return checked
    if content is None or isinstance(content, str | Mapping):
        raise SchemaInvalidError("The content is empty.", advice="Say something.", field="content")
    raise SchemaInvalidError(
        f"The content must be text or an object, not {type(content).__name__}.", field="content"
    )


def _check_own_fields(kind: str, content: dict[str, Any]) -> None:
    for name in LISTS.intersection(SHAPES.get(kind, ()), content):
        if not isinstance(content[name], list):
            raise SchemaInvalidError(f"{name} must be a list.", field=name)
    if kind == "preference":
        plain.unit(content.get("confidence"), "confidence")


def _check(fields: dict[str, Any], notes: list[str]) -> None:
    """Check only what was given; what was not keeps the entry's default."""
    if "references" in fields or "metadata" in fields:
        fields["references"] = _references(fields)
    for name, value in fields.items():
        if name in _NAMES:
            fields[name] = check_id(value, _NAMES[name], is_made=name == "id")
        elif name in _CHECKS:
            fields[name] = _CHECKS[name](value, name, notes)
    if "origin" not in fields:
        fields["origin"] = _BY_ROLE.get(fields.get("role", ""), "agent")


_Check = Callable[[Any, str, list[str]], Any]
_BY_ROLE = {"user": "user", "tool": "tool"}
_NAMES = {
    name: name.replace("_", " ")
    for name in "id session_id user_id agent_id run_id role category compartment".split()
}
# Type, content and references are checked before.
_CHECKS: dict[str, _Check] = {
    **dict.fromkeys(("metadata", "context"), plain.plain_object),
    "tags": lambda value, name, notes: plain.tags(value),
    "importance": lambda value, name, notes: plain.unit(value, name),
    "scope": lambda value, name, notes: one_of(value, SCOPES, name),
    "origin": lambda value, name, notes: one_of(value, ORIGINS, name),
    "timestamp": lambda value, name, notes: normalise(value),
}


def _references(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """One plain list, whichever of the source documents' three forms was given."""
    metadata = fields.get("metadata")
    beside = metadata.get("references") if isinstance(metadata, Mapping) else None
    found = [*_reference_ids(fields.get("references")), *_reference_ids(beside)]
    return tuple(dict.fromkeys(check_id(one, "reference") for one in found))


def _reference_ids(value: object) -> Iterator[str]:
    groups = value.values() if isinstance(value, Mapping) else [value]
    for group in groups:
        yield from plain.strings(group, "references")


def one_of(value: object, known: tuple[str, ...], what: str) -> str:
    """A word from a fixed list."""
    if isinstance(value, str) and value in known:
        return value
    raise SchemaInvalidError(
        f"{what} is {shown(value)}.", advice=f"Use one of {', '.join(known)}.", field=what
    )


def as_record(given: object) -> Mapping[str, Any]:
    """What was handed in as a record, if it is one; None is the empty one."""
    if given is None:
        return {}
    if not isinstance(given, dict | Mapping):  # in this order: most are, and to ask is cheap
        raise SchemaInvalidError(f"An entry is an object, not {shown(given)}.")
    return given


def typed(kind: str, record: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A typed writer's arguments as one record, refused if what the type needs is missing."""
    merged = {**as_record(record), **fields, "type": kind}
    if kind in REQUIRED and not isinstance(merged.get("content"), str):
        _check_required(kind, merged)
    return merged


def _check_required(kind: str, record: Mapping[str, Any]) -> None:
    content = record.get("content")
    there = content if isinstance(content, Mapping) else record
    for name in REQUIRED[kind]:
        value = there.get(name)
        if value is None:
            raise SchemaInvalidError(f"A {kind} needs `{name}`.", field=name)
        if name != "value" and not (isinstance(value, str) and value.strip()):
            raise SchemaInvalidError(
                f"The `{name}` of a {kind} is a text that says something, not {shown(value)}.",
                field=name,
            )
