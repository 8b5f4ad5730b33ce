"""How long `mnemolog serve` takes to its first answer, and how much memory it holds when idle.

`python -m bench.server`; each start is a fresh process on a fresh root.
"""

import http.client
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

RUNS = 5
ALLOWED_S = 1.0
ALLOWED_MB = 150.0
_QUIET_SECONDS = 2.0


class Start(NamedTuple):
    """What a start cost: seconds of waiting and of a processor, megabytes when idle."""

    wall: float
    processor: float
    megabytes: float


def measure(folder: Path) -> list[Figure]:
    """The wait for the first answer, and the memory a while later; beside the bare import."""
    imports, starts = [], []
    for number in range(RUNS):
        imports.append(_import())
        starts.append(_started(folder / str(number)))
    wall, processor = median(one.wall for one in starts), median(one.processor for one in starts)
    bare, size = median(imports), median(one.megabytes for one in starts)
    return [
        Figure("server", "`mnemolog serve` to its first answer, as somebody waits", wall, "s"),
        Figure(
            "server",
            "the same and two idle seconds, of a processor",
            processor,
            "s",
            f"≤ import of litestar and uvicorn + {ALLOWED_S:g} s",
            processor <= bare + ALLOWED_S,
            f"import {bare:.2f} s",
        ),
        Figure(
            "server",
            "resident memory of an idle server",
            size,
            "MB",
            f"≤ {ALLOWED_MB:g} MB",
            size <= ALLOWED_MB,
        ),
    ]


def _import() -> float:
    before = _processor()
    subprocess.run([sys.executable, "-c", "import litestar, uvicorn"], check=True)
    return _processor() - before


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _started(root: Path) -> Start:
    """A server on this root, from its start to its end."""
    before, began = _processor(), time.perf_counter()
    words = [
        sys.executable,
        "-m",
        "mnemolog",
        "--json",
        "--root",
        str(root),
        "serve",
        "--port",
        "0",
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            _answer(url.removeprefix("http://").rstrip("/"))
            wait = time.perf_counter() - began
            time.sleep(_QUIET_SECONDS)
            size = _resident(process.pid)
        finally:
            process.terminate()
    return Start(wait, _processor() - before, size)


def _answer(host: str) -> None:
    while True:
        wire = http.client.HTTPConnection(host, timeout=30)
        try:
            wire.request("GET", "/healthz")
            assert wire.getresponse().status == 200
            return
        except ConnectionRefusedError:
            time.sleep(0.005)
        finally:
            wire.close()


def _resident(process: int) -> float:
    told = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=True
    )
    return int(told.stdout) / 1024


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        print(table(measure(Path(scratch))))
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {RUNS} runs")
