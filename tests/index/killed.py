"""Readers that are killed while they catch up.

    python killed.py ROOT ROUNDS SEED

Each round a child writes some entries, and another one, which catches up with them, is killed at a
random one of the calls that this takes. Nothing is opened in the parent, so that its children share
nothing. Prints which ids were written, and how many children did not come to their end.
"""

import json
import math
import os
import random
import signal
import sys
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import mnemolog.stores.files.finder  # noqa: F401 - loaded once, before the children are made
from mnemolog import Memory

EACH = 16


def write(root: str, number: int) -> None:
    """Add entries to several sessions, and revise one of the first round's."""
    with Memory.open(root, settings={"storage.durability": "os"}, environ={}) as memory:
        for session in ("a", "b", "c"):
            if number == 0:
                memory.create_session(session_id=session)
            batch = [{"id": f"{session}{number}-{n}", "content": f"word {n}"} for n in range(EACH)]
            batch += [{"id": f"{session}0-{number % EACH}", "content": f"word again {number}"}]
            memory.add_many(session, batch)


def read(root: str, last: float, told: Path) -> None:
    """Catch up, and die at the last of so many calls; tells how many there were."""
    calls = count(1)

    def called(*_: object) -> None:
        if next(calls) >= last:
            os.kill(os.getpid(), signal.SIGKILL)

    with Memory.open(root, environ={}) as memory:
        sys.setprofile(called)
        memory.query(None, text="word")
        sys.setprofile(None)
    told.write_text(str(next(calls)))


def child(work: Callable[[], None]) -> int:
    """Do something in a child; gives its id."""
    identifier = os.fork()
    if identifier:
        return identifier
    status = 1
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def ended(identifier: int) -> int:
    """How a child ended."""
    return os.waitstatus_to_exitcode(os.waitpid(identifier, 0)[1])


def main(root: str, rounds: str, seed: str) -> None:
    """Write, read, kill, as often as asked for."""
    rng, killed = random.Random(seed), 0
    usual, told = math.inf, Path(root).parent / "calls"
    for number in range(int(rounds)):
        assert ended(child(partial(write, root, number))) == 0
        last = rng.uniform(0, usual) if number else usual
        status = ended(child(partial(read, root, last, told)))
        assert status in (0, -signal.SIGKILL), status
        killed += status != 0
        usual = int(told.read_text())
    written = [f"{s}{r}-{n}" for s in "abc" for r in range(int(rounds)) for n in range(EACH)]
    print(json.dumps({"killed": killed, "written": written}))


if __name__ == "__main__":
    main(*sys.argv[1:])
