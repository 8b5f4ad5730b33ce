"""A folder for each session with metadata.json, memory.jsonl, tombstones.jsonl and index.json."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from mnemolog.layouts import canonical, fields, output
from mnemolog.layouts.contract import (
    AnyFound,
    Bundle,
    Derived,
    EntryFound,
    FileOut,
    FileSource,
    Layout,
    LeftOut,
    Refused,
    SessionFound,
    SessionOut,
    Skipped,
    Tombstone,
)
from mnemolog.layouts.parsing import Record, facts, first_records, records
from mnemolog.model.entry import Entry
from mnemolog.paths import file_name

NAME = "one-log"
VERSION = 1
_LOG, _TOMBSTONES = "memory.jsonl", "tombstones.jsonl"
Dead = dict[str, Tombstone]
_COUNTS = {"conversation": "conversations", "decision": "decisions", "finding": "findings",
           "preference": "preferences"}  # fmt: skip
# What the document gives as the usual configuration; it says nothing about a session.
USUAL_DECAY = {"enabled": True, "half_life_hours": 168, "min_decay_factor": 0.1}


def detect(source: FileSource) -> bool:
    """Whether there is a log of entries without our own version."""
    names = set(source.names())
    for name in _logs(source):
        if name.removesuffix(_LOG) + "metadata.json" in names:
            return True
        first = next(first_records(source, name), {})
        if {"id", "type", "content"} <= set(first) and "v" not in first:
            return True
    return False


def _logs(source: FileSource) -> list[str]:
    return [name for name in source.names() if name.rpartition("/")[2] == _LOG]


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each folder as a session; what its tombstones name comes in as deleted."""
    there = set(source.names())
    for name in _logs(source):
        folder = name.removesuffix(_LOG)
        told = facts(source, f"{folder}metadata.json", there)
        if isinstance(told, Refused):
            yield told
            told = {}
        given = told.get("session_id")
        known = given if isinstance(given, str) else unquote(folder.strip("/").rpartition("/")[2])
        session = known or NAME
        yield _session(session, told, f"{folder}metadata.json")
        dead: Dead = {}
        if f"{folder}{_TOMBSTONES}" in there:
            yield from _read_tombstones(source, f"{folder}{_TOMBSTONES}", dead)
        buried = set(dead)
        for found in records(source, name):
            if isinstance(found, Refused):
                yield found
                continue
            buried.discard(str(found.value.get("id")))
            yield _entry(session, name, found, dead)
        if buried:
            yield Skipped("deleted, and nothing left of it", len(buried))


def _read_tombstones(source: FileSource, name: str, dead: Dead) -> Iterator[AnyFound]:
    for found in records(source, name):
        if isinstance(found, Refused):
            yield found
            continue
        identifier, stamp, reason = map(found.value.get, ("id", "timestamp", "reason"))
        if isinstance(identifier, str):
            when, why = (one if isinstance(one, str) else "" for one in (stamp, reason))
            dead[identifier] = Tombstone(identifier, when, why)
        else:
            yield Refused(name, found.number, "a tombstone without an id")


