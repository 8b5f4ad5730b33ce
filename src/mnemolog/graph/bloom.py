"""A Bloom filter: a few bytes that tell which words a long text certainly does not have.

Two bytes for each different word; it errs for about one word in a hundred, and only in that it
takes a word to be there that is not.
"""

import re
from collections.abc import Iterator

_WORD = re.compile(r"\w+")
_BITS = 16
_MARKS = 3


def _words(text: str) -> set[str]:
    """Words as a search that ignores case tells them apart, or less: some count two as one `i`."""
    folded = text.casefold().replace("i\u0307", "i").replace("\u0131", "i")
    return set(_WORD.findall(folded))


def bloom_of(text: str) -> bytes:
    """The filter of a text."""
    words = _words(text)
    found = bytearray(max(8, len(words) * _BITS // 8))
    for word in words:
        for bit in _bits(word, len(found) * 8):
            found[bit >> 3] |= 1 << (bit & 7)
    return bytes(found)


def may_say(bloom: bytes, phrase: str) -> bool:
    """Whether a text may have all words of a phrase; False is certain."""
    return all(
        bloom[bit >> 3] >> (bit & 7) & 1
        for word in _words(phrase)
        for bit in _bits(word, len(bloom) * 8)
    )


def _bits(word: str, size: int) -> Iterator[int]:
    first = hash(word)
    step = (first >> 32) | 1
    return ((first + number * step) % size for number in range(_MARKS))
