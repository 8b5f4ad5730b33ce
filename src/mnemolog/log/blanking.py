"""Blanking: bytes are overwritten where they lie before they are let go of.

A line that is blanked becomes a valid line of the same length and type `erased`, with a random id:
nothing moves, every other line stays where readers and the index know it, and it works on a full
disk. This is done in two steps, each synced: the first keeps the id, so that a line torn by a power
loss is still recognised and done again; the second takes the id away too.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

from mnemolog.fs import File
from mnemolog.log import lines
from mnemolog.model.entry import FORMAT, Entry

# Up to so many names are looked for byte by byte; more of them by decoding every line.
_FEW = 16
# What no line of ours holds, and another program's may: an id can stand behind it in other bytes.
_ODD = (
    re.compile(rb"\\(?:/|u(?!00(?:0[0-7bef]|1[0-9a-f])))"),
    re.compile(rb'"id"(?:\s|:\s)'),
    re.compile(rb'"target"(?:\s|:\s)'),
)


class Blanked(NamedTuple):
    """A line that was blanked: which segment, where it begins, and the sum that it has now."""

    segment: int
    offset: int
    sum: str


class _Found(NamedTuple):
    """Bytes to be blanked; `seq` is 0 for damage, of which `named` leaves only the ids."""

    offset: int
    length: int
    id: str
    seq: int
    named: bytes = b""


Limits = Mapping[str, int]
"""Ids, and up to which number the lines about each are meant."""


def blank_ids(file: File, segment: int, limits: Limits, stamp: str) -> list[Blanked]:
    """Blank every line of a segment that is about one of these ids, damaged ones too."""
    found = list(_about(file, limits))
    if not found:
        return []
    for one in found:
        _overwrite(file, one, one.id, stamp)
    file.sync()
    sums = [_overwrite(file, one._replace(named=b""), _random_id(one.id), stamp) for one in found]
    file.sync()
    pairs = zip(found, sums, strict=True)
    return [Blanked(segment, one.offset, total) for one, total in pairs if total]


def blank_lines(file: File, spots: Collection[tuple[int, int]], stamp: str) -> None:
    """Blank single lines, given by where they begin and how long they are."""
    for offset, length in spots:
        found = lines.entry(file.read(offset, length).rstrip(b"\r\n"))
        seq = found.seq if found else 0
        _overwrite(file, _Found(offset, length, "", seq), _random_id("x" * 16), stamp)
    file.sync()


def _about(file: File, limits: Limits) -> Iterator[_Found]:
    """Where the lines about these ids lie; in damage, the raw bytes that name an id count."""
    names = [mark + msgspec.json.encode(one) for one in limits for mark in (b'"id":', b'"target":')]
    content = file.read(0, file.size())
    for start in _starts(content, names):
        end = content.find(b"\n", start)
        line = content[start : end if end >= 0 else None].rstrip(b"\r")
        yield from _in_line(line, start, limits, names)


def _starts(content: bytes, names: list[bytes]) -> list[int]:
    """Where the lines begin that may be about the names: all of them, if there are many names."""
    if len(names) > _FEW:
        found = [0, *(at.end() for at in re.finditer(b"\n", content))]
        return [start for start in found if start < len(content)]
    sought = [*map(re.compile, map(re.escape, names)), *_ODD]
    hits = (at.start() for one in sought for at in one.finditer(content))
    return sorted({content.rfind(b"\n", 0, at) + 1 for at in hits})


def _in_line(line: bytes, start: int, limits: Limits, names: list[bytes]) -> Iterator[_Found]:
    good, entry = _decoded(line)
    if entry is not None and entry.seq <= limits.get(entry.target or entry.id, 0):
        yield _Found(start + good, len(line) - good, entry.id, entry.seq)
    bad = line if entry is None else line[:good]
    if bad and any(name in bad for name in names):
        yield _Found(start, len(bad), "", 0, _only(bad, names))


def _only(bad: bytes, names: list[bytes]) -> bytes:
    """Damage with everything blank but the names in it, so that it is recognised once more."""
    left = bytearray(b" " * len(bad))
    for name in names:
        at = bad.find(name)
        while at >= 0:
            left[at : at + len(name)] = name
            at = bad.find(name, at + 1)
    return bytes(left)


def _decoded(line: bytes) -> tuple[int, Entry | None]:
    """The valid line in these bytes, and how much damage lies before it."""
    start = 0 if lines.verify(line) else lines.salvage(line)
    return (0, None) if start < 0 else (start, lines.entry(line[start:]))


def _overwrite(file: File, one: _Found, identifier: str, stamp: str) -> str:
    """Write the blank line, or blanks where none would fit; gives its sum."""
    line = _blank(one.length, identifier, one.seq, stamp) if one.seq else None
    file.write_at(one.offset, line or one.named or b" " * one.length)
    return line[-66:-2].decode() if line else ""


def _blank(length: int, identifier: str, seq: int, stamp: str) -> bytes | None:
    """A valid line of exactly this length, newline not counted; None if it cannot be so short."""
    entry = Entry(v=FORMAT, id=identifier, timestamp=stamp, type="erased", origin="user")
    draft = lines.Draft(entry)
    blanks = length - len(draft.line(seq)) + len(b"\n")
    return draft.line(seq, blanks).removesuffix(b"\n") if blanks >= 0 else None


def _random_id(like: str) -> str:
    """An id no longer than the one that it takes the place of, and hardly anybody else's."""
    return ("~" + os.urandom(8).hex())[: max(1, min(len(like), 16))]
