"""Several processes and a hand work on one graph at the same time."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mnemolog import Memory
from mnemolog.errors import NodeConflictError

APPENDER = """
import sys
from mnemolog import Memory
root, name = sys.argv[1:]
with Memory.open(root, environ={}) as memory:
    for number in range(20):
        memory.append_node("shared", f"{name}-{number}", user_id="u1")
        memory.append_node(f"own/{name}", f"{name}-{number}", user_id="u1")
"""

REPLACER = """
import sys
from mnemolog import Memory
from mnemolog.errors import NodeConflictError
root, name = sys.argv[1:]
with Memory.open(root, environ={}) as memory:
    done = 0
    while done < 15:
        node = memory.read_node("shared", user_id="u1")
        try:
            memory.write_node("shared", node.body + f"{name}-{done}\\n", user_id="u1",
                              expected=node.hash)
            done += 1
        except NodeConflictError:
            pass
"""


def started(script: str, root: Path, *names: str) -> list[subprocess.Popen[bytes]]:
    return [subprocess.Popen([sys.executable, "-c", script, str(root), one]) for one in names]


def test_no_line_of_several_appending_processes_is_lost(memory, root):
    memory.write_node("shared", "begin\n", user_id="u1")
    others = started(APPENDER, root, "a", "b", "c")
    assert [one.wait(120) for one in others] == [0, 0, 0]
    lines = memory.read_node("shared", user_id="u1").body.split()
    assert len(lines) == 61
    assert set(lines) == {"begin"} | {f"{name}-{n}" for name in "abc" for n in range(20)}
    assert len(memory.node_versions("shared", user_id="u1")) == 61
    assert len(memory.tree("u1")) == 4


def test_of_writers_that_replace_what_they_read_none_overwrites_another(memory, root):
    memory.write_node("shared", "begin\n", user_id="u1")
    others = started(REPLACER, root, "a", "b")
    assert [one.wait(120) for one in others] == [0, 0]
    lines = memory.read_node("shared", user_id="u1").body.split()
    assert sorted(lines) == sorted(["begin", *(f"{name}-{n}" for name in "ab" for n in range(15))])


def test_a_hand_that_edits_all_the_time_never_loses_a_text(root):
    path = root / "users/u1/memory/shared.md"
    with Memory.open(root, environ={}) as memory:
        memory.write_node("shared", "begin\n", user_id="u1")

        def hand() -> None:
            for number in range(40):
                new = path.with_name(f".{number}")
                new.write_text(f"hand {number}\n")
                new.rename(path)

        with ThreadPoolExecutor() as pool:
            editing = pool.submit(hand)
            refused = 0
            while not editing.done():
                try:
                    memory.append_node("shared", "ours", user_id="u1")
                except NodeConflictError:
                    refused += 1
            editing.result()
        texts = [one.text for one in memory.node_versions("shared", user_id="u1")]
        assert memory.read_node("shared", user_id="u1").text.startswith("hand 39\n")
        assert any("hand 39\n" in (text or "") for text in texts)
        left = [one.name for one in path.parent.iterdir()]
        assert left == ["shared.md"]
