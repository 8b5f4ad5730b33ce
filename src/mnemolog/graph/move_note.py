"""The note of a move or merge: it has two addresses and takes several steps."""

from contextlib import suppress

import msgspec

from mnemolog import fs
from mnemolog.fs import Disk
from mnemolog.graph import addresses
from mnemolog.model.node import NodeVersion

NOTE = "move.json"


class Move(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A move that was begun, or with `is_merge` a merging of one node into another."""

    v: int
    old: str
    new: str
    at: str
    by: str
    reason: str
    is_merge: bool = False
    names: tuple[str, ...] = ()
    """What else links may call the old node, if they mean no other."""

    def version(self, reason: str, sources: tuple[str, ...] = ()) -> NodeVersion:
        """What a version says that is made on the way."""
        return NodeVersion(
            number=0, at=self.at, by=self.by, reason=reason, hash="", text=None, sources=sources
        )


def note(disk: Disk, user_id: str, move: Move) -> None:
    """Note durably that it began."""
    fs.replace(disk, path_of(user_id), msgspec.json.encode(move) + b"\n")


def read(disk: Disk, user_id: str) -> Move | None:
    """What was noted; None if nothing is, or if a crash tore it before anything had begun."""
    with suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode(fs.read_all(disk, path_of(user_id)), type=Move)
    return None


def strike(disk: Disk, user_id: str) -> None:
    """Remove the note."""
    disk.unlink(path_of(user_id))
    disk.sync_folder(addresses.user_folder(user_id))


def path_of(user_id: str) -> str:
    """Where the note lies."""
    return f"{addresses.user_folder(user_id)}/{NOTE}"
