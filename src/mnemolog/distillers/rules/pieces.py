"""A body in pieces: joined again they are the body, byte for byte.

A piece is a line with its end, or a block of code or a comment as a whole, in which nothing is a
heading or a line of ours.
"""

import re
from typing import NamedTuple

_ROW = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--(?!.*-->)")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+(?P<text>.*?))?(?:[ \t]+#+)?[ \t]*")


class Cut(NamedTuple):
    """A body in pieces; what is left open at its end goes on to the end, whatever follows."""

    pieces: list[str]
    left_open: str


def cut(body: str) -> Cut:
    """Cut a body into pieces."""
    found: list[str] = []
    block, closing = "", None
    for row in _ROW.findall(body):
        plain = row.rstrip("\r\n")
        is_last = closing.search(plain) if closing else (closing := _closing(plain)) is None
        block += row
        if is_last:
            found.append(block)
            block, closing = "", None
    return Cut(found, block)


def _closing(row: str) -> re.Pattern[str] | None:
    """What ends the block that a row begins; None if it begins none."""
    if _COMMENT.match(row):
        return re.compile("-->")
    fence = _FENCE.match(row)
    if fence is None:
        return None
    mark = fence["mark"]
    return re.compile(rf"^ {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")


def heading(piece: str) -> str | None:
    """What a heading says; None if it is no heading."""
    found = _HEADING.fullmatch(piece.rstrip("\r\n"))
    return None if found is None else found["text"] or ""


def is_section(piece: str) -> bool:
    """Whether it is a heading of the second level, as ours are."""
    return piece.startswith("##") and piece[2:3] in (" ", "\t")


def is_blank(piece: str) -> bool:
    """Whether nothing stands there."""
    return not piece.strip()


def newline_of(body: str) -> str:
    """How the lines of a body end."""
    first = _ROW.match(body)
    return "\r\n" if first is not None and first[0].endswith("\r\n") else "\n"


def ended(piece: str, newline: str) -> str:
    """A piece with an end, should it have none."""
    return piece if piece.endswith(("\n", "\r")) else f"{piece}{newline}"
