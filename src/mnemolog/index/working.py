"""What is worked out of texts alone: their terms, their words, their vectors.

Nothing here knows the database, so any process may do it, and whoever does gets the same.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import postings, tokens, vectors
from mnemolog.ports.embedder import Embedder

LONGEST = 65_535


class Texts(NamedTuple):
    """What some rows say, and beside it what they are also found by: tags, category, date."""

    said: list[str]
    beside: list[str]


class Worked(NamedTuple):
    """What became of some texts; the rows are counted from 0."""

    terms: postings.Counted
    lengths: NDArray[np.int64]
    forms: dict[str, int]
    """Words as they stood, for wildcards, each with its term; runs without spaces have none."""
    vectors: vectors.Encoded | None


class Worker:
    """Works texts out; for one thread."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._vocabulary = tokens.Vocabulary()

    @property
    def embeds(self) -> bool:
        """Whether texts become vectors here."""
        return self._embedder is not None

    def work_out(self, texts: Texts) -> Worked:
        """The terms of texts, and with an embedder their vectors."""
        whole = list(map(" ".join, zip(*texts, strict=True)))
        found = self._vocabulary.occurrences(whole)
        lengths = np.minimum(np.bincount(found.rows, minlength=len(whole)), LONGEST)
        return Worked(
            postings.counted(found.rows, found.hashes),
            lengths,
            {word: own[0] for word in found.words if len(own := tokens.hashes_of(word)) == 1},
            None if self._embedder is None else vectors.encoded(self._embedder.embed(texts.said)),
        )


def joined(parts: list[Worked], embeds: bool) -> Worked:
    """Several as one, in their order."""
    first = 0
    terms = []
    for part in parts:
        terms.append(part.terms._replace(rows=part.terms.rows + np.uint32(first)))
        first += len(part.lengths)
    own = [part.vectors for part in parts if part.vectors is not None]
    return Worked(
        postings.joined(terms),
        np.concatenate([part.lengths for part in parts]),
        {word: term for part in parts for word, term in part.forms.items()},
        vectors.joined(own) if embeds else None,
    )
