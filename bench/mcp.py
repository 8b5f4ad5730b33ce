"""How long a client waits for `mnemolog mcp` to answer first, beside the protocol library's import.

`python -m bench.mcp`; both take turns, each in a fresh process.
"""

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.figures import Figure, table

RUNS = 9
ALLOWED_S = 0.2
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


class Cost(NamedTuple):
    """Seconds that somebody waits, and seconds that a processor works."""

    wall: float
    processor: float


def measure(folder: Path) -> list[Figure]:
    """The first answer to a client, and the bare import."""
    imports, starts = [], []
    for number in range(RUNS):
        imports.append(_cost([sys.executable, "-c", "import mcp.server.lowlevel"]))
        root = folder / str(number)
        starts.append(_cost([sys.executable, "-m", "mnemolog", "--root", str(root), "mcp"]))
    return [
        _figure("as a client waits", [c.wall for c in imports], [c.wall for c in starts]),
        _figure("of a processor", [c.processor for c in imports], [c.processor for c in starts]),
    ]


def _figure(which: str, imports: list[float], starts: list[float]) -> Figure:
    more = median(starts) - median(imports)
    return Figure(
        "mcp",
        f"cold start of `mnemolog mcp` to its first answer, seconds {which}",
        median(starts),
        "s",
        f"≤ import of `mcp` + {ALLOWED_S} s",
        more <= ALLOWED_S,
        f"import {median(imports):.2f} s, so {more:+.2f} s; best {min(starts):.2f} s",
        {"imports": imports, "starts": starts},
    )


def _cost(command: list[str]) -> Cost:
    """From the start of a process to its first line, or to its end; it ends with its input."""
    before, start = _processor(), time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        if "mnemolog" in command:
            started.stdin.write(json.dumps(HELLO).encode() + b"\n")
            started.stdin.flush()
        started.stdout.readline()
        wall = time.perf_counter() - start
        started.stdin.close()
        started.wait()
    return Cost(wall, _processor() - before)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure and print."""
    with TemporaryDirectory() as folder:
        print(table(measure(Path(folder))))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {RUNS} runs of each")


if __name__ == "__main__":
    main()
