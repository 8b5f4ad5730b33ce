"""Bytes of the files that layouts write."""

from collections.abc import Iterable
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def line(value: Any) -> bytes:
    """One value as one line of JSON."""
    return _encode(value) + b"\n"


def lines(values: Iterable[Any]) -> bytes:
    """Values as lines of JSON."""
    return b"".join(map(line, values))


def pretty(value: Any) -> bytes:
    """One value as JSON that people read."""
    return msgspec.json.format(_encode(value), indent=2) + b"\n"
