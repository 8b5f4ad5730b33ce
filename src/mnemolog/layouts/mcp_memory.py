"""The MCP reference server's memory: entities, relations and observations, one JSON a line."""

from collections.abc import Iterator
from typing import Any

from mnemolog.layouts import fields
from mnemolog.layouts.contract import (
    AnyFound,
    EntryFound,
    FileSource,
    Layout,
    Refused,
    SessionFound,
)
from mnemolog.layouts.parsing import Record, first_records, records

NAME = "mcp-memory"
_KINDS = ("entity", "relation")


def _names(source: FileSource) -> Iterator[str]:
    for name in source.names():
        if name.endswith((".json", ".jsonl")):
            first = next(first_records(source, name), {})
            if first.get("type") in _KINDS and ("entityType" in first or "relationType" in first):
                yield name


def detect(source: FileSource) -> bool:
    """Whether a file begins with an entity or a relation."""
    return next(_names(source), None) is not None


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each file as a session, each observation and each relation as a note."""
    for name in _names(source):
        session = name.rpartition("/")[2].rpartition(".")[0] or NAME
        yield SessionFound(session, file=name)
        for found in records(source, name):
            if isinstance(found, Refused):
                yield found
            else:
                yield from _notes(session, name, found)


def _notes(session: str, file: str, found: Record) -> Iterator[AnyFound]:
    value = found.value
    kind = value.get("type")
    if kind == "relation":
        ends = {"from": value.get("from"), "relation": value.get("relationType"),
                "to": value.get("to")}  # fmt: skip
        if not _are_texts(*ends.values()):
            yield Refused(file, found.number, "a relation without its two ends or its kind")
            return
        yield _note(session, file, found.number, ends, "relation")
    elif kind == "entity" and _are_texts(value.get("name"), value.get("entityType")):
        yield from _observations(session, file, found)
    else:
        yield Refused(file, found.number, "neither an entity nor a relation")


def _observations(session: str, file: str, found: Record) -> Iterator[AnyFound]:
    value = found.value
    name, kind = value["name"], value["entityType"]
    observations = value.get("observations") or [kind]
    for one in observations if isinstance(observations, list) else [observations]:
        text = one.get("content") if isinstance(one, dict) else one
        if not _are_texts(text):
            yield Refused(file, found.number, "an observation that is not text")
            continue
        content = {"entity": name, "observation": text}
        yield _note(session, file, found.number, content, kind)


def _are_texts(*values: object) -> bool:
    return all(isinstance(value, str) and value.strip() for value in values)


def _note(session: str, file: str, line: int, content: dict[str, Any], kind: str) -> EntryFound:
    record = {
        "type": "note",
        # By what it says: the server rewrites its file, so that lines have no lasting place.
        "id": fields.derived_id(NAME, session, *content.items()),
        "category": kind,
        "content": content,
        "origin": fields.ORIGIN,
    }
    return EntryFound(session, record, file, line)


LAYOUT = Layout(
    NAME,
    "The MCP reference server's JSONL of entities, relations and observations.",
    detect,
    read,
)
