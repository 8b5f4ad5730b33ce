"""A folder for each session with a manifest, a file for each type, and an index.

sessions/<id>/manifest.json conversation.jsonl decisions.jsonl findings.jsonl
              preferences.jsonl index.json
shared/user-preferences.json agent-knowledge.json
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any
from urllib.parse import unquote

from mnemolog.errors import InvalidFormatError
from mnemolog.layouts import fields, output
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
)
from mnemolog.layouts.parsing import document, facts, records
from mnemolog.model.entry import Entry, type_name
from mnemolog.model.shapes import SHAPES
from mnemolog.model.times import normalise
from mnemolog.paths import file_name

NAME = "four-files"
VERSION = "1.0"
FILES = {
    "conversation": "conversation.jsonl",
    "decision": "decisions.jsonl",
    "finding": "findings.jsonl",
    "preference": "preferences.jsonl",
}
_SEQ = "seq"
_USERS = "shared/user-preferences.json"
_SHARED = "shared/agent-knowledge.json"
_BY = {"decision": "made_by", "finding": "discovered_by"}
_MAIN = {"decision": "decision", "finding": "description"}


def detect(source: FileSource) -> bool:
    """Whether one of the four files is there."""
    own = set(FILES.values())
    return any(name.rpartition("/")[2] in own for name in source.names())


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each folder as a session, its files merged by time; then what is shared."""
    names = source.names()
    own = set(FILES.values())
    folders = {name.rpartition("/")[0] for name in names if name.rpartition("/")[2] in own}
    for folder in sorted(folders):
        yield from _read_session(source, folder, set(names))
    for name in names:
        if name.endswith(_USERS):
            yield from _read_users(source, name)
        elif name.endswith(_SHARED):
            yield from _read_shared(source, name)


def _read_session(source: FileSource, folder: str, there: set[str]) -> Iterator[AnyFound]:
    before = f"{folder}/" if folder else ""
    manifest = facts(source, f"{before}manifest.json", there)
    if isinstance(manifest, Refused):
        yield manifest
        manifest = {}
    given = manifest.get("session_id")
    known = given if isinstance(given, str) and given else unquote(folder.rpartition("/")[2])
    session = known or NAME
    yield _session(session, manifest, folder)
    files = [name for name in sorted(there) if name.rpartition("/")[0] == folder]
    streams = [_entries(source, session, name) for name in files if name.endswith(".jsonl")]
    for *_, found in heapq.merge(*streams, key=lambda one: one[:3]):
        yield found


def _session(session: str, manifest: Mapping[str, Any], folder: str) -> SessionFound:
    agents, metadata = manifest.get("agent_ids"), manifest.get("metadata")
    return SessionFound(
        session,
        manifest.get("user_id"),
        tuple(agents) if isinstance(agents, list) else (),
        manifest.get("created_at"),
        metadata if isinstance(metadata, dict) else {},
        file=f"{folder}/manifest.json".removeprefix("/"),
    )


def _entries(
    source: FileSource, session: str, name: str
) -> Iterator[tuple[str, int, str, AnyFound]]:
    """The entries of one file, each with what it is sorted by.

    That is its number in the log, where it bears one, else its time; then its file.
    """
    kind = _kind_of(name)
    latest, number = "", 0
    for found in records(source, name):
        if isinstance(found, Refused):
            yield latest, number, name, found
            continue
        record = {"type": kind, **found.value}
        record["id"] = fields.given_id(record.get("id"), NAME, session, name, found.raw)
        if not latest and isinstance(seq := record.get(_SEQ), int):
            number = max(number, seq)
        else:
            latest = max(latest, _time_of(record))
        count, last = fields.uses(record)
        settled = fields.settled(record)
        entry = EntryFound(session, settled, name, found.number, uses=count, used_at=last)
        yield latest, number, name, entry


def _kind_of(name: str) -> str:
    stem = name.rpartition("/")[2].removesuffix(".jsonl")
    try:
        return type_name(stem)
    except InvalidFormatError:
        return "note"


def _time_of(record: Mapping[str, Any]) -> str:
    try:
        return normalise(record.get("timestamp"))
    except InvalidFormatError:
        return ""


def _read_users(source: FileSource, name: str) -> Iterator[AnyFound]:
    told = document(source, name)
    users = told.get("users") if isinstance(told, dict) else None
    if not isinstance(users, dict):
        yield told if isinstance(told, Refused) else Refused(name, None, "no preferences by user")
        return
    for user, entries in users.items():
        yield from _beside(name, entries, {"scope": "user", "user_id": user}, "preference")


def _read_shared(source: FileSource, name: str) -> Iterator[AnyFound]:
    told = document(source, name)
    entries = told.get("entries") if isinstance(told, dict) else None
    if not isinstance(entries, list):
        yield told if isinstance(told, Refused) else Refused(name, None, "no list of entries")
        return
    yield from _beside(name, entries, {"scope": "shared"}, "note")


