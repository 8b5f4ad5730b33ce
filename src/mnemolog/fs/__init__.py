"""The only door to the disk.

`Disk` and `File` are what the rest of mnemolog may do to files; `fs.real` does it. The simulated
disk in `mnemolog.testing` opens the same door and can lose, tear or refuse whatever was not synced.

Paths are relative to the root, with `/` between their parts. No part is ever followed if it is a
symbolic link. A file's descriptor is closed when the last reference to it goes, so a thread may
still sync a file that another one has already let go of.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Literal, NamedTuple, Protocol

from mnemolog.errors import StorageFullError

Mode = Literal["read", "append", "create", "update"]

_PIECE = 1 << 20

FILE_MODE = 0o600
FOLDER_MODE = 0o700

Ident = tuple[int, int]


class Stat(NamedTuple):
    """What a look at a path tells; `ident` stays the same for as long as the file lives.

    Of a link it tells what the link is; what is none of the three is a pipe or the like.
    """

    ident: Ident
    size: int
    mtime_ns: int
    mode: int
    is_folder: bool
    is_link: bool
    is_regular: bool


class File(Protocol):
    """An open file."""

    @property
    def ident(self) -> Ident:
        """Tells this file from every other one, also from a later one of the same name."""

    def size(self) -> int:
        """Its length now."""

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end. Retried."""

    def append(self, data: bytes) -> int:
        """One write at the end; returns how much of it was taken. Never retried."""

    def write_at(self, offset: int, data: bytes) -> None:
        """Overwrite in place (mode `update`). Never retried."""

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes."""

    def sync(self) -> None:
        """Return only when all data are on stable storage. Never retried."""

    def try_lock(self) -> bool:
        """Take the advisory lock of this file if nobody holds it."""

    def unlock(self) -> None:
        """Give the advisory lock back."""


class Disk(Protocol):
    """Files below one root."""

    def open(self, path: str, mode: Mode) -> File:
        """Open a file; raises FileNotFoundError or FileExistsError as such. Retried."""

    def stat(self, path: str) -> Stat | None:
        """Look at a path without following a link; None when nothing is there."""

    def ident(self, path: str) -> Ident | None:
        """Only the `ident` of what is there; for looks that must cost next to nothing."""

    def survey(self, path: str) -> list[tuple[str, Stat]]:
        """What lies in a folder, sorted by name, with a look at each; for folders with thousands
        of files. Nothing when there is no such folder."""

    def list(self, path: str) -> list[str]:
        """The names in a folder, sorted; none when there is no such folder."""

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents; nothing happens when it exists."""

    def rename(self, source: str, target: str) -> None:
        """Move atomically, replacing a file; FileExistsError for a folder that is not empty."""

    def exchange(self, ours: str, theirs: str) -> None:
        """Swap two files that are there: whatever lies at `theirs` now comes out as `ours`.

        Where the system cannot do that in one step, FileExistsError says that somebody put a new
        file at `theirs` meanwhile, which then stays.
        """

    def place(self, source: str, target: str) -> None:
        """Move a file to a name that is free, or raise FileExistsError."""

    def unlink(self, path: str) -> None:
        """Remove a file; nothing happens when it is gone already."""

    def rmdir(self, path: str) -> None:
        """Remove an empty folder; nothing happens when it is gone already."""

    def sync_folder(self, path: str) -> None:
        """Make what was created, renamed and removed directly in this folder durable."""

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits of a file or folder."""

    def free_bytes(self) -> int:
        """How much can still be written."""


def is_strange(disk: Disk, path: str) -> bool:
    """Whether a folder, a link, a pipe or the like lies where a plain file belongs."""
    status = disk.stat(path)
    return status is not None and not status.is_regular


def read_all(disk: Disk, path: str) -> bytes:
    """The whole of a file."""
    file = disk.open(path, "read")
    return file.read(0, file.size())


def write_new(disk: Disk, path: str, content: bytes) -> None:
    """Create a file with this content and sync it; the folder is the caller's to sync."""
    file = disk.open(path, "create")
    if file.append(content) != len(content):
        disk.unlink(path)
        raise full(f"write {path}")
    file.sync()


def replace(disk: Disk, path: str, content: bytes) -> None:
    """Swap a file's content atomically and durably: temporary file, sync, rename, sync folder.

    Only for the holder of the lock that guards `path`: a temporary file left by a crash is removed.
    """
    temporary = f"{path}.tmp"
    disk.unlink(temporary)
    write_new(disk, temporary, content)
    disk.rename(temporary, path)
    disk.sync_folder(path.rpartition("/")[0])


@contextmanager
def brought_in(disk: Disk, name: str) -> Iterator[str]:
    """A name to write a file under, which gets its own once it is complete; else nothing stays."""
    temporary = f".{name[:100]}.{os.urandom(4).hex()}.tmp"
    with ExitStack() as undone:
        undone.callback(disk.unlink, temporary)
        yield temporary
        disk.rename(temporary, name)
        disk.sync_folder("")
        undone.pop_all()


def sync_up(disk: Disk, folder: str) -> None:
    """Make a folder's names durable, and those of the folders on the way to it."""
    while folder:
        disk.sync_folder(folder)
        folder = folder.rpartition("/")[0]
    disk.sync_folder("")


def walk(disk: Disk, folder: str = "") -> Iterator[tuple[str, Stat]]:
    """Everything below a folder, each folder before what is in it; links are not followed."""
    for name in disk.list(folder):
        path = f"{folder}/{name}".removeprefix("/")
        status = disk.stat(path)
        if status is None:
            continue
        yield path, status
        if status.is_folder:
            yield from walk(disk, path)


def shred(disk: Disk, path: str) -> None:
    """Overwrite a file in place, sync it, and remove it; the folder is the caller's to sync."""
    try:
        file = disk.open(path, "update")
    except FileNotFoundError:
        return
    size = file.size()
    for start in range(0, size, _PIECE):
        file.write_at(start, bytes(min(_PIECE, size - start)))
    file.sync()
    disk.unlink(path)


def remove_folder(disk: Disk, folder: str, *, is_private: bool = False) -> None:
    """Remove a folder and what is in it; what is private is overwritten first."""
    for name in disk.list(folder):
        path = f"{folder}/{name}"
        found = disk.stat(path)
        if found is not None and found.is_folder:
            remove_folder(disk, path, is_private=is_private)
        elif is_private and found is not None and found.is_regular:
            shred(disk, path)
        else:
            disk.unlink(path)
    disk.rmdir(folder)


def blank(disk: Disk, path: str, is_meant: Callable[[bytes], bool]) -> int:
    """Overwrite the lines that are meant by spaces, where they lie: that needs no room. Says how
    many they were."""
    file = disk.open(path, "update")
    at = found = 0
    for line in file.read(0, file.size()).split(b"\n"):
        if is_meant(line):
            file.write_at(at, b" " * len(line))
            found += 1
        at += len(line) + 1
    if found:
        file.sync()
    return found


def full(action: str) -> StorageFullError:
    """The error for a disk that took only a part."""
    return StorageFullError(
        f"No space left on the disk: could not {action}.",
        advice="Nothing was half written; free some space and try again.",
    )
