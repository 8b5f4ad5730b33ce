"""Many texts at a time are cut into the same terms as each of them alone."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.index import postings, tokens
from tests.index.searching import some

LETTERS = st.sampled_from("abcABC019_-,.'\n\t\x0b\x1f中文かなñß ") | st.characters()
TEXTS = st.lists(st.text(LETTERS, max_size=40), max_size=12)


@some
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_plain_text_is_cut_into_the_same_words_as_any_other(text):
    assert tokens.tokens(f"{text} ü") == [*tokens.tokens(text), "ü"]


@some
@given(TEXTS)
def test_the_terms_of_many_texts_are_those_of_each(texts):
    found = tokens.occurrences(texts)
    for row, text in enumerate(texts):
        terms = Counter(found.hashes[found.rows == row].tolist())
        assert terms == tokens.counts(tokens.tokens(text))
    assert set(found.words) == {word for text in texts for word in tokens.tokens(text)}


@some
@given(TEXTS)
def test_rows_packed_together_are_as_if_packed_alone(texts):
    found = tokens.occurrences(texts)
    packed = postings.packed_rows(postings.counted(found.rows, found.hashes), len(texts))
    assert len(packed) == len(texts)
    for one, text in zip(packed, texts, strict=True):
        terms = dict(zip(*(column.tolist() for column in postings.unpack(one)), strict=True))
        assert terms == tokens.counts(tokens.tokens(text))
