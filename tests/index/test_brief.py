"""Turns of few words: they have much in common with a question, and tell little."""

import pytest

from mnemolog.index import fusion

# "is", "it" and "the" say nothing; with its date, an entry of these words counts six.
BRIEF = "Is it the harbour? Yes, harbour."
TOLD = (
    "We tied the boat up in the old harbour near the lighthouse because a storm was coming from"
    " the west that evening."
)


def whys(memory, session, text):
    return {hit.entry.id: hit.why for hit in memory.query(session, text=text, limit=50)}


def test_what_tells_something_ranks_above_what_only_echoes_the_question(words):
    session = words.create_session().id
    words.add_many(session, [{"id": "echo", "content": BRIEF}, {"id": "told", "content": TOLD}])
    hits = words.query(session, text="Where is the harbour?")
    assert [hit.entry.id for hit in hits] == ["told", "echo"]
    assert hits[1].why["lexical"] > hits[0].why["lexical"], "by its words alone it would be first"
    assert hits[0].why["brief"] == 0


@pytest.mark.parametrize(
    ("said", "lost"),
    [("harbour", 8 / 9), ("harbour boat storm", 6 / 9), ("harbour " * 8, 1 / 9),
     ("harbour " * 9, 0), ("harbour " * 40, 0)],
)  # fmt: skip
def test_a_turn_loses_more_the_fewer_words_it_has_with_its_date(words, said, lost):
    session = words.create_session().id
    words.add_memory(session, id="one", content=said)
    why = whys(words, session, "harbour")["one"]
    whole = sum(why[part] for part in fusion.EVIDENCE if part not in ("brief", "match"))
    assert why["brief"] == pytest.approx(-fusion.BRIEF * lost * whole, abs=1e-5)


def test_a_turn_without_a_word_of_its_own_loses_no_more_than_that(words):
    session = words.create_session().id
    words.add_many(session, [{"id": "one", "content": "harbour"}, {"id": "mute", "content": "so"}])
    why = whys(words, session, "harbour")["mute"]
    whole = why["neighbours"] + why["session"]
    assert why["brief"] == pytest.approx(-fusion.BRIEF * whole, abs=1e-5)


def test_what_is_no_talk_or_was_said_to_last_loses_nothing(words):
    session = words.create_session().id
    for kind in ("decision", "finding", "preference", "note", "event"):
        words.add_memory(session, id=kind, type=kind, content="harbour")
    words.add_memory(session, id="rule", role="user", content="Always call the harbour.")
    words.add_memory(session, id="talk", role="user", content="I called the harbour.")
    found = {name: why["brief"] for name, why in whys(words, session, "harbour").items()}
    assert found.pop("talk") < 0
    assert set(found) == {"decision", "finding", "preference", "note", "event", "rule"}
    assert set(found.values()) == {0.0}
    assert "-0.0" not in map(str, found.values())
