"""The end of a log: where the next line goes, and which number it gets."""

from collections.abc import Iterator
from typing import NamedTuple

from mnemolog.errors import InvalidFormatError
from mnemolog.fs import File
from mnemolog.log import lines
from mnemolog.log.lines import Header
from mnemolog.model.entry import FORMAT

_BLOCK = 64 * 1024


class Tail(NamedTuple):
    """The state of a file's end: its size, the last number used, and whether a newline is owed."""

    size: int
    seq: int
    torn: bool = False


def find_tail(file: File, known: Tail, floor: Tail) -> Tail:
    """Look at what came after `known`, from the end backwards, until a valid line shows its seq.

    `floor` is the state of the empty file, for when the file is shorter than it was. A damaged line
    uses up a number, so that numbers never repeat even if it is mended later.
    """
    size = file.size()
    if size == known.size:
        return known
    if size < known.size:
        known = floor
    if size == 0:
        return floor
    torn = file.read(size - 1, 1) != b"\n"
    damaged = 0
    for line in _backwards(file, known.size, size):
        if found := _header(line):
            check_format(found.v)
            return Tail(size, found.seq + damaged, torn)
        damaged += 1
    return Tail(size, known.seq + damaged, torn)


def last_line(file: File) -> Header | None:
    """What the last valid line of a file says of itself."""
    return next(filter(None, map(_header, _backwards(file, 0, file.size()))), None)


def _header(line: bytes) -> Header | None:
    return lines.header(line) if lines.verify(line) else None


def check_format(version: int) -> None:
    """Refuse to write where a later mnemolog has written: it is read as far as possible."""
    if version > FORMAT:
        raise InvalidFormatError(
            f"This log was written by a newer mnemolog (format {version}; this one: {FORMAT}).",
            advice="Upgrade mnemolog to write here; reading goes on working.",
        )


def _backwards(file: File, start: int, end: int) -> Iterator[bytes]:
    """The non-empty lines between two offsets of a file, last one first."""
    held = b""
    while end > start:
        begin = max(start, end - max(_BLOCK, len(held)))
        first, *rest = (file.read(begin, end - begin) + held).split(b"\n")
        yield from filter(None, (line.rstrip(b"\r") for line in reversed(rest)))
        held, end = first, begin
    if held.rstrip(b"\r"):
        yield held.rstrip(b"\r")
