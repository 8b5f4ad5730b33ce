"""What people and programs get to see; every text for a person passes `clean`.

Entries hold what others wrote: control characters in them could move the cursor, set the window's
title, or show a text in another order than it has. For programs there is `--json`, which is exact.
"""

import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import click

Part = str | tuple[str, str]
"""A text, or a text and the name of its style."""

STYLES: dict[str, dict[str, Any]] = {
    "dim": {"dim": True},
    "strong": {"bold": True},
    "good": {"fg": "green"},
    "note": {"fg": "cyan"},
    "warning": {"fg": "yellow"},
    "error": {"fg": "red", "bold": True},
}

_NAME_WIDTH = 36
_LEAST_WIDTH = 8
_GAP = 2

# Whole sequences first; of one that is never closed only the control characters go, so that no
# text can hide behind it. No body may contain a control character: this keeps the search linear.
_SEQUENCE = re.compile(
    "(?:\x1b\\]|\x9d)[^\x07\x1b\x80-\x9f]*(?:\x07|\x1b\\\\|\x9c)"  # OSC: title, links, clipboard
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x80-\x9f]*(?:\x1b\\\\|\x9c)"  # DCS, SOS, PM, APC
    "|(?:\x1b\\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"  # CSI: colours, cursor, modes
    "|\x1b[ -/]{0,8}[0-~]"  # everything else that begins with ESC
)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile("[\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text without escape sequences, control and direction characters; newlines stay."""
    if text.isascii() and text.isprintable():
        return text
    text = _CONTROL.sub("", _SEQUENCE.sub("", text))
    return _SURROGATE.sub("\ufffd", _BREAK.sub("\n", text)).expandtabs(4)


def one_line(text: str, limit: int | None = None) -> str:
    """The text cleaned and on one line, cut at `limit` characters."""
    line = " ".join(clean(text).split())
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1]}…"


def is_terminal(*, err: bool = False) -> bool:
    """Whether a person is looking."""
    stream = sys.stderr if err else sys.stdout
    return stream is not None and stream.isatty()


def is_coloured(*, err: bool = False) -> bool:
    """Whether colours are wanted."""
    dull = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return is_terminal(err=err) and not dull


def say(*parts: Part, err: bool = False) -> None:
    """Show one line to a person; no text in it can begin another."""
    coloured = is_coloured(err=err)
    click.echo("".join(_painted(part, coloured) for part in parts), err=err, color=coloured)


def _painted(part: Part, coloured: bool) -> str:
    text, style = (part, "") if isinstance(part, str) else part
    text = clean(text).replace("\n", " ")
    return click.style(text, **STYLES[style]) if coloured and style and text else text


def warn(text: str, *, as_json: bool = False) -> None:
    """Say on the side that something was not as it should be."""
    if as_json:
        emit({"warning": text}, err=True)
    else:
        say(("warning: ", "warning"), text, err=True)


def emit(value: object, *, err: bool = False) -> None:
    """Give a program one value as one line of JSON."""
    import json

    import msgspec

    try:
        line = msgspec.json.encode(value, enc_hook=repr)
    except UnicodeEncodeError:  # a path whose name is not text
        line = json.dumps(msgspec.to_builtins(value, enc_hook=repr)).encode()
    click.echo(line, err=err)


def emit_raw(line: bytes) -> None:
    """Give out a line of a log: exact, except that a terminal gets control characters escaped."""
    if is_terminal():
        text = line.decode("utf-8", "backslashreplace")
        line = _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text).encode()
    click.echo(line)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, nothing: str = "") -> None:
    """Show a table: ruled for a person, plain columns in a pipe, where nothing is cut.

    Without rows there is no table, but what is said of `nothing`.
    """
    lines = [[one_line(cell) for cell in row] for row in rows]
    if not lines and nothing:
        say(nothing)
        return
    if is_terminal():
        _rich_table(columns, lines)
        return
    widths = [max(len(row[i]) for row in [columns, *lines]) for i in range(len(columns))]
    for row in [columns, *lines]:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        say("  ".join(cells).rstrip())


def _rich_table(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    colours: Literal["auto"] | None = "auto" if is_coloured() else None
    console = Console(color_system=colours, highlight=False, emoji=False)
    widths = [max(map(len, cells)) for cells in zip(columns, *lines, strict=True)]
    # The first column names the row: it is the last to be broken.
    name, others = min(widths[0], _NAME_WIDTH), widths[1:]
    if name + sum(_GAP + min(width, _LEAST_WIDTH) for width in others) > console.width:
        _say_records(columns, lines)
        return
    is_roomy = sum(widths) + _GAP * len(others) <= console.width
    ruled = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        is_fixed = number == 0 and not is_roomy
        ruled.add_column(Text(column), overflow="fold", width=name if is_fixed else None)
    for line in lines:
        ruled.add_row(*map(Text, line))
    console.print(ruled)


def _say_records(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """The rows one below the other, for a terminal that is too narrow for a table."""
    widest = max(map(len, columns))
    for number, line in enumerate(lines):
        if number:
            say("")
        for column, cell in zip(columns, line, strict=True):
            if cell:
                say((column.ljust(widest), "dim"), "  ", cell)
