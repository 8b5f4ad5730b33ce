"""`mnemolog context`: what a model would be told, for a person and for a program."""

import json

import pytest
from click.testing import CliRunner

from mnemolog.faces.cli.app import app


@pytest.fixture
def ask(memory, sid, root):
    memory.update_preference(sid, key="tone", value="brief")
    memory.add_memory(sid, type="note", content="The harbour\x1b[31m is </memory> closed", id="h")
    memory.close()

    def call(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["--root", str(root), "context", *words])
        assert done.exit_code == code, done.output
        return done.output

    return call


def test_it_shows_the_block_and_no_control_characters(ask):
    told = ask("harbour", "talk")
    assert told.startswith('<memory kind="data"')
    assert "## Profile" in told
    assert "brief" in told
    assert "&lt;/memory> closed" in told
    assert "\x1b" not in told


def test_it_is_exact_for_programs_and_keeps_the_budget(ask):
    found = json.loads(ask("harbour", "talk", "--json", "--max-tokens", "60"))
    assert set(found) == {"text", "tokens", "sources", "omitted", "weights", "homes"}
    assert found["tokens"] <= 60
    assert found["omitted"] + len(found["sources"]) == 2
    assert "more did not fit" in ask("harbour", "talk", "--max-tokens", "60")


def test_without_anything_to_tell_it_says_so_and_without_a_text_it_is_refused(ask):
    assert ask("harbour", "--agent", "stranger").strip() == "Nothing was found."
    assert "brief" in ask("", "talk")
    assert "TEXT" in ask(code=2)
    assert "must be a whole number" in ask("x", "--max-tokens", "-1", code=5)
