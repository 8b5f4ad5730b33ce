"""Texts and questions as people write them, for searches: any number of them from a few files.

The conversations are cut into entries. There are never enough for a large store, so what follows
are copies in which a quarter of the words is exchanged for others, as frequent as words are there,
and half of the rare ones get a name of their own: a copy tells what the first one told, of somebody
else. The same number always gives the same text.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from zlib import crc32

LONGEST = 900
RARE = 50
EXCHANGED = 0.25
RENAMED = 0.5
_WORD = re.compile(r"[^\W\d_]+")


class Talk:
    """Conversations, and what is asked about them."""

    def __init__(self, files: Sequence[Path]) -> None:
        conversations = [one for file in files for one in json.loads(file.read_text("utf-8"))]
        self._texts = [
            piece
            for conversation in conversations
            for turn in conversation["turns"]
            for piece in _pieces(turn["text"])
        ]
        self._questions = [
            question["question"]
            for conversation in conversations
            for question in conversation["questions"]
        ]
        self._counts = Counter(
            word for text in self._texts for word in _WORD.findall(text.casefold())
        )
        self._words = list(self._counts)
        self._weights = list(accumulate(self._counts.values()))

    def query(self, source: random.Random) -> str:
        """One of the questions."""
        return source.choice(self._questions)

    def texts(self, first: int, last: int) -> Iterator[str]:
        """The entries of these numbers; made again whenever they are asked for, never kept."""
        return (self._text(number) for number in range(first, last))

    def _text(self, number: int) -> str:
        copy, place = divmod(number, len(self._texts))
        if copy == 0:
            return self._texts[place]
        source = random.Random(number)
        return _WORD.sub(lambda found: self._other(found[0], copy, source), self._texts[place])

    def _other(self, word: str, copy: int, source: random.Random) -> str:
        if source.random() < EXCHANGED:
            return source.choices(self._words, cum_weights=self._weights)[0]
        folded = word.casefold()
        is_renamed = crc32(f"{copy} {folded}".encode()) < RENAMED * 2**32
        return f"{word}{copy}" if self._counts[folded] < RARE and is_renamed else word


def _pieces(text: str) -> Iterator[str]:
    """A text in parts that end where a word ends."""
    while len(text) > LONGEST:
        end = max(text.rfind(" ", 0, LONGEST), LONGEST // 2)
        yield from filter(str.strip, [text[:end]])
        text = text[end:]
    yield from filter(str.strip, [text])
