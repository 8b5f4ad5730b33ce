"""What a training run is asked to make; read before anything is made."""

import argparse
from collections.abc import Sequence
from pathlib import Path

# In the order in which they are made: `small` learns from `full`.
SIZES = ("full", "small", "static")


def read_order(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The sizes to make, from what, and where to; ends the program when that cannot be."""
    parser = argparse.ArgumentParser(
        prog="python -m retriever.train", description="Make the models of mnemolog's embedders."
    )
    parser.add_argument("sizes", nargs="+", choices=SIZES)
    parser.add_argument("--model", help="folder of MiniLM-L6; default: the installed wheel's")
    parser.add_argument("--out", type=Path, default=Path("build/models"))
    given = parser.parse_args(words)
    if "small" in given.sizes and "full" not in given.sizes:
        parser.error("`small` learns from `full`, which has to be made in the same run: full small")
    given.sizes = [size for size in SIZES if size in given.sizes]
    return given
