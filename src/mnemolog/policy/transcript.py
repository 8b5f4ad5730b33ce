"""A transcript: entries as Markdown, as a distiller reads them.

    ## User
    We need ACID.

    ## Assistant (architect)
    Then PostgreSQL.

    > note: ask for the budget

    **Decision** Use PostgreSQL

What was said is data: no line of it can pass for a heading, a fence or a comment of ours.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mnemolog.model.entry import Entry
from mnemolog.policy import blocks
from mnemolog.policy.learning import is_internal

_FOREGROUND = {"user": "User", "assistant": "Assistant", "system": "System Message", "tool": "Tool"}
_BACKGROUND = {**_FOREGROUND, "user": "System Message", "assistant": "Agent"}

# An envelope around a message, as programs pass it on: `<system_message origin="cron">…`.
_TAGGED = re.compile(
    r"\s*<(?P<tag>system_message|message)(?P<rest>(?:\s[^<>]*)?)>(?P<body>.*)</(?P=tag)>\s*",
    re.DOTALL,
)
_ORIGIN = re.compile(r"""\borigin\s*=\s*["']([^"'<>]{1,200})["']""")
_BODIES = ("content", "text", "message", "body")
_DEEPEST = 8

# What begins a heading, a rule, a fence, a quote or HTML at the start of a line.
_MARK = re.compile(r"^( {0,3})(#|=|-(?=[-\s]*$)|\*{3,}|_{3,}|`{3,}|~{3,}|>|<)")
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


def of(entries: Iterable[Entry], *, is_background: bool = False) -> str:
    """The entries in order, each as a block of its own; records of the program's own are left
    out."""
    labels = _BACKGROUND if is_background else _FOREGROUND
    shown = (_block(entry, labels) for entry in entries if not is_internal(entry))
    return "\n\n".join(block for block in shown if block)


def _block(entry: Entry, labels: Mapping[str, str]) -> str:
    text, origins = unwrapped(entry.content)
    if not text.strip():
        return ""
    if entry.type == "note":
        return "\n".join(f"> {line}" for line in _lines(f"note: {text}"))
    body = "\n".join(_lines(text))
    if entry.type == "conversation":
        return f"## {_label(entry, labels, origins)}\n{body}"
    return f"**{entry.type.capitalize()}**{_by(entry)} {body}"


def _label(entry: Entry, labels: Mapping[str, str], origins: list[str]) -> str:
    label = labels.get(entry.role or "user", "Message")
    told = [blocks.word(entry.agent_id)] if entry.agent_id and entry.role == "assistant" else []
    told += [f"from {blocks.word(origin)}" for origin in origins]
    return f"{label} ({', '.join(told)})" if told else label


def _by(entry: Entry) -> str:
    return f" ({blocks.word(entry.agent_id)})" if entry.agent_id else ""


def unwrapped(content: str | dict[str, Any]) -> tuple[str, list[str]]:
    """What a message says inside its envelopes, and where they say that it comes from."""
    origins: list[str] = []
    found: object = content
    for _ in range(_DEEPEST):
        inner = _inside(found, origins)
        if inner is None:
            break
        found = inner
    return _text(found), origins


def _inside(found: object, origins: list[str]) -> object:
    """What an envelope holds; None if this is none."""
    if isinstance(found, str):
        match = _TAGGED.fullmatch(found)
        if match is None:
            return None
        origins += _ORIGIN.findall(match["rest"])[:1]
        return match["body"].strip()
    if not isinstance(found, Mapping) or found.get("type") not in ("system_message", "message"):
        return None
    if isinstance(found.get("origin"), str):
        origins.append(found["origin"])
    return next((found[name] for name in _BODIES if name in found), None)


def _text(found: object) -> str:
    """Text as it is; fields of a typed entry by their names, the main one first."""
    if isinstance(found, str):
        return found
    if not isinstance(found, Mapping):
        return json.dumps(found, ensure_ascii=False)
    told = {name: value for name, value in found.items() if value not in (None, "", [], {})}
    lead = [str(told.pop(name)) for name in ("decision", "description", "text") if name in told]
    rest = [f"{name}: {_plain(value)}" for name, value in told.items()]
    return "\n".join([*lead, *rest])


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _lines(text: str) -> list[str]:
    """Lines that cannot end their block: a backslash takes their meaning from marks."""
    return [_MARK.sub(r"\1\\\2", _CONTROLS.sub("\ufffd", line)) for line in text.splitlines()]
