"""What may be stored: plain JSON values that come back exactly as they went in."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, kind_of, shown

MAX_DEPTH = 64
# What stands around a value adds a few levels. Where Python would give up differs from version to
# version, and from one program to another.
_DEEPEST = 2 * MAX_DEPTH
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BRACKET = re.compile(rb"[\[{\]}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_SEGMENT = 32
_TAG = re.compile(rf"[\w-]{{1,{MAX_SEGMENT}}}(\.[\w-]{{1,{MAX_SEGMENT}}}){{0,15}}")
MAX_TAGS = 256

LONE_SURROGATE = "a lone surrogate was replaced by U+FFFD"


def plain(value: object, where: str, notes: list[str], depth: int = 0) -> Any:
    """Return `value` as plain JSON; append to `notes` what had to be changed, refuse the rest."""
    if isinstance(value, str):
        return plain_text(value, notes)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value, where)
    if depth >= MAX_DEPTH:
        raise SchemaInvalidError(f"{where} is nested deeper than {MAX_DEPTH} levels.", field=where)
    if isinstance(value, list | tuple):
        return [plain(item, where, notes, depth + 1) for item in value]
    if isinstance(value, Mapping):
        found = {
            _key(key, where, notes): plain(item, where, notes, depth + 1)
            for key, item in value.items()
        }
        if len(found) < len(value):
            raise SchemaInvalidError(f"{where} has two keys that become the same.", field=where)
        return found
    raise SchemaInvalidError(
        f"{where} holds {kind_of(value)}, which JSON has no form for.",
        advice="Use strings, numbers, booleans, null, lists and objects.",
        field=where,
    )


def is_too_deep(json: bytes) -> bool:
    """Whether JSON is nested deeper than any that is written here."""
    if json.count(b"{") + json.count(b"[") <= _DEEPEST:
        return False
    depth = 0
    for bracket in _BRACKET.findall(_TEXT.sub(b"", json)):
        depth += 1 if bracket in b"{[" else -1
        if depth > _DEEPEST:
            return True
    return False


def plain_text(value: str, notes: list[str]) -> str:
    """Text that UTF-8 can hold: lone surrogates become U+FFFD, and the notes say so."""
    if type(value) is not str:  # a subclass could encode as something else
        value = str.__str__(value)
    if value.isascii() or not _SURROGATE.search(value):
        return value
    notes.append(LONE_SURROGATE)
    return _SURROGATE.sub("\ufffd", value)


def plain_object(value: object, where: str, notes: list[str]) -> dict[str, Any]:
    """An optional JSON object; None is the empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SchemaInvalidError(
            f"{where} must be an object, not {type(value).__name__}.", field=where
        )
    result: dict[str, Any] = plain(value, where, notes)
    return result


def _key(key: object, where: str, notes: list[str]) -> str:
    if not isinstance(key, str):
        kind = type(key).__name__
        raise SchemaInvalidError(f"{where} has a key that is a {kind}, not text.", field=where)
    return plain_text(key, notes)


def _number(value: int | float, where: str) -> int | float:
    if isinstance(value, float) and not math.isfinite(value):
        raise SchemaInvalidError(f"{where} holds {value}, which JSON has no form for.", field=where)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise SchemaInvalidError(
            f"{where} holds an integer of more than 64 bits.",
            advice="Store it as a string.",
            field=where,
        )
    return int(value) if isinstance(value, int) else float(value)


def unit(value: object, where: str) -> float | None:
    """A number from 0 to 1, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        what = repr(value) if isinstance(value, int | float) else kind_of(value)
        raise SchemaInvalidError(
            f"{where} must be a number from 0 to 1, not {what:.40}.", field=where
        )
    return float(value)


def count(value: object, where: str) -> int | None:
    """A whole number from 0 on, or None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise SchemaInvalidError(
            f"{where} must be a whole number from 0 on, not {shown(value)}.", field=where
        )
    return value


def strings(value: object, where: str) -> tuple[str, ...]:
    """A list of texts without repetition, in order; a single text counts as a list of one."""
    if value is None:
        return ()
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple | set | frozenset):
        raise SchemaInvalidError(f"{where} must be a list of strings.", field=where)
    for item in items:
        if not isinstance(item, str):
            kind = type(item).__name__
            raise SchemaInvalidError(f"{where} holds a {kind}, not a string.", field=where)
    return tuple(dict.fromkeys(map(str.__str__, items)))


def several(value: object, where: str) -> tuple[str, ...]:
    """The same of anything that can be gone through; a text is one, not its letters."""
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        value = list(value)
    return strings(value, where)


def tags(value: object) -> tuple[str, ...]:
    """Tags: letters, digits, `_` and `-` in segments of up to 32, joined by dots."""
    found = strings(value, "tags")
    if len(found) > MAX_TAGS:
        raise SchemaInvalidError(f"{len(found)} tags; the limit is {MAX_TAGS}.", field="tags")
    for tag in found:
        if not _TAG.fullmatch(tag) and not _is_marked_tag(tag):
            raise InvalidFormatError(
                f"The tag {tag!r:.80} is not valid.",
                advice="Use letters, digits, '_' and '-', up to 32 in a row, joined by dots: "
                "security.authentication.",
                field="tags",
            )
    return found


def _is_marked_tag(tag: str) -> bool:
    """Whether it is a tag but for the marks that many scripts write above, below or behind a
    letter: they count towards the length, and none stands first."""
    bare = "".join(letter for letter in tag if not _is_mark(letter))
    segments = tag.split(".")
    fits = all(0 < len(one) <= MAX_SEGMENT and not _is_mark(one[0]) for one in segments)
    return fits and _TAG.fullmatch(bare) is not None


def _is_mark(letter: str) -> bool:
    """What goes on with a word and is no letter: a name of Python's may hold it, not begin so."""
    return not letter.isalnum() and letter != "_" and f"a{letter}".isidentifier()
