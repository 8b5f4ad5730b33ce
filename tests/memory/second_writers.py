"""Ten writing processes of a program of version 2, and one that migrates what they write to.

    python second_writers.py ROOT SESSION PROCESSES COUNT ACKNOWLEDGED

Every acknowledged entry is noted in a file, as in `writers.py`.
"""

import os
import sys

from mnemolog.fs.real import RealDisk
from mnemolog.ports import SystemClock
from mnemolog.settings import Settings
from tests.log.second import open_second


def write(root: str, session_id: str, writer: str, count: int, path: str) -> None:
    """Write entries that tell their writer and their number."""
    noted = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    settings = Settings().changed({"concurrency.lock_timeout_ms": 60_000})
    memory = open_second(RealDisk(root), settings, SystemClock())
    for number in range(count):
        receipt = memory.add_memory(session_id, content=f"{writer} {number}", agent_id=writer)
        os.write(noted, f"{receipt.id} {receipt.seq} {writer} {number}\n".encode())


def main(root: str, session_id: str, processes: str, count: str, path: str) -> int:
    """Fork the writers and wait for them."""
    children = []
    for number in range(int(processes)):
        child = os.fork()
        if not child:
            status = 1
            try:
                write(root, session_id, f"w{number}", int(count), path)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
