"""Markdown files with front matter, below each user.

users/<user>/memory/**/*.md   nodes
users/<user>/USER.md          and SOUL.md, AGENTS.md, TOOLS.md: what is known without a topic
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from mnemolog.layouts import fields, front_matter
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
    Skipped,
)
from mnemolog.layouts.parsing import document, text_of
from mnemolog.layouts.sources import is_safe
from mnemolog.model.entry import Entry
from mnemolog.model.node import FILES
from mnemolog.model.times import to_moment
from mnemolog.paths import MAX_NAME, file_name

NAME = "nodes"
_MATTER, _FILE = "front_matter", "file"
_PREFIX = "nodes-"
_OLD = re.compile(r"\.v\d+\.md")
_TITLE = 80


def _names(source: FileSource) -> list[str]:
    return [name for name in source.names() if name.endswith(".md")]


def detect(source: FileSource) -> bool:
    """Whether there is a Markdown file."""
    return bool(_names(source))


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each file as a note of its user's session of nodes."""
    told: set[str] = set()
    for name in _names(source):
        user, below = _place(name)
        session = f"{_PREFIX}{user}" if user else NAME
        if session not in told:
            told.add(session)
            yield SessionFound(session, user, file=name)
        if _OLD.search(name):
            yield Skipped("older version")
        else:
            yield _entry(source, session, name, below)


def _place(name: str) -> tuple[str | None, str]:
    """Whose file it is, and its name below that user's folder."""
    parts = name.split("/")
    if "users" in parts[:-2]:
        at = parts.index("users")
        return unquote(parts[at + 1]), "/".join(parts[at + 2 :])
    return None, name


def _entry(source: FileSource, session: str, name: str, below: str) -> AnyFound:
    found = document(source, name, _split)
    if isinstance(found, Refused):
        return found
    matter, body = found
    kept = matter.pop(fields.CARRIED, None)
    given = matter.get("id") if kept is None else matter.pop("id", None)
    record = {
        "type": "note",
        "id": fields.given_id(given, NAME, session, below),
        "content": body if body.strip() else _instead(matter, below),
        "timestamp": matter.get("createdAt"),
        "tags": _tags(matter.get("path")) if kept is None else None,
        "metadata": {_MATTER: matter, _FILE: below},
        "origin": fields.ORIGIN,
    }
    if isinstance(kept, Mapping) and isinstance(kept.get("metadata"), Mapping):
        record["metadata"] = dict(kept["metadata"])
    return EntryFound(session, fields.uncarried(record, kept), name)


def _split(content: bytes) -> tuple[dict[str, Any], str]:
    return front_matter.split(text_of(content))


def _instead(matter: Mapping[str, Any], below: str) -> str:
    """What stands for a body that says nothing."""
    told = [matter.get(name) for name in ("title", "description")]
    return "\n".join(text for text in told if isinstance(text, str) and text) or below


def _tags(path: object) -> list[Any] | None:
    if not isinstance(path, list) or not all(isinstance(part, str) for part in path):
        return None
    good, _ = fields.split_tags([".".join(path)])
    return good if isinstance(good, list) else None


def write(bundle: Bundle) -> Iterator[FileOut | LeftOut]:
    """A file for each node and each note of a session; there is no place for anything else."""
    taken: set[str] = set()
    for whose, own in bundle.nodes.items():
        for node in own:
            below = node.address if node.address in FILES else f"memory/{node.address}.md"
            name = f"users/{file_name(whose)}/{below}"
            taken.add(name.lower())
            yield FileOut(name, node.text.encode())
    for one in bundle.sessions:
        user = one.session.user_id
        folder = f"users/{file_name(user)}" if user else ""
        for entry in one.entries:
            if entry.type != "note":
                yield LeftOut(entry.id, "no note")
                continue
            name = f"{folder}/{_name(entry)}".removeprefix("/")
            if name.lower() in taken:
                name = f"{folder}/memory/{file_name(f'{one.session.id}/{entry.id}')}.md"
            taken.add(name.lower())
            yield FileOut(name.removeprefix("/"), _text(entry).encode())
        yield from one.of_runs()
    yield from bundle._replace(nodes={}).of_no_session()


def _name(entry: Entry) -> str:
    """The name that it came with, if it is a safe one; else one made from its id."""
    given = entry.metadata.get(_FILE)
    if isinstance(given, str) and _is_usable(given):
        return given
    return f"memory/{file_name(entry.id)}.md"


def _is_usable(name: str) -> bool:
    is_short = all(len(part.encode()) <= MAX_NAME for part in name.split("/"))
    return is_short and name.endswith(".md") and is_safe(name)


def _text(entry: Entry) -> str:
    matter = entry.metadata.get(_MATTER)
    if isinstance(matter, dict) and isinstance(entry.metadata.get(_FILE), str):
        return _as_it_came(entry, matter)
    text = entry.text
    title = entry.metadata.get("title")
    first = next(iter(text.strip().splitlines()), "")
    path = entry.tags[0].split(".") if entry.tags else [entry.category or "notes"]
    told: dict[str, Any] = {
        "id": entry.id,
        "title": title if isinstance(title, str) else first[:_TITLE],
        "description": first[:_TITLE],
        "path": path,
        "createdAt": _milliseconds(entry.timestamp),
        "updatedAt": _milliseconds(entry.written_at),
        fields.CARRIED: _kept(entry, {"type": "note", "content": text}),
    }
    return front_matter.join(told, text)


def _kept(entry: Entry, shown: Mapping[str, Any]) -> dict[str, Any]:
    return {**fields.carried(entry, shown), "metadata": entry.metadata}


def _as_it_came(entry: Entry, matter: Mapping[str, Any]) -> str:
    below = entry.metadata[_FILE]
    body = entry.text
    tags = _tags(matter.get("path")) or []
    shown = {"type": "note", "content": body, "tags": tuple(tags)}
    is_ours = set(entry.metadata) != {_MATTER, _FILE} or bool(fields.carried(entry, shown))
    if is_ours:
        kept = _kept(entry, {"type": "note", "content": body})
        return front_matter.join({**matter, "id": entry.id, fields.CARRIED: kept}, body)
    if body == _instead(matter, below):
        body = ""
    return front_matter.join(matter, body) if matter else body


def _milliseconds(stamp: str) -> int:
    return int(to_moment(stamp).timestamp() * 1000)


LAYOUT = Layout(NAME, "Markdown files with front matter.", detect, read, write)
