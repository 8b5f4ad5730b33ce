"""The end of a log: where the next line goes, and which number it gets."""

from collections.abc import Iterator

import msgspec

from mnemolog.errors import InvalidFormatError
from mnemolog.fs import File
from mnemolog.log import lines
from mnemolog.model.entry import FORMAT, Entry

_BLOCK = 64 * 1024


class Tail(msgspec.Struct, frozen=True):
    """The state of a file's end: its size, the last number used, and whether a newline is owed."""

    size: int
    seq: int
    torn: bool = False
    v: int = 0
    """The version of the last valid line that was looked at."""


def find_tail(file: File, size: int, known: Tail, floor: Tail) -> Tail:
    """Look at what came after `known`, from the end backwards, until a valid line shows its seq.

    `floor` is the state of the empty file, for when the file is shorter than it was. A damaged line
    uses up a number, so that numbers never repeat even if it is mended later.
    """
    if size < known.size:
        known = floor
    if size == 0:
        return floor
    begin = max(known.size, size - _BLOCK)
    block = file.read(begin, size - begin)
    if (found := _numbers(block)) is not None:
        return Tail(size, found[1], False, found[0])
    torn = not block.endswith(b"\n")
    damaged = 0
    for _, line in backwards(file, known.size, begin, block):
        if last := _valid(line):
            return Tail(size, last.seq + damaged, torn, last.v)
        damaged += 1
    return Tail(size, known.seq + damaged, torn)


def _numbers(block: bytes) -> tuple[int, int] | None:
    """What the last line of a block says of itself, if it looks like what writers leave; whoever
    writes after somebody else looks at it under the lock."""
    if not block.endswith(b"\n"):
        return None
    return lines.numbers(block[block.rfind(b"\n", 0, -1) + 1 : -1])


def find_end(file: File, size: int, floor: Tail) -> Tail:
    """The same for lines that carry no number: looking at the last byte is enough."""
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


def backwards(file: File, start: int, end: int, chunk: bytes = b"") -> Iterator[tuple[int, bytes]]:
    """The lines between two offsets that are not blank, and where they begin; last one first.

    `chunk` is what follows `end`, where that has been read already: its lines come first.
    """
    while True:
        held, *rest = chunk.split(b"\n")
        offset = end + len(chunk)
        for line in reversed(rest):
            offset -= len(line)
            if line.rstrip(b"\r"):
                yield offset, line
            offset -= 1
        if end <= start:
            break
        begin = max(start, end - max(_BLOCK, len(held)))
        chunk = file.read(begin, end - begin) + held
        end = begin
    if held.rstrip(b"\r"):
        yield start, held
