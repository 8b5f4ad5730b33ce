"""A durable append beside a bare loop of write and fdatasync of the same bytes."""

import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.figures import Figure
from bench.rounds import Times, alternate, timed
from bench.stores import MESSAGE, opened

LIMIT = 1.15
ROUNDS = 50
BATCH = 12


class BareLoop:
    """The least that a durable append can be."""

    def __init__(self, path: Path, lines: Sequence[bytes]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lines = lines

    def __call__(self, count: int) -> list[int]:
        found = []
        for number in range(count):
            line = self._lines[number % len(self._lines)]
            start = time.perf_counter_ns()
            os.write(self._file, line)
            os.fdatasync(self._file)
            found.append(time.perf_counter_ns() - start)
        return found

    def close(self) -> None:
        os.close(self._file)


def measure(folder: Path) -> list[Figure]:
    with opened(folder) as memory:
        session = memory.create_session("u1", agent_ids=["architect"])
        append = partial(memory.add_conversation, session.id, MESSAGE)
        timed(append, BATCH)
        log = folder / "sessions" / session.id / "memory.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        bare = BareLoop(folder / "sessions" / session.id / "bare", lines)
        bare(BATCH)
        times = alternate({"mnemolog": partial(timed, append), "bare": bare}, ROUNDS, BATCH)
        bare.close()
    return _figures(times["mnemolog"], times["bare"], len(lines[0]))


def _figures(ours: Times, bare: Times, length: int) -> list[Figure]:
    """Two verdicts: a slow disk hides our own part in the medians, the best cases show it."""
    what = f"durable append of {length} bytes to a bare write + fdatasync"
    ratios = {
        what: (ours.over(bare), f"{ours.median_us:,.0f} µs to {bare.median_us:,.0f} µs"),
        "the same, best case to best case": (
            ours.min_us / bare.min_us,
            f"{ours.min_us:,.0f} µs to {bare.min_us:,.0f} µs",
        ),
    }
    details = {"mnemolog": ours.summary(), "bare": bare.summary()}
    return [
        Figure("one writer", name, ratio, "×", f"≤ {LIMIT} ×", ratio <= LIMIT, beside, details)
        for name, (ratio, beside) in ratios.items()
    ]
