"""What a tool answers: text for a model, within a budget, and whether it is an error."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mnemolog.errors import MnemologError, SchemaInvalidError, shown
from mnemolog.policy.blocks import PER_TOKEN

_SEPARATOR = "\n---\n"
_CONTINUED = "(continued)\n  | "
# Room for the line that says how to go on.
_REST = 160
_CURSOR = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?", re.ASCII)

ASK = "Ask the person who runs this memory."
# Advice about commands, settings and Python, of which a model can follow nothing.
_NOT_FOR_MODELS = re.compile(
    r"`mnemolog |(?<![\w-])--[a-z]|\bhandle\b|`?Memory\.open|for_agent|for_user|get_entries"
    r"|list_sessions|clear_session|`text=`"
    r"|\b(?:storage|archive|compaction|privacy|knowledge|compartments)\.[a-z]"
)


@dataclass(frozen=True)
class Answer:
    """The answer to a tool call; never an exception."""

    text: str
    is_error: bool = False

    def __str__(self) -> str:
        return self.text


def refused(error: MnemologError) -> Answer:
    """An error as an answer that says what to do next."""
    return Answer(f"Error: {for_model(error)}", is_error=True)


def for_model(error: MnemologError) -> str:
    """An error in words for a model, which can neither type commands nor write Python."""
    advice = ASK if _NOT_FOR_MODELS.search(error.advice) else error.advice
    return f"{error.message} {advice}".strip()


class _Place(NamedTuple):
    """Where an answer begins or ends: before which block, and how many bytes into it."""

    block: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.block}.{self.offset}" if self.offset else str(self.block)


def paged(
    blocks: Sequence[str],
    max_tokens: int,
    cursor: object,
    nothing: str,
    marks: Sequence[int] | None = None,
    more: str = "",
) -> Answer:
    """As many blocks as fit, from where the cursor says; and how to get the rest.

    A cursor is the mark of a block: its place in the row, or what `marks` gives, which only grow;
    with these, no block is passed over because others have gone since. `more` ends the last page.
    """
    known = range(len(blocks)) if marks is None else marks
    start = _found(_place(cursor), known)
    if start.block >= len(blocks):
        return Answer(nothing if not blocks else "There is nothing after this cursor.")
    taken, end = _fitting(blocks, start, max_tokens * PER_TOKEN - _REST)
    if end.block < len(blocks):
        rest = f"{len(blocks) - end.block} more"
        rest = f"This one goes on, {rest} in all" if end.offset else rest
        more = f"{rest}: call again with cursor '{end._replace(block=known[end.block])}'."
    return Answer(_SEPARATOR.join([*taken, *filter(None, [more])]))


def _found(place: _Place, marks: Sequence[int]) -> _Place:
    """The place in the row; where the block itself has gone, the beginning of the next one."""
    at = bisect_left(marks, place.block)
    is_there = at < len(marks) and marks[at] == place.block
    return _Place(at, place.offset if is_there else 0)


def _place(cursor: object) -> _Place:
    if cursor is None or cursor == "":
        return _Place()
    found = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    if found is None:
        raise SchemaInvalidError(
            f"The cursor {shown(cursor)} is not one of ours.",
            advice="Leave it out to begin again.",
            field="cursor",
        )
    return _Place(int(found[1]), int(found[2] or 0))


def _fitting(blocks: Sequence[str], start: _Place, room: int) -> tuple[list[str], _Place]:
    """What fits, and where that ends; a block that is too long for one answer is cut."""
    taken: list[str] = []
    place = start
    while place.block < len(blocks):
        text = _from(blocks[place.block], place.offset)
        cost = len(text.encode()) + len(_SEPARATOR)
        if cost > room:
            return (taken, place) if taken else _cut(text, place, room)
        taken.append(text)
        room -= cost
        place = _Place(place.block + 1)
    return taken, place


def _from(block: str, offset: int) -> str:
    if not offset:
        return block
    return _CONTINUED + block.encode()[offset:].decode("utf-8", "ignore")


def _cut(text: str, place: _Place, room: int) -> tuple[list[str], _Place]:
    piece = text.encode()[:room].decode("utf-8", "ignore")
    read = len(piece.encode()) - (len(_CONTINUED) if place.offset else 0)
    return [f"{piece} […]"], _Place(place.block, place.offset + read)
