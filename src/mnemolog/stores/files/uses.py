"""Uses: which entries were found and read, noted beside each session in `access.jsonl`.

They are relaxed: kept in memory for a while, appended without a sync, and never part of the log.
Losing some is allowed; what they change is a small share of a relevance.
"""

import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

import msgspec

from mnemolog import paths
from mnemolog.errors import SessionError, StorageError
from mnemolog.fs import Disk
from mnemolog.log import forks
from mnemolog.log.places import open_guard
from mnemolog.ports import Use
from mnemolog.stores.files.archiving import archived_file
from mnemolog.stores.files.feed import place_named

NAME = paths.ACCESS
_NOTED = (f"{paths.SESSIONS}/", f"{paths.NODES}/")
_MOST = 4096
_SECONDS = 30.0


class _Line(msgspec.Struct):
    """A use as it is written down."""

    id: str
    at: str
    v: int = 1


_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(_Line)


class Uses:
    """Collects uses and writes them out now and then."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Drop what was not written yet."""
        self._mutex = threading.Lock()
        self._waiting: list[tuple[str, int | None, Use]] = []
        self._since = time.monotonic()

    def note(self, uses: Iterable[tuple[str, int | None, Use]]) -> bool:
        """Note uses: each one's log and its generation, its id and when; is it time to flush?

        Of a log that was rewritten before they are written, they are dropped: what was used may be
        erased by then. Without a generation they are written in any case.
        """
        with self._mutex:
            self._waiting += [one for one in uses if one[0].startswith(_NOTED)]
            return len(self._waiting) >= _MOST or time.monotonic() - self._since > _SECONDS

    def logs(self) -> set[str]:
        """The logs whose uses wait to be written, as far as they are there."""
        with self._mutex:
            names = {name for name, _, _ in self._waiting if name.startswith(paths.SESSIONS)}
        return {name for name in names if self._disk.ident(name) is not None}

    def drop(self, log: str, ids: Collection[str]) -> None:
        """Forget what was noted about these entries and not written yet."""
        with self._mutex:
            self._waiting = [one for one in self._waiting if one[0] != log or one[2].id not in ids]

    def drop_log(self, log: str) -> None:
        """Forget what was noted about a log and not written yet."""
        with self._mutex:
            self._waiting = [one for one in self._waiting if one[0] != log]

    def flush(self) -> None:
        """Append what was noted; the disk's errors cost only notes."""
        with self._mutex:
            waiting, self._waiting = self._waiting, []
            self._since = time.monotonic()
        by_log: dict[str, list[tuple[int | None, Use]]] = {}
        for name, generation, use in waiting:
            by_log.setdefault(name, []).append((generation, use))
        for name in [one for one in by_log if one.startswith(paths.NODES)]:
            with suppress(FileNotFoundError, FileExistsError, StorageError):
                self._append(_home(name), [use for _, use in by_log.pop(name)])
        for name, own in by_log.items():
            with suppress(FileNotFoundError, FileExistsError, StorageError, SessionError):
                now = place_named(name).chain(open_guard(self._disk, place_named(name))).generation
                self._append(name, [use for then, use in own if then in (None, now)])

    def _append(self, name: str, uses: list[Use]) -> None:
        content = _ENCODER.encode_lines([_Line(use.id, use.at) for use in uses])
        path = f"{name}/{NAME}"
        if self._disk.ident(name) is None:
            return
        try:
            file = self._disk.open(path, "append")
        except FileNotFoundError:
            file = self._disk.open(path, "create")
        file.append(content)


def _home(name: str) -> str:
    """The uses of nodes lie beside the graph: the index can be thrown away."""
    return f"{paths.USERS}/{name.partition('/')[2]}"


def read_uses(disk: Disk, name: str, after: int) -> tuple[list[Use], int]:
    """The uses noted past so many bytes, and how many were read by now; what is torn waits."""
    if name.startswith(paths.NODES) or (after == 0 and _has_none(disk, name)):
        return [], 0
    try:
        file = disk.open(f"{name}/{NAME}", "read")
        size = file.size()
        content = file.read(after, size - after)
    except FileNotFoundError:
        whole = archived_file(disk, name, NAME)
        size, content = len(whole), whole[after:]
    complete = content[: content.rfind(b"\n") + 1]
    return list(_parsed(complete)), min(after, size) + len(complete)


def _has_none(disk: Disk, name: str) -> bool:
    """Whether a log stands in its place without any notes, as most do."""
    return disk.ident(f"{name}/{NAME}") is None and disk.ident(name) is not None


def _parsed(content: bytes) -> Iterator[Use]:
    for line in content.split(b"\n"):
        with suppress(msgspec.DecodeError, UnicodeDecodeError):  # torn, or written by hand
            found = _DECODER.decode(line)
            yield Use(found.id, found.at)
