"""Uses: which entries were found and read, noted beside each session in `access.jsonl`.

They are relaxed: kept in memory for a while, appended without a sync, and never part of the log.
Losing some is allowed; what they change is a small share of a relevance.
"""

import json
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

from mnemolog import paths
from mnemolog.errors import StorageError
from mnemolog.fs import Disk
from mnemolog.log import forks
from mnemolog.ports import Use
from mnemolog.stores.files.archiving import archived_file

NAME = "access.jsonl"
_MOST = 4096
_SECONDS = 30.0


class Uses:
    """Collects uses and writes them out now and then."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Drop what was not written yet."""
        self._mutex = threading.Lock()
        self._waiting: list[tuple[str, Use]] = []
        self._since = time.monotonic()

    def note(self, uses: Iterable[tuple[str, Use]]) -> bool:
        """Note uses: each one's log, its id, and when; says whether it is time to flush."""
        with self._mutex:
            self._waiting += [one for one in uses if one[0].startswith(f"{paths.SESSIONS}/")]
            return len(self._waiting) >= _MOST or time.monotonic() - self._since > _SECONDS

    def logs(self) -> set[str]:
        """The logs whose uses wait to be written."""
        with self._mutex:
            return {name for name, _ in self._waiting}

    def drop(self, log: str, ids: Collection[str]) -> None:
        """Forget what was noted about these entries and not written yet."""
        with self._mutex:
            self._waiting = [
                (name, use) for name, use in self._waiting if name != log or use.id not in ids
            ]

    def flush(self) -> None:
        """Append what was noted; the disk's errors cost only notes."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
            self._since = time.monotonic()
        by_log: dict[str, list[Use]] = {}
        for name, use in waiting:
            by_log.setdefault(name, []).append(use)
        for name, own in by_log.items():
            with suppress(FileNotFoundError, FileExistsError, StorageError):
                self._append(name, own)

    def _append(self, name: str, uses: list[Use]) -> None:
        rows = (json.dumps({"v": 1, "id": use.id, "at": use.at}) for use in uses)
        content = "".join(f"{row}\n" for row in rows).encode()
        path = f"{name}/{NAME}"
        if self._disk.ident(name) is None:
            return
        try:
            file = self._disk.open(path, "append")
        except FileNotFoundError:
            file = self._disk.open(path, "create")
        file.append(content)


def read_uses(disk: Disk, name: str, after: int) -> tuple[list[Use], int]:
    """The uses noted past so many bytes, and how many were read by now; what is torn waits."""
    try:
        file = disk.open(f"{name}/{NAME}", "read")
        size = file.size()
        content = file.read(after, size - after)
    except FileNotFoundError:
        whole = archived_file(disk, name, NAME)
        size, content = len(whole), whole[after:]
    complete = content[: content.rfind(b"\n") + 1]
    return list(_parsed(complete)), min(after, size) + len(complete)


def _parsed(content: bytes) -> Iterator[Use]:
    for line in content.split(b"\n"):
        try:
            found = json.loads(line)
            yield Use(str(found["id"]), str(found["at"]))
        except (ValueError, KeyError, TypeError):
            continue
