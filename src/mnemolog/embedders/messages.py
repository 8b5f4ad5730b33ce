"""Messages of protocol buffers, as far as a graph of ONNX needs them: written, never read."""

from collections.abc import Iterable, Iterator
from struct import pack

Value = int | float | str | bytes
"""A whole number, a real one of 32 bits, a text, or the bytes of another message."""


def each(number: int, values: Iterable[Value]) -> Iterator[tuple[int, Value]]:
    """The fields of one number that stands for many values."""
    return ((number, value) for value in values)


def message(*fields: tuple[int, Value]) -> bytes:
    """A message of protocol buffers: every value behind the number of its field."""
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + pack("<f", value)
    content = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
