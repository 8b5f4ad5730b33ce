"""Our own forms: `json`, one document, and `jsonl`, one line for each session and entry."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from mnemolog.layouts import fields, output
from mnemolog.layouts.contract import (
    NODE,
    RUN_NOTE,
    AnyFound,
    Bundle,
    EntryFound,
    FileOut,
    FileSource,
    Layout,
    LeftOut,
    Refused,
    SessionFound,
    SessionOut,
    Skipped,
)
from mnemolog.layouts.parsing import Record, documents, first_records, records
from mnemolog.model.entry import MARKS, Entry
from mnemolog.model.node import Node

VERSION = 1
_MARK = "mnemolog_export"
_SESSION, _NODE, _RUN = "session", "node", "run"
# A graph is taken in as whole logs are: nothing else may say what is known.
_FACTS = ("id", "user_id", "agent_ids", "created_at", "metadata", "preferences")


def write_json(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """One document with everything."""
    sessions = list(map(_told, bundle.sessions))
    users = {user: list(map(_shown, entries)) for user, entries in bundle.users.items()}
    nodes = {user: list(map(_known, own)) for user, own in bundle.nodes.items()}
    told = {
        _MARK: VERSION,
        "exported_at": bundle.exported_at,
        "subject": dict(bundle.subject),
        "sessions": sessions,
        "users": users,
        "shared": list(map(_shown, bundle.shared)),
        **({"nodes": nodes} if nodes else {}),
        **({"warnings": list(bundle.warnings)} if bundle.warnings else {}),
    }
    yield FileOut("export.json", output.pretty(told))


def _told(one: SessionOut) -> dict[str, Any]:
    told = {"session": msgspec.to_builtins(one.session), "entries": list(map(_shown, one.entries))}
    if one.runs:
        told["runs"] = {run: list(map(_shown, notes)) for run, notes in one.runs.items()}
    return {**told, "warnings": list(one.warnings)} if one.warnings else told


def write_jsonl(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """A line for each session, followed by its entries; then those of users and of all."""
    parts: list[bytes] = []
    for one in bundle.sessions:
        facts = msgspec.to_builtins(one.session)
        parts.append(output.line({"v": VERSION, "type": _SESSION, **facts}))
        parts += map(output.line, map(_shown, one.entries))
        parts += map(output.line, map(_noted, one.notes()))
    for user, entries in bundle.users.items():
        parts += (output.line({**_shown(entry), "user_id": user}) for entry in entries)
    parts += map(output.line, map(_shown, bundle.shared))
    for user, own in bundle.nodes.items():
        about = {"v": VERSION, "type": _NODE, "user_id": user}
        parts += (output.line({**about, "id": node.address, "text": node.text}) for node in own)
    yield FileOut("export.jsonl", b"".join(parts))


def _noted(note: Entry) -> dict[str, Any]:
    about = {"v": VERSION, "id": note.id, "type": _RUN}
    return {**about, "session_id": note.session_id, "run_id": note.run_id, "note": _shown(note)}


def _known(node: Node) -> dict[str, Any]:
    return {"address": node.address, "text": node.text}


def _shown(entry: Entry) -> dict[str, Any]:
    shown = {"v": entry.v, **fields.whole(entry)}
    if entry.session_id is not None:
        shown["session_id"] = entry.session_id
    return {**shown, "seq": entry.seq}


def _documents(source: FileSource) -> Iterator[tuple[str, dict[str, Any] | Refused]]:
    for name, found in documents(source):
        if isinstance(found, Refused) or (isinstance(found, dict) and _MARK in found):
            yield name, found


def detect_json(source: FileSource) -> bool:
    """Whether a document says that it is one of ours."""
    return any(isinstance(found, dict) for _, found in _documents(source))


def read_json(source: FileSource) -> Iterator[AnyFound]:
    """The sessions of each document, then what belongs to users and to all."""
    for name, told in _documents(source):
        if isinstance(told, Refused):
            yield told
            continue
        for one in _items(told.get("sessions")):
            if not isinstance(one, Mapping) or not isinstance(one.get("session"), Mapping):
                yield Refused(name, None, "a session without its facts")
                continue
            session = _session(one["session"], name)
            if isinstance(session, Refused):
                yield session
                continue
            yield session
            yield from _entries(session.id, one.get("entries"), name, {})
            yield from _passed_over(RUN_NOTE, one.get("runs"))
        users = told.get("users")
        for user, entries in users.items() if isinstance(users, Mapping) else ():
            yield from _entries(None, entries, name, {"scope": "user", "user_id": user})
        yield from _entries(None, told.get("shared"), name, {"scope": "shared"})
        yield from _passed_over(NODE, told.get("nodes"))


def _passed_over(what: str, lists: object) -> Iterator[AnyFound]:
    for each in lists.values() if isinstance(lists, Mapping) else ():
        yield from (Skipped(what) for _ in _items(each))


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _session(
    facts: Mapping[str, Any], file: str, line: int | None = None
) -> SessionFound | Refused:
    given = {name: facts[name] for name in _FACTS if facts.get(name) is not None}
    agents = given.get("agent_ids", ())
    if not isinstance(given.get("id"), str) or not isinstance(agents, list | tuple):
        return Refused(file, line, "a session whose facts have the wrong form")
    return SessionFound(**{**given, "agent_ids": tuple(agents)}, file=file)


def _entries(
    session: str | None, entries: object, file: str, fixed: Mapping[str, Any]
) -> Iterator[AnyFound]:
    for place, record in enumerate(_items(entries)):
        if not isinstance(record, dict):
            yield Refused(file, None, "an entry that is not an object")
        else:
            settled = {**fields.settled(record), **fixed}
            _name(settled, "json", session, sorted(fixed.items()), place, record)
            yield EntryFound(session, settled, file, None, record.get("session_id"))


def _name(record: dict[str, Any], layout: str, *parts: object) -> None:
    """Give an id to what has none; that of a preference follows from its key."""
    if record.get("id") is None and record.get("type") != "preference":
        record["id"] = fields.derived_id(layout, *parts)


def _is(kind: str, value: Mapping[str, Any]) -> bool:
    """Whether a line is none of an entry: one of a type of this name has a content."""
    return value.get("type") == kind and "content" not in value


def _is_line(value: Mapping[str, Any]) -> bool:
    return {"v", "id", "type"} <= set(value)


def _line_files(source: FileSource) -> Iterator[str]:
    for name in source.names():
        if name.endswith(".jsonl"):
            first = next(first_records(source, name), None)
            if first is not None and _is_line(first):
                yield name


def detect_jsonl(source: FileSource) -> bool:
    """Whether the first line of a file is an entry or a session of ours."""
    return next(_line_files(source), None) is not None


def read_jsonl(source: FileSource) -> Iterator[AnyFound]:
    """Every line as it stands; what is dead at the end of a file is passed over."""
    for name in _line_files(source):
        dead = _dead(source, name)
        for found in records(source, name):
            if isinstance(found, Refused):
                yield found
            elif _is(_SESSION, found.value):
                yield _session(found.value, name, found.number)
            elif _is(_NODE, found.value):
                yield Skipped(NODE)
            elif _is(_RUN, found.value):
                yield Skipped(RUN_NOTE)
            elif _is_dead(found.value, dead):
                yield Skipped("deleted")
            elif found.value.get("type") not in MARKS:
                yield _line(found, name)


def _line(found: Record, name: str) -> AnyFound:
    session = written_in = found.value.get("session_id")
    record = fields.settled(found.value)
    if record.get("scope") in ("user", "shared"):
        session = None
    elif not isinstance(session, str) or not session:
        return Refused(name, found.number, "an entry without a session")
    _name(record, "jsonl", written_in, found.number, found.raw)
    return EntryFound(session, record, name, found.number, written_in)


def _is_dead(value: Mapping[str, Any], dead: set[tuple[Any, Any]]) -> bool:
    names = value.get("session_id"), value.get("id")
    return all(isinstance(name, str | None) for name in names) and names in dead


def _dead(source: FileSource, name: str) -> set[tuple[Any, Any]]:
    """Ids that a log's own marks hide or say to be gone, when all lines are applied in order."""
    dead: set[tuple[Any, Any]] = set()
    for found in records(source, name):
        if isinstance(found, Refused):
            continue
        value = found.value
        names = value.get("session_id"), value.get("id"), value.get("target")
        if not all(isinstance(each, str | None) for each in names):
            continue
        session, own, target = names
        if value.get("type") in ("tombstone", "erased"):
            dead.add((session, target))
        else:
            dead.discard((session, target if value.get("type") == "undelete" else own))
    return dead


JSON = Layout(
    "json",
    "One JSON document: sessions with their facts and entries, users' own and shared entries.",
    detect_json,
    read_json,
    write_json,
)
JSONL = Layout(
    "jsonl", "One line for each session and entry.", detect_jsonl, read_jsonl, write_jsonl
)
