"""Lexical match: BM25 over the rows that the caller may see, and over their statistics alone."""

import re
import sqlite3
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import asking, tokens
from mnemolog.index.postings import Holding
from mnemolog.index.snapshot import Mask, Snapshot

K1 = 1.2
B = 0.75
# The same as `tokens.wildcard` for plain ASCII, which takes no time to compile.
_PLAIN_WILDCARD = re.compile(r"(?<![\w*])\w*(?:\*\w*)+")
# SQLite refuses patterns that are too long.
_MAX_PATTERN = 1000
_MAX_STARS = 8

MOST_CHARACTERS = 16_384
"""Of a longer text its beginning and its end are looked at, half of this each."""
MOST_TERMS = 512
"""So many different terms of a text are looked for, those first that tell the most."""
MOST_PATTERNS = 64
"""And so many different wildcards."""
# So many forms of a pattern are looked up at once: their places fit into two bytes.
_FORMS = 32_768
# How rare terms are is looked up for so many of them, half at the beginning and half at the end.
_LOOKED_UP = 8192

# So many are scored at once: enough to make up for numpy's calls, and they fit into a cache.
_AT_ONCE = 32_768

Scores = NDArray[np.float32]


class Wanted(NamedTuple):
    """One thing to look for: the terms that count as it, and how much it counts: once for each time
    that it was asked for, and less if it only puts the question."""

    terms: tuple[int, ...]
    times: float


def wanted(db: sqlite3.Connection, snapshot: Snapshot, seen: Mask, text: str) -> list[Wanted]:
    """What a query's text asks for. Any text is legal; `auth*` and `*flow` match parts of words."""
    patterns, counted = _parts(text)
    plain = [Wanted((term,), counted[term]) for term in _telling(snapshot, seen, counted)]
    return plain + [_matching(db, part) for part in sorted(patterns)[:MOST_PATTERNS]]


def _parts(text: str) -> tuple[set[str], dict[int, float]]:
    """The patterns of a text, and how much which of its terms count."""
    folded = tokens.fold(text)
    patterns = _patterns(folded)
    # What is left of a name is words like any other; without spaces, pairs match parts anyway.
    if patterns:
        folded = _wildcard(folded).sub(lambda match: _words_of(match[0], patterns), folded)
    words = tokens.tokens(folded)
    return patterns, asking.weighed(folded, words, tokens.counts(words))


def _wildcard(folded: str) -> re.Pattern[str]:
    return _PLAIN_WILDCARD if folded.isascii() else tokens.wildcard()


def _patterns(folded: str) -> set[str]:
    """The parts of a text that are patterns."""
    if "*" not in folded:
        return set()
    parts = [
        part
        for found in _wildcard(folded).findall(folded)
        for part in found.split("_")
        if part.strip("*")
    ]
    return {part for part in parts if "*" in part and _is_simple(part)}


def shortened(text: str) -> str:
    """A text without the middle of what is too long: a question stands before or after it."""
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2
    return f"{text[:half]} {text[-half:]}"


def is_cut(text: str) -> bool:
    """Whether a text asks for more than is looked for."""
    if len(text) < 2 * MOST_PATTERNS:
        return False  # each takes a letter, a star or a space
    if len(text) > MOST_CHARACTERS:
        return True
    patterns, counted = _parts(text)
    return len(counted) > MOST_TERMS or len(patterns) > MOST_PATTERNS


