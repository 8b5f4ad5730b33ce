"""A searching process whose embedder takes as long as somebody lets it.

    python blocked.py ROOT BEGAN GO WHAT

It opens the root and searches. At the first text that WHAT stands in, the embedder writes to the
pipe BEGAN, and answers once the pipe GO is closed.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mnemolog import Memory


class Blocked:
    """Counts letters, and waits at one text until it is let go."""

    name, size = "blocked", 2

    def __init__(self, began: str, go: str, what: str) -> None:
        self._began, self._go, self._what = Path(began), Path(go), what

    def embed(self, texts: Sequence[str]) -> Any:
        """One row for each text."""
        if self._what and any(self._what in text for text in texts):
            self._what = ""
            self._began.write_text("began")
            self._go.read_text()
        return np.array([[len(text) % 7 + 1, 1] for text in texts], np.float32) / 10


def main(root: str, began: str, go: str, what: str) -> None:
    """Search once, and print how the search was answered."""
    with Memory.open(root, environ={}, embedder=Blocked(began, go, what)) as memory:
        found = memory.query(None, text="question harbour", limit=100)
        print(found.semantic, *sorted(hit.entry.id for hit in found))


if __name__ == "__main__":
    main(*sys.argv[1:])
