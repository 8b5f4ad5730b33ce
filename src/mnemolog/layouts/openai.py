"""Messages as OpenAI's interfaces take them, in JSON or JSONL."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

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
from mnemolog.layouts.parsing import Record, document, first_records, records

NAME = "openai"
_IDS = ("id", "conversation_id", "session_id")
_TIMES = ("timestamp", "created_at", "createdAt")
_SECONDS_BELOW = 10**11


class _Talk(NamedTuple):
    session: str
    messages: list[Any]
    facts: Mapping[str, Any]
    file: str
    line: int | None
    first: int = 1
    """The place of its first message."""


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def _is_talk(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def _holds_messages(found: object) -> bool:
    """Whether a document is a talk, a list of messages, or a list of talks."""
    first = found[0] if isinstance(found, list) and found else found
    if isinstance(found, list):
        return _is_message(first) or _is_talk(first)
    return _is_talk(first) and any(map(_is_message, first["messages"]))  # type: ignore[index]


def detect(source: FileSource) -> bool:
    """Whether a file holds messages."""
    for name in source.names():
        if name.endswith(".json") and _holds_messages(document(source, name)):
            return True
        if name.endswith(".jsonl"):
            first = next(first_records(source, name), None)
            if _is_talk(first) or _is_message(first):
                return True
    return False


def read(source: FileSource) -> Iterator[AnyFound]:
    """Each talk as a session, each message as an entry."""
    for name in source.names():
        for talk in _talks(source, name):
            if isinstance(talk, Refused):
                yield talk
            else:
                yield from _entries(talk)


def _talks(source: FileSource, name: str) -> Iterator[_Talk | Refused]:
    stem = name.rpartition("/")[2].rpartition(".")[0] or NAME
    if name.endswith(".json"):
        yield from _in_document(document(source, name), stem, name)
    elif name.endswith(".jsonl"):
        for line in records(source, name):
            yield _line(line, stem, name) if isinstance(line, Record) else line


def _in_document(found: object, stem: str, file: str) -> Iterator[_Talk | Refused]:
    """One talk, several, or the messages of one."""
    if isinstance(found, Refused):
        yield found
    elif isinstance(found, list) and found and not any(map(_is_talk, found)):
        if any(map(_is_message, found)):
            yield _Talk(stem, found, {}, file, None)
    elif isinstance(found, list) and _holds_messages(found):
        for number, one in enumerate(found, 1):
            yield _talk(one, stem, number, file, None)
    elif _holds_messages(found):
        yield _talk(found, stem, 0, file, None)


def _line(line: Record, stem: str, file: str) -> _Talk | Refused:
    """A talk of its own, or one message of the talk that the whole file is."""
    if _is_talk(line.value):
        return _talk(line.value, stem, line.number, file, line.number)
    if _is_message(line.value):
        return _Talk(stem, [line.value], {}, file, line.number, line.number)
    return Refused(file, line.number, "neither a message nor a list of messages")


def _talk(value: object, stem: str, number: int, file: str, line: int | None) -> _Talk | Refused:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return Refused(file, line, "no list of messages")
    given = next((value[name] for name in _IDS if isinstance(value.get(name), str)), "")
    usual = f"{stem}-{number}" if number else stem
    return _Talk(given or usual, value["messages"], value, file, line)


def _entries(talk: _Talk) -> Iterator[AnyFound]:
    title, user = talk.facts.get("title"), talk.facts.get("user")
    yield SessionFound(
        talk.session,
        user if isinstance(user, str) and user else None,
        created_at=_time(talk.facts),
        metadata={"title": title} if isinstance(title, str) else {},
        file=talk.file,
    )
    for place, message in enumerate(talk.messages, talk.first):
        if not _is_message(message):
            yield Refused(talk.file, talk.line, f"message {place} has no role")
        else:
            yield from _message(talk, place, message)


def _message(talk: _Talk, place: int, message: Mapping[str, Any]) -> Iterator[AnyFound]:
    content, calls = message.get("content"), message.get("tool_calls")
    for kind in messages.others(content):
        yield Skipped(kind)
    text = messages.text_of(content)
    calls = calls if isinstance(calls, list) and calls else None
    if not text.strip() and calls is None:
        yield Skipped("empty message")
        return
    common: dict[str, Any] = {"timestamp": _time(message)}
    name = message.get("name")
    about = {"name": name} if isinstance(name, str) else {}
    if message["role"] in ("tool", "function"):
        record = messages.result(text, message.get("tool_call_id"), metadata=about, **common)
    else:
        record = messages.said(message["role"], text, calls, metadata=about, **common)
    record["id"] = fields.given_id(message.get("id"), NAME, talk.session, place, message)
    yield EntryFound(talk.session, record, talk.file, talk.line)


def _time(value: Mapping[str, Any]) -> object:
    given = next((value[name] for name in _TIMES if value.get(name) is not None), None)
    if isinstance(given, bool) or not isinstance(given, int | float):
        return given
    # Unix seconds, as the interfaces give them; ours are milliseconds.
    return given * 1000 if given < _SECONDS_BELOW else given


LAYOUT = Layout(
    NAME,
    "Messages as OpenAI's interfaces take them: {role, content} in JSON or JSONL.",
    detect,
    read,
)
