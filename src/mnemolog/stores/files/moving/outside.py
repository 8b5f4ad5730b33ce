"""Files outside a root: what is exported, backed up and read in."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from mnemolog import fs
from mnemolog.errors import InvalidFormatError, StorageIOError
from mnemolog.fs import File, full
from mnemolog.fs.mounts import lies_below
from mnemolog.fs.real import RealDisk
from mnemolog.log.snapshot import BLOCK

_GZIP = b"\x1f\x8b"


class ByteSink(io.RawIOBase):
    """A file of ours that Python's own libraries can write to."""

    def __init__(self, file: File) -> None:
        self._file = file

    def writable(self) -> bool:
        """That it is."""
        return True

    def write(self, block: object) -> int:
        """Write all of it, or raise."""
        content = bytes(cast(bytes, block))
        if self._file.append(content) != len(content):
            raise full("write the file")
        return len(content)

    def tell(self) -> int:
        """How much was written."""
        return self._file.size()


class ByteSource(io.RawIOBase):
    """A file of ours that Python's own libraries can read from."""

    def __init__(self, file: File) -> None:
        self._file = file
        self.offset = 0

    def readable(self) -> bool:
        """That it is."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a buffer with what comes next."""
        view = memoryview(cast(bytearray, buffer))
        content = self._file.read(self.offset, len(view))
        view[: len(content)] = content
        self.offset += len(content)
        return len(content)


@contextmanager
def new_file(target: str, root: str | None) -> Iterator[BinaryIO]:
    """Write a file that has its name once it is complete and durable, or does not exist.

    It is never written inside the root, and nothing is ever overwritten.
    """
    folder, name = os.path.split(os.path.abspath(target))
    disk = RealDisk(folder)
    _check_target(disk, folder, name, root)
    with fs.brought_in(disk, name) as temporary:
        file = disk.open(temporary, "create")
        with io.BufferedWriter(ByteSink(file), BLOCK) as stream:
            yield cast(BinaryIO, stream)
        file.sync()
        _check_target(disk, folder, name, root)


def _check_target(disk: RealDisk, folder: str, name: str, root: str | None) -> None:
    if disk.stat("") is None:
        raise StorageIOError(f"There is no folder {folder}.", advice="Make it first.")
    if root is not None and lies_below(folder, root):
        raise InvalidFormatError(
            f"{name!r:.80} would lie inside the root itself.",
            advice="Write it elsewhere, best to another disk.",
        )
    if disk.stat(name) is not None:
        raise InvalidFormatError(
            f"{os.path.join(folder, name)!r:.200} is there already.",
            advice="Nothing was overwritten: choose another name.",
        )


@contextmanager
def packed(stream: BinaryIO, *, is_packed: bool = True) -> Iterator[BinaryIO]:
    """The stream through gzip, with nothing of the machine or the moment in its header."""
    if not is_packed:
        yield stream
        return
    with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as through:
        yield cast(BinaryIO, through)


def opened(path: str) -> tuple[File, ByteSource]:
    """A file that is to be read in, and a stream over it."""
    folder, name = os.path.split(os.path.abspath(path))
    disk = RealDisk(folder)
    found = disk.stat(name)
    if found is not None and found.is_link:
        raise StorageIOError(f"{path!r:.200} is a link.", advice="Name what it leads to.")
    if found is not None and not found.is_regular:
        raise InvalidFormatError(f"{path!r:.200} is no plain file.")
    try:
        file = disk.open(name, "read")
    except FileNotFoundError:
        raise StorageIOError(
            f"There is no file {path!r:.200}.", advice="Give the path of one."
        ) from None
    return file, ByteSource(file)


def is_packed(file: File) -> bool:
    """Whether a file went through gzip."""
    return file.read(0, 2) == _GZIP


def unpacked(file: File, source: ByteSource) -> BinaryIO:
    """The stream as it was before gzip, if it went through it."""
    buffered = io.BufferedReader(source, BLOCK)
    if not is_packed(file):
        return cast(BinaryIO, buffered)
    return cast(BinaryIO, gzip.GzipFile(fileobj=buffered, mode="rb"))


@contextmanager
def damage_told(path: str) -> Iterator[None]:
    """Say in our own words that a file cannot be unpacked."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidFormatError(
            f"{path!r:.200} cannot be unpacked: it is damaged or cut off.",
            advice="Nothing was changed. Take another copy.",
        ) from error
