"""One NDJSON file of events for each session of an agent.

agents/<slug>/memory/sessions/<session-id>.ndjson
agents/<slug>/memory/conversations/<session-id>.json   user and title, if there is one
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from mnemolog.layouts import fields, messages, output
from mnemolog.layouts.contract import (
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
)
from mnemolog.layouts.parsing import Record, facts, records
from mnemolog.model.entry import Entry
from mnemolog.paths import file_name

NAME = "work-agent"
_SUFFIX = ".ndjson"
_NOBODY = "default"
# Marks fields that were added here to an event that came from elsewhere.
_FOREIGN = "foreign"
# What somebody's own metadata hold under the name that we carry fields under.
_OWN = "own"


class _Place(NamedTuple):
    name: str
    agent: str | None
    session: str


def detect(source: FileSource) -> bool:
    """Whether there is a file of events."""
    return any(name.endswith(_SUFFIX) for name in source.names())


def _places(source: FileSource) -> list[_Place]:
    found = []
    for name in source.names():
        *folders, last = name.split("/")
        stem = last.removesuffix(_SUFFIX)
        if stem not in (last, ""):
            is_whole = folders[-4:-3] == ["agents"] and folders[-2:] == ["memory", "sessions"]
            found.append(_Place(name, unquote(folders[-3]) if is_whole else None, unquote(stem)))
    return found


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each file as a session, each line as an entry."""
    there = set(source.names())
    places = _places(source)
    holders = Counter(place.session for place in places)
    for place in places:
        about = place.name.replace("/sessions/", "/conversations/").removesuffix(_SUFFIX)
        known = facts(source, f"{about}.json", there)
        if isinstance(known, Refused):
            yield known
            known = {}
        # Agents cannot see each other's sessions, so two of the same name must stay two.
        is_unclear = holders[place.session] > 1 and place.agent is not None
        own_id = _named(place.session, [known.get("id")])
        session = f"{place.agent}.{own_id}" if is_unclear else own_id
        yield _session(session, place, known)
        for found in records(source, place.name):
            yield found if isinstance(found, Refused) else _entry(session, place, found)


def _named(found: str, candidates: list[Any]) -> str:
    """What a file's name stands for: names that are too long are hashes, which tell nothing."""
    texts = (each for each in candidates if isinstance(each, str) and each)
    return next((each for each in texts if _is_named(each, found)), found)


def _is_named(text: str, found: str) -> bool:
    try:
        return file_name(text) == found
    except UnicodeEncodeError:  # half a character, which no name holds
        return False


def _session(session: str, place: _Place, known: Mapping[str, Any]) -> SessionFound:
    user, title = known.get("userId"), known.get("title")
    beside, named = known.get("metadata"), known.get("agentIds")
    named = named if isinstance(named, list) else []
    agents = [_named(place.agent, named) if place.agent else None, *named]
    return SessionFound(
        session,
        user if isinstance(user, str) and user else None,
        tuple(dict.fromkeys(one for one in agents if isinstance(one, str) and one != _NOBODY)),
        known.get("createdAt"),
        {
            **({"title": title} if isinstance(title, str) and title != session else {}),
            **(beside if isinstance(beside, dict) else {}),
        },
        file=place.name,
    )


def _entry(session: str, place: _Place, found: Record) -> EntryFound:
    event = dict(found.value)
    own_id = event.pop("id", None)
    metadata = event.pop("metadata", None)
    beside = dict(metadata) if isinstance(metadata, dict) else {}
    if metadata is not None and not isinstance(metadata, dict):
        event["metadata"] = metadata
    kept = beside.pop(fields.CARRIED) if _is_carried(beside.get(fields.CARRIED)) else {}
    if _OWN in kept:
        beside[fields.CARRIED] = kept[_OWN]
    is_ours = bool(kept) and not kept.get(_FOREIGN)
    record: dict[str, Any] = {
        "type": "conversation",
        "id": fields.given_id(own_id, NAME, place.agent, session, found.number, found.raw),
        "origin": fields.ORIGIN,
        "timestamp": event.pop("timestamp", beside.get("timestamp", beside.get("createdAt"))),
        **_said(event, is_ours=is_ours),
    }
    if not is_ours:
        beside[NAME] = event
    record["metadata"] = beside
    return EntryFound(session, fields.uncarried(record, kept), place.name, found.number)


