"""Stores to measure: real files, opened as usual, filled fast, or counted."""

from collections import Counter
from pathlib import Path
from typing import Any

from mnemolog import Memory
from mnemolog.fs import Disk, File, Mode
from mnemolog.fs.real import RealDisk
from mnemolog.settings import Settings
from mnemolog.testing.opening import open_on

SETTINGS = {"storage.max_session_size_mb": 10_000}
TEXT = (
    "We need ACID transactions for the payments; the team already knows how to run PostgreSQL, "
    "and the migration must be finished before the audit in spring. "
)
MESSAGE: dict[str, Any] = {"role": "user", "content": TEXT, "agent_id": "architect"}


class CountedDisk:
    """A disk that counts calls, and does not sync where that is not asked for."""

    def __init__(self, disk: Disk, syncs: bool = True) -> None:
        self._disk = disk
        self._syncs = syncs
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return self.counted(name, getattr(self._disk, name))

    def open(self, path: str, mode: Mode) -> "CountedFile":
        self.calls["open"] += 1
        return CountedFile(self, self._disk.open(path, mode))

    def counted(self, name: str, call: Any) -> Any:
        self.calls[name] += 1
        is_sync = name in ("sync", "sync_folder")
        return (lambda *_: None) if is_sync and not self._syncs else call


class CountedFile:
    """An open file of a counted disk."""

    def __init__(self, disk: CountedDisk, file: File) -> None:
        self._disk = disk
        self._file = file
        self.ident = file.ident

    def __getattr__(self, name: str) -> Any:
        return self._disk.counted(name, getattr(self._file, name))


def opened(folder: Path, **settings: object) -> Memory:
    return Memory.open(folder, settings={**SETTINGS, **settings}, environ={})


def on_disk(disk: Any, **settings: object) -> Memory:
    effective = Settings().changed({**SETTINGS, **settings})
    return open_on(disk, effective)


def unsynced(folder: Path) -> Memory:
    """For filling: the same files, without waiting for the disk."""
    return on_disk(CountedDisk(RealDisk(str(folder)), syncs=False))


def filled(folder: Path, count: int, session_id: str) -> None:
    """Make a session of so many entries."""
    memory = unsynced(folder)
    memory.create_session("u1", agent_ids=["architect"], session_id=session_id)
    for start in range(0, count, 1000):
        batch = min(1000, count - start)
        memory.add_many(session_id, [{"type": "conversation", **MESSAGE}] * batch)
    memory.close()
