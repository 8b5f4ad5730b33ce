"""A disk in memory that loses power on demand.

`SimulatedDisk` opens the same door as `fs.real`, so a store runs on it unchanged. Its model is
harsher than any real file system, on purpose: what is correct here is correct everywhere.

- A write or truncation is visible at once and durable after `File.sync`. Until then a power loss
  may keep it, drop it, tear it at any byte, or keep its length with zeros (in an overwrite: the old
  bytes) in parts of it, each for itself: a later one may survive an earlier one.
- A name is durable after `sync_folder` of the folder that it stands in. Until then each creation,
  removal and rename is kept or dropped for itself; a rename with both its sides. Syncing a file
  does not make its name durable; syncing a folder says nothing of the content of its files.
- What has no name after a power loss is gone.
- A sync that was refused leaves what it should have written in doubt for ever: no later sync of the
  file settles it, as on Linux.
- A lock belongs to one open file, and ends with it, with its process or with the machine.
- Permission bits and times are not part of the model: they are durable at once. There are no links.

`crash` and `kill` leave the disk as it is and return another one, cheaply, so that a test can try
both at every moment of a scenario: see `before_operation`, and `mnemolog.testing.crash`.
"""

import threading
import weakref
from collections import Counter
from collections.abc import Callable
from random import Random

from mnemolog.fs import Ident, Mode, Stat, full
from mnemolog.testing.content import Change
from mnemolog.testing.faults import Faults
from mnemolog.testing.volume import Volume, failure

Hook = Callable[[str, str], object]

_UNLIMITED = 1 << 40
_APPENDING: tuple[Mode, ...] = ("append", "create")


class SimulatedDisk:
    """Files in memory, with power losses, kills, full disks and errors on demand.

    `capacity`: how many bytes all files that have a name may hold together; None means no limit.
    What does not fit is taken in part, then not at all; creating an empty file always works.

    `calls`: how often each operation was asked for. `open` counts every open, `create` those that
    create.

    `before_operation`: called with the operation and the path before each one that changes
    something: `create`, `append`, `write_at`, `truncate`, `sync`, `mkdir`, `rename`, `exchange`,
    `place`, `unlink`, `rmdir`, `sync_folder`. What it raises comes out of the operation, which then
    did not happen.
    """

    def __init__(self, capacity: int | None = None) -> None:
        self.capacity = capacity
        self.calls: Counter[str] = Counter()
        self.before_operation: Hook | None = None
        self._mutex = threading.RLock()
        self._faults = Faults()
        self._volume = Volume()
        self._locks: dict[int, weakref.ref[SimulatedFile]] = {}

    # --- what tests do to it

    def crash(self, rng: Random) -> "SimulatedDisk":
        """The disk as it may come back after a power loss now; `rng` picks one of the states."""
        with self._mutex:
            return self._beside(self._volume.survived(rng))

    def kill(self) -> "SimulatedDisk":
        """The disk as others find it if this process is killed now: everything written is there,
        no lock is held, and what is open does not reach it any more."""
        with self._mutex:
            return self._beside(self._volume.copy())

    def _beside(self, volume: Volume) -> "SimulatedDisk":
        other = SimulatedDisk(self.capacity)
        other._volume = volume
        other._mutex = self._mutex  # unchanged files share their memory
        return other

    def refuse(self, operation: str, pattern: str, error: Exception, times: int | None = 1) -> None:
        """Let the next `times` operations (None: all) fail whose path matches the pattern."""
        with self._mutex:
            self._faults.ask(operation, pattern, error, times)

    def allow_all(self) -> None:
        """Refuse nothing any more."""
        with self._mutex:
            self._faults.forget()

    def in_doubt(self) -> int:
        """How many changes a power loss might still undo."""
        with self._mutex:
            nodes = filter(None, self._volume.tree().values())
            return sum(len(node.changes) for node in nodes) + len(self._volume.names.moves)

    def tree(self) -> dict[str, bytes | None]:
        """Every path with the content of its file; None for a folder."""
        with self._mutex:
            found = self._volume.tree()
            return {path: node and node.content.whole() for path, node in found.items()}

    def fingerprint(self) -> int:
        """The same for two disks of one run that show the same names and bytes."""
        with self._mutex:
            found = self._volume.tree()
            shown = [(path, node and node.content.digest()) for path, node in found.items()]
            return hash(tuple(shown))

    # --- the door

    def open(self, path: str, mode: Mode) -> "SimulatedFile":
        if mode == "create":
            self._announce("create", path)
        with self._mutex:
            self._count("open", path)
            volume = self._volume
            number = volume.create(path) if mode == "create" else volume.file_at(path)
            return SimulatedFile(self, number, path, mode)

    def stat(self, path: str) -> Stat | None:
        with self._mutex:
            self._count("stat", path)
            return self._volume.stat(path)

    def ident(self, path: str) -> Ident | None:
        with self._mutex:
            self._count("ident", path)
            return self._volume.ident(path)

    def survey(self, path: str) -> list[tuple[str, Stat]]:
        found = ((name, self.stat(f"{path}/{name}" if path else name)) for name in self.list(path))
        return [(name, status) for name, status in found if status is not None]

    def list(self, path: str) -> list[str]:
        with self._mutex:
            self._count("list", path)
            return self._volume.list(path)

    def mkdir(self, path: str) -> None:
        self._announce("mkdir", path)
        with self._mutex:
            self._volume.mkdir(path)

    def rename(self, source: str, target: str) -> None:
        self._announce("rename", source)
        with self._mutex:
            self._volume.rename(source, target)

    def exchange(self, ours: str, theirs: str) -> None:
        self._announce("exchange", theirs)
        with self._mutex:
            self._volume.exchange(ours, theirs)

    def place(self, source: str, target: str) -> None:
        self._announce("place", target)
        with self._mutex:
            self._volume.place(source, target)

    def unlink(self, path: str) -> None:
        self._announce("unlink", path)
        with self._mutex:
            self._volume.unlink(path)

    def rmdir(self, path: str) -> None:
        self._announce("rmdir", path)
        with self._mutex:
            self._volume.rmdir(path)

    def sync_folder(self, path: str) -> None:
        self._announce("sync_folder", path)
        with self._mutex:
            self._volume.sync_folder(path)

    def chmod(self, path: str, mode: int) -> None:
        with self._mutex:
            self._count("chmod", path)
            self._volume.chmod(path, mode)

    def free_bytes(self) -> int:
        with self._mutex:
            if self.capacity is None:
                return _UNLIMITED
            used = sum(node.content.size for node in self._volume.tree().values() if node)
            return max(0, self.capacity - used)

    # --- inside

    def _announce(self, operation: str, path: str) -> None:
        """Tell the hook, then count. Outside the mutex: a test may hold a thread in the hook."""
        if self.before_operation is not None:
            self.before_operation(operation, path)
        with self._mutex:
            self._count(operation, path)

    def _count(self, operation: str, path: str) -> None:
        """Count an operation, and fail if that was asked for; for the holder of the mutex."""
        self.calls[operation] += 1
        if self._faults:
            self._faults.happen(operation, path)


