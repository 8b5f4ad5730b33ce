"""What came from memory is not learned again, whichever way it comes back."""

import pytest

from mnemolog.tools import bind
from mnemolog.worker import Worker

FACT = "Deployments go through the blue cluster on Tuesdays"


@pytest.fixture
def learned(memory, sid):
    """A node that was learned from a finding."""
    memory.add_finding(
        sid,
        discovered_by="architect",
        category="deploys",
        description=FACT,
        severity="low",
        tags=["topics.deploys"],
    )
    assert learn(memory, sid) == "learned"
    (address,) = (leaf.address for leaf in memory.tree("u1"))
    assert FACT in memory.read_node(address, user_id="u1").body
    return address


def learn(memory, sid):
    memory.reset_session(sid)
    (done,) = Worker(memory).tick()
    return done.status


def texts(memory, address):
    return [one.text for one in memory.node_versions(address, user_id="u1")]


def test_an_entry_of_origin_recall_teaches_nothing(memory, sid, learned):
    before = texts(memory, learned)
    again = {
        "type": "finding",
        "content": {"category": "deploys", "description": FACT, "severity": "low"},
        "tags": ["topics.deploys"],
    }
    memory.add_memory(sid, {**again, "origin": "recall"})
    learn(memory, sid)
    assert texts(memory, learned) == before
    memory.add_memory(sid, again)  # said anew, it is a further source
    learn(memory, sid)
    assert len(texts(memory, learned)) == len(before) + 1


CALLS = [
    ("search_memory", {"query": "blue cluster deployments"}),
    ("recall_context", {"query": "blue cluster deployments"}),
    ("read_knowledge", {"address": "topics/deploys"}),
]


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[name for name, _ in CALLS])
def test_a_note_that_repeats_an_answer_is_recalled_and_not_learned(
    memory, sid, learned, tool, arguments
):
    before = texts(memory, learned)
    with memory.run(sid, agent_id="architect") as run:
        tools = bind(run)
        answer = tools.call(tool, arguments).text
        assert FACT in answer
        quoted = next(line for line in answer.split("\n") if FACT in line).removeprefix("  | ")
        saved = tools.call("save_memory", {"compartment": "session", "content": quoted,
                                           "tags": ["topics.deploys"]})  # fmt: skip
        assert "nothing is learned from it again" in saved.text
        fresh = tools.call("save_memory", {"compartment": "session", "content": "It is new here"})
        assert "learned" not in fresh.text
        assert [note.origin for note in run.notes("session")] == ["recall", "agent"]
    learn(memory, sid)
    assert texts(memory, learned) == before


def test_without_having_been_told_it_is_the_agents_own(memory, sid, learned):
    with memory.run(sid, agent_id="architect") as run:
        bind(run).call("save_memory", {"compartment": "session", "content": FACT})
        assert [note.origin for note in run.notes("session")] == ["agent"]


def test_a_note_of_the_run_itself_may_be_kept_for_the_session(memory, sid):
    with memory.run(sid, agent_id="architect") as run:
        tools = bind(run)
        tools.call("save_memory", {"compartment": "run", "content": FACT})
        assert FACT in tools.call("recall_context", {"query": "cluster"}).text
        tools.call("save_memory", {"compartment": "session", "content": FACT})
        assert [note.origin for note in run.notes("session")] == ["agent"]


def test_a_note_that_is_revised_stays_the_agents_own(memory, sid):
    with memory.run(sid, agent_id="architect") as run:
        tools = bind(run)
        save = {"compartment": "session", "content": FACT, "id": "mine"}
        tools.call("save_memory", save)
        tools.call("search_memory", {"query": FACT})
        tools.call("save_memory", {**save, "priority": 9})
        assert [(note.origin, note.importance) for note in run.notes("session")] == [("agent", 0.9)]
