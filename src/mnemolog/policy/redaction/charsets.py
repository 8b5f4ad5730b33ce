"""Sets of characters as numbers: one bit for each ASCII character, four for all others.

Characters beyond ASCII share a bit by what they are: digit, space, letter or anything else. Two
sets that share no bit share no character; the reverse is not promised.
"""

import re
from importlib import import_module
from typing import Any

# What `re` itself parses with; it has no public name.
sre: Any = import_module("re._constants")

DIGITS_BEYOND, SPACES_BEYOND, LETTERS_BEYOND, OTHERS_BEYOND = (1 << at for at in range(128, 132))
BEYOND = DIGITS_BEYOND | SPACES_BEYOND | LETTERS_BEYOND | OTHERS_BEYOND
ALL = (1 << 132) - 1


def _of(letters: str) -> int:
    return sum({1 << ord(letter) for letter in letters})


_ASCII = "".join(map(chr, range(128)))
DIGIT = _of("0123456789") | DIGITS_BEYOND
SPACE = _of("".join(filter(str.isspace, _ASCII))) | SPACES_BEYOND
WORD = _of("".join(filter(str.isalnum, _ASCII)) + "_") | DIGITS_BEYOND | LETTERS_BEYOND
NEWLINE = _of("\n")
# Under IGNORECASE these match letters beyond ASCII too: K, long s, dotless and dotted i.
_HAVE_TWINS = _of("kKsSiI")

_CATEGORIES = {
    sre.CATEGORY_DIGIT: DIGIT, sre.CATEGORY_NOT_DIGIT: ALL & ~DIGIT,
    sre.CATEGORY_SPACE: SPACE, sre.CATEGORY_NOT_SPACE: ALL & ~SPACE,
    sre.CATEGORY_WORD: WORD, sre.CATEGORY_NOT_WORD: ALL & ~WORD,
}  # fmt: skip


def one(code: int) -> int:
    """The set of one character."""
    if code < 128:
        return 1 << code
    letter = chr(code)
    if letter.isdecimal():
        return DIGITS_BEYOND
    if letter.isspace():
        return SPACES_BEYOND
    return LETTERS_BEYOND if letter.isalnum() else OTHERS_BEYOND


def charset(op: Any, given: Any, flags: int) -> int | None:
    """The set of characters that a node of a parsed pattern matches; None if it is not one."""
    if op is sre.LITERAL:
        return _cased(one(given), flags)
    if op is sre.NOT_LITERAL:
        return ALL & ~(one(given) & ~BEYOND)
    if op is sre.ANY:
        return ALL if flags & re.DOTALL else ALL & ~NEWLINE
    return _listed(given, flags) if op is sre.IN else None


def _listed(items: Any, flags: int) -> int:
    found = 0
    for op, given in items:
        if op is sre.LITERAL:
            found |= one(given)
        elif op is sre.RANGE:
            found |= _range(*given)
        elif op is sre.CATEGORY:
            # Under ASCII a category says nothing of what is beyond.
            found |= _CATEGORIES[given] | (BEYOND if flags & re.ASCII else 0)
    if items[0][0] is not sre.NEGATE:
        return _cased(found, flags)
    # What is beyond ASCII is known by its kind alone, so its complement may be of that kind too.
    return ALL & ~(_both_cases(found) if flags & re.IGNORECASE else found) | BEYOND


def _range(low: int, high: int) -> int:
    found = sum(1 << code for code in range(low, min(high, 127) + 1))
    return found | BEYOND if high > 127 else found


def _cased(found: int, flags: int) -> int:
    if not flags & re.IGNORECASE:
        return found
    twins = LETTERS_BEYOND if found & _HAVE_TWINS else 0
    return _both_cases(found) | twins | (_HAVE_TWINS if found & LETTERS_BEYOND else 0)


def _both_cases(found: int) -> int:
    letters = "".join(letter for letter in _ASCII if found >> ord(letter) & 1)
    return found | _of(letters.swapcase())