class SimulatedFile:
    """An open file of a simulated disk."""

    def __init__(self, disk: SimulatedDisk, number: int, path: str, mode: Mode) -> None:
        self._disk = disk
        self._mutex = disk._mutex
        self._volume = disk._volume
        self._number = number
        self._path = path
        self._mode = mode
        self.ident: Ident = (1, number)

    def size(self) -> int:
        with self._mutex:
            return self._volume.files[self._number].content.size

    def read(self, offset: int, length: int) -> bytes:
        with self._mutex:
            self._disk._count("read", self._path)
            return self._volume.files[self._number].content.read(offset, length)

    def append(self, data: bytes) -> int:
        self._change("append", self._mode in _APPENDING)
        with self._mutex:
            taken = data[: self._disk.free_bytes()]
            if taken:
                self._volume.change(self._number, Change(self.size(), taken))
            return len(taken)

    def write_at(self, offset: int, data: bytes) -> None:
        self._change("write_at", self._mode == "update")
        with self._mutex:
            if offset + len(data) - self.size() > self._disk.free_bytes():
                raise full(f"overwrite {self._path}")
            self._volume.change(self._number, Change(offset, data))

    def truncate(self, size: int) -> None:
        self._change("truncate", self._mode != "read")
        with self._mutex:
            if size != self.size():
                self._volume.change(self._number, Change(size, None))

    def sync(self) -> None:
        try:
            self._disk._announce("sync", self._path)
        except OSError:
            with self._mutex:
                self._volume.fail_to_sync(self._number)
            raise
        with self._mutex:
            self._volume.sync(self._number)

    def try_lock(self) -> bool:
        locks = self._disk._locks
        with self._mutex:
            self._disk._count("try_lock", self._path)
            holder = locks[self._number]() if self._number in locks else None
            if holder not in (None, self):
                return False
            locks[self._number] = weakref.ref(self)
            return True

    def unlock(self) -> None:
        locks = self._disk._locks
        with self._mutex:
            self._disk._count("unlock", self._path)
            if self._number in locks and locks[self._number]() is self:
                del locks[self._number]

    def _change(self, operation: str, is_allowed: bool) -> None:
        if not is_allowed:
            raise failure(f"{operation} {self._path}", f"it is open for {self._mode}")
        self._disk._announce(operation, self._path)
