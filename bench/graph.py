"""The graph at 1,000 and at 10,000 nodes: what a reader asks for must not grow with what is there.

One level of the tree, one search, one edit are what people and agents ask for; those may not grow.
What by its nature takes every node (the whole tree, all links, all similar pairs, the look at every
file for edits by hand) is told per node. Both sizes take turns, in processor time.
"""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import Figure
from bench.stores import opened
from mnemolog import Memory
from mnemolog.stores.files import shadow

FEW, MANY = 1_000, 10_000
USER = "u1"
ROUNDS = 15
SHOWN = 20
FLAT = 1.5
SEARCH = 2.5
"""What the index is allowed to grow by between these sizes: 2 ms and 5 ms are its budgets."""
TOPICS = ("payments", "deployment", "hiking", "databases", "kettles", "contracts", "lighting")
A_DAY = 86_400

Asked = Callable[[Memory, int], Any]
"""Does something with a root that holds so many nodes."""


def measure(folder: Path) -> list[Figure]:
    roots = {size: _filled(folder / str(size), size) for size in (FEW, MANY)}
    with ExitStack() as stack:
        memories = {size: stack.enter_context(opened(root)) for size, root in roots.items()}
        first = {size: _seconds(partial(_search, one)) for size, one in memories.items()}
        figures = [_grown(what, limit, memories, ask) for what, limit, ask in FLAT_ONES]
        figures += [_per_node(what, memories, ask, rounds) for what, ask, rounds in LINEAR_ONES]
    return [*figures, _each("first search, all nodes are read", first)]


def _filled(root: Path, size: int) -> Path:
    """Files as an editor left them a day ago: making them is not what is measured."""
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
    then = time.time() - A_DAY
    for path in (root / "users" / USER).rglob("*"):
        os.utime(path, (then, then))
    return root


def _address(number: int) -> str:
    return f"topics/{number % 50}/node-{number}"


def _search(memory: Memory, size: int = 0) -> Any:
    return memory.search_nodes("facts about hiking", user_id=USER, limit=10)


def _search_after_a_pause(memory: Memory, size: int) -> Any:
    """As when the last look at the files was more than two seconds ago."""
    before, shadow._SECONDS = shadow._SECONDS, 0.0
    try:
        return _search(memory)
    finally:
        shadow._SECONDS = before


def _level(memory: Memory, size: int) -> Any:
    memory.folder(user_id=USER)
    return memory.folder("topics/7", user_id=USER, limit=SHOWN)


_numbers = count()


def _edit(memory: Memory, size: int) -> Any:
    number = next(_numbers)
    return memory.append_node(_address(number * 37 % size), f"- More {number}.", user_id=USER)


def _edit_and_search(memory: Memory, size: int) -> Any:
    return _edit(memory, size), _search(memory)


FLAT_ONES: tuple[tuple[str, float, Asked], ...] = (
    (f"the top of the tree and {SHOWN} nodes of a folder", FLAT, _level),
    ("one search", SEARCH, _search),
    ("one edit", FLAT, _edit),
    ("one edit and one search", SEARCH, _edit_and_search),
)
LINEAR_ONES: tuple[tuple[str, Asked, int], ...] = (
    ("the whole tree", lambda memory, size: memory.tree(USER), 5),
    (
        "the links of a node",
        lambda memory, size: memory.node_links(_address(size // 2), user_id=USER),
        3,
    ),
    ("a search that looks for edits by hand", _search_after_a_pause, 5),
    ("similar nodes", lambda memory, size: memory.similar_nodes(USER), 2),
)


def _grown(what: str, limit: float, memories: Mapping[int, Memory], ask: Asked) -> Figure:
    """How many times as long it takes with ten times as many nodes."""
    times = _taken(memories, ask, ROUNDS)
    growth = times[MANY] / times[FEW]
    return Figure("graph", f"{what}: {MANY:,} nodes to {FEW:,}", growth, "×", f"≤ {limit}",
                  growth <= limit, f"{times[MANY] * 1000:.2f} ms at {MANY:,}")  # fmt: skip


def _per_node(what: str, memories: Mapping[int, Memory], ask: Asked, rounds: int) -> Figure:
    return _each(what, _taken(memories, ask, rounds))


def _each(what: str, times: Mapping[int, float]) -> Figure:
    """What each node costs where all are needed, and whether more of them cost more each."""
    few, many = (times[size] / size * 1e6 for size in (FEW, MANY))
    beside = f"{few:.1f} µs each at {FEW:,} ({many / few:.2f} ×)"
    return Figure("graph", f"{what}, each of {MANY:,} nodes", many, "µs", beside=beside)


def _taken(memories: Mapping[int, Memory], ask: Asked, rounds: int) -> dict[int, float]:
    """The median of the processor's time for each size, which take turns."""
    found: dict[int, list[float]] = {size: [] for size in memories}
    for number in range(rounds + 1):
        for size, memory in memories.items():
            taken = _seconds(partial(ask, memory, size))
            found[size] += [taken] if number else []  # the first time it is not warm
    return {size: median(times) for size, times in found.items()}


def _seconds(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start
