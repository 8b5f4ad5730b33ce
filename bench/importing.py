"""What an import costs, and what else it brings."""

import subprocess
import sys
from pathlib import Path
from statistics import median

from bench.figures import Figure

RUNS = 9
LIMIT_MS = 100
# msgspec takes typing_extensions along where that is installed; it works without.
ALLOWED = {"msgspec", "typing_extensions"}

LIGHT = "import mnemolog"
FULL = "from mnemolog import Memory"

_BROUGHT = """
import sys
before = set(sys.modules)
{statement}
print(*{{name.partition(".")[0] for name in set(sys.modules) - before}})
"""


def measure(folder: Path) -> list[Figure]:
    """Both take turns; of the second, only the third-party modules have a budget."""
    costs: dict[str, list[float]] = {LIGHT: [], FULL: []}
    for _ in range(RUNS):
        for statement, found in costs.items():
            found.append(_milliseconds(statement))
    return [_figure(statement, found) for statement, found in costs.items()]


def _figure(statement: str, costs: list[float]) -> Figure:
    foreign = sorted(_brought(statement) - sys.stdlib_module_names - {"mnemolog"})
    is_light = median(costs) < LIMIT_MS or statement != LIGHT
    return Figure(
        "import",
        f"`{statement}`",
        median(costs),
        "ms",
        f"< {LIMIT_MS} ms, only msgspec" if statement == LIGHT else "only msgspec",
        is_light and set(foreign) <= ALLOWED,
        f"best {min(costs):.1f} ms; third-party: {', '.join(foreign) or 'none'}",
        {"milliseconds": costs, "third_party": foreign},
    )


def _milliseconds(statement: str) -> float:
    """What our modules and all that they import took, as the interpreter tells it."""
    done = _run("-X", "importtime", "-c", statement)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()]
    # Modules that are imported by another one stand further to the right.
    ours = [row for row in rows if row[2].startswith(" mnemolog")]
    return sum(int(row[1]) for row in ours) / 1000


def _brought(statement: str) -> set[str]:
    return set(_run("-c", _BROUGHT.format(statement=statement)).stdout.split())


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)