def _is_carried(value: object) -> bool:
    """Whether this is what an export carries, and nothing that somebody's own metadata hold."""
    return isinstance(value, dict) and bool(value) and {*value} <= {*fields.BESIDE, _FOREIGN, _OWN}


def _said(event: dict[str, Any], *, is_ours: bool) -> dict[str, Any]:
    """The role and the text of an event; the fields that they say wholly are taken out of it."""
    role = event.get("role")
    shape, text = "parts", messages.text_of(event.get("parts"))
    if isinstance(event.get("content"), str):
        shape, text = "content", event["content"]
    if not text.strip() and not is_ours:
        whole = dict(event)
        event.clear()
        event["shape"] = "event"
        said = {"role": role} if isinstance(role, str) else {"type": "event"}
        return {**said, "content": whole or text}
    event.pop("role", None)
    if shape == "content" or messages.is_one_text(event.get("parts")):
        event.pop(shape)
    event["shape"] = shape
    return {"role": role, "content": text}


def write(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """A file for each session, under its first agent."""
    for one in bundle.sessions:
        agent = next(iter(one.session.agent_ids), _NOBODY)
        folder = f"agents/{file_name(agent)}/memory"
        name = file_name(one.session.id)
        yield FileOut(f"{folder}/sessions/{name}{_SUFFIX}", output.lines(map(_event, one.entries)))
        yield FileOut(f"{folder}/conversations/{name}.json", output.pretty(_about(one, agent)))
        yield from one.of_runs()
    yield from bundle.of_no_session()


def _about(one: SessionOut, agent: str) -> dict[str, Any]:
    session, metadata = one.session, dict(one.session.metadata)
    return {
        "id": session.id,
        "resourceId": agent,
        "agentIds": list(session.agent_ids),
        "userId": session.user_id or "",
        "title": metadata.pop("title", session.id),
        "metadata": metadata,
        "createdAt": session.created_at,
        "updatedAt": session.updated_at,
    }


def _event(entry: Entry) -> dict[str, Any]:
    metadata = dict(entry.metadata)
    kept = metadata.pop(NAME, None)
    if isinstance(kept, dict) and "shape" in kept:
        said, shown = _as_it_came(entry, dict(kept))
        beside = {**fields.carried(entry, shown), _FOREIGN: True}
    else:
        metadata = dict(entry.metadata)
        shown = {"role": entry.role or "assistant", "content": entry.text}
        said = {"role": shown["role"], "parts": [{"type": "text", "text": entry.text}]}
        beside = fields.carried(entry, shown)
    own = metadata.get(fields.CARRIED)
    if (beside and beside != {_FOREIGN: True}) or _is_carried(own):
        metadata[fields.CARRIED] = {**beside, _OWN: own} if fields.CARRIED in metadata else beside
    about = {"metadata": metadata} if metadata else {}
    return {"id": entry.id, **said, **about, "timestamp": entry.timestamp}


def _as_it_came(entry: Entry, kept: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """An event as it was read, and the fields that a reader will make of it."""
    shape = kept.pop("shape")
    shown = {"role": entry.role, "content": entry.content, "type": "conversation"}
    if shape == "event":
        shown["type"] = entry.type
        content = entry.content
        return content if isinstance(content, dict) else {"content": content}, shown
    said: dict[str, Any] = {} if entry.role is None else {"role": entry.role}
    if shape == "content":
        said["content"] = entry.text
    elif "parts" not in kept:
        said["parts"] = [{"type": "text", "text": entry.text}]
    return {**said, **kept}, shown


LAYOUT = Layout(
    NAME, "One NDJSON file of events for each session of an agent.", detect, read, write
)
