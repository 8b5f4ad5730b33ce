"""Merging: one body made of two, in which every line stands once.

Lines go under the heading that they had. A line that both have gains the sources of the other; one
that is struck through in either is over, and stays struck through.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

_HEADING = re.compile(r"#{1,6}[ \t]")
_TITLE = re.compile(r"#[ \t]")
_FENCE = re.compile(r"[ \t]{0,3}(```+|~~~+)")
_COMMENT = re.compile(r"[ \t]*<!--([^<>]*)-->[ \t]*")
_STRUCK = re.compile(r"~~(.+)~~")
_BULLET = re.compile(r"[-*+][ \t]+")
_DATES = re.compile(r"\([^()]*\)$")

Sections = dict[str, list[str]]
"""The pieces below each heading: a line and what belongs to it, a table, or a block of code."""


class _Known(NamedTuple):
    """Where a line stands."""

    rows: list[str]
    at: int


def merged_body(into: str, other: str) -> str:
    """The body of one node with all that another one says; saying it again changes nothing."""
    there = _sections(into)
    known = {fact_of(one): _Known(rows, at) for rows in there.values()
             for at, one in enumerate(rows) if one}  # fmt: skip
    homes = {_heading(name): name for name in there}
    for heading, pieces in _sections(other).items():
        rows = there.get(homes.get(_heading(heading), heading), [])
        _trim(rows)
        for piece in pieces:
            _take(known, rows, piece)
        if any(rows):
            there[homes.setdefault(_heading(heading), heading)] = rows
    return _joined(there)


def _sections(body: str) -> Sections:
    found: Sections = {"": []}
    heading, fence = "", ""
    for line in body.rstrip().splitlines():
        mark, rows = _FENCE.match(line), found[heading]
        if fence or (rows and rows[-1] and _goes_on(rows[-1], line)):
            rows[-1] += f"\n{line}"
            fence = "" if fence and mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
            rows.append(line)
        elif _HEADING.match(line):
            heading = _unlike(found, line.rstrip())
            found.setdefault(heading, [])
        else:
            rows.append(line.rstrip())
    return found


def _goes_on(piece: str, line: str) -> bool:
    """Whether a line belongs to what stands above it: indented below it, or a row of a table."""
    is_indented = line[:1] in (" ", "\t") and bool(line.strip())
    return is_indented or (line.startswith("|") and piece.startswith("|"))


def _unlike(found: Sections, heading: str) -> str:
    """A heading that stands there twice is kept twice; spaces behind it tell them apart."""
    while found.get(heading):
        heading += " "
    return heading


def _heading(line: str) -> str:
    """What a heading says; a title says what the whole node is about, which is nothing new."""
    return "" if _TITLE.match(line) else " ".join(line.lstrip("#").casefold().split())


def _trim(rows: list[str]) -> None:
    while len(rows) > 1 and not rows[-1]:
        rows.pop()


def _take(known: dict[str, _Known], rows: list[str], piece: str) -> None:
    if not piece:
        if rows and rows[-1]:
            rows.append("")  # a paragraph of its own
        return
    fact = fact_of(piece)
    if fact in known:
        found, at = known[fact]
        found[at] = _united(found[at], piece)
        return
    known[fact] = _Known(rows, len(rows))
    rows.append(piece)


def fact_of(piece: str) -> str:
    """What a line says, whoever said it, when, and whether it still holds."""
    if "\n" in piece:
        return piece
    plain = _plain(piece)
    struck = _STRUCK.fullmatch(plain)
    return " ".join((struck[1] if struck else plain).casefold().split())


def is_struck(piece: str) -> bool:
    """Whether a line is over."""
    return _STRUCK.fullmatch(_plain(piece)) is not None


def _plain(piece: str) -> str:
    """A line without its bullet, its dates and what it rests on."""
    told = _BULLET.sub("", _COMMENT.sub("", piece).strip(), count=1)
    return _DATES.sub("", told).strip()


def _united(one: str, other: str) -> str:
    """A line with the sources of both; the struck one of the two."""
    if "\n" in one:
        return one
    marks = [mark for line in (one, other) for mark in _marks(line)]
    chosen = other if is_struck(other) and not is_struck(one) else one
    if set(marks) == set(_marks(chosen)):
        return chosen
    sources = dict.fromkeys(mark for mark in marks if not mark.startswith("#"))
    keys = dict.fromkeys(mark for mark in marks if mark.startswith("#"))
    text = _COMMENT.sub("", chosen).rstrip()
    return f"{text} <!-- {' '.join([*sources, *list(keys)[:1]])} -->"


def _marks(line: str) -> list[str]:
    return [mark for found in _COMMENT.findall(line) for mark in found.replace(",", " ").split()]


def _joined(sections: Sections) -> str:
    blocks = []
    for heading, rows in sections.items():
        content = "\n".join(rows).rstrip("\n")
        if heading:
            blocks.append("\n".join(filter(None, (heading.rstrip(), content))))
        elif content:
            blocks.append(content.lstrip("\n"))
    return "\n\n".join(blocks) + "\n"


def united(one: Iterable[str], other: Iterable[str], without: Iterable[str] = ()) -> list[str]:
    """The items of two lists, each once."""
    gone = set(without)
    return [item for item in dict.fromkeys((*one, *other)) if item not in gone]
