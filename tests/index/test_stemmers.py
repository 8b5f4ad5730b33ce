"""What the stemmer makes of words is part of what an index is: another one builds it anew."""

from collections.abc import Iterator
from typing import Any

import pytest

from mnemolog.index import tokens
from tests.index.searching import WORDS_ONLY, ids, reopened


@pytest.fixture
def stemming(monkeypatch: Any) -> Iterator[Any]:
    """Exchange the stemmer, as an update of the library would."""

    def exchange(stem: Any) -> None:
        monkeypatch.setattr(tokens, "_stem_word", stem)
        _forget()

    yield exchange
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    tokens.identity.cache_clear()
    tokens.hashes_of.__self__.clear()  # type: ignore[attr-defined]


def test_an_index_of_another_stemmer_is_built_anew(root, clock, stemming):
    with reopened(root, clock, **WORDS_ONLY) as memory:
        sid = memory.create_session().id
        kept = memory.add_memory(sid, content="a database").id
        assert ids(memory.query(sid, text="datacenter")) == []
        assert ids(memory.query(sid, text="databases")) == [kept]
    stemming(lambda word: word[:4])
    with reopened(root, clock, **WORDS_ONLY) as memory:
        assert ids(memory.query(sid, text="datacenter")) == [kept]


def test_a_stemmer_that_does_the_same_is_the_same(stemming):
    before = tokens.identity()
    stem = tokens._stem_word
    stemming(lambda word: stem(word))
    assert tokens.identity() == before
    stemming(lambda word: word)
    assert tokens.identity() != before
