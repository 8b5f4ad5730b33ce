"""From text to terms: words are stemmed, text without spaces is cut into pairs of characters."""

import re
import unicodedata
from binascii import crc32
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from snowballstemmer import stemmer  # type: ignore[import-untyped]

from mnemolog.index.stopwords import STOP_WORDS

# A change here changes what is indexed: raise it, and every index is built anew.
VERSION = 2

# Scripts that are written without spaces: Thai to Khmer, kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# The same words for plain ASCII, several times as fast: what is no letter or digit is a space.
_PLAIN = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_MAX_WORD = 64
_REMEMBERED = 200_000
# So many texts are cut at a time, so that their words need little memory.
_AT_ONCE = 1024


@cache
def _token() -> re.Pattern[str]:
    # Not before the first text that needs it: so many characters take long to compile.
    return re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]")


_stem_word = stemmer("english").stemWord


# Words for the rules and exceptions of the stemmer on which versions of it disagree, or may.
_PROBES = (
    "abilities agreed ambulances analogically andes atlas bias caresses cats communication commune"
    " conditional cosmos cries dying early eating emeritus evening exceed fatally feed feudalism"
    " generate generously gently happiness herring hoping hopping howe idly importance inning"
    " internally interest lying news nationally only organization outing paste plotted ponies past"
    " proceed rational relational replacement savagely singly skies skis sky squishing succeed"
    " terribly tying ugly universities university vying yellow youth"
).split()


@cache
def identity() -> str:
    """What tells this way of cutting text from any other: our version, and what the stemmer does.

    The stemmer is a library, in one of two forms, and what it makes of a word may change with it.
    """
    return f"{VERSION}-{crc32(' '.join(map(stem, _PROBES)).encode()):08x}"


def stem(word: str) -> str:
    """The stem of one lower-case word."""
    return str(_stem_word(word)) if word.isascii() else word


def fold(text: str) -> str:
    """One form for what looks the same: compatibility forms and case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


def terms_of(token: str) -> tuple[str, ...]:
    """The terms of one token: a stem, pairs of characters, or nothing for a stop word."""
    if is_unspaced(token):
        return tuple(_pairs(token))
    return () if token in STOP_WORDS else (stem(token[:_MAX_WORD]),)


def hash_of(term: str) -> int:
    """The number that stands for a term."""
    return crc32(term.encode())


class _Hashes(dict[str, tuple[int, ...]]):
    """A token → the numbers of its terms; filled on demand, and begun anew when it is full.

    A plain dictionary: the objects of an LRU cache would be looked at by every garbage collection.
    """

    def __missing__(self, token: str) -> tuple[int, ...]:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = tuple(hash_of(term) for term in terms_of(token))
        if len(token) <= _MAX_WORD:
            self[token] = found
        return found


hashes_of = _Hashes().__getitem__
"""The numbers that stand for a token's terms."""


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script that is written without spaces."""
    return not text.isascii() and _run().match(text) is not None


def tokens(text: str) -> list[str]:
    """The words of a text and its runs without spaces, folded."""
    if text.isascii():
        return text.translate(_PLAIN).split()
    return _token().findall(fold(text))


def terms(text: str) -> list[str]:
    """The terms of a text, in order, stop words left out."""
    return [term for token in tokens(text) for term in terms_of(token)]


def counts(found: list[str]) -> dict[int, int]:
    """How often each term occurs among these tokens."""
    total: dict[int, int] = {}
    for token, times in Counter(found).items():
        for number in hashes_of(token):
            total[number] = total.get(number, 0) + times
    return total


class Occurrences(NamedTuple):
    """The terms of many texts, each as often as it occurs, and the words that they came from."""

    rows: NDArray[np.uint32]
    hashes: NDArray[np.uint32]
    words: list[str]


class _Numbers(dict[str, int]):
    """Numbers words from 0 in the order in which they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.names)
        self.names.append(word)
        return number


class Vocabulary:
    """Words by their numbers, kept from one batch of texts to the next; for one thread."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._numbers = _Numbers()
        self._starts = np.empty(0, np.int64)
        self._sizes = np.empty(0, np.int64)
        self._hashes = np.empty(0, np.uint32)

    def occurrences(self, texts: Sequence[str]) -> Occurrences:
        """The terms of all texts, text by text; the same as those of `counts`, many at a time."""
        if len(self._numbers) >= _REMEMBERED:
            self._begin()
        parts = [np.empty(0, np.int64)]
        sizes: list[int] = []
        for start in range(0, len(texts), _AT_ONCE):
            found = [tokens(text) for text in texts[start : start + _AT_ONCE]]
            sizes += map(len, found)
            words = map(self._numbers.__getitem__, chain.from_iterable(found))
            parts.append(np.fromiter(words, np.int64, sum(sizes[start:])))
        self._learn()
        rows = np.repeat(np.arange(len(texts), dtype=np.uint32), sizes)
        return self._expanded(rows, np.concatenate(parts))

    def _learn(self) -> None:
        """Take down the terms of the words that are new."""
        each = list(map(hashes_of, self._numbers.names[len(self._sizes) :]))
        sizes = np.fromiter(map(len, each), np.int64, len(each))
        fresh = np.fromiter(chain.from_iterable(each), np.uint32, int(sizes.sum()))
        starts = len(self._hashes) + np.cumsum(sizes) - sizes
        self._starts = np.concatenate([self._starts, starts])
        self._sizes = np.concatenate([self._sizes, sizes])
        self._hashes = np.concatenate([self._hashes, fresh])

    def _expanded(self, rows: NDArray[np.uint32], words: NDArray[np.int64]) -> Occurrences:
        """Each word replaced by its terms: one, none for a stop word, or many for a run."""
        times = self._sizes[words]
        # Where a word's terms begin among all hashes, less where they will stand.
        shift = self._starts[words] - (np.cumsum(times) - times)
        at = np.repeat(shift, times) + np.arange(times.sum())
        is_here = np.zeros(len(self._sizes), bool)
        is_here[words] = True
        names = self._numbers.names
        found = [names[number] for number in np.flatnonzero(is_here).tolist()]
        return Occurrences(np.repeat(rows, times), self._hashes[at], found)


def occurrences(texts: Sequence[str]) -> Occurrences:
    """The terms of all texts, as a vocabulary of its own finds them."""
    return Vocabulary().occurrences(texts)


def _pairs(run: str) -> list[str]:
    """Each character and each pair of neighbours, so that single ones are found too."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
