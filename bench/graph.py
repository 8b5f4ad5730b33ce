"""The graph at 1,000 and at 10,000 nodes: tree, search, one edit, and a hand edit that is found."""

import statistics
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.stores import opened
from mnemolog import Memory

FEW, MANY = 1_000, 10_000
USER = "u1"
ROUNDS = 15
FLAT = 1.5
TOPICS = ("payments", "deployment", "hiking", "databases", "kettles", "contracts", "lighting")

Times = dict[str, float]


def measure(folder: Path) -> list[Figure]:
    few, many = (_measured(folder / str(size), size) for size in (FEW, MANY))
    figures = [
        Figure("graph", f"{what} at {MANY:,} nodes", many[what] * 1000, "ms") for what in many
    ]
    edit = many["one edit"] / few["one edit"]
    growth = [
        Figure("graph", f"{what}: {MANY:,} nodes to {FEW:,}", many[what] / few[what], "×")
        for what in many
        if what != "one edit"
    ]
    flat = Figure("graph", f"one edit: {MANY:,} nodes to {FEW:,}", edit, "×", f"≤ {FLAT}",
                  edit <= FLAT)  # fmt: skip
    return [*figures, flat, *growth]


def _measured(root: Path, size: int) -> Times:
    _fill(root, size)
    with opened(root) as memory:
        times = {
            "first search": _seconds(lambda: _search(memory)),
            "first tree": _seconds(lambda: memory.tree(USER)),
        }
        numbers = count()
        times["tree"] = _median(lambda: memory.tree(USER))
        times["one edit"] = _median(lambda: _edit(memory, size, next(numbers)))
        times["search"] = _median(lambda: _search(memory))
        times["edit and search"] = _median(
            lambda: (_edit(memory, size, next(numbers)), _search(memory))
        )
        times["node_links"] = _median(lambda: memory.node_links(_address(size // 2), user_id=USER))
    with opened(root) as memory:
        times["first search of a fresh handle"] = _seconds(lambda: _search(memory))
    return times


def _address(number: int) -> str:
    return f"topics/{number % 50}/node-{number}"


def _fill(root: Path, size: int) -> None:
    """Files as an editor would leave them, a day ago: making them is not what is measured."""
    with opened(root) as memory:
        memory.write_node("first", "text", user_id=USER)
    for number in range(size):
        topic = TOPICS[number % len(TOPICS)]
        path = root / "users" / USER / "memory" / f"{_address(number)}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f'---\ntitle: "Node {number}"\ndescription: "About {topic}"\n---\n\n'
            f"- Fact {number} about {topic}, see [[node-{(number * 7) % size}]].\n"
        )


def _search(memory: Memory) -> Any:
    return memory.search_nodes("facts about hiking", user_id=USER, limit=10)


def _edit(memory: Memory, size: int, number: int) -> Any:
    return memory.append_node(_address(number * 37 % size), f"- More {number}.", user_id=USER)


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _median(call: Callable[[], Any]) -> float:
    return statistics.median(_seconds(call) for _ in range(ROUNDS))
