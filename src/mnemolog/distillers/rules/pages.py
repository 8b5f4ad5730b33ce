"""A node's body as sections of lines, each of which says what it rests on.

    ## Profile
    - **Home**: Lisbon (since 2026-03-01) <!-- sess-1/mem_4 #home -->

    ## Before
    - ~~**Home**: Berlin~~ (2025-01-02 – 2026-03-01) <!-- sess-0/mem_9 #home -->

Whatever else people write into a body stays where they put it.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from mnemolog.distillers.rules.facts import Fact, core, same

BEFORE = "Before"

_LINE = re.compile(r"- (?P<text>.*?) ?(?P<dates>\([^()]*\))? <!-- (?P<marks>[^<>]*) -->")
_STRUCK = re.compile(r"~~(.*)~~", re.DOTALL)
_ENDS = "no longer "
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass
class Line:
    """One fact on a page."""

    text: str
    since: str
    until: str
    sources: list[str]
    key: str

    @property
    def is_over(self) -> bool:
        """Whether it holds no longer."""
        return bool(self.until)

    def add(self, source: str, fact: Fact) -> None:
        """The same was said again; whoever said it first is quoted."""
        self.sources = sorted({*self.sources, source})
        if fact.day < self.since:
            self.text, self.since = fact.text, fact.day

    def render(self) -> str:
        """As Markdown."""
        marks = " ".join([*self.sources, *([f"#{quote(self.key)}"] if self.key else [])])
        if self.is_over:
            return f"- ~~{self.text}~~ ({self.since} – {self.until}) <!-- {marks} -->"
        dates = f" (since {self.since})" if self.since else ""
        return f"- {self.text}{dates} <!-- {marks} -->"


@dataclass
class Page:
    """A body, read so that facts can be added to it."""

    sections: dict[str, list["Line | str"]] = field(default_factory=dict)

    @classmethod
    def parse(cls, body: str) -> "Page":
        """Read a body; lines that are not ours are kept as they are."""
        page = cls({"": []})
        heading = ""
        for raw in body.rstrip().splitlines():
            if raw.startswith("## "):
                heading = raw[3:].strip()
                page.sections.setdefault(heading, [])
            else:
                page.sections[heading].append(_line(raw))
        return page

    def render(self) -> str:
        """The body as text; what is over comes last."""
        blocks = []
        last = [name for name in self.sections if name == BEFORE]
        for heading in [*(name for name in self.sections if name != BEFORE), *last]:
            rows = [one if isinstance(one, str) else one.render() for one in self.sections[heading]]
            content = "\n".join(rows).strip("\n")
            if heading:
                blocks.append(f"## {heading}\n{content}".rstrip())
            elif content:
                blocks.append(content)
        return "\n\n".join(blocks) + "\n"

    def take(self, fact: Fact) -> bool:
        """Add a fact, or its source to a line that says the same; False if nothing changed."""
        mine = fact.source.name
        own = (one for one in self.lines() if mine in one.sources and _fits(one, fact))
        known = next(own, None)
        if known is not None:
            return self._corrected(known, fact)
        alike = next((one for one in self.lines() if _says(one, fact)), None)
        if alike is not None and not fact.is_over:
            alike.add(mine, fact)
            return True
        self.end(fact)
        self._add(fact)
        return True

    def lines(self) -> list[Line]:
        """The facts on it, those that are over too."""
        return [one for rows in self.sections.values() for one in rows if isinstance(one, Line)]

    def _corrected(self, line: Line, fact: Fact) -> bool:
        """The same entry again: revised, resolved, or just repeated."""
        if fact.is_over and not line.is_over:
            self._strike(line, fact.day)
            return True
        if line.text == fact.text or line.is_over:
            return False
        line.text = fact.text
        return True

    def end(self, fact: Fact) -> bool:
        """End what this fact takes the place of, unless that is the newer one."""
        over = [
            line
            for line in self.lines()
            if not line.is_over and _is_replaced(line, fact) and line.since <= fact.day
        ]
        for line in over:
            self._strike(line, fact.day)
        return bool(over)

    def _strike(self, line: Line, day: str) -> None:
        line.until = max(day, line.since)
        for rows in self.sections.values():
            if line in rows:
                rows.remove(line)
        self.sections.setdefault(BEFORE, []).append(line)

    def _add(self, fact: Fact) -> None:
        line = Line(fact.text, fact.day, "", [fact.source.name], fact.key)
        newer = [one for one in self.lines() if _is_replaced(one, fact) and one.since > fact.day]
        if fact.is_over:
            line.until = fact.day
        elif newer and fact.key:
            line.until = min(one.since for one in newer)
        heading = BEFORE if line.is_over else fact.section
        self.sections.setdefault(heading, []).append(line)


def _line(raw: str) -> Line | str:
    match = _LINE.fullmatch(raw.rstrip())
    if match is None:
        return raw
    marks = match["marks"].split()
    dates = _DATE.findall(match["dates"] or "")
    struck = _STRUCK.fullmatch(match["text"])
    key = next((mark[1:] for mark in marks if mark.startswith("#")), "")
    sources = [mark for mark in marks if not mark.startswith("#")]
    text = struck[1] if struck else match["text"]
    if not sources or (struck and not dates):
        return raw
    since = dates[0] if dates else ""
    return Line(text, since, dates[-1] if struck else "", sources, unquote(key))


def _fits(line: Line, fact: Fact) -> bool:
    """Whether a line of the same entry is about the same thing: one entry may state several."""
    if fact.key:
        return line.key == fact.key
    return not line.key and (fact.is_whole or same(line.text) == same(fact.text))


def _says(line: Line, fact: Fact) -> bool:
    return not line.is_over and line.key == fact.key and same(core(line.text)) == _said(fact)


def _said(fact: Fact) -> str:
    return same(core(fact.text))


def _is_replaced(line: Line, fact: Fact) -> bool:
    if fact.key and line.key == fact.key:
        return True
    if any(is_named(one, source) for one in fact.replaces for source in line.sources):
        return True
    said = same(core(line.text).partition(" instead of ")[0])
    is_end = said.startswith(_ENDS)
    return bool(fact.contradicts) and not is_end and f" {same(fact.contradicts)} " in f" {said} "


def is_named(given: str, source: str) -> bool:
    """Whether a source is the given one; `/<entry>` means any session's."""
    return source.endswith(given) if given.startswith("/") else source == given
