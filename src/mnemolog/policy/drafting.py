"""From a caller's record to a checked entry, ready to be stored."""

from collections.abc import Callable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from mnemolog.errors import NotAllowedError, SchemaInvalidError
from mnemolog.model import shapes
from mnemolog.model.entry import FORMAT, Entry
from mnemolog.model.ids import new_entry_id
from mnemolog.model.times import is_later, to_text
from mnemolog.policy import quota
from mnemolog.policy.access import Viewer
from mnemolog.settings import Storage

# What a revision can never change.
FIXED = ("id", "session_id", "type", "agent_id", "user_id", "scope", "origin", "run_id")
_KEPT = (*FIXED, "compartment", "role", "category", "content", "context", "tags", "references",
         "importance", "metadata")  # fmt: skip
# What somebody said, and what somebody named.
_SAID = ("content", "context", "metadata")
_NAMED = ("category", "compartment", "role")
# So many bytes a character takes at most.
_WIDEST = 4


class Write(NamedTuple):
    """One entry to append."""

    entry: Entry
    is_given: bool = False
    """The id was given, so an entry with it may exist already."""
    notes: tuple[str, ...] = ()
    """What the receipt has to say."""
    hidden: tuple[str, ...] = ()
    """The kinds of secrets that were hidden in it."""
    expected_seq: int | None = None
    """The revision that this one replaces; any other there now means that somebody was faster."""
    check: Callable[[int], None] | None = None
    """Called with the number of the log's last line while nobody else can write to it; what it
    raises refuses all of the batch."""


Redact = Callable[[Any], tuple[Any, Mapping[str, int]]]
"""Hides secrets in a tree of texts; says how many of each kind."""


class Circumstances(msgspec.Struct, frozen=True):
    """Where, for whom and when an entry is written."""

    session_id: str | None
    user_id: str | None
    viewer: Viewer
    now: datetime
    storage: Storage
    redact: Redact | None = None
    trigger: int = 0
    """The size in bytes from which on the log is compacted by itself; 0 means never."""
    run_id: str | None = None
    """The run whose own notes are written, if they are."""


def draft(record: Mapping[str, Any], where: Circumstances) -> Write:
    """Check a record and complete it; raises what a caller can act on."""
    notes: list[str] = []
    fields = shapes.fields_of(record, notes)
    hidden = hide(fields, where.redact)
    if fields["type"] == "finding" and isinstance(fields["content"], dict):
        fields["content"].setdefault("status", "open")
    _settle_identity(fields, where)
    _settle_scope(fields, where.run_id)
    is_given = _settle_id(fields, where.now)
    _settle_time(fields, to_text(where.now), notes)
    entry = Entry(v=FORMAT, **fields)
    _check_sizes(entry, where.storage)
    return Write(entry, is_given, tuple(dict.fromkeys(notes)) if notes else (), hidden)


def hide(fields: dict[str, Any], redact: Redact | None) -> tuple[str, ...]:
    """Hide secrets in the fields that hold what somebody said, never in ids; says which kinds."""
    if redact is None:
        return ()
    kinds: dict[str, int] = {}
    for name in _SAID:
        if name in fields:
            fields[name], counts = redact(fields[name])
            kinds.update(counts)
    if isinstance(fields["content"], dict):
        _hide_named(fields, redact, kinds)
    for name in _NAMED:
        if fields.get(name):
            fields[name] = _tag(fields[name], redact, kinds)
    if "tags" in fields:
        fields["tags"] = tuple(dict.fromkeys(_tag(tag, redact, kinds) for tag in fields["tags"]))
    return tuple(kinds)


def _hide_named(fields: dict[str, Any], redact: Redact, kinds: dict[str, int]) -> None:
    """A preference called `db_password` says by its key what its value is."""
    content = fields["content"]
    if isinstance(content.get("key"), str) and "value" in content:
        clean, counts = redact({content["key"]: content["value"]})
        if counts:
            fields["content"] = {**content, "value": next(iter(clean.values()))}
            kinds.update(counts)


def _tag(tag: str, redact: Redact, kinds: dict[str, int]) -> str:
    """A placeholder is no tag: its kind alone becomes one."""
    clean, counts = redact(tag)
    kinds.update(counts)
    return tag if clean is tag or clean == tag else f"redacted-{next(iter(counts))}"


def _settle_time(fields: dict[str, Any], written: str, notes: list[str]) -> None:
    stamp = fields.setdefault("timestamp", written)
    if stamp == written:
        return
    fields["at"] = written
    if is_later(stamp, written):
        notes.append(f"the timestamp {stamp} lies in the future; its age counts as zero")


