"""What a person or a program hands in: texts, and entries for `add`."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import click

from mnemolog.errors import InputError, InvalidFormatError
from mnemolog.faces.cli import screen

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.model.entry import Entry, Receipt

BATCH = 1000

# The field that a plain text stands for, by type.
_MAIN = {"decision": "decision", "finding": "description"}
_CORRECTED = {**_MAIN, "preference": "value"}


class Batch(NamedTuple):
    """Some lines, and the number of the first."""

    first: int
    lines: list[bytes]


def from_text(
    text: str,
    *,
    agent: str | None,
    kind: str | None,
    role: str | None,
    tags: tuple[str, ...],
    importance: float | None,
) -> dict[str, Any]:
    """An entry from a plain text and options."""
    from mnemolog.model.entry import type_name

    name = type_name(kind or "conversation")
    if role is None and name == "conversation" and agent is None:
        role = "user"
    given = {"role": role, "tags": list(tags) or None, "importance": importance}
    content: Any = {_MAIN[name]: text} if name in _MAIN and text.strip() else text
    if name == "preference":
        content = _preference(text)
    fields = {key: value for key, value in given.items() if value is not None}
    return {"type": name, "content": content, **fields}


def _preference(text: str) -> dict[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise InvalidFormatError(
            "A preference is written KEY=VALUE.", advice="For example: theme=dark", field="text"
        )
    return {"key": key.strip(), "value": value.strip()}


def corrected(entry: "Entry", text: str) -> str | dict[str, Any]:
    """The content of an entry with a text in the place of what it says."""
    if isinstance(entry.content, str):
        return text
    if main := _CORRECTED.get(entry.type):
        return {**entry.content, main: text}
    what = f"an entry of type {entry.type} that has several fields"
    raise click.UsageError(f"TEXT says too little of {what}: use `add --entry`.")


def ask_to_type(source: BinaryIO, what: str) -> None:
    """Tell somebody at a terminal what is waited for, and how it ends."""
    if source.isatty():
        screen.say(f"Type {what}; Ctrl-D on a line of its own ends it.", err=True)


def text_in(source: BinaryIO) -> str:
    """All that a file or the input says."""
    ask_to_type(source, "the text")
    try:
        return source.read().decode()
    except UnicodeDecodeError:
        raise click.UsageError("The text is not UTF-8.") from None


def from_json(text: str) -> dict[str, Any]:
    """An entry from JSON; what is wrong with it is told by line and column."""
    return _parsed(text, 1, fate(0))


def check(record: dict[str, Any]) -> None:
    """Raise what `add_many` would say of a record, before anything is made for it."""
    from mnemolog.model.shapes import fields_of

    fields_of(record, [])


def fate(stored: int) -> str:
    """What an error has to say about the rest of the input."""
    if stored:
        return f"The {stored:,} entries of earlier batches are stored, nothing of this one."
    return "Nothing was stored."


def batches(stream: Iterable[bytes]) -> Iterator[Batch]:
    """The lines of a stream, so many at a time."""
    lines, first = iter(stream), 1
    while found := list(islice(lines, BATCH)):
        yield Batch(first, found)
        first += len(found)


def records(batch: Batch, stored: int) -> list[dict[str, Any]]:
    """The entries of a batch of lines; a bad one is told by its number."""
    told = fate(stored)
    found = []
    for number, line in enumerate(batch.lines, batch.first):
        if line.strip():
            record = _parsed(_decoded(line, number, told), number, told)
            try:
                check(record)
            except InputError as error:
                raise _located(error, f"Line {number:,}", told, line=number) from error
            found.append(record)
    return found


def store(
    memory: "Memory", session_id: str, batch: Batch, found: list[dict[str, Any]], stored: int
) -> "list[Receipt]":
    """Add the entries of a batch in one step."""
    try:
        return memory.add_many(session_id, found)
    except InputError as error:
        last = batch.first + len(batch.lines) - 1
        where = f"Lines {batch.first:,} to {last:,}"
        raise _located(error, where, fate(stored), line=batch.first, last_line=last) from error


def _located(error: InputError, where: str, told: str, **place: int) -> InputError:
    """The same error, with the place that it is about."""
    advice = f"{error.advice} {told}".strip()
    return type(error)(f"{where}: {error.message}", advice=advice, **{**error.details, **place})


def _decoded(line: bytes, number: int, told: str) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise _bad(number, error.start + 1, "not UTF-8", told) from error


def _parsed(text: str, line: int, told: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        why = f"not JSON ({error.msg})"
        form = f'An entry is written as {{"content": "…"}}. {told}'
        raise _bad(line + error.lineno - 1, error.colno, why, form) from error
    except (ValueError, RecursionError) as error:
        raise _bad(line, 1, f"cannot be read ({error})", told) from error
    if not isinstance(found, dict):
        raise _bad(line, 1, f"an entry is an object, not {type(found).__name__}", told)
    return found


def _bad(line: int, column: int, why: str, told: str) -> InvalidFormatError:
    return InvalidFormatError(
        f"Line {line:,}, column {column:,}: {why}.", advice=told, line=line, column=column
    )
