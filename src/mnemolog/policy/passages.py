"""Passages: of a long text what bears on a question, so that a block holds much for few tokens."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mnemolog.policy.words import letters, words_in

GAP = "[…]"
# Of longer texts the beginning is looked through, and as much about where the rarest word stands
# that is asked for.
_READ = 65_536
# A passage is a line, or of a long line as many words as these characters hold. What has no spaces,
# or takes more bytes in another script, is cut into smaller ones. Space before a word is bounded:
# else a run of it is read to its end from each place in it.
_PASSAGE = re.compile(r"[^\n]{0,158}[^\n\s](?=\s|$)|[^\S\n]{0,158}\S+")
_BYTES = 160
_END = re.compile(
    r"\s|[\u060c\u061b\u061f\u06d4\u0964\u0965\u2026\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f]+"
)
_DRAWN_ON = frozenset({"Mn", "Mc", "Me", "Sk"})
_JOINER = "\u200d"
_WITHIN_WORD = re.compile(r"[a-z0-9]{2,}")
# Words that begin alike are taken for forms of one.
_STEM = 6

Span = tuple[int, int]


def passages(text: str, question: str, most: int) -> str:
    """The beginning of a text and the passages that share most with a question, in their order.

    In UTF-8 it takes `most` bytes at the most; a mark stands for what is left out.
    """
    found = [span for span in _spans(text, question) if not text[slice(*span)].isspace()]
    chosen, room = [], most - len(f"{GAP}\n".encode())
    for at in _ranked([text[slice(*span)] for span in found], question):
        cost = len(text[slice(*found[at])].encode()) + len(f"\n{GAP}\n".encode())
        if cost <= room:
            chosen.append(at)
            room -= cost
    return "".join(_joined(text, found, sorted(chosen))).strip("\n")


def _spans(text: str, question: str) -> Iterator[Span]:
    """Where the passages of a text begin and end."""
    for part in _parts(text, question):
        for one in _PASSAGE.finditer(text, *part):
            yield from _cut(text, *one.span())


def _parts(text: str, question: str) -> list[Span]:
    """What is looked through: all of a text, or its beginning and another part as long."""
    if len(text) <= _READ:
        return [(0, len(text))]
    half = _READ // 2
    rest = text[half:].lower()
    counted = [(rest.count(key), -len(key), key) for key in _keys(question)]
    held = [one for one in counted if one[0]]
    if not held:
        return [(0, _READ)]
    at = half + rest.find(min(held)[2])
    start = max(half, min(at - half // 2, len(text) - half))
    whole = _END.search(text, start, at)  # not from within a word
    return [(0, half), (whole.end() if whole and start > half else start, start + half)]


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    """A passage in halves, and these again, until each takes few enough bytes; where a word or a
    sentence ends, if that is possible."""
    if end - start <= _BYTES // 4 or len(text[start:end].encode()) <= _BYTES:
        yield start, end
        return
    middle, quarter = (start + end) // 2, (end - start) // 4
    ends = (one.end() for one in _END.finditer(text, start + quarter, end - quarter))
    at = min(ends, key=lambda one: abs(one - middle), default=_between(text, middle, end))
    yield from _cut(text, start, at)
    yield from _cut(text, at, end)


def _between(text: str, middle: int, end: int) -> int:
    """The next place that is not within a character as it is drawn; the middle if there is none."""
    for at in range(middle, end):
        is_joined = _JOINER in text[at - 1 : at + 1]
        if not is_joined and unicodedata.category(text[at]) not in _DRAWN_ON:
            return at
    return middle


def _ranked(found: Sequence[str], question: str) -> list[int]:
    """The best passage, then the first, which says what a text is about, then the others by what
    they are worth; equal ones in order."""
    asked = _keys(question)
    held = [asked & _keys(passage) for passage in found]
    counts = Counter(key for keys in held for key in keys)
    worth = [sum(1 / counts[key] for key in keys) for keys in held]
    order = sorted(range(len(found)), key=lambda at: (-worth[at], at))
    return order[:1] + sorted(order[1:], key=lambda at: at > 0)


def _keys(text: str) -> set[str]:
    """What a text is compared by: the beginnings of words, pairs of characters where no spaces
    tell words apart."""
    found: set[str] = set()
    for word in words_in(letters(text)):
        if word.isascii():
            found.add(word[:_STEM])
        else:  # a name in Latin letters may stand in it without spaces
            found.update(map("".join, pairwise(word)))
            found.update(name[:_STEM] for name in _WITHIN_WORD.findall(word))
    return found


def _joined(text: str, found: Sequence[Span], chosen: Sequence[int]) -> Iterator[str]:
    last = 0
    for at in chosen:
        start, end = found[at]
        if text[last:start].strip():
            yield f"\n{GAP}\n"
        elif start > last:
            yield "\n"
        yield text[start:end]
        last = end
    if text[last:].strip():
        yield f"\n{GAP}"
