"""Uses: which entries were found and read, noted beside each session in `access.jsonl`.

They are relaxed: kept in memory for a while, appended without a sync, and never part of the log.
Losing some is allowed; what they change is a small share of a relevance.
"""

import json
import threading
import time
from collections.abc import Iterable, Iterator

from mnemolog import paths
from mnemolog.errors import StorageError
from mnemolog.fs import Disk
from mnemolog.log import forks
from mnemolog.ports import Use
from mnemolog.stores.files.feed import mark

NAME = "access.jsonl"
_MOST = 256
_SECONDS = 10.0


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

    def note(self, uses: Iterable[tuple[str, Use]]) -> None:
        """Note that entries were used: the name of each one's log, its id, and when."""
        with self._mutex:
            self._waiting += [one for one in uses if one[0].startswith(f"{paths.SESSIONS}/")]
            is_due = time.monotonic() - self._since > _SECONDS
            if len(self._waiting) < _MOST and not is_due:
                return
        self.flush()

    def flush(self) -> None:
        """Append what was noted; an error of the disk costs only these notes."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
            self._since = time.monotonic()
        for name in dict.fromkeys(name for name, _ in waiting):
            own = [use for log, use in waiting if log == name]
            try:
                self._append(name, own)
            except (FileNotFoundError, StorageError):
                continue

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
        mark(self._disk, name)


def read_uses(disk: Disk, name: str, offset: int) -> tuple[list[Use], int]:
    """The uses noted after an offset, and the offset after them; what is torn is passed over."""
    try:
        file = disk.open(f"{name}/{NAME}", "read")
    except FileNotFoundError:
        return [], 0
    size = file.size()
    start = offset if offset <= size else 0
    content = file.read(start, size - start)
    complete = content[: content.rfind(b"\n") + 1]
    return list(_parsed(complete)), start + len(complete)


def _parsed(content: bytes) -> Iterator[Use]:
    for line in content.split(b"\n"):
        try:
            found = json.loads(line)
            yield Use(str(found["id"]), str(found["at"]))
        except (ValueError, KeyError, TypeError):
            continue
