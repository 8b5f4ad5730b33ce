"""Members: how an archive is written, and how any bytes of a file in it are read.

    header │ data │ data │ … │ padding + header │ data │ … │ padding + end of archive

Each piece is one gzip member, so that plain `tar xzf` reads the whole, and a line costs unpacking
the one member that it lies in, or two. Reading goes by the sidecar's table alone: no name, type or
size that stands in the tar is acted on; they are only compared with what we would have written.
"""

import zlib
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

from mnemolog.errors import StorageIOError
from mnemolog.fs import FILE_MODE, Disk, File, full
from mnemolog.log import sidecars
from mnemolog.log.sidecars import MEMBER, Packed, Packing
from mnemolog.model.times import to_moment

_GZIP = 31
# No time before 1970 or after this one can stand in a tar.
_LATEST = 8**11 - 1
_BLOCK = 512
_END = bytes(2 * _BLOCK)


def pack(content: bytes) -> bytes:
    """One gzip member; the same bytes for the same content, whenever."""
    packer = zlib.compressobj(6, zlib.DEFLATED, _GZIP)
    return packer.compress(content) + packer.flush()


def unpack(raw: bytes, length: int) -> bytes | None:
    """What a member holds, if that is exactly so long; nothing longer is ever unpacked."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        content = unpacker.decompress(raw, length + 1)
    except zlib.error:
        return None
    is_whole = unpacker.eof and not unpacker.unused_data and len(content) == length
    return content if is_whole else None


def _header(name: str, size: int, archived_at: str) -> bytes:
    """What stands before a file in a tar (ustar): a regular file of ours, and nothing else."""
    numbers = (b"%07o\0" % FILE_MODE, b"%07o\0" % 0, b"%07o\0" % 0, b"%011o\0" % size)
    begin = name.encode().ljust(100, b"\0") + b"".join(numbers)
    begin += b"%011o\0" % min(max(0, int(to_moment(archived_at).timestamp())), _LATEST)
    end = (b"0" + bytes(100) + b"ustar\00000").ljust(_BLOCK - len(begin) - 8, b"\0")
    total = sum(begin) + sum(end) + 8 * ord(" ")
    return begin + b"%06o\0 " % total + end


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)


class Packer:
    """Writes an archive, file by file."""

    def __init__(self, file: File, archived_at: str) -> None:
        self._file = file
        self._archived_at = archived_at
        self._owed = b""
        self.size = 0
        self.files: list[Packed] = []

    def add(self, name: str, size: int, pieces: Iterator[bytes]) -> None:
        """Add a file that is so long; each piece but the last is as long as a member."""
        self._write(self._owed + _header(name, size, self._archived_at))
        digest = sha256()
        members = [self.size]
        for piece in pieces:
            digest.update(piece)
            self._write(piece)
            members.append(self.size)
        self._owed = _padding(size)
        self.files.append(Packed(name, size, digest.hexdigest(), tuple(members)))

    def close(self) -> None:
        """Write the end, and sync."""
        self._write(self._owed + _END)
        self._file.sync()

    def _write(self, content: bytes) -> None:
        packed = pack(content)
        if self._file.append(packed) != len(packed):
            raise full("write an archive")
        self.size += len(packed)


def pieces_of(file: File, size: int) -> Iterator[bytes]:
    """A file in pieces as long as a member."""
    for start in range(0, size, MEMBER):
        yield file.read(start, min(MEMBER, size - start))


class Archive(NamedTuple):
    """An archived session: its folder name, how it was packed, and the open sidecar."""

    name: str
    packing: Packing
    guard: File

    def files(self, disk: Disk, names: Sequence[str]) -> "list[ArchivedFile]":
        """Some of its files, to be read; raises FileNotFoundError if it is gone meanwhile."""
        opened = self._open(disk)
        listed = {packed.name: packed for packed in self.packing.files}
        return [ArchivedFile(disk, self, opened, listed[name]) for name in names]

    def _open(self, disk: Disk) -> File:
        path = sidecars.tar_of(self.name)
        found = disk.stat(path)
        is_whole = found is not None and found.size == self.packing.compressed_size_bytes
        if found is None or not found.is_regular or not is_whole:
            if not self.is_here(disk):
                raise FileNotFoundError(path)
            why = "it is missing, cut short or no file" if not is_whole else "it is no file"
            raise sidecars.damaged(self.name, why)
        return disk.open(path, "read")

    def is_here(self, disk: Disk) -> bool:
        """Whether the session is still in the archive, and this is that archive."""
        return disk.ident(sidecars.path_of(self.name)) == self.guard.ident

    def check_frame(self, disk: Disk) -> None:
        """See that the tar around the files is what we write: nothing else hides in it."""
        opened = self._open(disk)
        end, owed = 0, b""
        for packed in self.packing.files:
            header = _header(packed.name, packed.size, self.packing.archived_at)
            self._check_piece(opened, end, packed.members[0], owed + header)
            end, owed = packed.members[-1], _padding(packed.size)
        self._check_piece(opened, end, self.packing.compressed_size_bytes, owed + _END)

    def _check_piece(self, opened: File, start: int, end: int, wanted: bytes) -> None:
        if unpack(opened.read(start, end - start), len(wanted)) != wanted:
            raise sidecars.damaged(self.name, "it holds something that mnemolog did not put there")


class ArchivedFile:
    """A file inside an archive, read like one that lies there by itself; it cannot be written."""

    def __init__(self, disk: Disk, archive: Archive, opened: File, packed: Packed) -> None:
        self._disk = disk
        self._archive = archive
        self._file = opened
        self._packed = packed
        self._last: tuple[int, bytes] = (-1, b"")
        self.ident = opened.ident

    def size(self) -> int:
        return self._packed.size

    def read(self, offset: int, length: int) -> bytes:
        end = min(offset + length, self._packed.size)
        if offset >= end:
            return b""
        first, last = offset // MEMBER, (end - 1) // MEMBER
        content = b"".join(self._member(number) for number in range(first, last + 1))
        return content[offset - first * MEMBER : end - first * MEMBER]

    def _member(self, number: int) -> bytes:
        """One member, unpacked; the last one is kept, for most reads go from line to line."""
        known = self._last
        if known[0] == number:
            return known[1]
        start, end = self._packed.members[number : number + 2]
        length = min(MEMBER, self._packed.size - number * MEMBER)
        content = unpack(self._file.read(start, end - start), length)
        if content is None:
            return self._lost(length)
        self._last = (number, content)
        return content

    def _lost(self, length: int) -> bytes:
        """An archive that was restored meanwhile is overwritten: it reads as any such file does."""
        if self._archive.is_here(self._disk):
            raise sidecars.damaged(self._archive.name, "a part of it cannot be unpacked")
        return bytes(length)

    def pieces(self) -> Iterator[bytes]:
        """The whole file, member by member; raises an error if it is not what was archived."""
        digest = sha256()
        for piece in pieces_of(self, self._packed.size):
            digest.update(piece)
            yield piece
        if digest.hexdigest() != self._packed.sum:
            raise sidecars.damaged(self._archive.name, f"{self._packed.name} has another sum")

    def sync(self) -> None:
        """Nothing to do: an archive was synced before it came to count."""

    def append(self, data: bytes) -> int:
        raise self._refused()

    def write_at(self, offset: int, data: bytes) -> None:
        raise self._refused()

    def truncate(self, size: int) -> None:
        raise self._refused()

    def try_lock(self) -> bool:
        raise self._refused()

    def unlock(self) -> None:
        raise self._refused()

    def _refused(self) -> StorageIOError:
        return StorageIOError(
            f"{sidecars.tar_of(self._archive.name)} is an archive, which is only read.",
            advice="Restore the session first.",
        )
