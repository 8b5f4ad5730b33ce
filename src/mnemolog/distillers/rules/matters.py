"""What a preference, a wish or a reminder is about, so that a later one ends an earlier one."""

import re

from mnemolog.distillers.rules import lexicon
from mnemolog.distillers.rules.facts import same, slug

# Words of one row cannot both be preferred of the same thing.
_CONTRARIES = (
    "short brief concise terse long detailed verbose thorough full shorter longer",
    "dark light bright",
    "formal informal casual",
    "early late earlier later",
    "morning evening afternoon night",
    "hot cold iced warm",
    "small large big smaller larger bigger",
    "few many fewer more",
    "british american",
    "metric imperial",
    "spicy mild",
    "written spoken oral",
    "paper digital printed electronic",
    "daily weekly monthly",
    "window aisle",
    "red white",
    "quiet loud",
    "simple complex plain fancy",
    "english german french spanish portuguese italian dutch polish swedish",
    "numbered bulleted",
    "black milky",
)
_ROW = {word: row.split()[0] for row in _CONTRARIES for word in row.split()}
_OVER = re.compile(r"(?P<this>.+?) (?:over|to|rather than|instead of|more than) (?P<that>.+)")
# `the recall ends on 31 January`: a subject, a verb, and one value.
_VALUE = re.compile(
    r"(?P<what>(?:the|my|our|your|his|her|their)? ?[^,]{2,60}? (?:is|are|costs|ends|starts|begins"
    r"|opens|closes|expires|comes|arrives|leaves|go out|goes out|happen|take place|takes place))"
    rf"(?: on| at| in| by)?(?: the)? (?:[\w:./-]*\d[\w:./-]*|{lexicon.DAYS}|{lexicon.MONTHS})"
    rf"(?: (?:of )?(?:\d+\w*|{lexicon.MONTHS}|euros?|pounds?|dollars?|%|am|pm|the \d+\w*))*",
    re.IGNORECASE,
)
_USED = re.compile(r"use [^,]{2,60}? for (?:the |our |all )(?P<what>[^,]{3,60})", re.IGNORECASE)
_MOST = 50


def preferred(thing: str) -> str:
    """The key of a preference: of the same thing by a contrary word, or of the same two things."""
    words = same(thing).split()
    for word, noun in zip(words, [*words[1:], ""], strict=True):
        if word in _ROW and noun and noun != "over":
            return f"prefers.{_ROW[word]}.{slug(noun)}"
    pair = _OVER.fullmatch(thing)
    both = sorted(same(one) for one in pair.groups()) if pair else []
    return _key("prefers", " or ".join(both))


def decided(deed: str) -> str:
    """The key of a decision: what is used for the same purpose, or another date of the same."""
    used = _USED.fullmatch(deed)
    found = _VALUE.fullmatch(deed)
    about = f"use for {same(used['what'])}" if used else same(found["what"]) if found else ""
    return _key("decided", about)


def wished(deed: str) -> str:
    """The key of a wish: `always` and `never` do the same thing end one another."""
    return _key("wish", same(deed))


def reminded(clause: str) -> str:
    """The key of something to remember that has one value: a date, a number, a day."""
    found = _VALUE.fullmatch(clause)
    return _key("remember", same(found["what"])) if found else ""


def _key(kind: str, about: str) -> str:
    """No key where it would have to be cut: two long wishes may begin alike."""
    return f"{kind}.{slug(about)}" if about and len(about.encode()) <= _MOST else ""
