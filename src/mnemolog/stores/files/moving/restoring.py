"""Restoring a backup into a new root: everything is checked while it is unpacked.

A backup may come from anywhere. What is not a plain file with a plain name, or not in the list at
its end with the same size and sum, or more than any backup of ours would hold, is refused; and the
new root has its name only when all of it is there.
"""

import json
import os
import tarfile
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from typing import IO, Any, BinaryIO, NamedTuple, cast

from mnemolog import fs, paths
from mnemolog.errors import InvalidFormatError, MnemologError, StorageIOError
from mnemolog.fs import full
from mnemolog.fs.real import RealDisk
from mnemolog.log.snapshot import BLOCK
from mnemolog.ports import Progress
from mnemolog.stores.files.moving import outside
from mnemolog.stores.files.moving.snapshots import LISTING, VERSION, is_safe

_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE)
_LONGEST_READ = 16 * BLOCK
_LONGEST_LISTING = 512 * BLOCK
_PADDING = 64 * 1024


class Limits(NamedTuple):
    """What is more than this is no backup of a memory."""

    files: int = 1_000_000
    growth: int = 200
    """So many times its size may a backup grow when it is unpacked, …"""
    bytes: int = 1 << 30
    """… but at least to this size."""


class Restored(NamedTuple):
    """What a backup held."""

    root: str
    files: int
    bytes: int
    made_at: str


class _Listed(NamedTuple):
    size: int
    sha256: str


def restore_root(
    path: str, root: str, progress: Progress | None = None, limits: Limits | None = None
) -> Restored:
    """Unpack a backup into a folder that is new or empty."""
    folder, name = os.path.split(os.path.abspath(root))
    disk = RealDisk(folder)
    _check_target(disk, folder, name)
    fresh = f".{name[:100]}.new-{os.urandom(8).hex()}"
    with ExitStack() as undone:
        undone.callback(fs.remove_folder, disk, fresh)
        inner = RealDisk(os.path.join(folder, fresh))
        inner.mkdir(paths.SESSIONS)
        restored = _Unpacking(inner, path, limits or Limits()).run(progress)
        _check_target(disk, folder, name)
        disk.rename(fresh, name)
        disk.sync_folder("")
        undone.pop_all()
    return restored._replace(root=os.path.join(folder, name))


def _check_target(disk: RealDisk, folder: str, name: str) -> None:
    if disk.stat("") is None:
        raise StorageIOError(f"There is no folder {folder}.", advice="Make it first.")
    found = disk.stat(name)
    is_link = found is not None and found.is_link
    if found is not None and (is_link or not found.is_folder or disk.list(name)):
        raise InvalidFormatError(
            f"{os.path.join(folder, name)!r:.200} is {'a link' if is_link else 'not empty'}.",
            advice="A backup is restored into a new folder: nothing is ever overwritten.",
        )


