"""A worker that is killed at a named point; run as a program: ROOT POINT [rules [TIME]].

The points are before or after what a worker asks of its memory, by name: `after keep_plan`.
"""

import os
import signal
import sys
from datetime import datetime
from itertools import count
from pathlib import Path

from mnemolog import Memory
from mnemolog.testing import FixedClock
from mnemolog.worker import Worker
from tests.worker.scribes import Scribe, open_memory, working

ADDRESSES = ("topics/said", "topics/heard", "USER.md", "SOUL.md")
POINTS = (
    "after due_sessions",
    "after lesson_of",
    "before keep_plan",
    "after keep_plan",
    "before write_node",
    "after write_node",
    "after second write_node",
    "before _wait_for_yes",
    "after _wait_for_yes",
    "after apply_plan",
    "after mark_processed",
    "after strike_plan",
)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at(point: str) -> None:
    """Have this process killed there."""
    when, name = point.split(" ", 1)
    wanted = 2 if name.startswith("second ") else 1
    name = name.removeprefix("second ")
    real = getattr(Memory, name)
    calls = count(1)

    def deadly(self, *args, **kwargs):
        own = next(calls)  # others may call it meanwhile, from threads of their own
        if when == "before" and own == wanted:
            _die()
        done = real(self, *args, **kwargs)
        if when == "after" and own == wanted:
            _die()
        return done

    setattr(Memory, name, deadly)


def main(root: str, point: str, distiller: str = "", now: str = "") -> None:
    die_at(point)
    clock = FixedClock(datetime.fromisoformat(now)) if now else None
    with open_memory(Path(root), clock, sessions_per_tick=2 if now else 10) as memory:
        (Worker(memory) if distiller else working(memory, Scribe(*ADDRESSES))).tick()


if __name__ == "__main__":
    main(*sys.argv[1:])
