"""Naming: which ids the bytes name that nobody can read as lines, in a log or copied out of it."""

from collections.abc import Collection, Iterable
from contextlib import suppress

import msgspec

from mnemolog import fs
from mnemolog.fs import Disk
from mnemolog.log import quarantine
from mnemolog.log.places import Place, look
from mnemolog.log.tail import backwards


def named_in_quarantine(disk: Disk, log: str, ids: Collection[str]) -> set[str]:
    """Those of the ids that copies of damage name."""
    return named_in(disk, quarantine.files(disk, log), ids)


def named_in_tail(disk: Disk, place: Place, ids: Collection[str]) -> set[str]:
    """Those of the ids that a torn end of a log names: it is no damage before somebody writes."""
    _, chain = look(disk, place)
    file = chain.open(disk)[-1]
    _, last = next(backwards(file, 0, file.size()), (0, b""))
    return _named(last, ids)


def named_in(disk: Disk, files: Iterable[str], ids: Collection[str]) -> set[str]:
    """Those of the ids that the bytes of some files name."""
    content = b""
    for path in files:
        with suppress(FileNotFoundError):
            content += fs.read_all(disk, path) + b"\n"
    return _named(content, ids)


def _named(content: bytes, ids: Iterable[str]) -> set[str]:
    return {one for one in ids if any(name in content for name in names(one))}


def names(identifier: str) -> list[bytes]:
    """How the raw bytes of a line name an id, whatever else is left of them."""
    return [field + msgspec.json.encode(identifier) for field in (b'"id":', b'"target":')]
