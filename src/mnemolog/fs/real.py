"""The door to the disk, opened on the operating system."""

import errno
import os
import shutil
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG
from typing import NoReturn, ParamSpec, TypeVar

from mnemolog.errors import StorageFullError, StorageIOError
from mnemolog.fs import FILE_MODE, FOLDER_MODE, Ident, Mode, Stat, full, swapping

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_P = ParamSpec("_P")
_T = TypeVar("_T")

_FULL = {errno.ENOSPC, errno.EDQUOT}
_PASSING = {errno.EIO, errno.EAGAIN, errno.EBUSY, errno.ESTALE, errno.ENFILE, errno.EMFILE}
_PAUSES = (0.1, 0.5, 2.0)

_FILES = "Close some files, or raise the limit of open ones (`ulimit -n`)."
_RIGHTS = "Check whose it is, its rights, and those of the folders above it."
_ADVICE = {
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "Mount the disk writable, or copy the root to one that is.",
}
_USUAL_ADVICE = "`mnemolog doctor` checks the disk and the root."

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# Who opens a pipe or a device in the place of a file must be told, not made to wait.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW
_FLAGS: dict[Mode, int] = {
    "read": os.O_RDONLY,
    "append": os.O_RDWR | os.O_APPEND,
    "create": os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL,
    "update": os.O_RDWR,
}

Pause = Callable[[float], object]


def _fail(error: OSError, action: str, advice: str = "") -> NoReturn:
    if error.errno in _FULL:
        raise full(action) from error
    raise StorageIOError(
        f"Could not {action}: {error.strerror}.",
        advice=advice or _ADVICE.get(error.errno or 0, _USUAL_ADVICE),
        errno=error.errno,
    ) from error


def _pass_over_absence(error: OSError, path: str) -> None:
    """That nothing is there, or only a link to itself, is an answer; other errors are errors."""
    if error.errno not in {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}:
        _fail(error, f"look at {path}")


@contextmanager
def _named(action: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, FileExistsError, StorageFullError, StorageIOError):
        raise
    except OSError as error:
        _fail(error, action)


def _retry(pause: Pause, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    for seconds in _PAUSES:
        try:
            return call(*args, **kwargs)
        except OSError as error:
            if error.errno not in _PASSING:
                raise
            pause(seconds)
    return call(*args, **kwargs)


_files: "weakref.WeakSet[RealFile]" = weakref.WeakSet()


def _forget_files_after_fork() -> None:
    # A child must not share descriptors with its parent: closing releases no lock of the
    # parent's, unlocking would.
    for file in list(_files):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_files_after_fork)


class RealFile:
    """An open file of the operating system."""

    _fd = -1  # a signal may come before there is one

    def __init__(self, descriptor: int, path: str, pause: Pause) -> None:
        self._fd = descriptor
        self._path = path
        self._pause = pause
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode):
            raise StorageIOError(
                f"{path} is no plain file.", advice="Put the file back, or remove what is there."
            )
        self.ident: Ident = (status.st_dev, status.st_ino)
        _files.add(self)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close the descriptor now; only for a file that nobody else is using."""
        descriptor, self._fd = self._fd, -1
        if descriptor >= 0:
            os.close(descriptor)

    def size(self) -> int:
        # A quarter of what `fstat` costs; nobody goes by where the descriptor stands.
        return os.lseek(self._fd, 0, os.SEEK_END)

    def read(self, offset: int, length: int) -> bytes:
        if length <= 0:
            return b""  # a file may have become shorter than somebody knew it
        try:
            content = _retry(self._pause, os.pread, self._fd, length, offset)
            while len(content) < length:
                rest = length - len(content), offset + len(content)
                part = _retry(self._pause, os.pread, self._fd, *rest)
                if not part:
                    break
                content += part
        except OSError as error:
            _fail(error, f"read {self._path}")
        return content

    def append(self, data: bytes) -> int:
        try:
            return os.write(self._fd, data)
        except OSError as error:
            if error.errno in _FULL:
                return 0
            _fail(error, f"write {self._path}")

    def write_at(self, offset: int, data: bytes) -> None:
        with _named(f"overwrite {self._path}"):
            while data:
                taken = os.pwrite(self._fd, data, offset)
                offset, data = offset + taken, data[taken:]

    def truncate(self, size: int) -> None:
        with _named(f"truncate {self._path}"):
            os.ftruncate(self._fd, size)

    def sync(self) -> None:
        try:
            if sys.platform == "darwin":
                fcntl.fcntl(self._fd, fcntl.F_FULLFSYNC)
            elif sys.platform == "win32":
                os.fsync(self._fd)
            else:
                os.fdatasync(self._fd)
        except OSError as error:
            _fail(error, f"sync {self._path}")

    def try_lock(self) -> bool:
        try:
            if sys.platform == "win32":
                msvcrt.locking(self._fd, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:
            raise StorageIOError(
                f"This file system cannot lock {self._path}: {error.strerror}.",
                advice="Keep the root on a local disk.",
                errno=error.errno,
            ) from error
        return True

    def unlock(self) -> None:
        if self._fd < 0:
            return
        if sys.platform == "win32":
            msvcrt.locking(self._fd, msvcrt.LK_UNLCK, 1)
        else:
            fcntl.flock(self._fd, fcntl.LOCK_UN)


def _seen(name: str, folder: int) -> os.stat_result | None:
    """A look at what lies in an open folder; None if it went meanwhile."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _stat(status: os.stat_result) -> Stat:
    return Stat(
        (status.st_dev, status.st_ino),
        status.st_size,
        status.st_mtime_ns,
        S_IMODE(status.st_mode) & 0o777,
        S_ISDIR(status.st_mode),
        S_ISLNK(status.st_mode),
        S_ISREG(status.st_mode),
    )


