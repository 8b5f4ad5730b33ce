"""The end of a log: where the next line goes, and which number it gets."""

from collections.abc import Iterator
from typing import NamedTuple

from mnemolog.errors import InvalidFormatError
from mnemolog.fs import File
from mnemolog.log import lines
from mnemolog.model.entry import FORMAT, Entry

_BLOCK = 64 * 1024


class Tail(NamedTuple):
    """The state of a file's end: its size, the last number used, and whether a newline is owed."""

    size: int
    seq: int
    torn: bool = False
    v: int = 0
    """The version of the last valid line that was looked at."""


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
    for _, line in backwards(file, known.size, size):
        if found := _valid(line):
            return Tail(size, found.seq + damaged, torn, found.v)
        damaged += 1
    return Tail(size, known.seq + damaged, torn)


def find_end(file: File, known: Tail, floor: Tail) -> Tail:
    """The same for lines that carry no number: looking at the last byte is enough."""
    size = file.size()
    if size == known.size:
        return known
    return Tail(size, floor.seq, size > 0 and file.read(size - 1, 1) != b"\n")


def last_line(file: File) -> Entry | None:
    """What the last valid line of a file says of itself."""
    found = (_valid(line) for _, line in backwards(file, 0, file.size()))
    return next(filter(None, found), None)


def _valid(line: bytes) -> Entry | None:
    line = line.rstrip(b"\r")
    start = 0 if lines.verify(line) else lines.salvage(line)
    return lines.entry(line[start:]) if start >= 0 else None


def check_format(version: int, current: int = FORMAT) -> None:
    """Refuse to write where a later mnemolog has written: it is read as far as possible."""
    if version > current:
        raise InvalidFormatError(
            f"This log was written by a newer mnemolog (format {version}; this one: {current}).",
            advice="Upgrade mnemolog to write here; reading goes on working.",
        )


def backwards(file: File, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """The lines between two offsets that are not blank, and where they begin; last one first."""
    held = b""
    while end > start:
        begin = max(start, end - max(_BLOCK, len(held)))
        chunk = file.read(begin, end - begin) + held
        held, *rest = chunk.split(b"\n")
        offset = begin + len(chunk)
        for line in reversed(rest):
            offset -= len(line)
            if line.rstrip(b"\r"):
                yield offset, line
            offset -= 1
        end = begin
    if held.rstrip(b"\r"):
        yield start, held
