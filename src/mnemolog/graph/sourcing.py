"""Sourcing: which entries the lines of a document rest on, and how those lines are taken out.

A line rests on an entry if a comment in it names that entry: `<!-- session/entry -->`,
several with spaces or commas between them. A `#key` beside them says what the line is about.
"""

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from mnemolog.model.lesson import OWN
from mnemolog.policy import front_matter

IsGone = Callable[[str], bool]
"""Whether a source is one of those that are meant."""

ERASED = "source-erased"


class Cut(NamedTuple):
    """A document without some lines: its text, how many went, and whether one was not found."""

    text: str
    lines: int
    is_vague: bool

    @property
    def is_empty(self) -> bool:
        """Whether nothing but headings is left of what it said."""
        rows = (row.strip() for row in front_matter.split(self.text).body.splitlines())
        return not any(row and not row.startswith("#") for row in rows)


def cited(body: str) -> Iterator[str]:
    """The sources that the lines of a body name, in order."""
    for comment in comments(body):
        yield from (one for one in _names(comment) if "/" in one and not set(" ,#") & set(one))


def comments(text: str) -> Iterator[str]:
    """What stands in the comments of a text; found in one pass, whatever the text is."""
    start = text.find("<!--")
    while start >= 0:
        end = text.find("-->", start + 4)
        if end < 0:
            return
        yield text[start + 4 : end]
        start = text.find("<!--", end + 3)


def without_comments(text: str) -> str:
    """A text as it reads: comments are for those who look behind it."""
    kept, at = [], 0
    for comment in comments(text):
        start = text.index(f"<!--{comment}-->", at)
        kept.append(text[at:start])
        at = start + len(comment) + 7
    return "".join([*kept, text[at:]])


def _names(comment: str) -> list[str]:
    whole = comment.strip()
    parts = [one.strip() for one in whole.split(",")]
    return list(dict.fromkeys(one for one in (whole, *parts, *_listed(whole)) if one))


def _listed(comment: str) -> list[str]:
    """Several sources in one comment, apart from `#keys`; a comment with other words is prose."""
    marks = comment.replace(",", " ").split()
    is_list = all("/" in one or one.startswith("#") for one in marks)
    return [one for one in marks if not one.startswith("#")] if is_list else []


def selector(sources: Collection[str], *, with_own: bool = True) -> IsGone:
    """What tells sources that are meant: `session/entry`, all of `session/`, or any `/entry`.

    In logs that are no session's different users have the same ids: what is erased in one of them
    is meant by its whole name alone.
    """
    exact = frozenset(sources)
    starts = tuple(one for one in exact if one.endswith("/"))
    ends = tuple(one for one in exact if one.startswith("/"))

    def is_meant(one: str) -> bool:
        if one in exact or one.startswith(starts):
            return True
        return one.endswith(ends) and (with_own or not one.startswith(OWN))

    return is_meant


def needles(sources: Collection[str]) -> list[bytes]:
    """What bytes must hold to rest on one of the sources, as Markdown or inside JSON."""
    return [one.encode("utf-8", "surrogatepass") for one in sources] + [
        one.replace("\\", "\\\\").replace('"', '\\"').encode("utf-8", "surrogatepass")
        for one in sources
    ]


def cut(text: str, is_gone: IsGone) -> Cut:
    """The document without the lines that rest on these sources, and without naming them."""
    front, body = front_matter.split(text)[1:]
    rows = body.splitlines(keepends=True)
    kept = [row for row in rows if not any(map(is_gone, _cited_loosely(row)))]
    named = any(map(is_gone, front_matter.items(text, "sources")))
    gone = len(rows) - len(kept)
    after = front_matter.without_items(front + "".join(kept), "sources", is_gone)
    return Cut(after, gone, named and not gone)


def _cited_loosely(row: str) -> Iterator[str]:
    for comment in comments(row):
        yield from (*_names(comment), *comment.replace(",", " ").split())


def flagged(text: str, flag: str) -> str:
    """The document with a flag in its front matter."""
    flags = front_matter.items(text, "flags")
    return text if flag in flags else front_matter.with_fields(text, {"flags": [*flags, flag]})
