"""The page about tools: its examples run, and its table is the table."""

import json
import re
from pathlib import Path
from types import SimpleNamespace as Thing
from typing import Any

from mnemolog.tools import TABLE

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 4
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "docs/tools.md", "exec"), names)
    assert answered(names["turn"]) == ["Saved in run as step; 6 of 10,000 characters are used."]
    runs = list((tmp_path / ".mnemolog").glob("sessions/*/runs/*"))
    assert runs == []


def answered(turn: Any) -> list[str]:
    """What a model that saves a note and then is done is answered in the agent loop of the page."""
    saving = {"compartment": "run", "id": "step", "content": "1 of 3"}
    asked = Thing(id="c1", function=Thing(name="save_memory", arguments=json.dumps(saving)))
    replies = iter([Thing(tool_calls=[asked]), Thing(tool_calls=None, content="done")])
    told: list[str] = []

    def create(*, model: str, messages: list[Any], tools: list[Any]) -> Thing:
        assert len(tools) == len(TABLE)
        told.extend(one["content"] for one in messages[1:] if isinstance(one, dict))
        return Thing(choices=[Thing(message=next(replies))])

    client = Thing(chat=Thing(completions=Thing(create=create)))
    assert turn(client, []) == "done"
    return told


def test_the_table_of_the_page_is_the_table():
    named = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert named == [tool.name for tool in TABLE]