class _Unpacking:
    """One pass over a backup."""

    def __init__(self, disk: RealDisk, path: str, limits: Limits) -> None:
        self._disk = disk
        self._path = path
        self._limits = limits
        self._found: dict[str, _Listed] = {}
        self._twins: set[str] = set()
        self._folders: set[str] = {paths.SESSIONS}  # it is there before anything is unpacked
        self._bytes = 0

    def run(self, progress: Progress | None) -> Restored:
        file, source = outside.opened(self._path)
        _expect(outside.is_packed(file), "it is no tar.gz")
        self._room = max(self._limits.bytes, self._limits.growth * file.size())
        listing: dict[str, Any] | None = None
        with outside.damage_told(self._path), _tar_told():
            stream = outside.unpacked(file, source)
            tar: Any = tarfile.TarFile(fileobj=cast(Any, _Careful(stream)), mode="r")
            while (info := tar.next()) is not None:
                tar.members = []  # or all names are kept
                _expect(listing is None, "something follows its list")
                content = self._content(tar, info)
                if info.name == LISTING:
                    listing = _listing(content)
                else:
                    self._keep(info, content)
                if progress is not None:
                    progress(source.offset, file.size())
            _expect(len(stream.read(_PADDING)) < _PADDING, "something follows its end")
        return self._checked(listing)

    def _content(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
        _expect(info.type in _PLAIN and not info.issparse(), "it holds more than plain files")
        _expect(is_safe(info.name), "it holds a name that is not plain")
        self._name(unicodedata.normalize("NFC", info.name).casefold())
        _expect(len(self._twins) <= self._limits.files, "it holds too many files")
        self._bytes += info.size
        _expect(info.size >= 0 and self._bytes <= self._room, "it grows too much when unpacked")
        stream = tar.extractfile(info)
        if stream is None:
            raise _refusal("it holds more than plain files")
        return stream

    def _name(self, twin: str) -> None:
        """Remember a name, as disks know it that ignore case; no file may be a folder too."""
        _expect(twin not in self._twins and twin not in self._folders, "a name is there twice")
        self._twins.add(twin)
        for folder in _above(twin):
            _expect(folder not in self._twins, "a name is there twice")
            self._folders.add(folder)

    def _keep(self, info: tarfile.TarInfo, content: IO[bytes]) -> None:
        folder = info.name.rpartition("/")[0]
        if folder:
            self._disk.mkdir(folder)
        file = self._disk.open(info.name, "create")
        digest = sha256()
        while chunk := content.read(BLOCK):
            digest.update(chunk)
            if file.append(chunk) != len(chunk):
                raise full(f"restore {info.name}")
        file.sync()
        _expect(file.size() == info.size, "it is cut off")
        self._found[info.name] = _Listed(info.size, digest.hexdigest())

    def _checked(self, listing: dict[str, Any] | None) -> Restored:
        if listing is None:
            raise _refusal("the list at its end is missing")
        _expect(listing["files"] == self._found, "its files are not those that its list names")
        folders = {folder for path in self._found for folder in _above(path)}
        for folder in folders | {"", paths.SESSIONS}:
            self._disk.sync_folder(folder)
        total = sum(one.size for one in self._found.values())
        return Restored("", len(self._found), total, listing["made_at"])


def _above(path: str) -> Iterator[str]:
    """The folders on the way to a file."""
    while path := path.rpartition("/")[0]:
        yield path


def _listing(content: IO[bytes]) -> dict[str, Any]:
    """The list of all files; nothing in it is believed before it was compared."""
    raw = content.read(_LONGEST_LISTING + 1)
    _expect(len(raw) <= _LONGEST_LISTING, "its list is too long")
    try:
        found = json.loads(raw)
        _expect(found["mnemolog"] == "backup", "it is no backup of a memory")
        _expect(found["v"] == VERSION, f"it has version {found['v']!r:.20}, not {VERSION}")
        files = {one["path"]: _Listed(one["size"], one["sha256"]) for one in found["files"]}
        return {"files": files, "made_at": str(found["made_at"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise _refusal("its list cannot be read") from error


class _Careful:
    """A stream that no header can talk into reading a lot at once."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.tell = stream.tell
        self.seek = stream.seek

    def read(self, size: int = -1) -> bytes:
        _expect(0 <= size <= _LONGEST_READ, "a header in it is too long")
        return self._stream.read(size)


@contextmanager
def _tar_told() -> Iterator[None]:
    try:
        yield
    except MnemologError:
        raise
    except (tarfile.TarError, ValueError, OverflowError) as error:
        raise _refusal(f"it is no archive that can be read ({error})") from error


def _expect(is_so: bool, otherwise: str) -> None:
    if not is_so:
        raise _refusal(otherwise)


def _refusal(why: str) -> InvalidFormatError:
    return InvalidFormatError(
        f"The backup is refused: {why}.", advice="Nothing was restored. Take another copy."
    )
