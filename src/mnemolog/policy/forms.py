"""The forms that a text can have in a file: what to look for when it should be gone."""

import json
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote


def needles(texts: Iterable[str]) -> dict[str, bytes]:
    """Each form's name and bytes: plain, as JSON, with escapes, encoded for a name; both cases."""
    found: dict[str, bytes] = {}
    for number, text in enumerate(texts, 1):
        known: set[bytes] = set()
        for form, content in _forms(text):
            if content and content not in known:
                known.add(content)
                found[f"text {number}, {form}"] = content
    return found


def texts_of(value: object) -> Iterator[str]:
    """Every text in a tree of values, line by line."""
    if isinstance(value, str):
        yield from value.split("\n")
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)


def _forms(text: str) -> Iterator[tuple[str, bytes]]:
    for form, variant in (("plain", text), ("lower case", text.lower())):
        quoted = json.dumps(variant, ensure_ascii=False)[1:-1]
        escaped = json.dumps(variant)[1:-1]
        yield form, variant.encode("utf-8", "surrogatepass")
        yield f"{form} JSON", quoted.encode("utf-8", "surrogatepass")
        yield f"{form} escaped", escaped.encode()
        yield f"{form} escaped in capitals", _upper_escapes(escaped).encode()
        yield f"{form} in UTF-16", variant.encode("utf-16-le", "surrogatepass")
        yield f"{form} percent-encoded", quote(variant, safe="", errors="replace").lower().encode()


def _upper_escapes(escaped: str) -> str:
    parts = escaped.split("\\u")
    return parts[0] + "".join(f"\\u{part[:4].upper()}{part[4:]}" for part in parts[1:])
