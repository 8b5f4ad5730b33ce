"""Claude Code's transcripts: one JSONL file for each session, one message or block a line."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemolog.layouts import fields, messages
from mnemolog.layouts.contract import (
    AnyFound,
    EntryFound,
    FileSource,
    Layout,
    Refused,
    SessionFound,
    Skipped,
)
from mnemolog.layouts.parsing import Record, first_records, records

NAME = "claude-code"
_SPOKEN = ("user", "assistant")
_FACTS = {"cwd": "folder", "gitBranch": "branch", "version": "version"}


def _is_line(value: Mapping[str, Any]) -> bool:
    has_session = isinstance(value.get("sessionId"), str)
    return has_session and value.get("type") in _SPOKEN and isinstance(value.get("message"), dict)


def _names(source: FileSource) -> Iterator[str]:
    for name in source.names():
        if name.endswith(".jsonl") and any(map(_is_line, first_records(source, name))):
            yield name


def detect(source: FileSource) -> bool:
    """Whether a file has messages of a session among its first lines."""
    return next(_names(source), None) is not None


def read(source: FileSource) -> Iterator[AnyFound]:
    """Every message, result and call of a tool; thinking and internal lines are passed over."""
    told: set[str] = set()
    for name in _names(source):
        for found in records(source, name):
            if isinstance(found, Refused):
                yield found
                continue
            value = found.value
            why = _why_not(value)
            if why is not None:
                yield Skipped(why)
                continue
            if not _is_line(value):
                yield Refused(name, found.number, "a message without its session")
                continue
            session = value["sessionId"]
            if session not in told:
                told.add(session)
                yield _session(session, value, name)
            yield from _entries(session, name, found)


def _why_not(value: Mapping[str, Any]) -> str | None:
    kind = value.get("type")
    if kind == "summary":
        return "summary"
    if kind not in _SPOKEN or value.get("isMeta") is True:
        return "internal line"
    return None


def _session(session: str, value: Mapping[str, Any], file: str) -> SessionFound:
    known = {ours: value[theirs] for theirs, ours in _FACTS.items()
             if isinstance(value.get(theirs), str)}  # fmt: skip
    stamp = value.get("timestamp")
    return SessionFound(session, None, (NAME,), stamp, {"source": NAME, **known}, file=file)


def _entries(session: str, file: str, found: Record) -> Iterator[AnyFound]:
    value, message = found.value, found.value["message"]
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        yield Refused(file, found.number, "a message without content")
        return
    own_id = fields.given_id(value.get("uuid"), NAME, session, found.number, found.raw)
    number = 0
    for block in blocks:
        record = _record(block, value["type"]) if isinstance(block, dict) else None
        if record is None:
            yield Skipped(_kind(block))
            continue
        record |= _common(value, record)
        record["id"] = own_id if number == 0 else f"{own_id}-{number}"
        number += 1
        yield EntryFound(session, record, file, found.number)


def _record(block: Mapping[str, Any], role: str) -> dict[str, Any] | None:
    kind = block.get("type")
    if messages.is_text(block) and block["text"].strip():
        return messages.said(role, block["text"])
    if kind == "tool_use":
        call = {name: block.get(name) for name in ("id", "name", "input")}
        return messages.said(role, "", [call])
    if kind == "tool_result":
        text = messages.text_of(block.get("content"))
        about = {"is_error": True} if block.get("is_error") is True else {}
        if text.strip():
            return messages.result(text, block.get("tool_use_id"), metadata=about)
    return None


def _common(value: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any]:
    more: dict[str, Any] = {"timestamp": value.get("timestamp")}
    if value["type"] == "assistant":
        more["agent_id"] = NAME
    if isinstance(value.get("parentUuid"), str):
        more["context"] = {"parent_message_id": value["parentUuid"]}
    model = value["message"].get("model")
    beside: dict[str, Any] = {"model": model} if isinstance(model, str) else {}
    if value.get("isSidechain") is True:
        beside["sidechain"] = True
    if beside:
        more["metadata"] = {**record.get("metadata", {}), **beside}
    return {name: each for name, each in more.items() if each is not None}


def _kind(block: object) -> str:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in ("thinking", "redacted_thinking"):
        return "thinking"
    if kind == "image":
        return "image"
    return "empty block" if kind in ("text", "tool_result") else "other block"


LAYOUT = Layout(NAME, "Claude Code's transcripts, one JSONL file for each session.", detect, read)
