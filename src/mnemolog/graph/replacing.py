"""Replacing files of the graph for good: what was there before is overwritten, then let go of.

A file that has to change is written anew beside the old one, the two are exchanged, and the old
one is overwritten. On a full disk the bytes are blanked where they lie.
"""

from collections.abc import Callable, Iterator

from mnemolog import fs
from mnemolog.errors import StorageFullError
from mnemolog.fs import Disk
from mnemolog.graph import addresses
from mnemolog.model.node import FILES

GONE = ".gone.tmp"
"""The ending of a file that is being overwritten."""

IsMeant = Callable[[bytes], bool]
"""Whether a line is one of those that must not stay."""


def files(disk: Disk, user_id: str) -> Iterator[str]:
    """Every file of a user's graph, whatever a crash left there too."""
    folder = addresses.user_folder(user_id)
    for name in disk.list(folder):
        if name in addresses.ROOMS or name.startswith(FILES):
            yield from _below(disk, f"{folder}/{name}")


def _below(disk: Disk, path: str) -> Iterator[str]:
    status = disk.stat(path)
    if status is None or status.is_link:
        return
    if not status.is_folder:
        yield path
    for name in disk.list(path) if status.is_folder else ():
        yield from _below(disk, f"{path}/{name}")


def shredded(disk: Disk, path: str) -> int:
    """Overwrite and remove a file, under a name by which a half overwritten one is known again."""
    doomed = path if path.endswith(GONE) else f"{path}{GONE}"
    if doomed != path:
        try:
            disk.rename(path, doomed)
        except FileNotFoundError:
            return 0
        disk.sync_folder(path.rpartition("/")[0])
    fs.shred(disk, doomed)
    disk.sync_folder(path.rpartition("/")[0])
    return 1


def swap(disk: Disk, path: str, before: bytes, after: bytes, is_meant: IsMeant) -> bool:
    """Put a file in the place of another and overwrite that; False if a hand was faster."""
    temporary = f"{path}.tmp"
    fs.shred(disk, temporary)
    try:
        fs.write_new(disk, temporary, after)
    except StorageFullError:
        fs.blank(disk, path, is_meant)
        return True
    try:
        disk.exchange(temporary, path)
    except (FileNotFoundError, FileExistsError):
        disk.unlink(temporary)
        return False
    if fs.read_all(disk, temporary) != before:
        disk.exchange(temporary, path)
        disk.unlink(temporary)
        return False
    disk.sync_folder(path.rpartition("/")[0])
    shredded(disk, temporary)
    return True
