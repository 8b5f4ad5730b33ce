"""What memory said comes back from another program, and is not learned again."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.worker import Worker
from tests.worker.scribes import open_memory

FACT = "Deployments go through the blue cluster on Tuesdays"
OLD = "We decided to use MongoDB for the ledger."

SAVE = """
import sys
from mnemolog import Memory
with Memory.open(sys.argv[1], environ={"MNEMOLOG_SEARCH_EMBEDDER": "none"}) as memory:
    memory.create_session("u1", agent_ids=["clerk"], session_id="later")
    memory.add_conversation("later", role="assistant", agent_id="clerk", content=sys.argv[2])
"""


@pytest.fixture
def learned(memory) -> Memory:
    """What is known of u1: a finding, and a decision that another one has replaced."""
    memory.create_session("u1", agent_ids=["architect"], session_id="first")
    memory.add_finding("first", discovered_by="architect", description=FACT,
                       tags=["topics.deploys"])  # fmt: skip
    memory.add_conversation("first", role="user", content=OLD)
    memory.add_conversation("first", role="user", content="We switched from MongoDB to PostgreSQL.")
    assert learn(memory, "first") == "learned"
    return memory


def learn(memory: Memory, session: str) -> str:
    memory.reset_session(session)
    (done,) = Worker(memory).tick()
    return done.status


def known(memory: Memory, user: str = "u1") -> dict[str, str]:
    return {one.address: memory.read_node(one.address, user_id=user).body
            for one in memory.tree(user)}  # fmt: skip


def later(memory: Memory, user: str = "u1", session: str = "later") -> str:
    clock: Any = memory._clock
    clock.moment += timedelta(days=1)
    return memory.create_session(user, agent_ids=["clerk"], session_id=session).id


def say(memory: Memory, text: str, role: str = "assistant", **more) -> str:
    return memory.add_conversation("later", role=role, agent_id="clerk", content=text, **more).id


def test_a_whole_context_that_another_process_saves_teaches_nothing(root, learned):
    before = known(learned)
    told = learned.context("first", "which database does the ledger use, how do we deploy?").text
    assert "MongoDB" in told
    assert FACT in told
    given = [sys.executable, "-c", SAVE, str(root), f"Here is what I know.\n{told}"]
    assert subprocess.run(given, timeout=60, check=False).returncode == 0
    learn(learned, "later")
    assert known(learned) == before


@pytest.mark.parametrize("how", ["a line", "a line and more", "inside a message"])
def test_what_is_over_does_not_come_back_because_an_agent_repeats_it(learned, how):
    before = known(learned)
    later(learned)
    text = {"a line": OLD, "a line and more": f"{OLD} {FACT}.",
            "inside a message": f"Let me see.\n{OLD}\nShall I go on?"}[how]  # fmt: skip
    say(learned, text)
    learn(learned, "later")
    assert known(learned) == before


def test_a_line_of_a_node_that_is_saved_as_a_note_becomes_no_second_line(learned):
    before = known(learned)
    line = next(row for row in before["topics/deploys"].splitlines() if FACT in row)
    later(learned)
    for text in (line.partition("<!--")[0], FACT):
        learned.add_memory("later", type="note", agent_id="clerk", content=text, tags=["other"])
    learn(learned, "later")
    assert known(learned) == before


def test_the_rest_of_such_a_message_is_learned(learned):
    later(learned)
    said = say(learned, f"{OLD} We decided to paint the office green.")
    learn(learned, "later")
    page = known(learned)["decisions/general"]
    assert "the office green" in page
    assert page.count("MongoDB for the ledger") == 1
    assert f"later/{said}" in page


def test_a_person_may_say_a_thing_again(learned):
    later(learned)
    said = say(learned, OLD, role="user")
    learn(learned, "later")
    assert f"later/{said}" in known(learned)["decisions/general"]


def test_what_a_person_said_may_be_written_down_by_an_agent(learned):
    later(learned)
    text = "The staging database listens on port 5433 since the move"
    say(learned, text, role="user")
    found = learned.add_finding("later", discovered_by="clerk", description=text, tags=["db"])
    learn(learned, "later")
    assert f"later/{found.id}" in known(learned)["findings/db"]


def test_the_same_written_down_again_is_a_further_source_while_it_holds(learned):
    later(learned)
    twin = learned.add_finding("later", discovered_by="clerk", description=FACT,
                               tags=["topics.deploys"]).id  # fmt: skip
    learn(learned, "later")
    page = known(learned)["topics/deploys"]
    assert (page.count(FACT), f"later/{twin}" in page) == (1, True)
    learned.patch_node("topics/deploys", f"**{FACT}**", f"~~**{FACT}**~~", user_id="u1")
    before = known(learned)
    later(learned, session="latest")
    learned.add_finding("latest", discovered_by="clerk", description=FACT, tags=["topics.deploys"])
    learn(learned, "latest")
    assert known(learned) == before


def test_the_same_words_about_a_change_are_no_echo(learned):
    later(learned)
    learned.add_finding("later", discovered_by="clerk", description=FACT, status="resolved",
                        tags=["topics.deploys"])  # fmt: skip
    learn(learned, "later")
    assert "~~" in known(learned)["topics/deploys"]


def test_a_message_that_grows_is_no_echo_of_itself(learned):
    later(learned)
    said = say(learned, "We decided to paint the office green.")
    learn(learned, "later")
    grown = "We decided to paint the office green. We decided to plant a tree."
    learned.update_memory("later", said, content=grown)
    learn(learned, "later")
    page = known(learned)["decisions/general"]
    assert (page.count("the office green"), page.count("a tree")) == (1, 1)


def test_what_another_user_was_told_is_not_known_here(learned):
    later(learned, "bob")
    say(learned, OLD)
    learn(learned, "later")
    assert "MongoDB" in known(learned, "bob")["decisions/general"]


def test_looking_for_echoes_is_no_use_of_what_is_found(root: Path, clock):
    with open_memory(root, clock) as memory:
        memory.create_session("u1", agent_ids=["clerk"], session_id="later")
        for number in range(3):
            say(memory, f"The clerk wrote sentence number {number} about the ledger.")
        learn(memory, "later")
    assert list(root.glob("sessions/*/access.jsonl")) == []


def test_a_lesson_is_the_same_however_often_it_is_asked_for(learned):
    later(learned)
    say(learned, f"{OLD} We decided to paint the office green.")
    learned.reset_session("later")
    (due,) = learned.due_sessions()
    first, second = (learned.lesson_of(due) for _ in range(2))
    assert first.entries == second.entries
    assert [one.content for one in first.entries] == ["We decided to paint the office green."]
