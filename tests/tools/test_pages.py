"""The page about tools: its examples run, and its table is the table."""

import re
from pathlib import Path

from mnemolog.tools import TABLE

PAGE = (Path(__file__).parents[2] / "docs" / "tools.md").read_text(encoding="utf-8")


def test_the_examples_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 3
    names: dict[str, object] = {}
    for example in examples:
        exec(compile(example, "docs/tools.md", "exec"), names)
    runs = list((tmp_path / ".mnemolog").glob("sessions/*/runs/*"))
    assert runs == []


def test_the_table_of_the_page_is_the_table():
    named = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert named == [tool.name for tool in TABLE]
