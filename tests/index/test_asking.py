"""Words that a question is put with count less than what it is about."""

import pytest

from mnemolog.index import asking, tokens

BOOKS = (
    "The librarian kept three books for us until the end of the holidays, which was kind of her."
)
MENTIONED = "I will mention that to my sister when she comes back from the coast on Sunday evening."


@pytest.fixture
def session(words):
    """Some entries about books among others, and one alone that holds "mention"."""
    sid = words.create_session().id
    words.add_many(sid, [{"id": "books", "content": BOOKS}, {"id": "else", "content": MENTIONED}])
    others = ["She read new books. " * 3] * 8 + ["We went to the harbour. " * 3] * 12
    words.add_many(sid, [{"content": content} for content in others])
    return sid


def lexical(memory, session, text):
    return {hit.entry.id: hit.why["lexical"] for hit in memory.query(session, text=text, limit=50)}


@pytest.mark.parametrize(
    "question",
    ["Which books did the librarian mention?", "books of the librarian, mention them?",
     "tell me what books the librarian would mention"],
)  # fmt: skip
def test_what_a_question_is_about_counts_more_than_how_it_is_put(words, session, question):
    found = lexical(words, session, question)
    assert found["books"] == 1
    assert found["else"] < 0.5


def test_words_that_ask_nothing_count_as_they_are(words, session):
    asked = lexical(words, session, "Did they mention books?")
    named = lexical(words, session, "mention books")
    assert named["else"] == 1, "the rarer word tells most"
    assert asked["else"] < 1


def test_a_question_of_such_words_alone_finds_what_it_found_before(words, session):
    assert lexical(words, session, "What did you mention?") == lexical(words, session, "mention")


def test_such_words_are_known_in_each_of_their_forms():
    for text in ("who mentioned many kinds?", "what is mentioning much of a kind?"):
        found = tokens.tokens(text)
        counted = tokens.counts(found)
        assert set(asking.weighed(text, found, counted).values()) == {asking.LESS}


def test_what_is_asked_for_twice_counts_twice():
    text = "how many boats, how many sails, which boats?"
    found = tokens.tokens(text)
    weights = asking.weighed(text, found, tokens.counts(found))
    named = {
        word: weights[tokens.hash_of(tokens.stem(word))] for word in ("boats", "many", "sails")
    }
    assert named == {"boats": 2, "many": 2 * asking.LESS, "sails": 1}
