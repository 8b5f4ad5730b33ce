"""What a tool answers: text for a model, within a budget, and whether it is an error."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mnemolog.errors import MnemologError, SchemaInvalidError
from mnemolog.policy.blocks import tokens

MAX_TOKENS = 2000
_LEAST_TOKENS = 100
_MOST_TOKENS = 20_000
_SEPARATOR = "\n---\n"


@dataclass(frozen=True)
class Answer:
    """The answer to a tool call; never an exception."""

    text: str
    is_error: bool = False

    def __str__(self) -> str:
        return self.text


def refused(error: MnemologError) -> Answer:
    """An error as an answer that says what to do next."""
    return Answer(f"Error: {error}", is_error=True)


def paged(blocks: Sequence[str], max_tokens: int, cursor: object, nothing: str) -> Answer:
    """As many blocks as fit, from where the cursor says; and how to get the rest."""
    start = _start(cursor, len(blocks))
    if not blocks[start:]:
        return Answer(nothing if start == 0 else "There is nothing after this cursor.")
    taken = list(_fitting(blocks[start:], max_tokens))
    end = start + len(taken)
    text = _SEPARATOR.join(taken)
    if end < len(blocks):
        text += f"{_SEPARATOR}{len(blocks) - end} more: call again with cursor {str(end)!r}."
    return Answer(text)


def budget_of(given: object) -> int:
    """How long an answer may be, in tokens."""
    if given is None:
        return MAX_TOKENS
    if isinstance(given, bool) or not isinstance(given, int):
        raise SchemaInvalidError("max_tokens must be a whole number.", field="max_tokens")
    return min(max(given, _LEAST_TOKENS), _MOST_TOKENS)


def _start(cursor: object, count: int) -> int:
    if cursor is None or cursor == "":
        return 0
    if isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) < 10:
        return min(int(cursor), count)
    raise SchemaInvalidError(
        "The cursor is not one of ours.", advice="Leave it out to begin again.", field="cursor"
    )


def _fitting(blocks: Sequence[str], max_tokens: int) -> Iterator[str]:
    left = max_tokens
    for number, block in enumerate(blocks):
        cost = tokens(block) + 2
        if cost > left:
            if number == 0:
                yield _cut(block, left)
            return
        yield block
        left -= cost


def _cut(block: str, max_tokens: int) -> str:
    """The first block always comes, as much of it as fits."""
    room = (max_tokens - 20) * 4
    return block.encode()[:room].decode("utf-8", "ignore") + " […] (cut: too long for one answer)"
