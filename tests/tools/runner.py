"""A program with a run of its own.

python runner.py linger ROOT SESSION RUN    saves notes, tells their ids, and waits to be killed
python runner.py work ROOT SESSION NAME     saves and reads notes beside others, then ends its run
python runner.py leave ROOT SESSION NAME    the same, but is killed instead of ending
"""

import os
import signal
import sys
import time

from mnemolog import Memory
from mnemolog.memory.running import Run

OWN, SHARED = 12, 5


def linger(memory: Memory, session: str, name: str) -> None:
    """Acknowledge three notes on standard output, and stay."""
    run = memory.run(session, agent_id="architect", run_id=name)
    for number in range(3):
        print(run.save("run", f"step {number}").id, flush=True)
        if number == 0:
            run.get("run")
            run.save("session", f"kept by {name}")
    time.sleep(60)


def fill(run: Run, name: str) -> None:
    """Save notes in turn; the run's own are always there, and nobody else's."""
    for number in range(OWN):
        run.save("run", f"{name} {number}", id=f"step {number}")
        found = [note.content for note in run.get("run")]
        assert found == [f"{name} {one}" for one in range(number + 1)], found
        if number < SHARED:
            run.save("session", f"{name} told {number}")


def work(memory: Memory, session: str, name: str) -> None:
    """A whole run."""
    with memory.run(session, agent_id="architect", run_id=name) as run:
        fill(run, name)


def leave(memory: Memory, session: str, name: str) -> None:
    """A run without an end."""
    fill(memory.run(session, agent_id="architect", run_id=name), name)
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    verb, root, session, name = sys.argv[1:]
    {"linger": linger, "work": work, "leave": leave}[verb](
        Memory.open(root, environ={}), session, name
    )
