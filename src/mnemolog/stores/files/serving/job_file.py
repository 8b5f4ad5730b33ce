"""What a server remembers of its jobs: which ones there were and how they ended, never content.

Several servers may serve one root. Each has a list of its own and a lease on it, which ends with
the server: a list that nobody holds is of one that ended, and the next to start takes it over.
"""

import json
import re
from typing import Any

from mnemolog import fs, paths
from mnemolog.errors import StorageError
from mnemolog.fs import File
from mnemolog.fs.real import RealDisk
from mnemolog.stores.files.upkeep import taken

_MOST_SERVERS = 64
_LIST = re.compile(r"server-jobs(-\d+)?\.json")


def is_list(name: str) -> bool:
    """Whether a file in the index's folder is a list of jobs: no part of the index, no content."""
    return _LIST.fullmatch(name) is not None


class JobFile:
    """A server's list of jobs, beside the index: losing it costs nobody anything."""

    def __init__(self, root: str) -> None:
        self._disk = RealDisk(root)
        self._number = 0
        self._lease: File | None = None

    def read(self) -> list[dict[str, Any]]:
        """The jobs that were noted last by this server and by those that ended, oldest first."""
        try:
            if not self._is_ours():
                return []
            self._take_over()
            return sorted(self._noted(self._number), key=lambda one: str(one.get("started_at")))
        except (FileNotFoundError, StorageError):
            return []

    def write(self, jobs: list[dict[str, Any]]) -> None:
        """Note the jobs; a disk that refuses costs only the note."""
        try:
            if self._is_ours():
                self._note(jobs)
        except (FileNotFoundError, StorageError):
            return

    def close(self) -> None:
        """Leave the list to the next server."""
        if self._lease is not None:
            self._lease.unlock()
        self._lease = None

    def _is_ours(self) -> bool:
        """Take the first list that no living server has, unless there is one already."""
        for number in range(1, _MOST_SERVERS + 1):
            if self._lease is None:
                self._lease, self._number = taken(self._disk, _lease(number)), number
        return self._lease is not None

    def _take_over(self) -> None:
        """Add what servers left that ended; it stands in our own list before theirs goes."""
        for number in range(1, _MOST_SERVERS + 1):
            is_there = number != self._number and self._disk.stat(_name(number)) is not None
            if not is_there or (lease := taken(self._disk, _lease(number))) is None:
                continue
            try:
                self._note([*self._noted(self._number), *self._noted(number)])
                self._disk.unlink(_name(number))
            finally:
                lease.unlock()

    def _noted(self, number: int) -> list[dict[str, Any]]:
        try:
            found = json.loads(fs.read_all(self._disk, _name(number)))
        except (FileNotFoundError, ValueError):
            return []
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def _note(self, jobs: list[dict[str, Any]]) -> None:
        self._disk.mkdir(paths.INDEX)
        fs.replace(self._disk, _name(self._number), json.dumps(jobs).encode())


def _name(number: int) -> str:
    return f"{paths.INDEX}/server-jobs{'' if number == 1 else f'-{number}'}.json"


def _lease(number: int) -> str:
    return f"server-jobs-{number}"
