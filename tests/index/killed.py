"""Readers that are killed while they catch up.

    python killed.py ROOT ROUNDS SEED

Each round a child writes some entries, and another one, which catches up with them, is killed after
a random time. Nothing is opened in the parent, so that its children share nothing. Prints which ids
were written, and how many children did not come to their end.
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from functools import partial

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


def read(root: str) -> None:
    """Catch up."""
    with Memory.open(root, environ={}) as memory:
        memory.query(None, text="word")


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
    usual = 0.05
    for number in range(int(rounds)):
        assert ended(child(partial(write, root, number))) == 0
        begun = time.monotonic()
        reader = child(partial(read, root))
        if number == 0:
            assert ended(reader) == 0
            usual = time.monotonic() - begun
            continue
        time.sleep(rng.uniform(0, usual))
        os.kill(reader, signal.SIGKILL)
        status = ended(reader)
        assert status in (0, -signal.SIGKILL), status
        killed += status != 0
    written = [f"{s}{r}-{n}" for s in "abc" for r in range(int(rounds)) for n in range(EACH)]
    print(json.dumps({"killed": killed, "written": written}))


if __name__ == "__main__":
    main(*sys.argv[1:])
