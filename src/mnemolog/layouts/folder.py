"""A folder, or one file, of the operating system as a source; and a new folder to write into.

No link is followed and nothing but regular files is opened.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

from mnemolog import fs, paths
from mnemolog.errors import InvalidFormatError, StorageError, StorageIOError
from mnemolog.fs import Disk, Stat
from mnemolog.fs.real import RealDisk
from mnemolog.layouts.contract import FileOut, Line, Refused, Skipped
from mnemolog.layouts.parsing import unreadable
from mnemolog.layouts.sources import check_document, is_safe, split

MAX_FILES = 200_000
MAX_FOLDERS_DEEP = 32
_CHUNK = 1024 * 1024


class FolderSource:
    """The files below a folder, or one file, as they were when looked at."""

    def __init__(self, path: str, *, is_file: bool = False) -> None:
        if not path:
            raise InvalidFormatError("The path is empty.", advice="Name a file or a folder.")
        path = os.path.abspath(path)
        folder, name = os.path.split(path)
        found = RealDisk(folder).stat(name) if name else RealDisk(path).stat("")
        if found is None or found.is_link:
            raise StorageIOError(
                f"{path} is a link." if found else f"There is no file or folder {path}.",
                advice="Name what it leads to." if found else "Check the path.",
            )
        if is_file and found.is_folder:
            raise InvalidFormatError(f"{path} is a folder.", advice="Name a file.")
        self._sizes: dict[str, int] = {}
        self.passed_over: Sequence[Refused | Skipped] = ()
        self._disk = RealDisk(path if found.is_folder else folder)
        if found.is_folder:
            self._refuse_root(path)
            self.passed_over = tuple(self._walk())
        else:
            self._take_only(name, found)

    def _take_only(self, name: str, found: Stat) -> None:
        if not found.is_regular:
            raise InvalidFormatError(
                f"{name!r:.80} is no regular file.", advice="Name a file or a folder."
            )
        self._sizes[name] = found.size

    def _refuse_root(self, path: str) -> None:
        """Its logs alone are what was said: beside them lie indexes, versions, work half done."""
        if self._is_root(""):
            raise InvalidFormatError(
                f"{path} is a memory of mnemolog.",
                advice=f"Write its logs out with `mnemolog --root {path} export --layout native "
                "--out FILE`, and import that file as `native`.",
            )

    def _is_root(self, folder: str) -> bool:
        return self._disk.stat(_below(folder, paths.RESERVE)) is not None

    def _walk(self) -> Iterator[Refused | Skipped]:
        waiting = [("", 0)]
        while waiting:
            folder, depth = waiting.pop()
            try:
                if folder and self._is_root(folder):
                    yield Skipped("a memory of mnemolog")
                    continue
                looked = [(part, self._disk.stat(_below(folder, part)))
                          for part in self._disk.list(folder)]  # fmt: skip
            except StorageError as error:
                yield unreadable(_shown(folder), error)
                continue
            for part, found in looked:
                name = _below(folder, part)
                why = _why_not(name, found, depth, len(self._sizes))
                if why is not None:
                    yield Refused(_shown(name), None, why)
                elif found is not None and found.is_folder:
                    waiting.append((name, depth + 1))
                elif found is not None:
                    self._sizes[name] = found.size

    def names(self) -> list[str]:
        return sorted(self._sizes)

    def size(self, name: str) -> int:
        return self._sizes[name]

    def lines(self, name: str) -> Iterator[Line]:
        return split(self._chunks(name))

    def read(self, name: str) -> bytes:
        check_document(self.size(name))
        return b"".join(self._chunks(name))

    def _chunks(self, name: str) -> Iterator[bytes]:
        size = self._sizes[name]
        if size == 0:
            return
        file = self._disk.open(name, "read")
        for offset in range(0, size, _CHUNK):
            yield file.read(offset, min(_CHUNK, size - offset))


def _why_not(name: str, found: Stat | None, depth: int, files: int) -> str | None:
    """Why something in a folder is passed over; None if it may be read."""
    if found is None:
        return "gone while it was looked at"
    if found.is_link:
        return "a link, which is not followed"
    if not name.isprintable():
        return "its name is not plain text"
    if found.is_folder:
        return "nested too deeply" if depth >= MAX_FOLDERS_DEEP else None
    if not found.is_regular:
        return "no regular file"
    return "too many files" if files >= MAX_FILES else None


def _below(folder: str, part: str) -> str:
    return f"{folder}/{part}" if folder else part


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode()


def write_folder(path: str, files: Iterable[FileOut]) -> None:
    """Write files below a folder that does not exist yet or is empty; all of them, or none."""
    path = os.path.abspath(path)
    above, name = os.path.split(path)
    temporary = f"{name}.partial"
    disk = RealDisk(above)
    refuse_existing(path)
    if disk.stat(temporary) is not None:
        raise StorageIOError(
            f"{path}.partial is there already: an export that was broken off, or goes on.",
            advice="Remove it, or choose another name.",
        )
    disk.mkdir(temporary)
    with ExitStack() as undone:
        undone.callback(fs.remove_folder, disk, temporary)
        _write_all(RealDisk(f"{path}.partial"), files)
        disk.rename(temporary, name)
        disk.sync_folder("")
        undone.pop_all()


def write_file(path: str, content: bytes) -> None:
    """Write one file that does not exist yet; it has its name once it is complete."""
    path = os.path.abspath(path)
    above, name = os.path.split(path)
    disk = RealDisk(above)
    refuse_existing(path, is_file=True)
    if disk.stat("") is None:
        raise StorageIOError(f"There is no folder {above}.", advice="Make it first.")
    with fs.brought_in(disk, name) as temporary:
        _write_one(disk, FileOut(temporary, content))
        refuse_existing(path, is_file=True)


def refuse_existing(path: str, *, is_file: bool = False) -> None:
    """Refuse a name that something has already, except for an empty folder for a folder."""
    path = os.path.abspath(path)
    above, name = os.path.split(path)
    found = RealDisk(above).stat(name) if name else None
    is_folder = found is not None and found.is_folder and not is_file
    is_empty = is_folder and not RealDisk(path).list("")
    if not name or (found is not None and not is_empty):
        raise StorageIOError(
            f"{path} is there already, and nothing is ever overwritten.",
            advice="Choose another name, or move it away.",
        )


def _write_all(disk: Disk, files: Iterable[FileOut]) -> None:
    folders = {""}
    for file in files:
        if not is_safe(file.name):
            raise InvalidFormatError(f"{file.name!r:.80} is no name for a file below a folder.")
        folder = file.name.rpartition("/")[0]
        disk.mkdir(folder)
        folders.add(folder)
        _write_one(disk, file)
    for folder in sorted(folders, key=len, reverse=True):
        disk.sync_folder(folder)


def _write_one(disk: Disk, file: FileOut) -> None:
    opened = disk.open(file.name, "create")
    for offset in range(0, len(file.content), _CHUNK):
        part = file.content[offset : offset + _CHUNK]
        if opened.append(part) != len(part):
            raise fs.full(f"write {file.name}")
    opened.sync()
