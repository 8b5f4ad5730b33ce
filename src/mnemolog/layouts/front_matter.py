"""Front matter of Markdown: `key: value` lines between two `---`.

Values are written as JSON, which every reader of YAML takes. Read are JSON, plain and quoted text,
and lists with one item a line; anything deeper is refused instead of guessed.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from mnemolog.errors import InvalidFormatError
from mnemolog.layouts.parsing import parse

_FENCE = "---"
_FIELD = re.compile(r"([A-Za-z_][\w-]{0,63}):(?:\s+(.*))?", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


def split(text: str) -> tuple[dict[str, Any], str]:
    """The fields and the body; without front matter there are no fields."""
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return {}, text
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            body = "\n".join(lines[number + 1 :])
            return _fields(lines[1:number]), body.removeprefix("\n")
    raise InvalidFormatError("front matter without an end")


def join(fields: Mapping[str, Any], body: str) -> str:
    """A document with its fields in front."""
    rows = (f"{name}: {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
    return f"{_FENCE}\n{''.join(rows)}{_FENCE}\n\n{body}"


def _fields(lines: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    name = None
    for line in lines:
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if stripped.startswith("- ") and name is not None and found[name] in (None, *_lists(found)):
            found[name] = [*(found[name] or []), _value(stripped[2:])]
            continue
        match = _FIELD.fullmatch(line.rstrip())
        if match is None or match[1] in found:
            raise InvalidFormatError("front matter that is not simple fields")
        name = match[1]
        found[name] = _value(match[2] or "")
    return found


def _lists(found: Mapping[str, Any]) -> list[list[Any]]:
    return [value for value in found.values() if isinstance(value, list)]


def _value(text: str) -> Any:
    text = text.strip()
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in '"[{' or _NUMBER.fullmatch(text):
        try:
            return parse(text.encode())
        except InvalidFormatError:
            return _flow(text)
    if text[0] == "'" and text[-1] == "'" and len(text) > 1:
        return text[1:-1].replace("''", "'")
    if text[0] in "|>&*!%@`":
        raise InvalidFormatError("front matter that is not simple fields")
    return text


def _flow(text: str) -> Any:
    """`[a, b]` with plain words; what looks like JSON and is neither is refused."""
    inner = text[1:-1]
    if text[0] != "[" or text[-1] != "]" or any(sign in inner for sign in '[]{}"'):
        raise InvalidFormatError("front matter that is not simple fields")
    return [_value(part) for part in inner.split(",")]
