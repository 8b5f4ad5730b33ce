"""What an append costs beside the sync, which is the disk's; for the record.

By the time of the processor: on a busy machine the clock tells who else was at work.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.rounds import alternate, ratio_beside
from bench.stores import MESSAGE, opened

ROUNDS = 40
BATCH = 50


def measure(folder: Path) -> list[Figure]:
    """Sessions take turns: a plain one, one with a setting of its own, one with two writers."""
    own = {"storage.durability": "os"}
    with opened(folder, **own) as memory, opened(folder, **own) as other:
        for name, settings in (("plain", {}), ("own", own), ("two", {})):
            memory.create_session("u1", session_id=name, settings=settings)
        appends = {
            name: partial(_worked, partial(memory.add_conversation, name, MESSAGE))
            for name in ("plain", "own")
        }
        appends["two"] = partial(_worked, _in_turn(memory, other))
        for append in appends.values():
            append(BATCH)
        times = alternate(appends, ROUNDS, BATCH)
    plain = times["plain"]
    details = {name: one.summary() for name, one in times.items()}
    beside = f"best {plain.min_us:,.0f} µs"
    what = "append without its sync, by processor"
    return [
        Figure("own cost", what, plain.median_us, "µs", beside=beside, details=details),
        *(
            Figure("own cost", said, times[name].over(plain), "×", beside=ratio_beside(one, plain))
            for name, said, one in (
                ("own", "the same in a session with a setting of its own", times["own"]),
                ("two", "the same after a line that somebody else wrote", times["two"]),
            )
        ),
    ]


def _in_turn(memory: Any, other: Any) -> Callable[[], object]:
    """Two handles write by turns, so that each finds a line that it does not know."""
    handles = [memory, other]

    def append() -> None:
        handles.reverse()
        handles[0].add_conversation("two", MESSAGE)

    return append


def _worked(call: Callable[[], object], count: int) -> list[int]:
    """The nanoseconds of processor time that each of so many calls took."""
    found = []
    for _ in range(count):
        start = time.thread_time_ns()
        call()
        found.append(time.thread_time_ns() - start)
    return found
