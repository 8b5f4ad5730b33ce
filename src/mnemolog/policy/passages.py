"""Passages: of a long text what bears on a question, so that a block holds much for few tokens."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mnemolog.policy.words import words_in

GAP = "[…]"
# Of longer texts only the beginning is looked through.
_READ = 65_536
# A passage is a line, or of a long line as many words as these characters hold.
_PASSAGE = re.compile(r"[^\n]{0,158}[^\n\s](?=\s|$)|[^\n]{1,160}")
# Words that begin alike are taken for forms of one.
_STEM = 6


def passages(text: str, question: str, most: int) -> str:
    """The beginning of a text and the passages that share most with a question, in their order.

    In UTF-8 it takes `most` bytes at the most; a mark stands for what is left out.
    """
    found = [one for one in _PASSAGE.finditer(text[:_READ]) if not one[0].isspace()]
    chosen, room = [], most - len(f"{GAP}\n".encode())
    for at in _ranked([passage[0] for passage in found], question):
        cost = len(found[at][0].encode()) + len(f"\n{GAP}\n".encode())
        if cost <= room:
            chosen.append(at)
            room -= cost
    return "".join(_joined(text, found, sorted(chosen))).strip("\n")


def _ranked(found: Sequence[str], question: str) -> list[int]:
    """The first passage, which says what a text is about, then the best; equal ones in order."""
    asked = _keys(question)
    held = [asked & _keys(passage) for passage in found]
    counts = Counter(key for keys in held for key in keys)
    worth = [sum(1 / counts[key] for key in keys) for keys in held]
    return sorted(range(len(found)), key=lambda at: (at > 0, -worth[at], at))


def _keys(text: str) -> set[str]:
    """What a text is compared by: the beginnings of words, pairs of characters where no spaces
    tell words apart."""
    found: set[str] = set()
    for word in words_in(text):
        if word.isascii():
            found.add(word[:_STEM])
        else:
            found.update(map("".join, pairwise(word)))
    return found


def _joined(text: str, found: Sequence[re.Match[str]], chosen: Sequence[int]) -> Iterator[str]:
    end = 0
    for before, at in pairwise([-1, *chosen]):
        passage = found[at]
        if at > before + 1:
            yield f"\n{GAP}\n"
        elif passage.start() > end:
            yield "\n"
        yield passage[0]
        end = passage.end()
    if text[end:].strip():
        yield f"\n{GAP}"
