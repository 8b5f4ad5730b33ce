"""What is worked out of texts alone: their terms, their words, their vectors.

Nothing here knows the database, so any process may do it, and whoever does gets the same.
"""

from contextlib import suppress
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from mnemolog.index import postings, tokens, vectors
from mnemolog.index.embedding import FailedError, embed
from mnemolog.ports.embedder import Embedder

LONGEST = 65_535


class Texts(NamedTuple):
    """What some rows say, and beside it what they are also found by: tags, category, date."""

    said: list[str]
    beside: list[str]
    transaction: int = 0
    """In each, a word is told once; if one is undone, its words have to be told again."""


class Worked(NamedTuple):
    """What became of some texts; the rows are counted from 0."""

    terms: postings.Counted
    lengths: NDArray[np.int64]
    forms: dict[str, int]
    """Words as they stood, for wildcards, each with its term, unless they were told before."""
    vectors: vectors.Encoded | None
    """None where nobody embeds, or the embedder failed."""


class Worker:
    """Works texts out; for one thread."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._cutter = cast(tokens.Cutter, embedder) if hasattr(embedder, "embed_pieces") else None
        self._vocabulary = tokens.Vocabulary(self._cutter)
        self._transaction = 0

    @property
    def embeds(self) -> bool:
        """Whether texts become vectors here."""
        return self._embedder is not None

    def work_out(self, texts: Texts) -> Worked:
        """The terms of texts, and with an embedder their vectors."""
        if texts.transaction != self._transaction:
            self._transaction = texts.transaction
            self._vocabulary.repeat()
        found = self._vocabulary.occurrences(texts.said, texts.beside)
        lengths = np.minimum(np.bincount(found.rows, minlength=len(texts.said)), LONGEST)
        return Worked(
            postings.counted(found.rows, found.hashes),
            lengths,
            found.forms,
            self._encoded(texts.said, found.pieces),
        )

    def _encoded(
        self, said: list[str], pieces: list[tokens.Numbers | None]
    ) -> vectors.Encoded | None:
        """The vectors of texts, made of their pieces where these are known already."""
        if self._embedder is None:
            return None
        if self._cutter is None:
            with suppress(FailedError):  # they wait
                return vectors.encoded(embed(self._embedder, said))
            return None
        none = np.empty(0, np.uint32)
        found = self._cutter.embed_pieces([none if own is None else own for own in pieces])
        left = [at for at, own in enumerate(pieces) if own is None]
        if left:
            found[left] = self._embedder.embed([said[at] for at in left])
        return vectors.encoded(found)


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
        vectors.joined(own) if embeds and len(own) == len(parts) else None,
    )
