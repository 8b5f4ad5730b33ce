"""How sizes, times and entries read."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mnemolog.faces.cli.screen import Part, clean, one_line, say, warn

if TYPE_CHECKING:
    from mnemolog.model.entry import Entry, Receipt

_INDENT = "    "


def size(count: int) -> str:
    """A number of bytes as people read it."""
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def counted(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def moment(stamp: str | None) -> str:
    """A stored time without what nobody reads: `2026-11-15 09:00:00`."""
    return "" if stamp is None else stamp[:19].replace("T", " ")


def title(entry: "Entry") -> list[Part]:
    """The line that stands above an entry's text."""
    who = " ".join(filter(None, (entry.role, entry.agent_id)))
    tags = " ".join(f"#{tag}" for tag in entry.tags)
    parts: list[Part] = [
        (moment(entry.timestamp), "dim"),
        "  ",
        (entry.type, "strong"),
    ]
    for text, style in ((who, ""), (tags, "note"), (entry.id, "dim")):
        if text:
            parts += ["  ", (text, style)]
    return parts


def say_entry(entry: "Entry") -> None:
    """Show an entry: its title and its text."""
    say(*title(entry))
    say_content(entry)


def say_receipt(receipt: "Receipt") -> None:
    """Show what became of a write."""
    say((receipt.status, "good"), " ", receipt.id, ("  in ", "dim"), receipt.session_id or "")
    if receipt.redactions:
        say(("hidden: ", "dim"), ", ".join(receipt.redactions))
    for text in receipt.warnings:
        warn(text)


def say_content(entry: "Entry") -> None:
    """Show an entry's text, indented, so that none can pass for another entry's title."""
    for line in _lines(entry.content):
        say(_INDENT, line)


def summary(entry: "Entry") -> str:
    """An entry's text on one line."""
    return one_line(" · ".join(_lines(entry.content)))


def _lines(content: str | Mapping[str, Any]) -> Iterator[str]:
    from mnemolog.model.telling import fields_told

    if isinstance(content, str):
        yield from clean(content).splitlines()
        return
    for name, text in fields_told(content):
        first, *rest = clean(text).splitlines() or [""]
        yield f"{one_line(name)}: {first}" if name else first
        yield from (f"{_INDENT}{line}" for line in rest)


def plain(value: object) -> str:
    """Any value as text."""
    from mnemolog.model.telling import value_told

    return value_told(value)
