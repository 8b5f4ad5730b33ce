"""How much the page weighs, and how soon it is there: `python -m bench page`.

The first paint of a session of 100,000 entries is measured in the system's Chromium, where there is
one: until its newest entries stand there, with a cold cache of the browser and a server that has
read the session once.
"""

import gzip
import shutil
from pathlib import Path
from statistics import median

import mnemolog.faces.page
from bench.figures import Figure
from bench.stores import filled
from tests.faces.page.watching import painted

ENTRIES = 100_000
ROUNDS = 6
STATIC = Path(mnemolog.faces.page.__file__).parent / "static"
# KiB as they lie there, and packed one by one.
BUDGETS = {
    "own JavaScript": ("**/*.js", 160, 45),
    "own CSS": ("**/*.css", 24, 6),
    "vendored JavaScript": ("vendor/*.js", 150, 56),
}


def measure(folder: Path) -> list[Figure]:
    """The size of each kind of file, plain and packed."""
    figures = []
    for name, (pattern, plain, packed) in BUDGETS.items():
        texts = [one.read_bytes() for one in STATIC.glob(pattern) if _is_meant(name, one)]
        sizes = sum(map(len, texts)), sum(len(gzip.compress(one, 9)) for one in texts)
        for what, size, budget in zip(("", ", packed"), sizes, (plain, packed), strict=True):
            kib = size / 1024
            told = f"≤ {budget} KiB"
            figures.append(Figure("page", f"{name}{what}", kib, "KiB", told, kib <= budget))
    return [*figures, *_first_paint(folder)]


def _first_paint(folder: Path) -> list[Figure]:
    """From the address to the entries, and how many elements they are."""
    if not shutil.which("chromium"):
        return []
    filled(folder / "long", ENTRIES, "long")
    (folder / "long" / "config.toml").write_text("[storage]\nmax_session_size_mb = 10000\n")
    seen = painted(folder / "long", "/sessions/long", ROUNDS)
    paint, elements = median(one.passed for one in seen[1:]), max(one.elements for one in seen)
    worked = median(one.worked for one in seen)
    what = f"a session of {ENTRIES:,} entries"
    return [
        Figure("page", f"first paint of {what}", paint, "ms", "< 1,000 ms", paint < 1000),
        Figure("page", f"first paint of {what}, first of all", seen[0].passed, "ms"),
        Figure("page", f"first paint of {what}, work of the tab", worked, "ms"),
        Figure("page", f"elements of {what}", elements, "", "< 3,000", elements < 3000),
    ]


def _is_meant(name: str, path: Path) -> bool:
    return (path.parent.name == "vendor") == name.startswith("vendored")