def full_path(path: str) -> str:
    """A path from the top; there is none for a relative one once the working folder is gone."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError as error:
        raise StorageIOError(
            "The folder in which this program was started is gone.",
            advice="Go to another folder, or give a full path.",
        ) from error


class RealDisk:
    """The files below a folder of the operating system."""

    def __init__(self, root: str, pause: Pause = time.sleep) -> None:
        if "\0" in root:
            raise StorageIOError("A root's path cannot contain NUL.", advice="Choose another path.")
        self.root = full_path(root)
        self._pause = pause
        self._was_there = os.path.isdir(self.root)

    def open(self, path: str, mode: Mode) -> RealFile:
        with _named(f"open {path}"), self._parent(path) as (folder, name):
            flags = _FLAGS[mode] | _NOFOLLOW | _AT_ONCE
            fd = _retry(self._pause, os.open, name, flags, FILE_MODE, dir_fd=folder)
            if mode == "create":
                os.fchmod(fd, FILE_MODE)
        return RealFile(fd, path, self._pause)

    def stat(self, path: str) -> Stat | None:
        try:
            return _stat(os.lstat(f"{self.root}/{path}"))
        except OSError as error:
            _pass_over_absence(error, path)
            return None

    def ident(self, path: str) -> Ident | None:
        try:
            status = os.lstat(f"{self.root}/{path}")
        except OSError as error:
            _pass_over_absence(error, path)
            return None
        return status.st_dev, status.st_ino

    def survey(self, path: str) -> list[tuple[str, Stat]]:
        try:
            with self._folder(path) as folder:
                return [
                    (name, _stat(status))
                    for name in sorted(os.listdir(folder))
                    if (status := _seen(name, folder)) is not None
                ]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            _fail(error, f"list {path}")

    def list(self, path: str) -> list[str]:
        try:
            with self._folder(path) as folder:
                return sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            _fail(error, f"list {path}")

    def mkdir(self, path: str) -> None:
        with _named(f"make the folder {path or self.root}"):
            if not os.path.isdir(self.root):
                self._make_root()
            self._was_there = True
            parts = path.split("/") if path else []
            for depth in range(1, len(parts) + 1):
                self._mkdir_one("/".join(parts[:depth]))

    def _make_root(self) -> None:
        if self._was_there:  # moved or unmounted: what is written to another would be lost to it
            raise StorageIOError(f"The folder {self.root} is gone.", advice="Put it back.")
        try:
            os.makedirs(self.root, FOLDER_MODE, exist_ok=True)
        except OSError as error:  # a file is there, or no place for it, or no right to make it
            _fail(error, f"make the folder {self.root}", "Choose another folder for the root.")
        os.chmod(self.root, FOLDER_MODE)

    def _mkdir_one(self, path: str) -> None:
        with self._parent(path) as (folder, name):
            try:
                os.mkdir(name, FOLDER_MODE, dir_fd=folder)
            except FileExistsError:
                return
            os.chmod(f"{self.root}/{path}", FOLDER_MODE)

    def rename(self, source: str, target: str) -> None:
        with (
            _named(f"rename {source}"),
            self._parent(source) as (source_folder, source_name),
            self._parent(target) as (target_folder, target_name),
        ):
            try:
                os.replace(
                    source_name, target_name, src_dir_fd=source_folder, dst_dir_fd=target_folder
                )
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise
                raise FileExistsError(errno.EEXIST, f"{target} is not empty") from error

    def exchange(self, ours: str, theirs: str) -> None:
        with (
            _named(f"exchange {theirs}"),
            self._parent(ours) as one,
            self._parent(theirs) as other,
        ):
            if not swapping.swapped(one, other):
                swapping.swap_by_steps(one, other)

    def place(self, source: str, target: str) -> None:
        with (
            _named(f"rename {source}"),
            self._parent(source) as one,
            self._parent(target) as other,
        ):
            if not swapping.placed(one, other):
                swapping.place_by_steps(one, other)

    def unlink(self, path: str) -> None:
        with _named(f"remove {path}"):
            try:
                with self._parent(path) as (folder, name):
                    os.unlink(name, dir_fd=folder)
            except FileNotFoundError:
                return

    def rmdir(self, path: str) -> None:
        with _named(f"remove {path}"):
            try:
                with self._parent(path) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
            except FileNotFoundError:
                return

    def sync_folder(self, path: str) -> None:
        if sys.platform == "win32":
            return
        with _named(f"sync the folder {path or self.root}"), self._folder(path) as folder:
            os.fsync(folder)

    def chmod(self, path: str, mode: int) -> None:
        with _named(f"set the mode of {path or self.root}"):
            os.chmod(f"{self.root}/{path}", mode)

    def free_bytes(self) -> int:
        return shutil.disk_usage(self.root).free

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        folder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise StorageIOError(f"{path!r:.80} is no path below the root.")
        with self._folder(folder) as descriptor:
            yield descriptor, name

    @contextmanager
    def _folder(self, path: str) -> Iterator[int]:
        """Walk down from the root, one part at a time, following no link on the way."""
        root = _FOLDER & ~getattr(os, "O_NOFOLLOW", 0)
        descriptor = _retry(self._pause, os.open, self.root, root)
        try:
            for part in path.split("/") if path else ():
                if part in ("", ".", ".."):
                    raise StorageIOError(f"{path!r:.80} is no path below the root.")
                below = _retry(self._pause, os.open, part, _FOLDER, dir_fd=descriptor)
                above, descriptor = descriptor, below  # before closing: a signal may come here
                os.close(above)
            yield descriptor
        finally:
            os.close(descriptor)
