"""Foreign bytes to plain values: strict JSON, or a reason why not."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from mnemolog.errors import InvalidFormatError, MnemologError, SizeLimitError, StorageError
from mnemolog.layouts.contract import FileSource, Refused
from mnemolog.model.plain import MAX_DEPTH

MAX_LINE = 8 * 1024 * 1024
MAX_DOCUMENT = 64 * 1024 * 1024
_PEEKED = 50


class Record(NamedTuple):
    """One line that is a JSON object."""

    number: int
    value: dict[str, Any]
    raw: bytes


def parse(content: bytes) -> Any:
    """The value of some JSON; refuses what another reader could take for something else."""
    try:
        found = json.loads(
            text_of(content),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
        )
    except InvalidFormatError:
        raise
    except RecursionError as error:
        raise InvalidFormatError("nested too deeply") from error
    except ValueError as error:
        raise InvalidFormatError("not JSON") from error
    _check_depth(found)
    return found


def text_of(content: bytes) -> str:
    """The text of some bytes; anything but UTF-8 is refused."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidFormatError("not UTF-8") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidFormatError("the same key twice")
    return found


def _float(text: str) -> float:
    found = float(text)
    return found if math.isfinite(found) else _constant(text)


def _constant(name: str) -> Any:
    raise InvalidFormatError("NaN or Infinity, which are not JSON")


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise InvalidFormatError("nested too deeply")


def records(source: FileSource, name: str) -> Iterator[Record | Refused]:
    """The lines of a file that are JSON objects, and why the others are refused."""
    try:
        for number, content in source.lines(name):
            if content is None:
                yield Refused(name, number, "the line is too long", SizeLimitError.code)
            elif content.strip():
                yield _record(name, number, content)
    except (StorageError, OSError) as error:
        yield unreadable(name, error)


def _record(name: str, number: int, content: bytes) -> Record | Refused:
    try:
        value = parse(content)
    except InvalidFormatError as error:
        return Refused(name, number, error.message)
    if not isinstance(value, dict):
        return Refused(name, number, "not a JSON object")
    return Record(number, value, content)


def document(
    source: FileSource, name: str, parsed: Callable[[bytes], Any] = parse
) -> Any | Refused:
    """What a file says that is one document, of JSON unless told, or why it is refused."""
    try:
        return parsed(source.read(name))
    except InvalidFormatError as error:
        return Refused(name, None, error.message)
    except SizeLimitError as error:
        return Refused(name, None, "the document is too long", error.code)
    except (StorageError, OSError) as error:
        return unreadable(name, error)


def documents(source: FileSource) -> Iterator[tuple[str, Any | Refused]]:
    """Every file that is named as a JSON document: its value, or why it is refused."""
    for name in source.names():
        if name.endswith(".json"):
            yield name, document(source, name)


def facts(source: FileSource, name: str, there: set[str]) -> dict[str, Any] | Refused:
    """A document that is an object; an empty one if there is none."""
    if name not in there:
        return {}
    found = document(source, name)
    if isinstance(found, Refused | dict):
        return found
    return Refused(name, None, "not a JSON object")


def first_records(source: FileSource, name: str) -> Iterator[dict[str, Any]]:
    """The objects among the first lines of a file; for telling what it is."""
    for number, found in enumerate(records(source, name)):
        if isinstance(found, Record):
            yield found.value
        if number >= _PEEKED:
            return


def unreadable(name: str, error: Exception) -> Refused:
    """The refusal of a file that the system does not let us read."""
    code = error.code if isinstance(error, MnemologError) else "E_STORAGE_IO"
    return Refused(name, None, "the file could not be read", code)
