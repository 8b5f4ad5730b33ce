"""From text to terms: words are stemmed, text without spaces is cut into pairs of characters."""

import re
import unicodedata
from binascii import crc32
from collections import Counter
from functools import lru_cache

from snowballstemmer import stemmer  # type: ignore[import-untyped]

from mnemolog.index.stopwords import STOP_WORDS

# A change here changes what is indexed: raise it, and every index is built anew.
VERSION = 2

# Scripts that are written without spaces: Thai to Khmer, kana, Han, Hangul.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_RUN = re.compile(rf"[{_UNSPACED}]")
_MAX_WORD = 64

_stem_word = stemmer("english").stemWord


def stem(word: str) -> str:
    """The stem of one lower-case word."""
    return str(_stem_word(word)) if word.isascii() else word


def fold(text: str) -> str:
    """One form for what looks the same: compatibility forms and case."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold()


@lru_cache(maxsize=200_000)
def terms_of(token: str) -> tuple[str, ...]:
    """The terms of one token: a stem, pairs of characters, or nothing for a stop word."""
    if _RUN.match(token):
        return tuple(_pairs(token))
    return () if token in STOP_WORDS else (stem(token[:_MAX_WORD]),)


@lru_cache(maxsize=200_000)
def hashes_of(token: str) -> tuple[int, ...]:
    """The numbers that stand for a token's terms."""
    return tuple(hash_of(term) for term in terms_of(token))


def hash_of(term: str) -> int:
    """The number that stands for a term."""
    return crc32(term.encode())


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script that is written without spaces."""
    return _RUN.match(text) is not None


def tokens(text: str) -> list[str]:
    """The words of a text and its runs without spaces, folded."""
    return _TOKEN.findall(fold(text))


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


def _pairs(run: str) -> list[str]:
    """Each character and each pair of neighbours, so that single ones are found too."""
    return [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
