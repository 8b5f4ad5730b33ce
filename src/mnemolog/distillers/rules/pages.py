"""A node's body as sections of lines, each of which says what it rests on.

    ## Profile
    - **Home**: Lisbon (since 2026-03-01) <!-- sess-1/mem_4 #home -->

    ## Before
    - ~~**Home**: Berlin~~ (2025-01-02 – 2026-03-01) <!-- sess-0/mem_9 #home -->

Whatever else people write into a body stays where they put it, byte for byte.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mnemolog.distillers.rules.facts import Fact
from mnemolog.distillers.rules.former import Former, nothing
from mnemolog.distillers.rules.lines import Line, is_own, is_replaced, line_of, says
from mnemolog.distillers.rules.pieces import cut, ended, heading, is_blank, is_section, newline_of

BEFORE = "Before"

_ITEM = re.compile(r"(?:[-*+]|\d+[.)])[ \t]")


@dataclass
class Page:
    """A body, read so that facts can be added to it."""

    rows: list[Line | str]
    """Lines of ours, and pieces of text that are not."""
    left_open: str
    """A block at the end that nobody closed: whatever came behind it would be a part of it."""
    newline: str
    former: Former

    @classmethod
    def parse(cls, body: str, former: Former = nothing) -> "Page":
        """Read a body."""
        pieces, left_open = cut(body)
        return cls([line_of(one) or one for one in pieces], left_open, newline_of(body), former)

    def render(self) -> str:
        """The body as text."""
        texts = [one if isinstance(one, str) else one.render(self.newline) for one in self.rows]
        texts += [self.left_open] if self.left_open else []
        return "".join([*(ended(one, self.newline) for one in texts[:-1]), *texts[-1:]])

    def lines(self) -> list[Line]:
        """The facts on it, those that are over too."""
        return [one for one in self.rows if isinstance(one, Line)]

    def take(self, fact: Fact) -> bool:
        """Add a fact, or its source to a line that says the same; False if nothing changed."""
        own = [one for one in self.lines() if is_own(one, fact)]
        holding = next((one for one in own if not one.is_over), None)
        if holding is not None:
            return self._revised(holding, fact)
        former = self.former(fact)
        known = own if former is None else [former]
        if known and not _is_other(fact, known):
            return False
        self._learn(fact.revised() if known else fact)
        return True

    def _revised(self, line: Line, fact: Fact) -> bool:
        """The same entry again: resolved, repeated, put in other words, or with another value.

        What a person has changed in the line stays while the entry says what it said.
        """
        if line.text == fact.text and not fact.is_over:
            return False
        former = self.former(fact) or line
        if fact.is_over:
            return not former.is_over and self._strike(line, fact.day)
        is_alone = line.sources == [fact.source.name]
        is_same = says(line, fact) or says(former, fact)
        if is_same and (line.text != former.text or not is_alone):
            return False
        if is_alone and (is_same or _is_correction(line, fact)):
            line.reword(fact.text)
            return True
        self._strike(line, fact.written)
        self._learn(fact.revised())
        return True

    def _learn(self, fact: Fact) -> None:
        alike = (one for one in self.lines() if not one.is_over and says(one, fact))
        known = None if fact.is_over else next(alike, None)
        if known is not None:
            known.add(fact.source.name, fact)
            return
        self.end(fact)
        self._add(fact)

    def end(self, fact: Fact) -> bool:
        """End what this fact takes the place of, unless that is the newer one."""
        over = [
            line
            for line in self.lines()
            if not line.is_over and is_replaced(line, fact) and line.since <= fact.day
        ]
        for line in over:
            self._strike(line, fact.day)
        return bool(over)

    def _strike(self, line: Line, day: str) -> bool:
        """Strike a line; it moves unless people wrote something below it that is about it."""
        line.strike(day)
        at = self.rows.index(line)
        if self._behind(at) == at + 1:
            del self.rows[at]
            self._put(line, BEFORE)
        return True

    def _add(self, fact: Fact) -> None:
        line = Line(fact.text, fact.day, "", [fact.source.name], fact.key)
        newer = [one for one in self.lines() if is_replaced(one, fact) and one.since > fact.day]
        if fact.is_over:
            line.until = fact.day
        elif newer and fact.key:
            line.until = min(one.since for one in newer)
        self._put(line, BEFORE if line.is_over else fact.section)

    # --- where a line goes

    def _put(self, line: Line, section: str) -> None:
        """Put a line under its heading; if there are several, under the one that has lines."""
        spans = [self._span(at) for at in self._headings() if self._is_ours(at, section)]
        if not spans:
            self._begin(section, line)
            return
        for span in spans:
            own = [at for at in span if isinstance(self.rows[at], Line)]
            if own:
                self.rows.insert(self._behind(own[-1]), line)
                return
        filled = [at for at in spans[0] if not self._is_blank(at)]
        self.rows.insert(filled[-1] + 1, line)

    def _begin(self, section: str, line: Line) -> None:
        """Begin a section: at the end, but what is over comes last."""
        last = list(self._headings())[-1:]
        is_last = bool(last) and self._is_ours(last[0], BEFORE)
        at = last[0] if is_last else len(self.rows)
        block: list[Line | str] = [f"## {section}{self.newline}", line]
        if at and not self._is_blank(at - 1):
            block.insert(0, self.newline)
        if at < len(self.rows) or self.left_open:
            block.append(self.newline)
        self.rows[at:at] = block

    def _headings(self) -> Iterator[int]:
        rows = enumerate(self.rows)
        return (at for at, one in rows if isinstance(one, str) and heading(one) is not None)

    def _is_ours(self, at: int, section: str) -> bool:
        row = self.rows[at]
        return isinstance(row, str) and is_section(row) and heading(row) == section

    def _span(self, start: int) -> range:
        """A heading and what stands below it, up to the next one."""
        following = (at for at in self._headings() if at > start)
        return range(start, next(following, len(self.rows)))

    def _is_blank(self, at: int) -> bool:
        row = self.rows[at]
        return isinstance(row, str) and is_blank(row)

    def _behind(self, at: int) -> int:
        """Behind a line, and behind what people wrote below it as a part of it."""
        last = at + 1
        for number, row in enumerate(self.rows[last:], last):
            if isinstance(row, Line) or heading(row) is not None:
                break
            is_apart = number > last or _ITEM.match(row)
            if not is_blank(row) and is_apart and row[0] not in " \t":
                break
            last = last if is_blank(row) else number + 1
        return last


def _is_other(fact: Fact, known: list[Line]) -> bool:
    """Whether an entry whose lines are over, or were removed, was given another value."""
    return fact.is_whole and not fact.is_over and not any(says(one, fact) for one in known)


def _is_correction(line: Line, fact: Fact) -> bool:
    """Whether an entry was revised on the day when it was said; talk is not dated by revisions."""
    return fact.written <= line.since or not fact.is_whole
