"""A worker in a process of its own; run as a program: ROOT NAME."""

import subprocess
import sys
from pathlib import Path

from tests.worker.scribes import Scribe, open_memory, working


def set_off(root: Path, *names: str) -> list[subprocess.Popen[str]]:
    """Workers of these names, all of which begin at the same moment."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.worker.sharing", str(root), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    for one in workers:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in workers:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    return workers


def main(root: str, name: str) -> None:
    """Tick until nothing is due any more; print whom it learned from."""
    scribe = Scribe()
    scribe.name = name
    with open_memory(Path(root), sessions_per_tick=4) as memory:
        worker = working(memory, scribe)
        print("ready", flush=True)
        sys.stdin.readline()
        while memory.due_sessions(1):
            for one in worker.tick():
                print(one.session_id, one.status, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
