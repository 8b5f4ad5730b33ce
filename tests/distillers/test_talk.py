"""What people state outright is learned; what only looks like it, and what is over, is not."""

import pytest

from tests.distillers.desk import Desk
from tests.distillers.talk import LOOKALIKES, STATED


def told(*said: str | tuple[str, str], is_daily: bool = True) -> list[str]:
    """The lines, without their sources, after each was said on a day of its own; an agent's part
    is a pair."""
    desk = Desk()
    for day, one in enumerate(said, 1):
        text, role = (one, "user") if isinstance(one, str) else one
        desk.say(text, role=role, day=f"2026-11-{day:02}")
        if is_daily:
            desk.learn(desk.said[-1])
    if not is_daily:
        desk.learn()
    bodies = [f"{node.address}: {line}" for node in desk.nodes.values()
              for line in node.body.splitlines() if line.startswith("- ")]  # fmt: skip
    return sorted(line.partition(" <!--")[0] for line in bodies)


def current(lines: list[str]) -> list[str]:
    return [line.partition(" (")[0] for line in lines if "~~" not in line]


def over(lines: list[str]) -> list[str]:
    return [line.split("~~")[1] for line in lines if "~~" in line]


@pytest.mark.parametrize(("sentence", "address", "word"), STATED)
def test_what_is_stated_outright_is_learned(sentence, address, word):
    lines = told(sentence)
    assert [one for one in lines if one.startswith(f"{address}: ") and word.lower() in one.lower()]


@pytest.mark.parametrize("sentence", LOOKALIKES)
def test_what_only_looks_like_it_is_not(sentence):
    assert told(sentence) == []
    assert told((sentence, "assistant")) == []


def test_two_statements_in_a_sentence_are_both_learned():
    lines = told("Quick intro: my name is Farah, I live in Malmö, and I work for Lindqvist Timber.")
    assert current(lines) == [
        "USER.md: - **Employer**: Lindqvist Timber", "USER.md: - **Home**: Malmö",
        "USER.md: - **Name**: Farah",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I live in Leeds.", "Big news: I moved to Sheffield."),
        ("I work for Globex.", "I work for Initech now."),
        ("I work as a nurse.", "I work as a midwife."),
        ("I'm vegetarian.", "I'm vegan now."),
        ("I'm vegetarian.", "So I'm not vegetarian any more, at least the doctor says so."),
        ("I live in Leeds.", "I no longer live in Leeds."),
        ("I work for Globex.", "I don't work for Globex any more."),
        ("I prefer short answers.", "I prefer long answers with the reasons."),
        ("I prefer light mode.", "I prefer dark mode."),
        ("I prefer tea to coffee.", "I prefer coffee to tea these days."),
        ("Always show types.", "Please never show the types."),
        ("My favourite tea is oolong.", "My favourite tea is sencha now."),
        ("Remember that the recall ends on 31 January.", "Remember that the recall ends on 3 May."),
        ("Paula is my manager.", "Élodie is my manager now."),
        ("Gareth leads the stage crew.", "Bryony leads the stage crew since this week."),
        ("Ilse works at the archive.", "Ilse works for Nimbus now."),
        ("Ilse works at the archive.", "Ilse no longer works at the archive."),
        ("Bogdan runs the choir.", "Bogdan no longer runs the choir."),
        ("We decided to use Kafka for the events.", "We decided to use NATS for the events."),
        ("We decided to keep Trello.", "We no longer use Trello."),
    ],
)
@pytest.mark.parametrize("is_daily", [True, False])
def test_a_later_statement_on_the_same_matter_ends_the_earlier_one(before, after, is_daily):
    lines = told(before, after, is_daily=is_daily)
    (ended,) = over(lines)
    assert current(told(before))[0].endswith(ended)
    assert len(current(lines)) == 1


@pytest.mark.parametrize(
    "said",
    [
        ("I'm vegetarian.", "I'm coeliac."),
        ("I live in Leeds.", "I no longer live in Porto."),
        ("I prefer short answers.", "I prefer long walks."),
        ("Always show types.", "Never show secrets."),
        ("Bea is my sister.", "Ada is my sister."),
        ("Marta leads the payments team.", "Bruno leads the mobile team."),
    ],
)
def test_a_statement_on_another_matter_ends_nothing(said):
    lines = told(*said)
    assert len(current(lines)) == 2
    assert over(lines) == []


def test_a_correction_right_afterwards_takes_the_place_of_what_it_corrects():
    lines = told(
        "Remember that the boiler man comes on Tuesday.",
        "No wait, Lucía shows me the paper. It's Thursday the 12th, not Tuesday.",
        is_daily=False,
    )
    assert current(lines) == ["USER.md: - The boiler man comes on Thursday the 12th"]
    assert over(lines) == ["The boiler man comes on Tuesday"]


@pytest.mark.parametrize("reply", ["just kidding", "No no, it was a joke.", "Sorry, I meant June."])
def test_what_is_taken_back_in_the_next_message_is_not_learned(reply):
    said = ("My birthday is 3 May.", ("Noted.", "assistant"), reply)
    assert told(*said, is_daily=False) == []


def test_a_word_in_answer_to_a_question_is_no_preference():
    assert told(("Fish or meat?", "assistant"), "I prefer fish.", is_daily=False) == []
    lines = told(("Short or long?", "assistant"), "I prefer short answers.", is_daily=False)
    assert current(lines) == ["USER.md: - Prefers short answers"]


def test_an_agent_that_lays_out_a_page_states_nothing():
    assert told(("## Decisions\n\nWe decided to use Redis.", "assistant")) == []
    assert told(("Done. We decided to use Redis.", "assistant")) != []
