"""A disk that counts what is read of logs."""

from typing import Any

from mnemolog.fs import File, Mode
from mnemolog.fs.real import RealDisk


class CountingDisk(RealDisk):
    """A real disk that counts what is read of logs, and notes what is listed and opened."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.reset()

    def reset(self) -> None:
        """Begin to count anew."""
        self.taken = 0
        self.listed: list[str] = []
        self.opened: list[str] = []

    def open(self, path: str, mode: Mode) -> Any:
        """Open a file; what is read of a log is counted."""
        self.opened.append(path)
        file = super().open(path, mode)
        return _CountingFile(file, self) if path.endswith(".jsonl") else file

    def list(self, path: str) -> Any:
        """The names in a folder."""
        self.listed.append(path)
        return super().list(path)

    def sessions(self) -> set[str]:
        """The sessions of which anything was opened."""
        return {path.split("/")[1] for path in self.opened if path.startswith("sessions/")}


class _CountingFile:
    def __init__(self, file: File, disk: CountingDisk) -> None:
        self._file = file
        self._disk = disk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, offset: int, length: int) -> bytes:
        found = self._file.read(offset, length)
        self._disk.taken += len(found)
        return found
