"""How hits read: each with its text on one line, and its reasons as small bars."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mnemolog.faces.cli import words
from mnemolog.faces.cli.screen import Part, is_terminal, one_line, say

if TYPE_CHECKING:
    from mnemolog.model.query import Hit

_INDENT = "      "
_WIDTH = 20


def say_hit(hit: "Hit", *, why: bool = False) -> None:
    """Show a hit: how relevant, when, what, by whom, in which session, and its text."""
    entry = hit.entry
    parts: list[Part] = [(f"{hit.relevance:.2f}", "good"), "  ", *words.title(entry)]
    if entry.session_id is not None:
        parts += [("  in ", "dim"), one_line(entry.session_id)]
    say(*parts)
    say(_INDENT, one_line(words.summary(entry), _room()))
    if why:
        say_why(hit.why)


def say_why(why: Mapping[str, float]) -> None:
    """Show what a relevance is made of: a bar for each part, full at 1, and its exact value."""
    widest = max(map(len, why), default=0)
    for name, value in why.items():
        full = round(min(max(value, 0.0), 1.0) * _WIDTH)
        bar = ("█" * full, "note"), ("░" * (_WIDTH - full), "dim")
        say(_INDENT, (name.ljust(widest), "dim"), "  ", *bar, f"  {value:.3f}")


def _room() -> int | None:
    """How long a line may be: a pipe takes any."""
    if not is_terminal():
        return None
    try:
        columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (ValueError, OSError):
        columns = 80
    return max(columns - len(_INDENT), 20)