def _settle_identity(fields: dict[str, Any], where: Circumstances) -> None:
    given = fields.get("session_id")
    if given is not None and given != where.session_id:
        raise SchemaInvalidError(
            f"The entry says session {given!r:.80}, but it is added to {where.session_id!r:.80}.",
            advice="Leave session_id out of the entry.",
            field="session_id",
        )
    agent = where.viewer.agent
    fields["session_id"] = where.session_id
    if agent is not None and fields.setdefault("agent_id", agent) != agent:
        raise NotAllowedError(
            f"This handle writes as {agent!r:.80}, not as {fields['agent_id']!r:.80}.",
            advice="Leave agent_id out.",
            field="agent_id",
        )


def _settle_scope(fields: dict[str, Any], run_id: str | None) -> None:
    if run_id is not None:
        fields |= {"scope": "run", "run_id": run_id}
    scope = fields.get("scope")
    if scope == "run" and run_id is None:
        raise SchemaInvalidError(
            "Notes of a run cannot be stored in a session's log.", field="scope"
        )
    if scope == "agent" and "agent_id" not in fields:
        raise SchemaInvalidError("An entry of scope agent needs `agent_id`.", field="agent_id")
    if "compartment" in fields and fields["type"] != "note":
        raise SchemaInvalidError("Only notes name their compartment.", field="compartment")
    if fields.get("compartment") in ("run", "session"):
        raise SchemaInvalidError(
            "Notes of a run or a session are told by their scope alone.",
            advice="Leave compartment out.",
            field="compartment",
        )


def _settle_id(fields: dict[str, Any], now: datetime) -> bool:
    """Give the entry an id if it has none; a preference's follows from its writer and its key."""
    if "id" in fields:
        return True
    content = fields["content"]
    if fields["type"] == "preference" and isinstance(content, dict) and "key" in content:
        fields["id"] = preference_id(fields.get("agent_id"), content["key"])
        return True
    fields["id"] = new_entry_id(now)
    return False


def preference_id(agent_id: str | None, key: object) -> str:
    """The same writer's preference under the same key is the same entry, revised."""
    identity = f"{agent_id or ''}\0{key}"
    return f"pref_{sha256(identity.encode()).hexdigest()[:20]}"


def _check_sizes(entry: Entry, storage: Storage) -> None:
    content = entry.content
    if not isinstance(content, str):
        quota.check_content(len(msgspec.json.encode(content)), storage)
    elif len(content) * _WIDEST > storage.max_content_bytes:
        quota.check_content(len(content.encode()), storage)
    beside = (entry.metadata, entry.context, entry.tags, entry.references)
    if any(beside):
        quota.check_envelope(len(msgspec.json.encode(beside)))


def _given(changes: Mapping[str, Any]) -> dict[str, Any]:
    """What was given, by the names of the fields: who wrote an entry has names of its own."""
    spelled = ((shapes.snake(name), value) for name, value in changes.items())
    return {shapes.ALIASES.get(name, name): value for name, value in spelled if value is not None}


def _check_key(before: Entry, content: str | dict[str, Any]) -> None:
    """Where the id of a preference follows from its key, another key is another preference: the
    next one that is set under the old key would replace it."""
    if before.type != "preference" or not isinstance(before.content, dict):
        return
    key = before.content.get("key")
    is_other = not isinstance(content, dict) or content.get("key") != key
    if is_other and before.id == preference_id(before.agent_id, key):
        raise SchemaInvalidError(
            "The key of a preference cannot be changed.",
            advice="Set another preference, and delete this one.",
            field="key",
        )


def revise(before: Entry, changes: Mapping[str, Any], where: Circumstances) -> Write:
    """A newer revision of an entry: what is not changed stays, and so does its timestamp."""
    given = _given(changes)
    for name in (*FIXED, "timestamp"):
        if name in given:
            raise SchemaInvalidError(
                f"{name} cannot be changed.", advice="Add a new entry instead.", field=name
            )
    if not given:
        raise SchemaInvalidError("Nothing to change was given.")
    notes: list[str] = []
    record = {name: value for name in _KEPT if (value := getattr(before, name)) is not None}
    if "references" in given and "metadata" not in given:
        kept = {name: value for name, value in before.metadata.items() if name != "references"}
        record["metadata"] = kept
    if "priority" in given:
        record.pop("importance", None)
    fields = shapes.fields_of({**record, **given}, notes)
    _check_key(before, fields["content"])
    hidden = hide(fields, where.redact)
    written = to_text(where.now)
    fields["timestamp"] = before.timestamp
    at = written if written != before.timestamp else None
    entry = Entry(v=FORMAT, at=at, **fields)
    _check_sizes(entry, where.storage)
    return Write(entry, True, tuple(dict.fromkeys(notes)), hidden)
