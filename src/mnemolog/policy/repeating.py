"""Repeating: what an agent writes down although memory has it already.

Text that memory handed out comes back, perhaps by another program and long after: a model saves
what it was told as if it were news. Nobody remembers what was handed out; instead, what is to be
learned from is held against the nodes and the older entries that are nearest to it. A person may
say a thing again, and then it counts.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import msgspec

from mnemolog.model.entry import Entry
from mnemolog.policy.echoes import Echoes, sentences
from mnemolog.policy.learning import DOUBTFUL
from mnemolog.policy.words import words_in

# What is said in fewer words is said by everybody all the time.
_LEAST_WORDS = 3
# A block of ours, as `policy.blocks` makes it; one that was cut short goes to the end.
_BLOCK = re.compile(
    r"<(run_memory|memory) kind=\"data\"[^<>\n]{0,100}>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TALK = ("conversation", "note")
# Where one of these is given, the same words may say something else.
_CHANGES = ("status", "supersedes", "replaces", "key")


class Known(NamedTuple):
    """What memory has that is near to an entry: lines of nodes, and older entries."""

    lines: tuple[str, ...]
    entries: tuple[Entry, ...]


def is_spoken(entry: Entry) -> bool:
    """Whether a person said it; what a tool answered may stand under a person's role."""
    is_theirs = entry.role == "user" or entry.origin == "user"
    return is_theirs and entry.origin not in DOUBTFUL


def may_repeat(entry: Entry) -> bool:
    """Whether an entry may be an echo at all: what a person says never is."""
    return not is_spoken(entry) and len(words_in(entry.text)) >= _LEAST_WORDS


def is_older(one: Entry, other: Entry) -> bool:
    """Whether an entry was there before another one, and is not the same."""
    if (one.session_id, one.scope) == (other.session_id, other.scope):
        return one.id != other.id and one.seq < other.seq
    return (one.written_at, one.session_id or "") < (other.written_at, other.session_id or "")


def news_in(entry: Entry, known: Known) -> Entry | None:
    """The entry without what memory has already; None if nothing else is in it."""
    if entry.type == "conversation" and isinstance(entry.content, str):
        return _spoken_news(entry, entry.content, known)
    return None if _is_repeated(entry, known) else entry


def _is_repeated(entry: Entry, known: Known) -> bool:
    """Whether a typed entry says again what stands elsewhere, or what is over.

    The very same thing written down once more is a further source of it, as long as it holds. What
    was only talked about before is no origin: to write it down is to say that it is so.
    """
    if any(_is_twin(entry, older) for older in known.entries):
        return _is_over(entry, known.lines)
    for older in known.entries:
        is_alike = older.type == entry.type or older.type not in _TALK
        if is_alike and _echoes([older.text]).knows(entry.text):
            return True
    heard = _echoes(_heard(known.lines))
    long = [line for line in entry.text.splitlines() if _is_long(line)]
    return not _changes(entry) and bool(long) and all(map(heard.knows, long))


def _is_twin(entry: Entry, older: Entry) -> bool:
    same = (older.type, older.content, older.tags) == (entry.type, entry.content, entry.tags)
    return same and older.context == entry.context


def _is_over(entry: Entry, lines: Iterable[str]) -> bool:
    """Whether nodes say the first line of an entry only as something that no longer holds."""
    said = _words(entry.text.partition("\n")[0])
    found = [line for line in lines if f" {said} " in f" {_words(line)} "]
    return bool(found) and all("~~" in line for line in found)


def _words(text: str) -> str:
    return " ".join(words_in(text))


def _changes(entry: Entry) -> bool:
    told = entry.content if isinstance(entry.content, dict) else {}
    return any(
        name in where for where in (told, entry.metadata, entry.context) for name in _CHANGES
    )


def _spoken_news(entry: Entry, text: str, known: Known) -> Entry | None:
    heard = _echoes([*_heard(known.lines), *_sentences(one.text for one in known.entries)])
    fresh = _BLOCK.sub("\n", text)
    kept = [" ".join(_news(line, heard)) for line in fresh.splitlines()]
    told = "\n".join(line for line, before in zip(kept, fresh.splitlines(), strict=True)
                     if line or not before.strip())  # fmt: skip
    if told.strip() == text.strip():
        return entry
    return msgspec.structs.replace(entry, content=told) if _is_long(told) else None


def _news(line: str, heard: Echoes) -> Iterator[str]:
    for sentence in sentences(line):
        if not (_is_long(sentence) and heard.knows(sentence)):
            yield sentence


def _is_long(text: str) -> bool:
    return len(words_in(text)) >= _LEAST_WORDS


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield text
        yield from sentences(text)


def _heard(lines: Iterable[str]) -> Iterator[str]:
    """Lines of nodes as they stand there, and without what is said about them."""
    for line in lines:
        plain = line.partition("<!--")[0].rstrip()
        yield plain
        while (shorter := _without_remark(plain)) != plain:
            plain = shorter
            yield plain


def _without_remark(line: str) -> str:
    """A line without since when it holds, or by whom it was said: `(since …)`, `[by …]`."""
    start = line.rfind({")": "(", "]": "["}.get(line[-1:], "\0"))
    if start < 0 or (line[start] == "(" and not _DATE.search(line, start)):
        return line
    return line[:start].rstrip()


def _echoes(texts: Iterable[str]) -> Echoes:
    heard = Echoes()
    for text in texts:
        heard.hear(text)
    return heard
