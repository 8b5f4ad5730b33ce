"""Whose words a question wants, and what was said to last."""

import pytest

from mnemolog.index import voices
from mnemolog.model.entry import Entry

ASKED_OF_USERS = ["Where did I leave the boat?", "the boat, tell ME", "Can you list what I said?"]
ASKED_OF_OTHERS = [
    "How did you recommend that I paint my boat?",
    "Which paint have you named?",
    "you strongly advised me against oil",
    "What was your suggestion for my boat?",
]
ASKED_OF_NOBODY = [
    "Where is the boat?",
    "A summary of how my boat was painted",
    "Summarize what you told me",
    "myopia of the mineral",
    "",
]


@pytest.mark.parametrize("text", ASKED_OF_USERS)
def test_who_asks_of_oneself_wants_what_users_said(text):
    assert voices.wanted(text) == voices.USERS


@pytest.mark.parametrize("text", ASKED_OF_OTHERS)
def test_who_asks_of_answers_wants_what_others_said(text):
    assert voices.wanted(text) == voices.OTHERS


@pytest.mark.parametrize("text", ASKED_OF_NOBODY)
def test_else_no_voice_counts_more(text):
    assert voices.wanted(text) is None


LASTING = [
    "Always give distances in miles when I ask about routes.",
    "Thanks! Please never send me drafts after nine",
    "ok, from now on call me Ada",
    "It was late.\nNever deploy on a Friday.",
    "Whenever I ask about the boat, name the pier first",
    "And don't ever use oil paint.",
    "I'd really prefer small steps",
    "I would rather have tea",
]
PASSING = [
    "I always liked the boat",
    "It never rained at the pier",
    "Never mind, I found it",
    "That was the preferred paint",
    "The paint is rather dry",
    "forever and ever",
    "I think what all of them prefer is oil",
]


def said(text: str, role: str | None = "user", kind: str = "conversation") -> Entry:
    return Entry(
        v=1, id="a", timestamp="2026-01-01T00:00:00.000Z", type=kind, origin="test", content=text,
        role=role,
    )  # fmt: skip


@pytest.mark.parametrize("text", LASTING)
def test_what_users_lay_down_lasts(text):
    assert voices.is_lasting(said(text))
    assert not voices.is_lasting(said(text, role="assistant"))


@pytest.mark.parametrize("text", PASSING)
def test_what_users_tell_in_passing_does_not(text):
    assert not voices.is_lasting(said(text))


def test_a_preference_lasts_whoever_wrote_it_down():
    assert voices.is_lasting(said("tea", role=None, kind="preference"))


def test_a_rule_ranks_above_what_is_as_close_to_the_question(words):
    session = words.create_session().id
    words.add_memory(session, role="user", content="Always show the boat from above.")
    words.add_memory(session, role="user", content="They showed the boat from above.")
    first, second = words.query(session, text="How does the boat look?")
    assert first.entry.content.startswith("Always")
    assert first.why["lasting"] == pytest.approx(0.3)
    assert second.why["lasting"] == 0


def test_a_rule_that_has_nothing_to_do_with_the_question_stays_away(words):
    session = words.create_session().id
    words.add_memory(session, role="user", content="Always show the boat from above.")
    words.add_memory(session, role="user", content="The tea is cold.")
    (hit,) = words.query(session, text="tea", limit=1)
    assert hit.entry.content == "The tea is cold."


def test_what_was_answered_counts_when_a_question_is_about_it(words):
    session = words.create_session().id
    words.add_memory(session, role="user", content="the boat needs paint")
    words.add_memory(session, role="assistant", content="a boat wants oil")
    hits = words.query(session, text="Which oil did you recommend for my boat?")
    assert {hit.entry.role: hit.why["speaker"] > 0 for hit in hits} == {
        "user": False, "assistant": True,
    }  # fmt: skip
