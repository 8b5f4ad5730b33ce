"""Claims: what a document says outside of the lines that cite: its title, its description and its
headings. Of a model's they rest on what the version rested on that brought them."""

from collections.abc import Iterator

from mnemolog.graph.sourcing import IsGone
from mnemolog.graph.versions import History
from mnemolog.graph.writing import HAND
from mnemolog.policy import front_matter

_FIELDS = ("title:", "description:")
# The rules name a node by a tag or a form, and people choose their own words.
_OTHERS = ("rules", "owner", HAND)


def brought(history: History, is_gone: IsGone) -> frozenset[str]:
    """The claims that came with versions which rest on these sources."""
    found: set[str] = set()
    before: set[str] = set()
    for version in history.all():
        claims = set(_claims(version.text or ""))
        if version.by not in _OTHERS and any(map(is_gone, version.sources)):
            found |= claims - before
        before = claims
    return frozenset(found)


def _claims(text: str) -> Iterator[str]:
    _, front, body = front_matter.split(text)
    yield from (row for row in front.splitlines() if row.startswith(_FIELDS))
    yield from (row for row in body.splitlines() if row.startswith("#"))


def without(text: str, claims: frozenset[str]) -> str:
    """The document without these claims; a node without a title is called by its name."""
    if not claims:
        return text
    rows = text.splitlines(keepends=True)
    return "".join(row for row in rows if row.rstrip("\r\n") not in claims)
