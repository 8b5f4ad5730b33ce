"""A line of ours: one fact, since when it holds or held, and which entries say so."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from mnemolog.distillers.rules.facts import Fact, core, same

_LINE = re.compile(
    r"- (?P<text>.*?)"
    r"(?: \((?P<dates>(?:since |until )?\d{4}-\d\d-\d\d(?: – \d{4}-\d\d-\d\d)?)\))?"
    r" <!-- (?P<marks>[^<>]*) -->"
)
_STRUCK = re.compile(r"~~(.*)~~", re.DOTALL)
_ENDS = "no longer "
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(eq=False)
class Line:
    """One fact on a page."""

    text: str
    since: str
    until: str
    sources: list[str]
    key: str
    raw: str = ""
    """As it stands there; empty once something about it has changed."""

    @property
    def is_over(self) -> bool:
        """Whether it holds no longer."""
        return bool(self.until)

    def add(self, source: str, fact: Fact) -> None:
        """The same was said again; whoever said it first is quoted."""
        self.raw = ""
        self.sources = sorted({*self.sources, source})
        if fact.day < self.since:
            self.text, self.since = fact.text, fact.day

    def reword(self, text: str) -> None:
        """Say it in other words."""
        self.raw, self.text = "", text

    def strike(self, day: str) -> None:
        """It is over since this day."""
        self.raw, self.until = "", max(day, self.since)

    def render(self, newline: str) -> str:
        """As Markdown."""
        return self.raw or f"- {self._said()} <!-- {self._marks()} -->{newline}"

    def _said(self) -> str:
        if self.is_over:
            dates = f"{self.since} – {self.until}" if self.since else f"until {self.until}"
            return f"~~{self.text}~~ ({dates})"
        return f"{self.text} (since {self.since})" if self.since else self.text

    def _marks(self) -> str:
        return " ".join([*self.sources, *([f"#{quote(self.key)}"] if self.key else [])])


def line_of(raw: str) -> Line | None:
    """The line of ours that a line of text is; None if it is somebody else's."""
    match = _LINE.fullmatch(raw.rstrip())
    if match is None:
        return None
    marks = match["marks"].split()
    dates = _DATE.findall(match["dates"] or "")
    struck = _STRUCK.fullmatch(match["text"])
    sources = [mark for mark in marks if not mark.startswith("#")]
    if not sources or (struck and not dates):
        return None
    key = next((mark[1:] for mark in marks if mark.startswith("#")), "")
    text = struck[1] if struck else match["text"]
    until = dates[-1] if struck else ""
    since = dates[0] if dates and (len(dates) > 1 or not struck) else ""
    return Line(text, since, until, sources, unquote(key), raw)


def is_own(line: Line, fact: Fact) -> bool:
    """Whether a line rests on the same entry and is about the same: one may state several."""
    if fact.source.name not in line.sources:
        return False
    if fact.key:
        return line.key == fact.key
    return not line.key and (fact.is_whole or same(line.text) == same(fact.text))


def says(line: Line, fact: Fact) -> bool:
    """Whether a line says what a fact says, in whatever words."""
    return line.key == fact.key and same(core(line.text)) == same(core(fact.text))


def is_replaced(line: Line, fact: Fact) -> bool:
    """Whether a fact takes the place of a line."""
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
