"""Whether a word was made by chance or by a person."""

import math
import re
from collections import Counter

_CLASSES = bytes.maketrans(
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0" * 10 + b"a" * 26 + b"A" * 26,
)
_CHANGES = (b"0a", b"0A", b"a0", b"aA", b"A0", b"Aa")
_HEX = re.compile("[0-9a-fA-F]+")
_DIGIT = re.compile("[0-9]")
_LETTER = re.compile("[A-Za-z]")
# Words of a language, each with a vowel, as programs join them: `getSecretsByName`, `CheckPut`.
_SPOKEN, _VOWEL = re.compile("[A-Z]?[a-z]{2,}"), re.compile("[aeiouyAEIOUY]")
_JOINED = re.compile(
    r"_?(?:[a-z]{2,16})?+(?:(?=[AEIOUY]|[A-Z][a-z]{0,15}[aeiouy])[A-Z][a-z]{1,15}+)++[0-9]{0,4}"
)

FEWEST_BITS = 64.0


def changes(word: str) -> float:
    """How often, per character, the word goes from one of a, A, 0 to another; 0.6 by chance."""
    classes = word.encode("ascii", "replace").translate(_CLASSES)
    return sum(map(classes.count, _CHANGES)) / max(len(word) - 1, 1)


def bits(word: str) -> float:
    """The entropy of the word's characters, times their number."""
    size = len(word)
    return -sum(n * math.log2(n / size) for n in Counter(word).values())


def has_digit(word: str) -> bool:
    """Whether a decimal digit is in the word."""
    return _DIGIT.search(word) is not None


def has_letter(word: str) -> bool:
    """Whether an unaccented letter is in the word."""
    return _LETTER.search(word) is not None


def is_hex(word: str) -> bool:
    """Whether the word has hexadecimal digits and nothing else."""
    return _HEX.fullmatch(word) is not None


def is_joined(word: str) -> bool:
    """Whether the word is made of words, each with a capital: the name of something."""
    return _JOINED.fullmatch(word) is not None


def is_spelled(word: str) -> bool:
    """Whether most of a long word can be spoken: `testParseTypeInt64With64BitIntegerInPhp64Bit`."""
    spoken = (part for part in _SPOKEN.findall(word) if _VOWEL.search(part))
    return sum(map(len, spoken)) >= 0.7 * len(word)


def is_unguessable(word: str) -> bool:
    """Whether trying all such words is out of reach, so that a short tag tells nothing."""
    return len(word) >= 16 and is_random(word) and bits(word) >= FEWEST_BITS - 16


def is_random(word: str) -> bool:
    """Whether letters and digits alternate as no name does; meant for words of 12 and more."""
    if not has_digit(word):
        return changes(word) >= 0.33 and not is_joined(word)
    if len(set(word)) < 6:
        return False
    if is_hex(word):
        return has_letter(word)
    return changes(word) >= (0.12 if len(word) >= 24 and word.isalnum() else 0.2)
