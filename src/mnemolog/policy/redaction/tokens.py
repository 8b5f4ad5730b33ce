"""Finds the tokens of known vendors, and words that only chance can have made."""

import re
from base64 import urlsafe_b64decode
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache

from mnemolog.policy.redaction.allowed import (
    is_account,
    is_allowed,
    is_in_address,
    is_marked,
    is_of_certificate,
    public_blocks,
)
from mnemolog.policy.redaction.randomness import changes, has_digit, is_joined, is_spelled
from mnemolog.policy.redaction.spans import Span
from mnemolog.policy.redaction.vendors import MARKED, MARKED_PERHAPS, SHAPES

KIND = "api-key"
# Every shape has so many of these characters in a row; the pre-filter asks for them.
RUN = 15
SHORTEST_BARE = 32
_NOT_PRINTED = re.compile(r"[^\t\n\r -~]")

# What may belong to a token; the search for shapes stays inside such words.
_CHUNK = re.compile(r"[A-Za-z0-9_\-.+/=~$%:@!]{16,}")


def _by_first_letter() -> str:
    groups: dict[str, list[str]] = {}
    for beginnings, rest in SHAPES.items():
        for beginning in beginnings.split():
            groups.setdefault(beginning[0], []).append(re.escape(beginning[1:]) + f"(?:{rest})")
    return "|".join(f"{re.escape(letter)}(?:{'|'.join(each)})" for letter, each in groups.items())


# At the beginning of a word, or after an escaped line break.
_FREE = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
_BARE = re.compile(r"(?:(?<![\w/+.=@#%&\\-])|(?<=\\[nrt]))[A-Za-z0-9_-]{32,128}(?![\w/+.=@(-])")


# Compiling takes as long as a few writes: only when a text has a long word, and once.
@cache
def _shape() -> re.Pattern[str]:
    return re.compile(f"{_FREE}(?:{_by_first_letter()})", re.ASCII)


@cache
def _perhaps() -> re.Pattern[str]:
    return re.compile(f"{_FREE}(?:{'|'.join(MARKED_PERHAPS)})", re.ASCII)


@cache
def _marked(marker: str) -> re.Pattern[str]:
    return re.compile(_FREE + MARKED[marker], re.ASCII)


def find_tokens(text: str, folded: str) -> Iterator[Span]:
    """Tokens of known shapes, and words of 32 to 128 characters that only chance can make."""
    searches = [_shape(), _perhaps(), *(_marked(marker) for marker in MARKED if marker in folded)]
    blocks = public_blocks(text)
    for chunk in _CHUNK.finditer(text):
        start, end = chunk.span()
        for search in searches:
            for found in search.finditer(text, start, end):
                if _is_made(found[0]):
                    yield Span(found.start(), found.end(), KIND)
        if end - start >= SHORTEST_BARE:
            yield from (span for span in _bare(text, start, end) if not _is_within(blocks, span))


def _is_within(blocks: list[tuple[int, int]], span: Span) -> bool:
    at = bisect_right(blocks, (span.start, span.start)) - 1
    return at >= 0 and span.end <= blocks[at][1]


def _bare(text: str, start: int, end: int) -> Iterator[Span]:
    for found in _BARE.finditer(text, start, end):
        word = found[0]
        is_free = text[found.end() : found.end() + 1] not in ("@", "(")
        if (
            is_free
            and _is_chance(word)
            and not is_allowed(word)
            and not is_account(word)
            and not is_of_certificate(word)
            and not _is_text(word)
            and not is_marked(text, found.start())
            and not is_in_address(text, found.start())
        ):
            yield Span(found.start(), found.end(), KIND)


def _is_made(token: str) -> bool:
    """Not `sk_live_xxxxxxxx`, and not a long name that happens to begin like a token."""
    rest = token[4:]
    if len(set(rest)) < 5:
        return False
    if has_digit(rest) or rest.isupper():
        return True
    return changes(rest) >= 0.25 and not is_joined(rest)


def _is_text(word: str) -> bool:
    """Whether the word is text in base64, whole or cut off: what chance makes never is."""
    try:
        said = urlsafe_b64decode(word[: len(word) // 4 * 4]).decode()
    except ValueError:
        return False
    return _NOT_PRINTED.search(said) is None


def _is_chance(word: str) -> bool:
    digits = sum(map(word.count, "0123456789"))
    return (
        digits >= 3
        and not is_spelled(word)
        and changes(word.replace("-", "").replace("_", "")) >= 0.42
        and (word.upper() != word != word.lower())
    )
