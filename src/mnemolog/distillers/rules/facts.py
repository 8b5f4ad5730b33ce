"""A fact: one line of one node, and how it is recognised when it is said again."""

import re
import unicodedata
from dataclasses import dataclass, replace
from hashlib import sha256

from mnemolog.model.lesson import Source
from mnemolog.policy.words import spelled, words_in

USER, TOOLS = "USER.md", "TOOLS.md"

_APART = re.compile(r"[\W_]+")
# Letters that nobody can see, and names that some systems keep for devices: no node is called so.
_UNSEEN = re.compile("[\u115f\u1160\u3164\uffa0]")
_DEVICE = re.compile(r"con|prn|aux|nul|com\d|lpt\d")
_MOST = 60
_FILLERS = frozenset(
    "a an the our my your their to for of on at in that please very really".split()
)


@dataclass(frozen=True)
class Fact:
    """Something that an entry states."""

    address: str
    title: str
    """The node's, should it be new."""
    description: str
    section: str
    """The heading that it stands under."""
    text: str
    """As it stands in the node, in Markdown."""
    day: str
    """Since when, as a date."""
    written: str
    """When its entry was last written; later than `day` if it was revised."""
    source: Source
    kind: str = "fact"
    key: str = ""
    """What it is about: a later fact of the same key takes its place."""
    replaces: tuple[str, ...] = ()
    """The sources of facts that are over from now on; `/<entry>` means any session's."""
    contradicts: str = ""
    """What a fact says that is over from now on, in the same node."""
    is_whole: bool = False
    """Whether its entry states nothing else, so that a revision of the entry replaces it."""
    is_one_persons: bool = False
    """Whether one person at a time has this key: a new boss ends the former one's line."""
    is_over: bool = False
    """Whether it is over itself: a finding that was resolved."""

    def revised(self) -> "Fact":
        """The same as another value of what its entry said before: since it was written."""
        return replace(self, day=self.written)


def slug(name: str) -> str:
    """A name as a part of an address, which every disk takes: lower case, words joined by hyphens.

    Where that leaves nothing of a name, or only its beginning, a mark tells it from others.
    """
    plain = unicodedata.normalize("NFC", name).strip().lower()
    joined = _APART.sub("-", spelled(_UNSEEN.sub(" ", plain))).strip("-")
    if len(joined.encode()) > _MOST or not joined:
        mark = sha256(plain.encode("utf-8", "replace")).hexdigest()[:6]
        joined = f"{_cut(joined, _MOST - len(mark) - 1) or 'unnamed'}-{mark}"
    joined = unicodedata.normalize("NFC", joined)
    return f"{joined}_" if _DEVICE.fullmatch(joined) else joined


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode("utf-8", "ignore").strip("-")


def inline(text: str, most: int = 400) -> str:
    """A text as part of a line: no breaks, no marks that could be taken for ours, not too long."""
    joined = " ".join(text.split())
    cut = joined if len(joined) <= most else f"{joined[: most - 1].rstrip()}…"
    return cut.replace("<", "&lt;").replace(">", "&gt;").replace("~~", "~")


_HEAD = re.compile(r"\*\*([^*]+)\*\*(?= — | \[|$)")


def core(text: str) -> str:
    """What a line says, without why and by whom."""
    head = _HEAD.match(text)
    return head[1] if head else text


def same(text: str) -> str:
    """What two wordings of one fact have in common: the words that carry it, in their order."""
    return " ".join(word for word in words_in(text) if word not in _FILLERS)
