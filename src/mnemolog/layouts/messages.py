"""Messages of models: their text, their parts, calls of tools and the results."""

from collections.abc import Mapping
from typing import Any

from mnemolog.layouts.fields import ORIGIN

TEXTS = ("text", "input_text", "output_text")


def text_of(content: object) -> str:
    """The text of a message: its content, or the text parts of it."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(part["text"] for part in content if is_text(part))


def is_text(part: object) -> bool:
    """Whether a part of a message is text."""
    if not isinstance(part, Mapping) or part.get("type") not in TEXTS:
        return False
    return isinstance(part.get("text"), str)


def is_one_text(parts: object) -> bool:
    """Whether parts say nothing but one text."""
    return isinstance(parts, list) and len(parts) == 1 and is_text(parts[0]) and len(parts[0]) == 2


def others(content: object) -> list[str]:
    """The kinds of a message's parts that are not text."""
    parts = content if isinstance(content, list) else []
    return [_kind(part) for part in parts if not is_text(part)]


def _kind(part: object) -> str:
    kind = part.get("type") if isinstance(part, Mapping) else None
    is_plain = isinstance(kind, str) and kind.isascii() and kind.isprintable()
    return f"{kind:.40} part" if is_plain else "part of unknown kind"


def said(role: object, text: str, calls: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """A message as an entry; calls of tools stand beside its text, or instead of it."""
    metadata = {name: value for name, value in more.pop("metadata", {}).items() if value}
    content: Any = text
    if calls and text.strip():
        metadata["tool_calls"] = calls
    elif calls:
        content = {"tool_calls": calls}
    record = {"type": "conversation", "role": role, "content": content, "origin": ORIGIN, **more}
    if metadata:
        record["metadata"] = metadata
    return {name: value for name, value in record.items() if value is not None}


def result(text: str, call: object, **more: Any) -> dict[str, Any]:
    """The result of a tool as an entry."""
    about = {**more.pop("metadata", {}), "tool_call_id": call}
    return {**said("tool", text, metadata=about, **more), "origin": "tool"}
