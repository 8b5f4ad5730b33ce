"""The Redactor: texts and trees of texts, with what must not be stored replaced."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any, Generic, TypeVar

import msgspec

from mnemolog.policy.redaction.assignments import secret_under
from mnemolog.policy.redaction.kinds import KINDS, built_in
from mnemolog.policy.redaction.outline import Outline
from mnemolog.policy.redaction.own_patterns import OwnPattern, own_pattern
from mnemolog.policy.redaction.placeholders import covered, is_hidden, placeholder
from mnemolog.policy.redaction.rules import RULES, Rule
from mnemolog.policy.redaction.spans import Span, settle
from mnemolog.policy.redaction.veils import unveiled

T = TypeVar("T")

# What was hidden may bring two neighbours together that match. A short text is read until nothing
# is found any more; of a long one, whose cost must stay linear, more rounds were never needed.
_MOST_ROUNDS = 4
_MOST_READ = 200_000
# No rule looks further than this from what it finds, but for keys of many lines and long cookies.
_REACH = 4500
# Which texts are worth remembering, and how many of them.
_SHORT = 32
_MOST_REMEMBERED = 1024


class Redacted(msgspec.Struct, Generic[T], frozen=True):
    """What is left, and how many things of each kind were hidden; never what they were."""

    value: T
    counts: dict[str, int]

    @property
    def text(self) -> T:
        """The value, under the name that fits a text."""
        return self.value


class Redactor:
    """Hides what its rules find. May be shared by threads.

    Of all texts it keeps only short ones in which there is nothing to hide: roles, tags and keys
    come again with every entry.
    """

    def __init__(
        self,
        key: bytes,
        *,
        patterns: Mapping[str, str] | Sequence[tuple[str, str] | OwnPattern] = (),
        rules: Iterable[str] | None = None,
    ) -> None:
        self._key = key
        self._harmless: set[str] = set()
        self._kinds = frozenset(KINDS if rules is None else map(built_in, rules))
        self._rules = [rule for rule in RULES if rule.kinds & self._kinds]
        given = patterns.items() if isinstance(patterns, Mapping) else patterns
        self._own = [one if isinstance(one, OwnPattern) else own_pattern(*one) for one in given]

    def text(self, text: str) -> Redacted[str]:
        """The text with placeholders; the same object where nothing was hidden."""
        counts: dict[str, int] = {}
        return Redacted(self._hidden(text, counts), counts)

    def tree(self, value: Any) -> Redacted[Any]:
        """Every text in lists and objects, keys too; what had nothing to hide is the same object.

        A text under a key such as `password` is judged by the key.
        """
        counts: dict[str, int] = {}
        hide = self._hidden if isinstance(value, str) else self._walked
        return Redacted(hide(value, counts), counts)

    def _hidden(self, text: str, counts: dict[str, int]) -> str:
        if text in self._harmless:
            return text
        spans = self._found(text)
        if not spans and len(text) <= _SHORT:
            self._remember(text)
        rounds = max(_MOST_ROUNDS, _MOST_READ // (len(text) + 1))
        while spans and rounds:
            _count(spans, counts)
            text, places = self._replaced(text, spans)
            spans = self._found_again(text, places)
            rounds -= 1
        return text

    def _found_again(self, text: str, places: list[int]) -> list[Span]:
        """What is found now that something is hidden at these places: it can only be near them."""
        if self._own or len(places) * 8 * _REACH > len(text):
            return self._found(text)
        found: list[Span] = []
        for start, end in _stretches(text, places):
            spans = [one.moved(start) for one in self._found(text[start:end])]
            # What is far from every place was found before, or is only there where the text is cut.
            found += [one for one in spans if _is_near(one, places)]
        return found

    def _remember(self, text: str) -> None:
        if len(self._harmless) >= _MOST_REMEMBERED:
            self._harmless.clear()
        self._harmless.add(text)

    def _found(self, text: str) -> list[Span]:
        """What is to be hidden, in order and disjoint."""
        seen = Outline(text)
        if seen.is_plain and not self._own:
            return []
        bare = covered(text)
        read = unveiled(bare)
        if read.text is not text:
            seen = Outline(read.text)
        spans = [span for rule in self._near(seen) for span in rule.find(read.text, seen.folded)]
        spans = settle(span for span in spans if span.kind in self._kinds)
        found = [read.written(one) for one in spans if not _is_hidden(one, read.text)]
        if not self._own:
            return found
        own = [one for pattern in self._own for one in pattern.find(bare)]
        return settle([*found, *(one for one in own if not _is_hidden(one, bare))])

    def _near(self, seen: Outline) -> list[Rule]:
        return [] if seen.is_plain else [rule for rule in self._rules if rule.is_near(seen)]

    def _replaced(self, text: str, spans: list[Span]) -> tuple[str, list[int]]:
        """The text with placeholders, and where they end."""
        parts: list[str] = []
        places: list[int] = []
        at = size = 0
        for start, end, kind in spans:
            mark = placeholder(kind, text[start:end], self._key)
            size += start - at + len(mark)
            parts += text[at:start], mark
            places.append(size)
            at = end
        return "".join((*parts, text[at:])), places

    def _walked(self, value: Any, counts: dict[str, int], key: str = "") -> Any:
        if isinstance(value, str):
            return self._leaf(value, key, counts)
        if isinstance(value, dict):
            return self._object(value, counts)
        if isinstance(value, list | tuple):
            items = [self._walked(item, counts, key) for item in value]
            if all(new is old for new, old in zip(items, value, strict=True)):
                return value
            return items if isinstance(value, list) else tuple(items)
        return value

    def _leaf(self, text: str, key: str, counts: dict[str, int]) -> str:
        kind = secret_under(key, text) if key else None
        if kind is None or kind not in self._kinds:
            return self._hidden(text, counts)
        found: dict[str, int] = {}
        inside = self._hidden(text, found)
        if not is_hidden(covered(inside)):
            found, inside = {kind: 1}, placeholder(kind, text, self._key)
        for name, number in found.items():
            counts[name] = counts.get(name, 0) + number
        return inside

    def _object(self, value: dict[Any, Any], counts: dict[str, int]) -> dict[Any, Any]:
        made: dict[Any, Any] = {}
        is_same = True
        for key, item in value.items():
            new_key = self._hidden(key, counts) if isinstance(key, str) else key
            new_item = self._walked(item, counts, key if isinstance(key, str) else "")
            is_same = is_same and new_key is key and new_item is item
            made[key if new_key is key else _free(new_key, made, value)] = new_item
        return value if is_same else made


def _stretches(text: str, places: list[int]) -> list[tuple[int, int]]:
    """The lines around these places, from far enough before to far enough behind them."""
    found: list[tuple[int, int]] = []
    for place in places:
        first, last = max(0, place - 3 * _REACH), min(len(text), place + 3 * _REACH)
        start = text.rfind("\n", first, max(0, place - 2 * _REACH)) + 1 or first
        end = text.find("\n", place + 2 * _REACH, last)
        if found and start <= found[-1][1]:
            start = found.pop()[0]
        found.append((start, end if end >= 0 else last))
    return found


def _is_near(span: Span, places: list[int]) -> bool:
    at = bisect_left(places, span.start - _REACH)
    return at < len(places) and places[at] <= span.end + _REACH


def _is_hidden(span: Span, text: str) -> bool:
    return is_hidden(text[span.start : span.end])


def _count(spans: list[Span], counts: dict[str, int]) -> None:
    for span in spans:
        counts[span.kind] = counts.get(span.kind, 0) + 1


def _free(key: str, *taken: Mapping[Any, Any]) -> str:
    """Two hidden keys must not become one, nor one that was there."""
    names = chain([key], (f"{key} ({number})" for number in count(2)))
    return next(name for name in names if not any(name in each for each in taken))
