"""Asking: words that a question is put with, which say little of what it is about.

"How many books did she mention?" is about books. Hardly any entry holds "mention", so that by its
rarity alone it would tell the most. Read from English words; other languages lose nothing by it.
"""

from collections.abc import Collection, Mapping
from functools import cache

from mnemolog.index import tokens

LESS = 0.3
"""What such a word counts in a question, beside 1 for any other."""

_ASKS = frozenset(
    """
    who whom whose what when where which why how can could would should will did does do is are was
    were has have had
    """.split()
)
_FRAME = """
    many much kind sort type name list tell told say said give gave given mention describe explain
    summary summarize summarise overview recap comprehensive detailed order item topic aspect
    different various throughout across conversation discuss discussion talk chat bring brought
    get got go going went make made take took use want like way thing something anything someone
    anyone might may ever currently recently related also include time far
    """.split()


@cache
def _frame() -> frozenset[int]:
    return frozenset(tokens.hash_of(tokens.stem(word)) for word in _FRAME)


def weighed(text: str, words: Collection[str], counted: Mapping[int, int]) -> dict[int, float]:
    """How much each term counts, by how often these words of a text hold it; single words that
    nobody asks anything with count as they are."""
    if "?" not in text and _ASKS.isdisjoint(words):
        return dict(counted)
    frame = _frame()
    return {term: times * LESS if term in frame else times for term, times in counted.items()}
