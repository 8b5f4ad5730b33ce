"""Front matter as text: found, and changed field by field, so that all the rest stays as it was.

What the fields mean is for whoever reads YAML; here a field is the lines from its name to the next
one. Values are written as JSON, which every reader of YAML takes.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

_OPENING = re.compile(r"\ufeff?---[ \t]*\r?\n")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)
# Greedy, so that no line is looked at twice.
_KEY = re.compile(r"""(?:"([^"\\\n]+)"|'([^'\n]+)'|([^\s"'#&*!\[{|>%@`:-][^:#\n]*)):(?=\s|$)""")
# What YAML does not take as it is, although JSON does.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


class Parts(NamedTuple):
    """A document: the lines between the fences, or None; what stands before and after the body."""

    head: str | None
    front: str
    """Everything up to the body, fences and all."""
    body: str


def split(text: str) -> Parts:
    """Take a document apart; `front + body` is the document again."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Parts(None, "", text)
    end = closing.end()
    blank = re.compile(r"[ \t]*\r?\n").match(text, end)
    end = blank.end() if blank else end
    return Parts(text[opening.end() : closing.start()], text[:end], text[end:])


def with_body(text: str, body: str) -> str:
    """The document with another body."""
    front = split(text).front
    return f"{front}{body}" if front.endswith("\n") or not front else f"{front}\n\n{body}"


def with_fields(text: str, fields: Mapping[str, Any]) -> str:
    """The document with some fields set; those that are not there yet come last."""
    if not fields:
        return text
    head, front, body = split(text)
    if head is None:
        rows = "".join(f"{name}: {_value(value)}\n" for name, value in fields.items())
        return f"---\n{rows}---\n\n{text}"
    for name, value in fields.items():
        head = _replaced(head, name, f"{name}: {_value(value)}\n")
    return _joined(front, head, body)


def without_items(text: str, name: str, is_gone: Callable[[str], bool]) -> str:
    """The document without some items of a list, however the list is written."""
    head, front, body = split(text)
    span = None if head is None else _span(head, name)
    if head is None or span is None:
        return text
    items = _items(head[slice(*span)])
    kept = [one for one in items if not is_gone(one)]
    if len(kept) == len(items):
        return text
    return _joined(front, _replaced(head, name, f"{name}: {_value(kept)}\n"), body)


def items(text: str, name: str) -> list[str]:
    """The items of a list of texts in the front matter."""
    head = split(text).head
    span = None if head is None else _span(head, name)
    return [] if head is None or span is None else _items(head[slice(*span)])


def _joined(front: str, head: str, body: str) -> str:
    opening = _OPENING.match(front)
    assert opening is not None
    closing = _CLOSING.search(front, opening.end())
    assert closing is not None
    return f"{front[: opening.end()]}{head}{front[closing.start() :]}{body}"


def _value(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _replaced(head: str, name: str, line: str) -> str:
    span = _span(head, name)
    if span is not None:
        return head[: span[0]] + line + head[span[1] :]
    end = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{end}{line}"


def _span(head: str, name: str) -> tuple[int, int] | None:
    """Where a field stands: from its name to the next one, without comments before that."""
    at, start, end = 0, None, 0
    for line in head.splitlines(keepends=True):
        found = _KEY.match(line)
        if found and start is not None:
            return start, end
        if found and name in (one.strip() for one in found.groups() if one):
            start = at
        at += len(line)
        if start is not None and line.strip() and not line.startswith("#"):
            end = at
    return None if start is None else (start, end)


def _items(field: str) -> list[str]:
    """The texts of a list: in brackets, or one in each line."""
    found = _KEY.match(field)
    value = field[found.end() :].lstrip(" \t:").strip() if found else ""
    if value.startswith("["):
        try:
            return [one for one in json.loads(value) if isinstance(one, str)]
        except ValueError:
            inner = value[1:].rpartition("]")[0]
            return [one.strip().strip("\"'") for one in inner.split(",") if one.strip()]
    rows = (line.strip() for line in field.splitlines()[1:])
    return [row[1:].strip().strip("\"'") for row in rows if row.startswith("- ")]