def _session(session: str, told: Mapping[str, Any], file: str) -> SessionFound:
    agents, decay = told.get("agent_ids"), told.get("decay_config")
    settings = {name: told[name] for name in ("decay_config", "compaction_config")
                if isinstance(told.get(name), dict)}  # fmt: skip
    if decay == USUAL_DECAY:
        del settings["decay_config"]
    return SessionFound(
        session,
        told.get("user_id"),
        tuple(agents) if isinstance(agents, list) else (),
        told.get("created_at"),
        _object(told.get("metadata")),
        _object(told.get("preferences")),
        settings,
        file,
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _entry(session: str, name: str, found: Record, dead: Dead) -> AnyFound:
    value = found.value
    given = value.get("checksum")
    if given is not None and not canonical.is_right(value, given):
        return Refused(name, found.number, "the checksum does not match", "E_STORAGE_CORRUPT")
    record = fields.settled(value)
    record["id"] = fields.given_id(record.get("id"), NAME, session, found.number, found.raw)
    deleted = dead.get(record["id"])
    count, last = fields.uses(value)
    return EntryFound(
        session, record, name, found.number, deleted=deleted, uses=count, used_at=last
    )


def write(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """A folder for each session."""
    for one in bundle.sessions:
        yield from _write_session(one)
        yield from one.of_runs()
    yield from bundle.of_no_session()


def _write_session(one: SessionOut) -> Iterator[FileOut]:
    folder = f"sessions/{file_name(one.session.id)}"
    derived = one.derived()
    written = [output.line(_record(entry, one.session.id, derived[entry.id]))
               for entry in one.entries]  # fmt: skip
    yield FileOut(f"{folder}/{_LOG}", b"".join(written))
    tombstones = output.lines(each._asdict() for each in one.tombstones)
    yield FileOut(f"{folder}/{_TOMBSTONES}", tombstones)
    index = output.pretty(_index(one, written, derived))
    yield FileOut(f"{folder}/index.json", index)
    size = sum(map(len, written)) + len(tombstones) + len(index)
    yield FileOut(f"{folder}/metadata.json", output.pretty(_metadata(one, size)))


def _record(entry: Entry, session: str, derived: Derived) -> dict[str, Any]:
    metadata, more, odd = fields.restored_metadata(entry)
    record = {
        **more,
        **fields.whole(entry),
        "session_id": session,
        "importance": derived.importance,
        "decay_factor": round(derived.decay_factor, 6),
        "tags": [*entry.tags, *odd],
        "references": list(entry.references),
        "schema_version": VERSION,
    }
    if derived.access_count:
        record |= {"access_count": derived.access_count, "last_accessed": derived.last_accessed}
    record.pop("metadata", None)
    if entry.type == "conversation" and isinstance(entry.content, str):
        role = {} if entry.role is None else {"role": record.pop("role")}
        record["content"] = {**role, "message": entry.content, "metadata": metadata}
    elif metadata:
        record["metadata"] = metadata
    if isinstance(entry.content, str) and entry.type != "conversation":
        record["content"] = entry.content
    return {**record, "checksum": canonical.checksum(record)}


def _metadata(one: SessionOut, size: int) -> dict[str, Any]:
    session = one.session
    counts = Counter(entry.type for entry in one.entries)
    return {
        "version": VERSION,
        "session_id": session.id,
        "user_id": session.user_id,
        "agent_ids": list(session.agent_ids),
        "created_at": session.created_at,
        "last_accessed": session.updated_at,
        "total_entries": len(one.entries),
        "total_size_bytes": size,
        "decay_config": {**USUAL_DECAY, **one.decay_config},
        "metadata": session.metadata,
        "preferences": session.preferences,
        "statistics": {name: counts[kind] for kind, name in _COUNTS.items()},
    }


def _index(one: SessionOut, written: list[bytes], derived: Mapping[str, Derived]) -> dict[str, Any]:
    """The index of the very lines that were written."""
    entries: dict[str, Any] = {}
    tags: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    offset = 0
    for number, (entry, line) in enumerate(zip(one.entries, written, strict=True), 1):
        known = derived[entry.id]
        entries[entry.id] = {
            "line_number": number,
            "byte_offset": offset,
            "type": entry.type,
            "timestamp": entry.timestamp,
            "tags": list(entry.tags),
            "importance": known.importance,
            "current_relevance": known.relevance,
        }
        offset += len(line)
        types.setdefault(entry.type, []).append(entry.id)
        for tag in entry.tags:
            tags.setdefault(tag, []).append(entry.id)
    return {
        "version": VERSION,
        "last_updated": one.session.updated_at,
        "entries": entries,
        "tags": tags,
        "types": types,
    }


LAYOUT = Layout(
    NAME,
    "A folder for each session with metadata.json, memory.jsonl, tombstones.jsonl and an index.",
    detect,
    read,
    write,
)