def _beside(name: str, entries: object, fixed: dict[str, Any], kind: str) -> Iterator[AnyFound]:
    for record in entries if isinstance(entries, list) else [None]:
        if not isinstance(record, dict):
            yield Refused(name, None, "an entry that is not an object")
            continue
        settled = fields.settled({"type": kind, **record})
        settled["id"] = fields.given_id(settled.get("id"), NAME, name, fixed, record)
        yield EntryFound(None, {**settled, **fixed}, name, None, record.get("session_id"))


def write(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """A folder for each session, and what is shared."""
    for one in bundle.sessions:
        yield from _write_session(one)
        yield from one.of_runs()
    if bundle.users:
        users = {user: list(map(_beside_record, own)) for user, own in bundle.users.items()}
        yield FileOut(_USERS, output.pretty({"version": VERSION, "users": users}))
    if bundle.shared:
        entries = list(map(_beside_record, bundle.shared))
        yield FileOut(_SHARED, output.pretty({"version": VERSION, "entries": entries}))
    yield from bundle.of_graphs()


def _beside_record(entry: Entry) -> dict[str, Any]:
    written_in = {} if entry.session_id is None else {"session_id": entry.session_id}
    return {**_record(entry, None), **written_in}


def _write_session(one: SessionOut) -> Iterator[FileOut]:
    folder = f"sessions/{file_name(one.session.id)}"
    derived = one.derived()
    by_type: dict[str, list[Entry]] = {kind: [] for kind in FILES}
    for entry in one.entries:
        by_type.setdefault(entry.type, []).append(entry)
    is_numbered = _by_time(by_type) != [entry.seq for entry in one.entries]
    size = 0
    for kind, entries in by_type.items():
        told = [_record(entry, derived.get(entry.id)) for entry in entries]
        if is_numbered:
            told = [{**each, _SEQ: own.seq} for each, own in zip(told, entries, strict=True)]
        content = output.lines(told)
        size += len(content)
        yield FileOut(f"{folder}/{_name_of(kind)}", content)
    yield FileOut(f"{folder}/manifest.json", output.pretty(_manifest(one, by_type, size)))
    index = one.inverted()
    if index is not None:
        yield FileOut(f"{folder}/index.json", output.pretty(index))


def _name_of(kind: str) -> str:
    return FILES.get(kind, f"{kind}s.jsonl" if kind in ("note", "event") else f"{kind}.jsonl")


def _by_time(by_type: Mapping[str, Sequence[Entry]]) -> list[int]:
    """The numbers of the entries in the order in which a reader goes by the times alone."""
    placed: list[tuple[str, str, int]] = []
    for kind, entries in by_type.items():
        times = accumulate((_time_of({"timestamp": one.timestamp}) for one in entries), max)
        placed += (
            (time, _name_of(kind), one.seq) for time, one in zip(times, entries, strict=True)
        )
    return [number for *_, number in sorted(placed, key=lambda one: one[:2])]


def _manifest(one: SessionOut, by_type: Mapping[str, Sequence[Entry]], size: int) -> dict[str, Any]:
    session = one.session
    return {
        "session_id": session.id,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "user_id": session.user_id,
        "agent_ids": list(session.agent_ids),
        "metadata": session.metadata,
        "statistics": {
            "total_messages": len(by_type["conversation"]),
            "total_decisions": len(by_type["decision"]),
            "total_findings": len(by_type["finding"]),
            "size_bytes": size,
            "last_accessed": session.updated_at,
        },
        "version": VERSION,
    }


def _record(entry: Entry, derived: Derived | None) -> dict[str, Any]:
    """A flat record under the document's names; what it has no name for keeps ours."""
    metadata, more, odd = fields.restored_metadata(entry)
    record = {**fields.whole(entry), "metadata": metadata}
    if odd:
        record["tags"] = [*entry.tags, *odd]
    if entry.agent_id is not None and entry.type in _BY:
        record[_BY[entry.type]] = record.pop("agent_id")
    _flatten(entry, record)
    if not metadata:
        del record["metadata"]
    if entry.references and "references" in metadata:
        del record["references"]  # it stands where it came from
    if derived is not None:
        record["decay_factor"] = round(derived.decay_factor, 6)
        uses = {"access_count": derived.access_count, "last_accessed": derived.last_accessed}
        record |= {name: value for name, value in uses.items() if value is not None}
    return {**more, **record}


def _flatten(entry: Entry, record: dict[str, Any]) -> None:
    content, own = entry.content, SHAPES.get(entry.type, ())
    if isinstance(content, str):
        if entry.type in _MAIN:
            record[_MAIN[entry.type]] = record.pop("content")
    elif own and set(content) <= {*own, "references"} and not entry.context:
        del record["content"]
        record |= content


LAYOUT = Layout(
    NAME,
    "A folder for each session with a manifest, four files by type, and an index.",
    detect,
    read,
    write,
)
