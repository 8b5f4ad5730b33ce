"""An error's advice fits whoever reads it: somebody who types or sends requests, or a model."""

import ast
import re
from pathlib import Path

import pytest

import mnemolog
from mnemolog.errors import MnemologError, NotAllowedError, no_session
from mnemolog.faces.cli.advising import advice_of
from mnemolog.faces.http.advising import advised
from mnemolog.tools.answers import ASK, for_model, refused

PYTHON = re.compile(r"\bhandle\b|Memory\.open|for_agent|for_user|get_entries|clear_session")
COMMANDS = re.compile(r"`mnemolog |(?<![\w-])--[a-z]")


def texts_of(node: ast.expr) -> list[str]:
    """The texts that an expression may give; what is filled in stands as `x`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = [one.value if isinstance(one, ast.Constant) else "x" for one in node.values]
        return ["".join(map(str, parts))]
    if isinstance(node, ast.IfExp):
        return texts_of(node.body) + texts_of(node.orelse)
    return []


def advices() -> list[str]:
    """Every advice in the sources, and every constant that may be one."""
    found = []
    for path in Path(mnemolog.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            is_advice = isinstance(node, ast.keyword) and node.arg == "advice"
            is_usual = isinstance(node, ast.Assign) and "ASK_OWNER" in ast.dump(node.targets[0])
            if isinstance(node, ast.keyword | ast.Assign) and (is_advice or is_usual):
                found += texts_of(node.value)
    return sorted(set(found))


def test_there_is_advice_of_both_kinds_to_look_at():
    assert len(advices()) > 100
    assert any(PYTHON.search(one) for one in advices())
    assert any(COMMANDS.search(one) for one in advices())


@pytest.mark.parametrize("advice", advices())
def test_nobody_is_told_what_they_cannot_do(advice):
    error = MnemologError("It is so.", advice=advice)
    assert not PYTHON.search(advice_of(error)), "on the command line there is no Python"
    sent = advised(advice).replace("clear_session", "")  # which is an action of the API too
    assert not PYTHON.search(sent), "over HTTP there is no Python either"
    told = for_model(error)
    assert not PYTHON.search(told)
    assert not COMMANDS.search(told), "a model types no commands"
    assert told.startswith("It is so.")


def test_what_suits_everybody_is_left_as_it_is():
    error = MnemologError("It is so.", advice="Choose another id, or leave it out.")
    assert advice_of(error) == error.advice
    assert for_model(error) == str(error)
    assert advised(error.advice) == error.advice


def test_a_model_that_names_a_missing_session_is_told_whom_to_ask():
    answer = refused(no_session("talk"))
    assert answer.text == f"Error: There is no session 'talk'. {ASK}"


def test_on_the_command_line_the_owner_is_whoever_leaves_the_options_out(run, memory, sid):
    refused_there = run("--agent", "architect", "audit", code=5)
    assert refused_there.stderr.strip().endswith("Leave out --agent and --user.")
    with pytest.raises(NotAllowedError, match="Use the owner's handle"):
        memory.for_agent("architect").audit()


def test_what_an_agent_may_not_do_is_refused_before_anybody_is_asked(run, memory, sid):
    view = ("--agent", "architect")
    memory.create_session(session_id="ours", agent_ids=["architect"])
    asked = run(*view, "erase", "ours", "--whole-session", code=5, text="y\n")
    assert "for good?" not in asked.output
    assert [one.id for one in memory.list_sessions() if one.id == "ours"]