def _telling(snapshot: Snapshot, seen: Mask, counted: Collection[int]) -> list[int]:
    """The terms to look for: all of them, or those that fewest rows in sight hold, then unknown
    ones."""
    if len(counted) <= MOST_TERMS:
        return list(counted)
    some = list(counted)
    if len(some) > _LOOKED_UP:
        some = some[: _LOOKED_UP // 2] + some[-_LOOKED_UP // 2 :]
    rows = _rows_of(snapshot, seen, some)
    return sorted(some, key=lambda term: (rows[term] == 0, rows[term]))[:MOST_TERMS]


def _rows_of(snapshot: Snapshot, seen: Mask, terms: list[int]) -> dict[int, int]:
    """How many rows in sight hold each term."""
    rows: dict[int, int] = {}
    for start in range(0, len(terms), MOST_TERMS):
        some = terms[start : start + MOST_TERMS]
        held = snapshot.holding(some)
        counts = np.bincount(held.terms[seen[held.rows]], minlength=len(some))
        rows |= zip(some, counts.tolist(), strict=True)
    return rows


def _is_simple(part: str) -> bool:
    """Whether SQLite takes it as a pattern; what is more complex is searched for as words."""
    return len(part) <= _MAX_PATTERN and part.count("*") <= _MAX_STARS


def _words_of(found: str, patterns: set[str]) -> str:
    kept = (part for part in found.split("_") if part not in patterns)
    return f" {' '.join(kept).replace('*', ' ')} "


def _matching(db: sqlite3.Connection, part: str) -> Wanted:
    """The terms of all known words that fit a pattern.

    However many: where to stop would depend on words that the caller may not see.
    """
    query = "SELECT DISTINCT hash FROM term WHERE word GLOB ? ORDER BY hash"
    rows = db.execute(query, (part,))
    return Wanted(tuple(number for (number,) in rows), 1)


def score(snapshot: Snapshot, mask: Mask, asked: list[Wanted]) -> Scores:
    """BM25 of every row; rows outside the mask have none and change none."""
    total = int(np.count_nonzero(mask))
    if not asked or total == 0:
        return np.zeros(snapshot.rows, np.float32)
    is_partial = total < len(mask)
    lengths = snapshot.column("length")
    mean = max(1.0, (int(lengths[mask].sum()) if is_partial else snapshot.length()) / total)
    scores = np.zeros(snapshot.rows)
    for times, held in holding(snapshot, asked):
        if is_partial:
            held = held.only(mask[held.rows])
        known = np.bincount(held.terms, minlength=len(times))
        weights = times * np.log(1 + (total - known + 0.5) / (known + 0.5)) * (K1 + 1)
        for start in range(0, len(held.rows), _AT_ONCE):
            terms, rows, counts = held.only(slice(start, start + _AT_ONCE))
            norm = K1 * (1 - B + B / mean * lengths.take(rows))
            np.add.at(scores, rows, weights.take(terms) * counts / (counts + norm))
    return scores.astype(np.float32)


def holding(snapshot: Snapshot, asked: list[Wanted]) -> Iterator[tuple[NDArray[Any], Holding]]:
    """How much things count that were asked for, and which rows hold them: words all at once,
    patterns one by one."""
    words: dict[int, float] = {}
    patterns: list[Wanted] = []
    for one in asked:
        if len(one.terms) == 1 and one.terms[0] not in words:
            words[one.terms[0]] = one.times
        elif one.terms:
            patterns.append(one)
    if words:
        yield np.array(list(words.values())), snapshot.holding(list(words))
    for one in patterns:
        yield np.array([one.times]), _union(_held(snapshot, one.terms))


def _held(snapshot: Snapshot, terms: tuple[int, ...]) -> Holding:
    """The rows that hold any of these terms, however many."""
    held = snapshot.holding(terms[:_FORMS])
    for start in range(_FORMS, len(terms), _FORMS):
        held = held.plus(snapshot.holding(terms[start : start + _FORMS]))
    return held


def _union(held: Holding) -> Holding:
    """The rows of several terms as if they were one; each row once."""
    order = np.argsort(held.rows, kind="stable")
    rows, counts = held.rows[order], held.counts[order].astype(np.uint32)
    starts = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])[: len(rows)]
    counts = np.add.reduceat(counts, starts) if len(rows) else counts
    return Holding(np.zeros(len(starts), np.uint16), rows[starts], counts)
