"""Canonical JSON, for checksums of `one-log` alone: keys sorted, no white space.

Numbers are written as JavaScript writes them, because the document that asks for it is written in
it: 1.0 is 1, and 1e-07 is 1e-7.
"""

import json
from collections.abc import Callable
from decimal import Decimal
from hashlib import sha256
from typing import Any

# Outside of these, numbers are written with an exponent.
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-6, 1e21


def checksum(entry: dict[str, Any]) -> str:
    """The checksum that is written."""
    return _sum(entry, javascript_number)


def is_right(entry: dict[str, Any], given: object) -> bool:
    """Whether a checksum is that of the entry, with numbers in either of the two forms."""
    return given in (_sum(entry, javascript_number), _sum(entry, repr))


def _sum(entry: dict[str, Any], number: Callable[[float], str]) -> str:
    without = {name: value for name, value in entry.items() if name != "checksum"}
    text = canonical(without, number)
    return f"sha256:{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def canonical(value: Any, number: Callable[[float], str]) -> str:
    """A value in the one form that it has."""
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass"))
        inner = (f"{_text(name)}:{canonical(each, number)}" for name, each in pairs)
        return f"{{{','.join(inner)}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(canonical(each, number) for each in value)}]"
    if isinstance(value, float):
        return number(value)
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def javascript_number(value: float) -> str:
    """A number as JavaScript's JSON.stringify writes it."""
    if value == 0:
        return "0"
    if _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    mantissa, _, exponent = repr(value).partition("e")
    return f"{mantissa}e{int(exponent):+d}"
