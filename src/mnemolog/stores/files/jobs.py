"""What a server remembers of its jobs: which ones there were and how they ended, never content."""

import json
from typing import Any

from mnemolog import fs, paths
from mnemolog.errors import StorageError
from mnemolog.fs.real import RealDisk

NAME = f"{paths.INDEX}/server-jobs.json"


class JobFile:
    """The list of jobs, beside the index: losing it costs nobody anything."""

    def __init__(self, root: str) -> None:
        self._disk = RealDisk(root)

    def read(self) -> list[dict[str, Any]]:
        """The jobs that were noted last; none if there is nothing to be read."""
        try:
            found = json.loads(fs.read_all(self._disk, NAME))
        except (FileNotFoundError, StorageError, ValueError):
            return []
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def write(self, jobs: list[dict[str, Any]]) -> None:
        """Note the jobs; a disk that refuses costs only the note."""
        try:
            self._disk.mkdir(paths.INDEX)
            fs.replace(self._disk, NAME, json.dumps(jobs).encode())
        except (FileNotFoundError, StorageError):
            return
