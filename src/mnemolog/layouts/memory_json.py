"""One memory.json for each session, with the compartments run, session and plan."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
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
)
from mnemolog.layouts.parsing import documents, parse
from mnemolog.model.entry import Entry
from mnemolog.paths import file_name

NAME = "memory-json"
COMPARTMENTS = ("run", "session", "plan")
_FILE = "memory.json"
_USUAL_PRIORITY = 5
_UPDATED = "updated_at"
# Which entry of the session it is, where the compartments do not tell.
_PLACE = "place"


def _documents(source: FileSource) -> Iterator[tuple[str, dict[str, Any] | Refused]]:
    for name, found in documents(source):
        if isinstance(found, Refused):
            if name.rpartition("/")[2] == _FILE:
                yield name, found
        elif isinstance(found, dict) and found and set(found) <= set(COMPARTMENTS):
            yield name, found


def detect(source: FileSource) -> bool:
    """Whether a document consists of compartments."""
    return any(isinstance(found, dict) for _, found in _documents(source))


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each document as a session named after its folder; what a run noted ended with it."""
    for name, told in _documents(source):
        if isinstance(told, Refused):
            yield told
            continue
        folder, _, last = name.rpartition("/")
        session = unquote(folder.rpartition("/")[2]) or last.removesuffix(".json")
        yield SessionFound(session, file=name)
        found = [
            (_place(value), _entry(session, name, compartment, number, value))
            for compartment, entries in told.items()
            for number, value in enumerate(_list(entries), 1)
        ]
        yield from (each for _, each in sorted(found, key=lambda one: one[0]))


def _place(value: object) -> float:
    """Where an entry stands among all of its document; what does not say so stays behind."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    place = _kept({**metadata}).get(_PLACE) if isinstance(metadata, dict) else None
    return place if isinstance(place, int) else math.inf


def _list(entries: object) -> list[Any]:
    if isinstance(entries, Mapping):
        return list(entries.values())
    return entries if isinstance(entries, list) else ([] if entries is None else [entries])


def _entry(session: str, file: str, compartment: str, place: int, value: object) -> AnyFound:
    if not isinstance(value, dict):
        return Refused(file, None, f"{compartment} entry {place} is not an object")
    if compartment == "run":
        return Refused(file, None, "notes of a run end with it", "E_SCHEMA_INVALID")
    record = {name: value[name] for name in ("content", "category", "tags") if value.get(name)}
    metadata = dict(value["metadata"]) if isinstance(value.get("metadata"), dict) else {}
    kept = _kept(metadata)
    created, updated = value.get("created_at"), value.get(_UPDATED)
    record |= {
        "type": "note",
        "id": fields.given_id(value.get("id"), NAME, session, compartment, place, value),
        "timestamp": _moment(created),
        "compartment": "plan" if compartment == "plan" else None,
    }
    if "importance" not in kept:
        record["priority"] = value.get("priority") or _USUAL_PRIORITY
    if isinstance(updated, str) and updated != created:
        metadata[_UPDATED] = updated
    record["metadata"] = kept.pop("metadata", metadata)
    settled = fields.settled(fields.uncarried(record, kept))
    return EntryFound(session, settled, file, None, uses=fields.uses(value)[0], used_at=updated)


def _moment(given: object) -> object:
    """Go's zero time means that there is none."""
    return None if isinstance(given, str) and given.startswith("0001-") else given


def _kept(metadata: dict[str, Any]) -> dict[str, Any]:
    """What an export kept beside, as JSON in a text, since metadata are texts here."""
    text = metadata.get(fields.CARRIED)
    if not isinstance(text, str):
        return {}
    try:
        kept = parse(text.encode())
    except InvalidFormatError:
        return {}
    if not isinstance(kept, dict):
        return {}
    del metadata[fields.CARRIED]
    return kept


def write(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """A document for each session."""
    for one in bundle.sessions:
        derived = one.derived()
        told: dict[str, list[dict[str, Any]]] = {name: [] for name in COMPARTMENTS}
        is_apart = _is_apart(one.entries)
        for place, entry in enumerate(one.entries):
            beside = {_PLACE: place} if is_apart else {}
            told[entry.compartment or "session"].append(_shown(entry, derived[entry.id], beside))
        yield FileOut(f"{file_name(one.session.id)}/{_FILE}", output.pretty(told))
        yield from one.of_runs()
    yield from bundle.of_no_session()


def _is_apart(entries: Sequence[Entry]) -> bool:
    """Whether the compartments, one after the other, are another order than that of the log."""
    rooms = [COMPARTMENTS.index(entry.compartment or "session") for entry in entries]
    return rooms != sorted(rooms)


def _shown(entry: Entry, derived: Derived, more_beside: Mapping[str, Any]) -> dict[str, Any]:
    metadata, more, odd = fields.restored_metadata(entry)
    priority = min(10, max(1, round(derived.importance * 10)))
    given = metadata.pop(_UPDATED, None)
    updated = given if isinstance(given, str) else _changed(entry)
    shown = {
        "type": "note",
        "content": entry.text,
        "category": entry.category or None,
        "compartment": entry.compartment,
        "tags": entry.tags,
        "importance": priority / 10,
    }
    beside = {**fields.carried(entry, shown), **more_beside}
    is_text = all(isinstance(value, str) for value in metadata.values())
    if (
        more
        or not is_text
        or fields.CARRIED in metadata
        or (given is None and updated != entry.timestamp)
    ):
        beside["metadata"] = entry.metadata
    texts = {name: value if isinstance(value, str) else json.dumps(value)
             for name, value in metadata.items()}  # fmt: skip
    if beside:
        texts[fields.CARRIED] = json.dumps(beside, ensure_ascii=False)
    told = {
        "id": entry.id,
        "content": entry.text,
        "category": entry.category,
        "tags": [*entry.tags, *odd],
        "metadata": texts,
        "created_at": entry.timestamp,
        "updated_at": updated,
        "access_count": derived.access_count or 0,
        "priority": priority,
    }
    return {name: value for name, value in told.items() if value not in (None, [], {})}


def _changed(entry: Entry) -> str:
    """When it was last changed; of what came by an import, only the first time is known."""
    return entry.timestamp if entry.origin == fields.ORIGIN else entry.written_at


LAYOUT = Layout(
    NAME,
    "One memory.json with the compartments run, session and plan.",
    detect,
    read,
    write,
)
