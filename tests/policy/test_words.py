"""Texts are held against each other by their words, and by the signs that change what they say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.policy.words import words_in


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use C++", "We use C"), ("We use C#", "We use C"), ("We use C++.", "We use C#."),
        ("it costs $5", "it costs €5"), ("it costs $5", "it costs 5"),
        ("set it to -5", "set it to 5"), ("from -1.5 on", "from 1.5 on"),
    ],
)  # fmt: skip
def test_a_sign_that_changes_the_meaning_is_no_decoration(one, other):
    assert words_in(one) != words_in(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- Use **PostgreSQL**!", "use postgresql"), ("snake_case names", "snake case names"),
        ("a well-known one", "A well known one"), ("issue #12: a+b", "issue 12, a b"),
        ("# C# style", "c sharp style"), ("2020-2021", "2020 2021"),
    ],
)  # fmt: skip
def test_what_is_only_set_otherwise_says_the_same(one, other):
    assert words_in(one) == words_in(other)


@given(st.text())
def test_words_are_made_of_their_own_words(text):
    found = words_in(text)
    assert words_in(" ".join(found)) == found
