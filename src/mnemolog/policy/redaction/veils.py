"""What stands between a name and its value unseen: a terminal's colours, signs written as codes."""

import re
from bisect import bisect_right
from typing import NamedTuple

from mnemolog.policy.redaction.spans import Span

_HTML = {"quot": '"', "#34": '"', "#x22": '"', "apos": "'", "#39": "'", "#039": "'", "#x27": "'"}
_SIGNS = {**_HTML, "amp": "&", "#x3d": "=", "22": '"', "27": "'", "26": "&", "3d": "="}
# The escape character itself, as it is shown, or as source code and JSON write it.
_VEIL = re.compile(
    r"(?: \x1b | \u241b | \^\[ | \\{1,4}(?:u001b|x1b|033|e) ) \[ [0-9;:?]{0,24} [a-z]"
    r" | \x1b\([b0]"
    r" | & (?P<html> quot|apos|amp|\#34|\#0?39|\#x2[27]|\#x3d ) ;"
    r" | \\{1,4}u00 (?P<json> 2[267] | 3d )",
    re.VERBOSE | re.IGNORECASE,
)


# No veil is without one of these; a few searches for a letter cost less than one for a pattern.
_MARKS = ("\x1b", "\u241b", "^[", "\\", "&")


class Unveiled(NamedTuple):
    """A text as it is read, and from which places on it lies how far before the text as written."""

    text: str
    places: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()

    def written(self, span: Span) -> Span:
        """Where it stands in the text as written."""
        if not self.places:
            return span
        return Span(self._written(span.start), self._written(span.end - 1) + 1, span.kind)

    def _written(self, at: int) -> int:
        return at + self.shifts[bisect_right(self.places, at) - 1]


def unveiled(text: str) -> Unveiled:
    """The text without colours and with its signs; the same object where there is no such thing."""
    if not any(mark in text for mark in _MARKS) or _VEIL.search(text) is None:
        return Unveiled(text)
    parts, places, shifts = [""], [0], [0]
    at = length = 0
    for found in _VEIL.finditer(text):
        sign = _SIGNS.get((found["html"] or found["json"] or "").lower(), "")
        parts += text[at : found.start()], sign
        length += found.start() - at + len(sign)
        at = found.end()
        places.append(length)
        shifts.append(at - length)
    return Unveiled("".join((*parts, text[at:])), tuple(places), tuple(shifts))
