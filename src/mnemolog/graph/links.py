"""Links: what documents say about each other in double brackets."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from mnemolog.model.node import FILES
from mnemolog.policy import front_matter

_LINK = re.compile(r"\[\[([^\[\]\n|#]*)(#[^\[\]\n|]*)?(\|[^\[\]\n]*)?\]\]")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}+(?![^`]*`)|~~~+)")
_TICKS = re.compile(r"`+")
_LONGEST = 240


class Said(NamedTuple):
    """A link as a document says it: its target, and the line around it."""

    target: str
    context: str


def said_in(body: str) -> Iterator[Said]:
    """The links of a body, in order; what stands in code is none."""
    for line in _prose(body):
        targets = [found[1].strip() for found in _LINK.finditer(line)]
        context = shown(line) if any(targets) else ""  # once: a line may hold very many
        yield from (Said(target, context) for target in targets if target)


def _prose(body: str) -> Iterator[str]:
    for pieces in _rows(body):
        yield "".join(pieces[::2]).rstrip("\r\n")


def _rows(body: str) -> Iterator[list[str]]:
    """Each line as prose and code in turn; one between fences is code as a whole."""
    fence = ""
    for line in body.splitlines(keepends=True):
        mark = _FENCE.match(line)
        is_code = bool(fence or mark)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        yield ["", line] if is_code else _pieces(line)


def _pieces(line: str) -> list[str]:
    """A line as prose and code in turn."""
    found, at = [], 0
    for start, end in _code(line):
        found += [line[at:start], line[start:end]]
        at = end
    return [*found, line[at:]]


def _code(line: str) -> Iterator[tuple[int, int]]:
    """Where code stands in a line: between two runs of so many backticks each.

    From the end on, each run learns which one is the next of its length: looking for it again and
    again takes a minute for a megabyte of runs that nothing closes.
    """
    runs = [run.span() for run in _TICKS.finditer(line)]
    later: dict[int, int] = {}
    closing = []
    for start, end in reversed(runs):
        closing.append(later.get(end - start, 0))
        later[end - start] = end
    at = 0
    for (start, _), end in zip(runs, reversed(closing), strict=True):
        if end and start >= at:
            yield start, end
            at = end


def shown(line: str) -> str:
    """A line as it is quoted beside a link."""
    text = " ".join(line.partition("<!--")[0].split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class Resolver:
    """Finds the node that a link means, among the titles of all nodes by address."""

    def __init__(self, titles: Mapping[str, str]) -> None:
        self._addresses = {_folded(address): address for address in titles}
        self._names = _unique((_name(address), address) for address in titles)
        self._titles = _unique((title, address) for address, title in titles.items())

    def resolve(self, target: str) -> str | None:
        """The address that a target means: an address, else a name or title that is unique."""
        wanted = _folded(target.removesuffix(".md")) or _folded(target)
        for known in (self._addresses, self._names, self._titles):
            for one in (_folded(target), wanted):
                if one in known:
                    return known[one]
        return None


def _name(address: str) -> str:
    name = address.rpartition("/")[2]
    return name.removesuffix(".md") if address in FILES else name


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    folded = [(_folded(name), address) for name, address in pairs]
    count = Counter(name for name, _ in folded)
    return {name: address for name, address in folded if name and count[name] == 1}


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text.strip().strip("/")).casefold()


def mended(text: str, old: str, new: str, *, with_name: bool, also: Iterable[str] = ()) -> str:
    """The text with every link to one address leading to another; by name too, if that changed.

    What stands in code is no link.
    """
    named = [_name(old)] if with_name else []
    wanted = {_folded(one) for one in (old, f"{old}.md", *named, *also)}

    def renamed(found: re.Match[str]) -> str:
        if _folded(found[1]) not in wanted:
            return found[0]
        return f"[[{new}{found[2] or ''}{found[3] or ''}]]"

    for field in ("parents", "refs"):
        items = front_matter.items(text, field)
        if any(_folded(one) in wanted for one in items):
            now = dict.fromkeys(new if _folded(one) in wanted else one for one in items)
            text = front_matter.with_fields(text, {field: list(now)})
    _, front, body = front_matter.split(text)
    after = [_LINK.sub(renamed, front)]
    for pieces in _rows(body):
        pieces[::2] = (_LINK.sub(renamed, one) for one in pieces[::2])
        after += pieces
    return "".join(after)


def titled(titles: Mapping[str, str], address: str) -> tuple[str, ...]:
    """What a link may call a node instead of its address: its name and title, if unique."""
    known = Resolver(titles)
    given = dict.fromkeys((_name(address), titles.get(address, "")))
    return tuple(one for one in given if one and known.resolve(one) == address)


def mentions(body: str, title: str) -> Iterator[str]:
    """The lines that say a title without linking to it."""
    if len(title) < 3:
        return
    wanted = re.compile(rf"(?<!\w){re.escape(title)}(?!\w)", re.IGNORECASE)
    if not wanted.search(body):
        return
    for line in _prose(body):
        if wanted.search(_LINK.sub("", line)):
            yield shown(line)


def is_circle(address: str, parents: Iterable[str], above: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a node with these parents would be above itself; `above` has all the others'."""
    seen: set[str] = set()
    waiting = list(parents)
    while waiting:
        one = waiting.pop()
        if one == address:
            return True
        if one not in seen:
            seen.add(one)
            waiting += above.get(one, ())
    return False
