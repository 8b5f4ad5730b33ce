"""The training conversations: read from `retriever/data`, a tenth of them held out."""

import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, TypedDict

DATA = Path(__file__).parent / "data"
# One conversation in so many is never trained on; which ones follows from their names.
HELD_OUT = 10


class Turn(TypedDict):
    """What one speaker said at one time."""

    id: str
    session: str
    speaker: str
    time: str
    text: str


class Question(TypedDict):
    """A question, and the turns that answer it."""

    question: str
    type: str
    evidence: list[str]


class Conversation(TypedDict):
    """Turns in order, and questions about them."""

    id: str
    domain: str
    turns: list[Turn]
    questions: list[Question]


class Split(NamedTuple):
    """What is trained on, and what is held out."""

    trained: list[Conversation]
    held_out: list[Conversation]


def read(paths: Iterable[Path]) -> list[Conversation]:
    """The conversations of these files, one JSON object a line; an error names the line."""
    return [one for path in paths for one in _read(path)]


def _read(path: Path) -> Iterator[Conversation]:
    # Not by splitlines, which also ends a line at marks that may stand in a text.
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise ValueError(f"{path.name}, line {number}: {error}") from error


def files(folder: Path = DATA) -> list[Path]:
    """All files of training conversations, by name."""
    return sorted(folder.glob("*.jsonl"))


def is_held_out(conversation: Conversation) -> bool:
    """Whether a conversation is kept for measuring; it stays so whatever is added beside it."""
    return zlib.crc32(conversation["id"].encode()) % HELD_OUT == 0


def split(conversations: Iterable[Conversation]) -> Split:
    """Those to train on and those to measure with."""
    all_of_them = list(conversations)
    return Split(
        [one for one in all_of_them if not is_held_out(one)],
        [one for one in all_of_them if is_held_out(one)],
    )


def spoken(turn: Turn) -> str:
    """Who spoke and what was said: the text that the index, too, gives to an embedder."""
    return f"{turn['speaker']} {turn['text']}".strip()
