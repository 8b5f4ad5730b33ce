"""Many texts at a time are cut into the same terms as each of them alone."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mnemolog.embedders import open_embedder
from mnemolog.index import postings, tokens, working
from tests.index.searching import some

LETTERS = st.sampled_from("abcABC019_-,.'\n\t\x0b\x1f中文かなñß ") | st.characters()
TEXTS = st.lists(st.text(LETTERS, max_size=40), max_size=12)


@some
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_plain_text_is_cut_into_the_same_words_as_any_other(text):
    assert tokens.tokens(f"{text} ж") == [*tokens.tokens(text), "ж"]


@some
@given(TEXTS)
def test_the_terms_of_many_texts_are_those_of_each(texts):
    found = tokens.occurrences(texts)
    for row, text in enumerate(texts):
        terms = Counter(found.hashes[found.rows == row].tolist())
        assert terms == tokens.counts(tokens.tokens(text))
    words = {word for text in texts for word in tokens.tokens(text)}
    known = {word: tokens.hashes_of(word) for word in words}
    assert found.forms == {word: own[0] for word, own in known.items() if len(own) == 1}


def test_a_word_is_told_once_until_it_has_to_be_repeated():
    vocabulary = tokens.Vocabulary()
    assert vocabulary.occurrences(["running cats", "the cats"], ["", "数据库"]).forms.keys() == {
        "running",
        "cats",
    }
    assert vocabulary.occurrences(["cats and mice"], [""]).forms.keys() == {"mice"}
    vocabulary.repeat()
    assert vocabulary.occurrences(["cats"], [""]).forms.keys() == {"cats"}


class Whole:
    """The static table for somebody who does not know that it goes by words."""

    def __init__(self) -> None:
        self._table = open_embedder("static")
        self.name, self.size = self._table.name, self._table.size

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._table.embed(texts)


@some
@given(TEXTS, st.sampled_from(["", "word, " * 90, "x" * 5000]))
def test_a_text_that_is_cut_once_has_the_same_terms_and_vectors_as_if_cut_twice(texts, more):
    said = [*texts, more, "a text, e-mailed [SEP] by don't_know"]
    one = working.Worker(open_embedder("static"))
    assert one._cutter is not None
    two = working.Worker(Whole())
    asked = working.Texts(said, ["tag 2026"] * len(said))
    own, other = one.work_out(asked), two.work_out(asked)
    assert own.forms == other.forms
    assert arrays(own) == arrays(other)


def arrays(worked: working.Worked) -> list[list[Any]]:
    assert worked.vectors is not None
    return [column.tolist() for column in (*worked.terms, worked.lengths, *worked.vectors)]


@some
@given(TEXTS)
def test_rows_packed_together_are_as_if_packed_alone(texts):
    found = tokens.occurrences(texts)
    packed = postings.packed_rows(postings.counted(found.rows, found.hashes), len(texts))
    assert len(packed) == len(texts)
    for one, text in zip(packed, texts, strict=True):
        terms = dict(zip(*(column.tolist() for column in postings.unpack(one)), strict=True))
        assert terms == tokens.counts(tokens.tokens(text))
