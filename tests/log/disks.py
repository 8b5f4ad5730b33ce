"""A disk that writes down what is done to it, and can be told to fail."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from mnemolog import Memory
from mnemolog.fs import Disk, File, Mode
from mnemolog.fs.real import RealDisk
from mnemolog.settings import Settings
from mnemolog.testing.opening import open_on as open_any

Call = tuple[str, str]


def nothing(name: str, path: str) -> None:
    """What happens before a call, unless a test wants something else."""


class RecordingFile:
    """A real file; every call is noted before it is made."""

    def __init__(self, file: File, path: str, disk: "RecordingDisk") -> None:
        self._file = file
        self._path = path
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        if not callable(found):
            return found

        def noted(*args: Any) -> Any:
            self._disk.note(name, self._path)
            return found(*args)

        return noted

    def append(self, data: bytes) -> int:
        self._disk.note("append", self._path)
        return self._file.append(data[: self._disk.room])


class RecordingDisk:
    """A real disk; every call is noted, and `before` may raise instead of letting it happen."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._disk = RealDisk(str(root))
        self.calls: list[Call] = []
        self.before: Callable[[str, str], None] = nothing
        self.room: int | None = None
        """How many bytes one write takes; None means all of them."""

    def note(self, name: str, path: str) -> None:
        self.calls.append((name, path))
        self.before(name, path)

    def open(self, path: str, mode: Mode) -> RecordingFile:
        self.note("open", path)
        return RecordingFile(self._disk.open(path, mode), path, self)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._disk, name)

        def noted(path: str, *args: Any) -> Any:
            self.note(name, path)
            return method(path, *args)

        return noted

    def count(self, name: str, ending: str = "") -> int:
        """How often a call was made on paths that end so."""
        return sum(call == name and path.endswith(ending) for call, path in self.calls)

    def names(self, *wanted: str) -> list[str]:
        """The calls of these names, in order."""
        return [name for name, _ in self.calls if name in wanted]


def open_on(disk: RecordingDisk, **settings: object) -> Memory:
    """A memory on this disk."""
    effective = Settings().changed(settings)
    return open_any(cast(Disk, disk), effective)
