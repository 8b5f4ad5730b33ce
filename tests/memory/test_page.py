"""The page docs/python.md says what the verbs say, and its examples run."""

import re
import subprocess
import sys
from pathlib import Path

from mnemolog import Memory
from mnemolog.memory.page import GROUPS, page

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_page_is_what_the_verbs_print():
    printed = subprocess.run(
        [sys.executable, "-m", "mnemolog.memory.page"], capture_output=True, check=True
    ).stdout.decode()
    assert printed == page()
    assert PAGE.read_text(encoding="utf-8") == printed, (
        "run: python -m mnemolog.memory.page > docs/python.md"
    )


def test_every_verb_is_on_the_page_once():
    verbs = [name for name in dir(Memory) if name[0] != "_" and callable(getattr(Memory, name))]
    assert sorted(" ".join(GROUPS.values()).split()) == sorted(verbs)
    for name in verbs:
        assert page().count(f"\n- `{name}(") == 1
    assert "get_entries(session_id, filters=None, /, *, types=None, after=0, " in page()


def test_a_context_manager_is_told_as_one():
    for name, entered in {"brought_back": "None", "lease_session": "bool"}.items():
        line = next(one for one in page().splitlines() if one.startswith(f"- `{name}("))
        assert f"→ AbstractContextManager[{entered}]`" in line


def test_the_examples_run_one_after_the_other(tmp_path):
    examples = re.findall(r"```python\n(.*?)```", page(), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "".join(examples)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "E_SESSION_NOT_FOUND There is no session 'nowhere'." in done.stdout
    assert done.stdout.count("Point ") == 9
    assert re.search(r"- Use PostgreSQL <!-- sess-\S+/mem_\w+ -->\n", done.stdout)
