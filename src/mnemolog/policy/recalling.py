"""Finding among a few entries without an index: those that compactions moved to the archive."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from mnemolog.model.entry import Entry
from mnemolog.model.query import Hit, Query
from mnemolog.policy.filters import has_tag, topics
from mnemolog.policy.importance import importance
from mnemolog.policy.words import UNSPACED, letters


def recalled(entry: Entry, query: Query) -> Hit | None:
    """The entry as a hit if it passes the filters and holds a word of the text."""
    if not _passes(entry, query):
        return None
    wanted = _words(query.text)
    held = wanted & _words(f"{entry.text} {' '.join(entry.tags)}")
    if query.text.strip() and not held:
        return None
    share = len(held) / len(wanted) if wanted else 1.0
    if share < query.min_relevance:
        return None
    why = {"lexical": share, "archived": 1.0, "final": share}
    return Hit(entry=entry, relevance=share, why=why)


def _words(text: str) -> set[str]:
    """The words of a text; of what is written without spaces each character and each pair."""
    plain, runs = _patterns()
    folded = letters(unicodedata.normalize("NFKC", text).casefold())
    found = set(plain.findall(folded))
    for run in runs.findall(folded):
        found.update([*run, *map("".join, pairwise(run))])
    return found


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Not before they are needed: compiling them takes long. A picture is a word of its own.
    return (
        re.compile(rf"[^\W{UNSPACED}]+|[\u2600-\u27bf\U0001f300-\U0001faff]"),
        re.compile(rf"[{UNSPACED}]+"),
    )


def ordered(hits: Iterable[Hit], query: Query) -> list[Hit]:
    """As the query wants them: by relevance, or by time; no more than its limit."""
    if query.sort == "relevance_desc":
        found = sorted(hits, key=lambda hit: -hit.relevance)
    else:
        is_newest = query.sort == "time_desc"
        found = sorted(hits, key=lambda hit: hit.entry.timestamp, reverse=is_newest)
    return found[: query.limit]


def _passes(entry: Entry, query: Query) -> bool:
    return (
        (not query.types or entry.type in query.types)
        and (not query.agents or entry.agent_id in query.agents)
        and (not query.references or bool(set(query.references) & set(entry.references)))
        and _passes_tags(entry, query)
        and (query.start is None or query.start <= entry.timestamp)
        and (query.end is None or entry.timestamp <= query.end)
        and importance(entry) >= query.min_importance
    )


def _passes_tags(entry: Entry, query: Query) -> bool:
    own = topics(entry)
    return (
        (not query.tags or any(has_tag(own, tag) for tag in query.tags))
        and all(has_tag(own, tag) for tag in query.all_tags)
        and not any(has_tag(own, tag) for tag in query.exclude_tags)
    )
