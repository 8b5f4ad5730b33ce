"""WordPiece as BERT's uncased models use it: text to the numbers of vocabulary pieces.

Lower case, no accents; punctuation and Chinese characters stand alone; each word is cut into the
longest pieces that the vocabulary has, from the left; a word that cannot be cut is unknown.
Names of special tokens in a text, such as "[SEP]", are plain text.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.uint32]

UNKNOWN = "[UNK]"

# Embedders read the first pieces of a text; so many characters hold them.
_OPENING = 4096
_LAST_LATIN = 0x24F

# Longer words are unknown, as in the original; this also bounds the time that a word can take.
_LONGEST_WORD = 100
# Text repeats itself: what stands between two spaces is cut once and remembered.
_REMEMBERED_CHUNKS = 32_768
_LONGEST_REMEMBERED = 128
_REMEMBERED_WORDS = 32_768
_REMEMBERED_CHARACTERS = 16_384

# `str.split` splits at these; BERT deletes them like any other control character.
_SPLITTING_CONTROLS = re.compile("[\x0b\x0c\x1c-\x1f\x85]")

# Of plain text BERT deletes these, so that what stands before and after them is one word.
_DELETED_PLAIN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")

# Control, format and private characters, halves of surrogate pairs, accents. Unassigned ones stay:
# which these are depends on the version of Unicode that Python was built with.
_DELETED = frozenset({"Cc", "Cf", "Co", "Cs", "Mn"})
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_CHINESE = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Cuts text into pieces of one vocabulary. Safe to share between threads."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._vocabulary = vocabulary
        self._words = _Words(vocabulary)
        self._chunks = _Chunks(self._words)

    def ids(self, text: str) -> Ids:
        """The numbers of the text's pieces, in order; any string is accepted."""
        if text.isascii():
            found = map(self._words.__getitem__, plain_words(text))
        else:
            chunks = _SPLITTING_CONTROLS.sub("", text).split()
            found = map(self._chunks.__getitem__, chunks)
        return np.frombuffer(b"".join(found), np.uint32)

    def is_foreign(self, text: str, ids: Ids) -> bool:
        """Whether most pieces of a text are letters of a script other than Latin, or unknown.

        Of such scripts the vocabulary has single letters only: nothing that could have a meaning.
        """
        return not text.isascii() and len(ids) > 0 and bool(self._foreign[ids].mean() > 0.5)

    @cached_property
    def _foreign(self) -> npt.NDArray[np.bool_]:
        return np.array([each == UNKNOWN or _is_foreign(each) for each in self._vocabulary])


def is_plain(text: str) -> bool:
    """Whether a text is short, and the words of `plain_words` are all that it is made of."""
    is_short = len(text) <= _OPENING and text.isascii()
    return is_short and (text.isprintable() or _DELETED_PLAIN.search(text) is None)


def opening(text: str) -> str:
    """The beginning of a text, long enough for all pieces that an embedder reads."""
    return text[:_OPENING]


def _is_foreign(piece: str) -> bool:
    return not piece.isascii() and any(ord(one) > _LAST_LATIN and one.isalpha() for one in piece)


class _Chunks(dict[str, bytes]):
    """What stands between two spaces → the numbers of its pieces, as bytes; filled on demand.

    When full it becomes the older generation, and what is still in use comes back from there.
    Threads may lose each other's additions, never more.
    """

    def __init__(self, words: "_Words") -> None:
        super().__init__()
        self._words = words
        self._spellings = _Spellings()
        self._older: dict[str, bytes] = {}

    def __missing__(self, chunk: str) -> bytes:
        pieces = self._older.get(chunk)
        if pieces is None:
            pieces = b"".join(map(self._words.__getitem__, self._split(chunk)))
        if len(chunk) <= _LONGEST_REMEMBERED:
            if len(self) >= _REMEMBERED_CHUNKS:
                self._older = self.copy()
                self.clear()
            self[chunk] = pieces
        return pieces

    def _split(self, chunk: str) -> list[str]:
        if not chunk.isascii():
            chunk = unicodedata.normalize("NFD", chunk)
        return chunk.translate(self._spellings).split()


class _Words(dict[str, bytes]):
    """A word → the numbers of its pieces; the vocabulary at first, then filled on demand."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        numbers = np.arange(len(vocabulary), dtype=np.uint32).view("V4").tolist()
        self._vocabulary: dict[str, bytes] = dict(zip(vocabulary, numbers, strict=True))
        super().__init__(self._vocabulary)
        self._unknown = self._vocabulary[UNKNOWN]
        self._longest = max(map(len, vocabulary))

    def __missing__(self, word: str) -> bytes:
        if len(word) > _LONGEST_WORD:
            return self._unknown
        if len(self) >= len(self._vocabulary) + _REMEMBERED_WORDS:
            self.clear()
            self.update(self._vocabulary)
        self[word] = pieces = self._cut(word)
        return pieces

    def _cut(self, word: str) -> bytes:
        pieces, start, mark = b"", 0, ""
        while start < len(word):
            rest = mark + word[start : start + self._longest]
            end = len(rest)
            while rest[:end] not in self._vocabulary:
                end -= 1
                if end == len(mark):
                    return self._unknown
            pieces += self._vocabulary[rest[:end]]
            start, mark = start + end - len(mark), "##"
        return pieces


class _Spellings(dict[int, str]):
    """A character's code → what BERT makes of it, for `str.translate`; filled on demand."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _REMEMBERED_CHARACTERS:
            self.clear()
        self[code] = spelling = _spelling(chr(code))
        return spelling


def _spelling(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r":
        return " "
    if category in _DELETED or character == "\ufffd":
        return ""
    if character.isspace():
        return " "
    if category[0] == "P" or character in _ASCII_PUNCTUATION or _is_chinese(character):
        return f" {character} "
    return character.lower()


def _is_chinese(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _CHINESE)


# One character for one, or none: `str.translate` is several times as fast then.
_PLAIN = {
    code: chr(code) if chr(code) in _ASCII_PUNCTUATION else _spelling(chr(code)) or None
    for code in range(128)
}


def plain_words(text: str) -> list[str]:
    """The words of a text that is plain ASCII: the same as those of all its chunks."""
    text = text.translate(_PLAIN)
    for mark in _ASCII_PUNCTUATION:
        if mark in text:
            text = text.replace(mark, f" {mark} ")
    return text.split()
