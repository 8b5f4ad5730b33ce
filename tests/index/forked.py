"""A process that forks while its threads search.

    python forked.py ROOT EMBEDDER

Prints how each child ended (0: it found what is there, -9: it hung) and whether the parent's own
searches go on.
"""

import os
import signal
import sys
import threading
import time
import warnings

from mnemolog import Memory

PATIENCE = 2.0


def search(memory: Memory) -> bool:
    """Whether a search finds what is there."""
    return len(memory.query("talk", text="word")) == 20


def ended(child: int) -> int:
    """How a child ended, killed if it takes too long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fork(memory: Memory) -> int:
    """Search in a child with the memory that it inherited."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if search(memory) else 2
        finally:
            os._exit(status)
    return ended(child)


def main(root: str, embedder: str) -> None:
    """Search in a thread, and fork meanwhile."""
    memory = Memory.open(root, settings={"search.embedder": embedder}, environ={})
    memory.create_session(session_id="talk")
    memory.add_many("talk", [{"content": f"word {number}"} for number in range(500)])
    searches, stop = [0], threading.Event()

    def repeat() -> None:
        while not stop.is_set():
            searches[0] += search(memory)

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    while not searches[0]:
        time.sleep(0.001)
    for _ in range(4):
        print("child", fork(memory), flush=True)
    before = searches[0]
    deadline = time.monotonic() + PATIENCE
    while searches[0] == before and time.monotonic() < deadline:
        time.sleep(0.01)
    print("parent", "goes on" if searches[0] > before else "hangs", flush=True)
    stop.set()
    os._exit(0)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of forking a process with threads: that is the point here
    main(*sys.argv[1:])
