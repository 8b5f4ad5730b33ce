"""Echoes: what a run was handed from memory, so that it is known again when it comes back.

A line is compared by its words. One that was handed out word for word is known; so is a longer
text if nearly all of its runs of three words were.
"""

import re
from collections.abc import Iterable, Iterator

from mnemolog.policy.blocks import said
from mnemolog.policy.words import words_in

SHARE = 0.9
_LEAST_RUNS = 4
_RUN = 3
# As many words as the least number of runs has.
_STRETCH = _LEAST_RUNS + _RUN - 1
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

Words = tuple[str, ...]


def sentences(text: str) -> Iterator[str]:
    """Each sentence of each line of a text."""
    for line in text.splitlines():
        yield from _SENTENCE.split(line)


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
        runs = set(_runs(line))
        return len(runs) >= _LEAST_RUNS and len(runs & self._runs) >= SHARE * len(runs)

    def has(self, line: Words) -> bool:
        """Whether a line was handed out word for word."""
        return line in self._lines

    def is_quoted(self, words: Words, but: "Echoes") -> bool:
        """Whether a stretch of these words was handed out, and by `but` was not."""
        streak = 0
        for run in _runs(words):
            streak = streak + 1 if run in self._runs and run not in but._runs else 0
            if streak >= _LEAST_RUNS:
                return True
        return any(
            part in self._lines and part not in but._lines
            for length in range(_RUN, _STRETCH)
            for part in _parts(words, length)
        )


class Handed:
    """What the tools of a run have handed out from memory, and what of it no person said."""

    def __init__(self) -> None:
        self._all = Echoes()
        self._doubtful = Echoes()
        self._cleared = Echoes()

    def hear(self, answer: str, own: Iterable[str] = (), spoken: Iterable[str] = ()) -> None:
        """Note what was handed out; `own` are notes of the run, `spoken` is what people said.

        Names and descriptions stand in an answer without a quote; they are in doubt like the rest.
        """
        self._all.hear("\n".join(said(answer)), own)
        for one in spoken:
            self.clear(one)
        parts = [answer, *sentences(answer)]
        fresh = (line for one in parts for line in _lines(one) if not self._cleared.has(line))
        self._doubtful.hear("\n".join(map(" ".join, fresh)))

    def clear(self, text: str) -> None:
        """Note what a person said, or the run itself before it was told."""
        self._cleared.hear("\n".join((text, *sentences(text))))

    def knows(self, text: str) -> bool:
        """Whether a text says nothing but what was handed out."""
        return self._all.knows(text)

    def doubts(self, text: str, there: str = "") -> bool:
        """Whether anything in a text comes from memory, and no person said it.

        `there` is what the text takes the place of, or is added to: that may stay.
        """
        before = Echoes()
        before.hear(there)
        fresh = [
            line for line in _lines(text) if not before.has(line) and not self._cleared.has(line)
        ]
        if fresh and all(map(self._doubtful.has, fresh)):
            return True
        together = tuple(word for line in fresh for word in line)
        return self._doubtful.is_quoted(together, before)


def _lines(text: str) -> Iterator[Words]:
    for line in text.splitlines():
        cut = tuple(words_in(_without_sources(line)))
        if cut:
            yield cut


def _without_sources(line: str) -> str:
    """A line of a node without the comment at its end that says what it rests on."""
    told, _, comment = line.rstrip().rpartition("<!--")
    names = comment.removesuffix("-->").split()
    is_sources = comment.endswith("-->") and all("/" in one or one[0] == "#" for one in names)
    return told if is_sources else line


def _runs(words: Words) -> Iterator[Words]:
    return _parts(words, _RUN)


def _parts(words: Words, length: int) -> Iterator[Words]:
    """Each row of so many words that follow each other."""
    return (words[at : at + length] for at in range(len(words) - length + 1))
