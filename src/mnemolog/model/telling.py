"""How an entry's content reads: field by field, first what it is about."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

# The field that says what an entry is about needs no name: the type of the entry is one.
_MAIN = ("decision", "description")


def fields_told(content: str | Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The name and the text of each field; no name where none is needed."""
    if isinstance(content, str):
        yield "", content
        return
    for key, value in sorted(content.items(), key=lambda item: item[0] not in _MAIN):
        yield "" if key in _MAIN else key, value_told(value)


def value_told(value: object) -> str:
    """Any value as text: a list of texts as one line, everything else but text as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and value:
        texts = [_item_told(one) for one in value]
        if None not in texts:
            return ", ".join(text or "" for text in texts)
    return msgspec.json.encode(value).decode()


def _item_told(value: object) -> str | None:
    """What a text says, or an object that holds nothing but one, as alternatives do."""
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    return value if isinstance(value, str) else None


def summary_told(content: str | Mapping[str, Any]) -> str:
    """All of it as one text: fields stand beside each other."""
    told = fields_told(content)
    return " · ".join(f"{name}: {text}" if name else text for name, text in told)
