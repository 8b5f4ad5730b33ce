"""Whether a word was made by chance or by a person."""

import math
import re
from collections import Counter

_CLASSES = bytes.maketrans(
    b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    b"0" * 10 + b"a" * 26 + b"A" * 26,
)
_CHANGE = re.compile(b"0(?=[aA])|a(?=[0A])|A(?=[0a])")
_HEX = re.compile("[0-9a-fA-F]+")
_DIGIT = re.compile("[0-9]")
_LETTER = re.compile("[A-Za-z]")

FEWEST_BITS = 64.0


def changes(word: str) -> float:
    """How often, per character, the word goes from one of a, A, 0 to another; 0.6 by chance."""
    classes = word.encode("ascii", "replace").translate(_CLASSES)
    return len(_CHANGE.findall(classes)) / max(len(word) - 1, 1)


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


def is_unguessable(word: str) -> bool:
    """Whether trying all such words is out of reach, so that a short tag tells nothing."""
    return len(word) >= 16 and is_random(word) and bits(word) >= FEWEST_BITS - 16


def is_random(word: str) -> bool:
    """Whether letters and digits alternate as no name does; meant for words of 12 and more."""
    if not has_digit(word):
        return changes(word) >= 0.33
    if len(set(word)) < 6:
        return False
    if is_hex(word):
        return has_letter(word)
    return changes(word) >= (0.12 if len(word) >= 24 and word.isalnum() else 0.2)
