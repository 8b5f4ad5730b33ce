"""Ten processes that append durably to one place: mnemolog beside SQLite."""

import multiprocessing
import sqlite3
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from bench.figures import Figure
from bench.one_writer import BareLoop
from bench.stores import MESSAGE, opened

PROCESSES = 10
ROUNDS = 3
SECONDS = 1.5
TIMES_FULL = 10
WORST_WAIT = 0.5
PATIENCE = 120

MNEMOLOG, BARE, FULL, NORMAL = "mnemolog", "bare loops", "SQLite FULL", "SQLite NORMAL"
RIVALS = (MNEMOLOG, BARE, FULL, NORMAL)


class Turn(NamedTuple):
    """What all processes together managed in one round.

    `per_second` counts until the last entry is acknowledged: one of SQLite's writers often sleeps
    on when all others have stopped, while nobody writes. `meanwhile` leaves that time out.
    """

    per_second: float
    meanwhile: float
    worst: float


def measure(folder: Path) -> list[Figure]:
    length = _prepare(folder)
    turns = _run(folder, length)
    rates = {name: median(turn.per_second for turn in turns[name]) for name in RIVALS}
    meanwhile = {name: median(turn.meanwhile for turn in turns[name]) for name in RIVALS}
    worst = {name: max(turn.worst for turn in turns[name]) for name in RIVALS}
    beside = ", ".join(f"{name} {rates[name]:,.0f}/s" for name in RIVALS)
    details = {name: [turn._asdict() for turn in turns[name]] for name in RIVALS}
    return [
        _times(rates, FULL, is_budget=True, beside=beside),
        _meanwhile(meanwhile),
        _times(rates, NORMAL, is_budget=False, beside="NORMAL does not survive a power loss"),
        _times(rates, BARE, is_budget=False, beside="write + fdatasync without any lock"),
        Figure(
            "ten writers",
            "worst wait of any append",
            worst[MNEMOLOG],
            "s",
            f"< {WORST_WAIT} s",
            worst[MNEMOLOG] < WORST_WAIT,
            f"FULL {worst[FULL]:.2f} s, NORMAL {worst[NORMAL]:.2f} s",
            details,
        ),
    ]


def _times(rates: dict[str, float], rival: str, *, is_budget: bool, beside: str) -> Figure:
    ratio = rates[MNEMOLOG] / rates[rival]
    return Figure(
        "ten writers",
        f"durable entries per second to {rival}",
        ratio,
        "×",
        f"≥ {TIMES_FULL} ×" if is_budget else "",
        ratio >= TIMES_FULL if is_budget else None,
        beside,
        {"per_second": rates},
    )


def _meanwhile(rates: dict[str, float]) -> Figure:
    """Without the last waits. Each process syncs once for each entry, and so does FULL, where one
    of them writes at a time: ten bare loops cannot write much more than ten times as much."""
    ours, most = (rates[name] / rates[FULL] for name in (MNEMOLOG, BARE))
    what = f"the same to {FULL}, counted only while all ten write"
    beside = f"bare loops {most:.1f} ×, {FULL} {rates[FULL]:,.0f}/s"
    return Figure("ten writers", what, ours, "×", beside=beside, details={"per_second": rates})


def _prepare(folder: Path) -> int:
    """Make the session and the tables; gives the length of a line, which is the length of a row."""
    with opened(folder / "mnemolog") as memory:
        memory.create_session("u1", agent_ids=["architect"], session_id="talk")
        memory.add_conversation("talk", MESSAGE)
    for level in (FULL, NORMAL):
        connection = _connected(folder, level)
        connection.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, line BLOB)")
        connection.close()
    return (folder / "mnemolog" / "sessions" / "talk" / "memory.jsonl").stat().st_size


def _connected(folder: Path, level: str) -> sqlite3.Connection:
    path = folder / f"{level.split()[-1].lower()}.db"
    connection = sqlite3.connect(path, timeout=30, isolation_level=None)
    connection.execute("PRAGMA busy_timeout = 30000")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {level.split()[-1]}")
    return connection


def _run(folder: Path, length: int) -> dict[str, list[Turn]]:
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(PROCESSES), context.Queue()
    workers = [
        context.Process(target=work, args=(str(folder), length, barrier, queue))
        for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    found = [queue.get(timeout=PATIENCE) for _ in workers]
    for worker in workers:
        worker.join()
    return {
        name: [_together([one[name][number] for one in found]) for number in range(ROUNDS)]
        for name in RIVALS
    }


def _together(parts: list[tuple[int, float, float]]) -> Turn:
    """Of each process, only the last entry is acknowledged after its time was up."""
    count = sum(part[0] for part in parts)
    return Turn(
        count / max(part[1] for part in parts),
        (count - len(parts)) / SECONDS,
        max(part[2] for part in parts),
    )


def work(folder: str, length: int, barrier: Any, queue: Any) -> None:
    """One of the processes."""
    with opened(Path(folder) / "mnemolog") as memory:
        line = b"x" * (length - 1) + b"\n"
        appends: dict[str, Callable[[], object]] = {
            MNEMOLOG: partial(memory.add_conversation, "talk", MESSAGE),
            BARE: partial(BareLoop(Path(folder) / "bare", [line]), 1),
        }
        for level in (FULL, NORMAL):
            insert = "INSERT INTO entries (line) VALUES (?)"
            connection = _connected(Path(folder), level)
            appends[level] = partial(connection.execute, insert, (line,))
        found: dict[str, list[tuple[int, float, float]]] = {name: [] for name in RIVALS}
        for _ in range(ROUNDS):
            for name in RIVALS:
                barrier.wait(PATIENCE)
                found[name].append(_append_for(appends[name], SECONDS))
    queue.put(found)


def _append_for(append: Callable[[], object], seconds: float) -> tuple[int, float, float]:
    """How many, how long altogether, and the longest wait."""
    count, worst = 0, 0.0
    start = before = time.perf_counter()
    while before - start < seconds:
        append()
        after = time.perf_counter()
        worst = max(worst, after - before)
        count += 1
        before = after
    return count, before - start, worst
