"""Compartments of one's own: a name, a scope, a limit, and a rule that a note must pass."""

import pytest

from mnemolog.errors import InvalidFormatError, SchemaInvalidError, SizeLimitError
from mnemolog.tools import Compartment, bind
from tests.forgetting.scanner import traces, word


def no_questions(note):
    return "Write a statement, not a question." if "?" in note["content"] else None


RISKS = Compartment("risks", "session", "what may go wrong", limit=50, rule=no_questions)
DRAFTS = Compartment("drafts", "run", "texts on the way")


@pytest.fixture
def own(memory, sid):
    with memory.run(sid, agent_id="architect", compartments=[RISKS, DRAFTS]) as run:
        yield run


def test_a_compartment_of_ones_own_is_like_the_others_for_a_model(own):
    tools = bind(own)
    (schema,) = [row["input_schema"] for row in tools.anthropic() if row["name"] == "save_memory"]
    names = ["run", "session", "plan", "risks", "drafts"]
    assert schema["properties"]["compartment"]["enum"] == names
    assert "- risks: what may go wrong. It is kept with the session" in tools.system()
    assert "- drafts: texts on the way. It ends with this run" in tools.system()
    saved = tools.call("save_memory", {"compartment": "risks", "content": "Rain", "id": "r"})
    assert saved.text == "Saved in risks as r; 4 of 50 characters are used."
    assert "  | Rain" in tools.call("get_memory", {"compartment": "risks"}).text
    wrong = tools.call("get_memory", {"compartment": "risk"})
    assert wrong.text.endswith(f"Use one of {', '.join(names)}.")


def test_its_notes_mix_with_no_others_and_live_as_long_as_its_scope(own, memory, sid, root):
    secret = word()
    own.save("risks", "Rain")
    own.save("drafts", secret)
    own.save("session", "Tea")
    assert [note.content for note in own.notes("session")] == ["Tea"]
    assert own.notes("run") == own.notes("plan") == []
    own.end()
    assert traces(root, [secret]) == {}
    with memory.run(sid, agent_id="architect", compartments=[RISKS]) as later:
        assert [note.content for note in later.get("risks")] == ["Rain"]
    with memory.run(sid, agent_id="analyst") as other, pytest.raises(InvalidFormatError):
        other.get("risks")


def test_its_limit_and_its_rule_are_kept(own):
    with pytest.raises(SizeLimitError, match="room for 50 characters; 51 more"):
        own.save("risks", "x" * 51)
    with pytest.raises(SchemaInvalidError, match="Write a statement"):
        own.save("risks", "Rain?")
    answer = bind(own).call("save_memory", {"compartment": "risks", "content": "Rain?"})
    assert (answer.is_error, "Write a statement, not a question." in answer.text) == (True, True)
    assert own.notes("risks") == []
    own.save("drafts", "x" * 5000)


def test_a_rule_can_be_set_for_the_three_that_are_always_there(memory, sid):
    ruled = Compartment("run", "run", "state", limit=10, rule=no_questions)
    with memory.run(sid, compartments=[ruled]) as run:
        with pytest.raises(SchemaInvalidError):
            run.save("run", "why?")
        run.save("run", "because")
        assert run.room("run") == (7, 10)
        assert "because" in bind(run).block()


@pytest.mark.parametrize(
    ("name", "scope", "limit"),
    [
        ("Big", "run", None), ("", "run", None), ("has space", "run", None), ("é", "run", None),
        (None, "run", None), ("x" * 33, "run", None), ("own", "agent", None), ("own", "", None),
        ("run", "session", None), ("session", "run", None), ("own", "run", 0), ("own", "run", -5),
        ("own", "run", "5"), ("own", "run", 1.5), ("own", "run", True),
    ],
)  # fmt: skip
def test_a_compartment_that_cannot_be_is_refused_when_it_is_made(name, scope, limit):
    with pytest.raises(InvalidFormatError):
        Compartment(name, scope, limit=limit)


def test_a_rule_that_nobody_can_call_is_refused_when_it_is_made():
    with pytest.raises(InvalidFormatError, match="cannot have the rule"):
        Compartment("own", "run", rule="no questions")  # type: ignore[arg-type]


def test_two_compartments_of_one_name_are_refused_and_no_run_begins(memory, sid):
    two = [Compartment("own", "run"), Compartment("own", "session")]
    with pytest.raises(InvalidFormatError, match="Two compartments are called 'own'"):
        memory.run(sid, compartments=two)
    assert memory.left_runs(sid) == []
