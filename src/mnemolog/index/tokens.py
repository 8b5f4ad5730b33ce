"""From text to terms: words are stemmed, text without spaces is cut into pairs of characters."""

import re
import string
import unicodedata
from array import array
from binascii import crc32
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from snowballstemmer import stemmer  # type: ignore[import-untyped]

from mnemolog.index.stopwords import STOP_WORDS
from mnemolog.policy.words import UNSPACED

Numbers = NDArray[np.uint32]

# A change here changes what is indexed: raise it, and every index is built anew.
VERSION = 5

# What stands above, below or between the letters of a word and is none: accents, points, and the
# vowels of India, whose letters stand between them.
_MARKED = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u08d3-\u08e1\u08e3-\u0963\u0966-\u0df3\u0f71-\u0f84\u0f8d-\u0fbc"
)
# Of these, what many leave out who write the same word: accents of Europe, the points of Hebrew and
# Arabic; and the stroke that only makes an Arabic word longer.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]+"
)
# Each says something by itself: clocks, weather to dingbats, stars, emoji but for skin tones.
_PICTURES = (
    "\u231a\u231b\u23e9-\u23fa\u2600-\u27bf\u2b50\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
# The same words for plain ASCII, several times as fast: what is no letter or digit is a space.
_PLAIN = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_MARKS = frozenset(string.punctuation)
_MAX_WORD = 64
_REMEMBERED = 200_000


@cache
def _token() -> re.Pattern[str]:
    # Not before the first text that needs it: so many characters take long to compile.
    word = rf"[^\W_{UNSPACED}]+(?:[{_MARKED}]+[^\W_{UNSPACED}]*)*"
    return re.compile(rf"[{UNSPACED}]+|{word}|[{_PICTURES}]")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED}]")


@cache
def wildcard() -> re.Pattern[str]:
    """Words with stars in them or beside them, as many as a name holds; of scripts with spaces."""
    # It begins where a word begins: trying every letter of a long word would take for ever.
    part = rf"(?:[^\W{UNSPACED}]|[{_MARKED}])*"
    return re.compile(rf"(?<![^\W{UNSPACED}])(?<![{_MARKED}*]){part}(?:\*{part})+")


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
    """One form for what many write alike: compatibility forms, case, with accents or without."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart))


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
    """The words of a text, its runs without spaces and its emoji, folded."""
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


class Cutter(Protocol):
    """An embedder that makes its vectors of the pieces of words."""

    def words(self, text: str) -> list[str] | None:
        """The words of a plain text, each of them of letters and digits or a single mark."""

    def pieces(self, word: str) -> Numbers:
        """The numbers of a word's pieces."""

    def embed_pieces(self, texts: Sequence[Numbers]) -> NDArray[np.float32]:
        """The vectors of texts that are cut into pieces already."""


class Occurrences(NamedTuple):
    """The terms of many texts, each as often as it occurs; and words of theirs with their terms."""

    rows: Numbers
    hashes: Numbers
    forms: dict[str, int]
    pieces: list[Numbers | None]
    """For each text the pieces of what was said, where they were found on the way."""


