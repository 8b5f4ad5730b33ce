"""What was given as an argument, checked: for verbs whose arguments go into no entry."""

import os
from typing import TypeVar

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, shown
from mnemolog.model import plain

T = TypeVar("T")

_LARGEST = 2**63


def text(value: object, where: str) -> str:
    """A text; what no file can hold of it becomes U+FFFD."""
    if not isinstance(value, str):
        raise _refused(where, "a text", value)
    return plain.plain_text(value, [])


def whole(value: object, where: str) -> int:
    """A whole number, also a negative one."""
    if isinstance(value, bool) or not isinstance(value, int) or not -_LARGEST <= value < _LARGEST:
        raise _refused(where, "a whole number", value)
    return value


def place(value: object, where: str) -> str:
    """A path on this machine."""
    try:
        return os.fsdecode(os.fsencode(value))  # type: ignore[arg-type]
    except TypeError:
        raise _refused(where, "a path", value) from None
    except UnicodeError:
        raise InvalidFormatError(
            f"{where} holds a lone surrogate, which no name of a file can hold.",
            advice="Remove that character.",
            field=where,
        ) from None


def record(value: object, kind: type[T], where: str) -> T:
    """One of our own records."""
    if not isinstance(value, kind):
        raise _refused(where, f"a {kind.__name__}", value)
    return value


def _refused(where: str, wanted: str, value: object) -> SchemaInvalidError:
    return SchemaInvalidError(f"{where} must be {wanted}, not {shown(value)}.", field=where)
