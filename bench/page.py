"""How much the page weighs, beside its budget: `python -m bench page`."""

import gzip
from pathlib import Path

import mnemolog.faces.page
from bench.figures import Figure

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
    return figures


def _is_meant(name: str, path: Path) -> bool:
    return (path.parent.name == "vendor") == name.startswith("vendored")
