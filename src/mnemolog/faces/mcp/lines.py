"""The lines of standard input, mended where half a character would make them unreadable.

A text that was cut in the middle of an emoji ends in half a surrogate pair. Clients written in
JavaScript send that as an escape, the protocol's library cannot read the line, and so nobody would
ever answer it.
"""

import re
from io import TextIOWrapper

_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    r"|.)"
)
_UNKNOWN = r"\ufffd"


def mended(line: str) -> str:
    """The line of JSON with every half of a surrogate pair replaced."""
    if "\\ud" not in line and "\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda found: _UNKNOWN if found[1] else found[0], line)


class MendedInput(TextIOWrapper):
    """Standard input as text, a mended line at a time."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """The next line."""
        return mended(super().readline(size))
