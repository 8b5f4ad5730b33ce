"""Long texts page by page: nothing is left out, and no page is longer than a client can take.

`?after=N` begins behind the item N; `&from=M` in the midst of the one behind it, at a character.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from mnemolog.policy.blocks import quoted

PAGE_BYTES = 32_000
QUERY = r"(?:\?after=(?P<after>[0-9]{1,15})(?:&from=(?P<start>[0-9]{1,15}))?)?"
_QUOTE = next(quoted(""))
_CUT = " […]"

One = TypeVar("One")


class Item(NamedTuple):
    """Something to show: the number that `after` names it by, a line above it, and its text."""

    number: int
    heading: str
    text: str


class Place(NamedTuple):
    """Where a page begins: behind an item, and at which character of the next one."""

    after: int = 0
    start: int = 0

    def __str__(self) -> str:
        return f"?after={self.after}" + (f"&from={self.start}" if self.start else "")


def place(match: re.Match[str]) -> Place:
    """The place that an address names, which ends in `QUERY`."""
    return Place(int(match["after"] or 0), int(match["start"] or 0))


class Page(NamedTuple):
    """What fits, how many items were not shown to their end, and where the next page begins."""

    lines: list[str]
    left: int = 0
    next: Place | None = None


def page(items: Sequence[One], told: Callable[[One], Item], begin: Place) -> Page:
    """The page of the items behind a place; one that is longer than a page goes on in the next."""
    lines: list[str] = []
    room, here = PAGE_BYTES, begin
    for count, each in enumerate(items):
        item = told(each)
        text, following = _piece(item, here.start)
        room -= len(text.encode()) + 1
        if lines and room < 0:
            return Page(lines, len(items) - count, here)
        lines.append(text)
        if following is not None:
            return Page(lines, len(items) - count, Place(here.after, following))
        here = Place(item.number)
    return Page(lines)


def _piece(item: Item, start: int) -> tuple[str, int | None]:
    """An item from a character of its quoted text on, and where the rest of it begins."""
    whole = "\n".join(quoted(item.text))
    end = start + len(whole[start:].encode()[:PAGE_BYTES].decode("utf-8", "ignore"))
    is_midst = start > 0 and whole[start - 1 : start] != "\n"
    text = item.heading + _QUOTE * is_midst + whole[start:end]
    return (text, None) if end >= len(whole) else (text + _CUT, end)