class _Numbers(dict[str, int]):
    """Numbers words from 0 in the order in which they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self.names)
        self.names.append(word)
        return number


class _Spelt:
    """What words are made of, by their numbers: each of some numbers, one, none or many."""

    def __init__(self, spell: Callable[[str], Sequence[int] | Numbers]) -> None:
        self._spell = spell
        self.starts = np.empty(0, np.int64)
        self.sizes = np.empty(0, np.int64)
        self.values = np.empty(0, np.uint32)

    def learn(self, names: list[str]) -> None:
        """Take down the words that are new."""
        each = list(map(self._spell, names[len(self.sizes) :]))
        sizes = np.fromiter(map(len, each), np.int64, len(each))
        fresh = np.fromiter(chain.from_iterable(each), np.uint32, int(sizes.sum()))
        starts = len(self.values) + np.cumsum(sizes) - sizes
        self.starts = np.concatenate([self.starts, starts])
        self.sizes = np.concatenate([self.sizes, sizes])
        self.values = np.concatenate([self.values, fresh])

    def expanded(self, words: Numbers, times: NDArray[np.int64]) -> Numbers:
        """Each word, of these sizes, replaced by what it is made of."""
        # Where a word's values begin among all, less where they will stand.
        shift = self.starts[words] - (np.cumsum(times) - times)
        values: Numbers = self.values[np.repeat(shift, times) + np.arange(times.sum())]
        return values


class Vocabulary:
    """Words by their numbers, kept from one batch of texts to the next; for one thread.

    With an embedder that makes its vectors of the pieces of words, a text is cut once for both.
    """

    def __init__(self, cutter: Cutter | None = None) -> None:
        self._cutter = cutter
        self._begin()

    def _begin(self) -> None:
        self._numbers = _Numbers()
        self._terms = _Spelt(_terms_of_word)
        self._pieces = _Spelt(self._cutter.pieces if self._cutter else lambda _: ())
        self._is_told = np.empty(0, bool)

    def repeat(self) -> None:
        """Tell words again that were told already."""
        self._is_told[:] = False

    def occurrences(self, said: Sequence[str], beside: Sequence[str]) -> Occurrences:
        """The terms of all texts, text by text; the same as those of `counts`, many at a time.

        Each word is told once. Runs without spaces have more terms than one, and are not told.
        """
        if len(self._numbers) >= _REMEMBERED:
            self._begin()
        found = array("I")
        ends = [0]
        cut: list[int | None] = []
        number = self._numbers.__getitem__
        for text, rest in zip(said, beside, strict=True):  # the words of all would fit no cache
            words = self._cutter.words(text) if self._cutter else None
            found.extend(map(number, tokens(text) if words is None else words))
            cut.append(None if words is None else len(found))
            found.extend(map(number, tokens(rest)))
            ends.append(len(found))
        self._terms.learn(self._numbers.names)
        numbers = np.frombuffer(found, np.uint32)
        times = self._terms.sizes[numbers]
        sizes = np.array(ends[1:], np.int64) - np.array(ends[:-1], np.int64)
        rows = np.repeat(np.arange(len(said), dtype=np.uint32), sizes)
        return Occurrences(
            np.repeat(rows, times),
            self._terms.expanded(numbers, times),
            self._untold(numbers),
            self._cut_pieces(numbers, ends, cut) if self._cutter else [],
        )

    def _cut_pieces(
        self, words: Numbers, ends: list[int], cut: list[int | None]
    ) -> list[Numbers | None]:
        """The pieces of each text that was cut into words, from its first word to its last."""
        self._pieces.learn(self._numbers.names)
        times = self._pieces.sizes[words]
        pieces = self._pieces.expanded(words, times)
        upto = np.concatenate([[0], np.cumsum(times)]).tolist()
        return [
            None if end is None else pieces[upto[start] : upto[end]]
            for start, end in zip(ends[:-1], cut, strict=True)
        ]

    def _untold(self, words: Numbers) -> dict[str, int]:
        self._is_told = np.append(
            self._is_told, np.zeros(len(self._numbers) - len(self._is_told), bool)
        )
        is_new = np.zeros(len(self._numbers), bool)
        is_new[words] = True
        is_new &= ~self._is_told & (self._terms.sizes == 1)
        self._is_told |= is_new
        numbers = np.flatnonzero(is_new)
        names = map(self._numbers.names.__getitem__, numbers.tolist())
        terms = self._terms.values[self._terms.starts[numbers]].tolist()
        return dict(zip(names, terms, strict=True))


def _terms_of_word(word: str) -> tuple[int, ...]:
    return () if word in _MARKS else hashes_of(word)


def occurrences(texts: Sequence[str]) -> Occurrences:
    """The terms of all texts, as a vocabulary of its own finds them."""
    return Vocabulary().occurrences(texts, [""] * len(texts))


def _pairs(run: str) -> list[str]:
    """Each character and each pair of neighbours, so that single ones are found too."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
