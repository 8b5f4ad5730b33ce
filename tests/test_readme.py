"""The README's example runs as it stands, and the line that it shows is a real one."""

import json
import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from mnemolog import Memory

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[number]


def test_the_example_runs_and_finds_what_it_stored(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block("python")],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "Use PostgreSQL" in done.stdout
    [log] = tmp_path.glob(".mnemolog/sessions/*/memory.jsonl")
    assert len(log.read_text(encoding="utf-8").splitlines()) == 2


ASKS = """
def model(system, user):
    print(system)
    return "Noted."

answer("My dog is called Rex.", model)
answer("What is my dog called?", model)
memory.close()
"""


def test_an_agent_is_told_what_it_heard_before(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block("python", 1) + ASKS],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, _, second = done.stdout.partition("<memory ")
    assert first.strip() == ""
    assert "| My dog is called Rex." in second


def test_the_line_that_is_shown_has_the_right_sum():
    line = block("json").strip()
    body, _, _ = line.partition(',"sum":')
    assert json.loads(line)["sum"] == f"sha256:{sha256(body.encode()).hexdigest()}"


def test_the_note_that_is_shown_is_learned_from_the_line(tmp_path):
    line = json.loads(block("json"))
    with Memory.open(tmp_path / ".mnemolog", environ={}) as memory:
        memory.create_session("u1", session_id=line["session_id"], agent_ids=[line["agent_id"]])
        kept = "id timestamp type agent_id content".split()
        memory.add_memory(line["session_id"], {name: line[name] for name in kept})
    command = [sys.executable, "-m", "mnemolog", "worker", "--once"]
    subprocess.run([*command, "--finished", line["session_id"]], cwd=tmp_path, check=True)
    note = tmp_path / ".mnemolog/users/u1/memory/decisions/general.md"
    assert block("markdown") in note.read_text(encoding="utf-8")
