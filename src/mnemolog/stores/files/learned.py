"""How far a user's own log and the shared one were learned from: a small file beside each."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import msgspec

from mnemolog import fs
from mnemolog.errors import StorageError
from mnemolog.fs import Disk
from mnemolog.log.writer import Writer
from mnemolog.model.entry import FORMAT

NAME = "learned.json"

Markers = dict[str, Any]

_decode = msgspec.json.Decoder(dict[str, Any]).decode


def read(disk: Disk, folder: str) -> Markers:
    """The markers in a log's folder; none that cannot be read: then it is learned from again,
    which says nothing twice."""
    with suppress(FileNotFoundError, StorageError, msgspec.MsgspecError):
        found = _decode(fs.read_all(disk, f"{folder}/{NAME}"))
        return {name: value for name, value in found.items() if name != "v"}
    return {}


def change(
    disk: Disk, writer: Writer, folder: str, edit: Callable[[Markers], Mapping[str, Any]]
) -> Markers:
    """Change them under the lock of the log; nothing is written where they stay."""
    with writer.locked():
        before = read(disk, folder)
        after = dict(edit(before))
        if after != before:
            content = msgspec.json.encode({"v": FORMAT, **after})
            fs.replace(disk, f"{folder}/{NAME}", content)
        return after
