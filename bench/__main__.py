"""Run the benchmarks, print the table, keep the figures."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import (
    batch,
    embedding,
    forgetting,
    graph,
    growth,
    importing,
    mcp,
    one_writer,
    own_cost,
    page,
    reading,
    slow_disk,
    ten_writers,
)
from bench.figures import Figure, table
from mnemolog.fs.mounts import file_system

RESULTS = Path(__file__).parent / "results"
BENCHMARKS: dict[str, Callable[[Path], list[Figure]]] = {
    "one_writer": one_writer.measure,
    "own_cost": own_cost.measure,
    "growth": growth.measure,
    "batch": batch.measure,
    "ten_writers": ten_writers.measure,
    "slow_disk": slow_disk.measure,
    "import": importing.measure,
    "reading": reading.measure,
    "forgetting": forgetting.measure,
    "graph": graph.measure,
    "page": page.measure,
    "mcp": mcp.measure,
    "embedding": embedding.measure,
}


def main() -> int:
    names = _arguments()
    # Beside the results and not in the system's temporary folder: that one may be in memory.
    _make_results()
    start, load = time.perf_counter(), os.getloadavg()[0]
    figures: list[Figure] = []
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        with TemporaryDirectory(dir=RESULTS) as folder:
            figures += BENCHMARKS[name](Path(folder))
    seconds = time.perf_counter() - start
    print(table(figures))
    kept = _keep(figures, seconds, load)
    missed = sum(one.met is False for one in figures)
    print(f"\n{seconds:.0f} s, {missed} budgets not met; kept in bench/results/{kept.name}")
    if load > (os.cpu_count() or 1):
        print(f"The machine was busy (load {load:.1f}): waits for a core hide what a call costs.")
    return 0


def _arguments() -> list[str]:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(BENCHMARKS))
    names: list[str] = parser.parse_args().names
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    return names or list(BENCHMARKS)


def _make_results() -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / ".gitignore").write_text("*\n", encoding="utf-8")


def _keep(figures: list[Figure], seconds: float, load: float) -> Path:
    now = datetime.now(UTC)
    content = {
        "v": 1,
        "at": now.isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "machine": {
            "cores": os.cpu_count(),
            "load_before": round(load, 1),
            "architecture": platform.machine(),
            "system": platform.system(),
            "python": platform.python_version(),
            "file_system": file_system(str(RESULTS)).kind,
        },
        "figures": [asdict(one) for one in figures],
    }
    path = RESULTS / f"{now:%Y-%m-%dT%H-%M-%S}.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
