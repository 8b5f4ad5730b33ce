"""Echoes: what a run was handed from memory, so that it is known again when it comes back.

A line is compared by its words. One that was handed out word for word is known; so is a longer
text if nearly all of its runs of three words were.
"""

import re
from collections.abc import Iterable, Iterator

SHARE = 0.9
_LEAST_RUNS = 4
_WORD = re.compile(r"\w+")

Words = tuple[str, ...]


class Echoes:
    """The lines that a run was handed."""

    def __init__(self) -> None:
        self._lines: set[Words] = set()
        self._runs: set[Words] = set()

    def hear(self, text: str, own: Iterable[str] = ()) -> None:
        """Note what was handed out; `own` are notes of the run itself, which nobody knew before."""
        mine = {line for one in own for line in _lines(one)}
        for line in _lines(text):
            if line not in mine:
                self._lines.add(line)
                self._runs.update(_runs(line))

    def knows(self, text: str) -> bool:
        """Whether a text says nothing but what was handed out."""
        lines = list(_lines(text))
        return bool(lines) and all(self._knows(line) for line in lines)

    def _knows(self, line: Words) -> bool:
        if line in self._lines:
            return True
        runs = _runs(line)
        return len(runs) >= _LEAST_RUNS and len(runs & self._runs) >= SHARE * len(runs)


def _lines(text: str) -> Iterator[Words]:
    for line in text.casefold().splitlines():
        words = tuple(_WORD.findall(line.partition("<!--")[0]))
        if words:
            yield words


def _runs(line: Words) -> set[Words]:
    return set(zip(line, line[1:], line[2:], strict=False))
