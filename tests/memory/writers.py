"""Writing processes for the tests of concurrency: every acknowledged entry is noted in a file.

    python writers.py ROOT SESSION NAME PROCESSES THREADS COUNT ACKNOWLEDGED

Each thread of each process writes COUNT entries, or goes on until it is killed when COUNT is 0. An
entry is noted, with one write at the end of a file that all writers share, only after its receipt
came. The ids of the processes are printed; they are forked before anything is opened.
"""

import os
import sys
import threading
from contextlib import suppress
from typing import NamedTuple

from mnemolog import Memory
from mnemolog.errors import SessionNotFoundError


class Job(NamedTuple):
    """What one process has to do."""

    root: str
    session_id: str
    name: str
    threads: int
    each: int
    noted: str


def write(memory: Memory, job: Job, writer: str, noted: int) -> None:
    """Write entries that tell their writer and their number; gives up on none."""
    number = 0
    while job.each == 0 or number < job.each:
        # A session that is moved away for a moment is not there for that moment.
        with suppress(SessionNotFoundError):
            receipt = memory.add_memory(
                job.session_id, content=f"{writer} {number}", agent_id=writer
            )
            os.write(noted, f"{receipt.id} {receipt.seq} {writer} {number}\n".encode())
            number += 1


def work(job: Job) -> bool:
    """Write from several threads that share one memory; True if all came to their end."""
    noted = os.open(job.noted, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    done: list[str] = []
    with Memory.open(
        job.root, settings={"concurrency.lock_timeout_ms": 60_000}, environ={}
    ) as memory:

        def run(writer: str) -> None:
            write(memory, job, writer, noted)
            done.append(writer)

        threads = [
            threading.Thread(target=run, args=(f"{job.name}.{n}",)) for n in range(job.threads)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return len(done) == job.threads


def in_child(job: Job) -> int:
    """Fork a process for a job; gives its id."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        status = 0 if work(job) else 1
    finally:
        os._exit(status)


def main(
    root: str, session_id: str, name: str, processes: str, threads: str, count: str, noted: str
) -> int:
    """Start the processes, tell their ids, and wait for them."""
    jobs = [
        Job(root, session_id, f"{name}{n}", int(threads), int(count), noted)
        for n in range(int(processes))
    ]
    children = [in_child(job) for job in jobs]
    print(*children, flush=True)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    return max(map(abs, codes))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
