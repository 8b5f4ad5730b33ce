"""The review: proposals that wait for a person's yes, one small file each."""

from contextlib import suppress

import msgspec

from mnemolog import fs, paths
from mnemolog.fs import Disk
from mnemolog.graph import addresses
from mnemolog.model.lesson import Waiting

_ENDING = ".json"


def folder_of(user_id: str) -> str:
    """Where the proposals for a user wait."""
    return f"{addresses.user_folder(user_id)}/{addresses.REVIEW}"


def path_of(user_id: str, waiting_id: str) -> str:
    """Where a proposal lies."""
    return f"{folder_of(user_id)}/{paths.file_name(waiting_id)}{_ENDING}"


def put(disk: Disk, waiting: Waiting) -> None:
    """Have a proposal wait, once; for the holder of the graph's lock."""
    path = path_of(waiting.user_id, waiting.id)
    if disk.ident(path) is not None:
        fs.sync_up(disk, folder_of(waiting.user_id))  # whoever put it there may have been killed
        return
    disk.mkdir(folder_of(waiting.user_id))
    fs.replace(disk, path, msgspec.json.encode(waiting) + b"\n")
    fs.sync_up(disk, folder_of(waiting.user_id))


def all_of(disk: Disk, user_id: str) -> list[Waiting]:
    """What waits for a user, oldest first; a file that cannot be read is left for the doctor."""
    found = []
    for name in disk.list(folder_of(user_id)):
        if name.endswith(_ENDING):
            with suppress(FileNotFoundError, msgspec.DecodeError):
                content = fs.read_all(disk, f"{folder_of(user_id)}/{name}")
                found.append(msgspec.json.decode(content, type=Waiting))
    return sorted(found, key=lambda one: (one.created_at, one.id))


def take(disk: Disk, user_id: str, waiting_id: str) -> None:
    """Remove a proposal, bytes and all."""
    fs.shred(disk, path_of(user_id, waiting_id))
    if disk.ident(folder_of(user_id)) is not None:
        disk.sync_folder(folder_of(user_id))
