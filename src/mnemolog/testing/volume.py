"""Names and files together: what a simulated disk holds, without hooks, errors or threads."""

from random import Random

from mnemolog.errors import StorageIOError
from mnemolog.fs import FILE_MODE, FOLDER_MODE, Ident, Stat
from mnemolog.testing.content import Change, Content, FileNode
from mnemolog.testing.names import ROOT, Move, Names, Slot

# How likely a power loss keeps a change; 0 and 1 make the two pure states common.
_KEEP = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
_DEVICE = 1


class Volume:
    """Everything that a power loss can change, and the operations that change it."""

    def __init__(self) -> None:
        self.files: dict[int, FileNode] = {}
        self.names = Names({ROOT: {}}, {ROOT: {}})
        self._folder_modes = {ROOT: FOLDER_MODE}
        self._last_number = ROOT
        self._ticks = 0

    def copy(self) -> "Volume":
        """Another volume in the same state; unchanged files share their memory."""
        return self._with(dict(self.files), self.names)

    def survived(self, rng: Random) -> "Volume":
        """A state in which a power loss may leave it; what has no name then is gone."""
        keep = rng.choice(_KEEP)
        names = self.names.survived(rng, keep)
        reachable = [number for _, number in names.walk() if number in self.files]
        return self._with({each: self.files[each].survived(rng, keep) for each in reachable}, names)

    def _with(self, files: dict[int, FileNode], names: Names) -> "Volume":
        other = Volume()
        other.files = files
        other.names = names
        other._folder_modes = dict(self._folder_modes)
        other._last_number = self._last_number
        other._ticks = self._ticks
        return other

    # --- looking

    def tree(self) -> dict[str, FileNode | None]:
        """Every path, with its file; None for a folder."""
        return {path: self.files.get(number) for path, number in self.names.walk()}

    def ident(self, path: str) -> Ident | None:
        """What tells the file or folder at a path from every other one."""
        number = self.names.find(path)
        return None if number is None else (_DEVICE, number)

    def stat(self, path: str) -> Stat | None:
        """What there is to know about a path."""
        number = self.names.find(path)
        if number is None:
            return None
        node = self.files.get(number)
        if node is None:
            return Stat((_DEVICE, number), 0, 0, self._folder_modes[number], True, False, False)
        size = node.content.size
        return Stat((_DEVICE, number), size, node.mtime_ns, node.mode, False, False, True)

    def list(self, path: str) -> list[str]:
        """The names in a folder, sorted."""
        return sorted(self.names.now.get(self.names.find(path) or 0, ()))

    def file_at(self, path: str) -> int:
        """The number of the file at a path."""
        number = self._at(path)
        if number not in self.files:
            raise failure(f"open {path}", "Is a directory")
        return number

    # --- names

    def create(self, path: str) -> int:
        """Make an empty file; its number."""
        slot = self._slot(path)
        if self.names.find(path) is not None:
            raise FileExistsError(f"{path!r:.200} is there already.")
        number = self._next_number()
        empty = Content()
        self.files[number] = FileNode(empty, empty, (), self._tick(), FILE_MODE)
        self.names = self.names.changed(Move({slot: number}))
        return number

    def mkdir(self, path: str) -> None:
        """Make a folder and its parents."""
        parts = path.split("/") if path else []
        for depth in range(1, len(parts) + 1):
            below = "/".join(parts[:depth])
            slot = self._slot(below)
            if self.names.find(below) is None:
                number = self._next_number()
                self._folder_modes[number] = FOLDER_MODE
                self.names = self.names.with_folder(number).changed(Move({slot: number}))

    def rename(self, source: str, target: str) -> None:
        """Move a file or folder to another name."""
        number, there = self._at(source), self.names.find(target)
        origin, goal = self._slot(source), self._slot(target)
        if there is not None and (number in self.files) != (there in self.files):
            raise failure(f"rename {source}", "one is a folder, the other is not")
        if there is not None and self.names.now.get(there) and there != number:
            raise FileExistsError(f"There is something in {target!r:.200}.")
        if origin != goal:
            self.names = self.names.changed(Move({origin: None, goal: number}, number))

    def exchange(self, ours: str, theirs: str) -> None:
        """Swap two files; a power loss keeps both sides of it or none."""
        one, other = self.file_at(ours), self.file_at(theirs)
        slots = {self._slot(ours): other, self._slot(theirs): one}
        self.names = self.names.changed(Move(slots))

    def place(self, source: str, target: str) -> None:
        """Move a file to a name that is free."""
        number = self.file_at(source)
        if self.names.find(target) is not None:
            raise FileExistsError(f"{target!r:.200} is there already.")
        slots = {self._slot(source): None, self._slot(target): number}
        self.names = self.names.changed(Move(slots, number))

    def unlink(self, path: str) -> None:
        """Remove a file's name."""
        number = self.names.find(path)
        if number is not None and number not in self.files:
            raise failure(f"remove {path}", "Is a directory")
        self._remove(path, number)

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        number = self.names.find(path)
        if number in self.files:
            raise failure(f"remove {path}", "Not a directory")
        if number is not None and self.names.now[number]:
            raise failure(f"remove {path}", "Directory not empty")
        self._remove(path, number)

    def _remove(self, path: str, number: int | None) -> None:
        if number is not None:
            self.names = self.names.changed(Move({self._slot(path): None}))

    def sync_folder(self, path: str) -> None:
        """Make the names in a folder durable."""
        number = self._at(path)
        if number in self.files:
            raise failure(f"sync the folder {path}", "Not a directory")
        self.names = self.names.synced(number)

    def chmod(self, path: str, mode: int) -> None:
        """Set the permission bits."""
        number = self._at(path)
        if number in self.files:
            self.files[number] = self.files[number]._replace(mode=mode)
        else:
            self._folder_modes[number] = mode

    def _at(self, path: str) -> int:
        number = self.names.find(path)
        if number is None:
            raise FileNotFoundError(f"There is nothing at {path!r:.200}.")
        return number

    def _slot(self, path: str) -> Slot:
        folder, _, name = path.rpartition("/")
        if name in ("", ".", ".."):
            raise StorageIOError(f"{path!r:.80} is no path below the root.")
        number = self._at(folder)
        if number in self.files:
            raise failure(f"use {path}", "Not a directory")
        return number, name

    # --- content

    def change(self, number: int, change: Change) -> None:
        """Write to a file, or cut it."""
        self.files[number] = self.files[number].changed(change, self._tick())

    def sync(self, number: int) -> None:
        """Make a file's content durable."""
        self.files[number] = self.files[number].synced()

    def fail_to_sync(self, number: int) -> None:
        """Leave in doubt for ever what a sync should have made durable."""
        self.files[number] = self.files[number].failed_to_sync()

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number

    def _tick(self) -> int:
        self._ticks += 1
        return self._ticks


def failure(action: str, why: str) -> StorageIOError:
    """The error for what a real disk would refuse."""
    return StorageIOError(f"Could not {action}: {why}.")
