"""Appending: one write under the lock, one sync after it, then the acknowledgement.

The order is what makes an acknowledged line safe:

1. The lock is taken and checked: if its path now leads elsewhere, somebody removed or restored the
   log, and everything held open is dropped before starting over.
2. The end of the active segment is looked at; a torn tail is sealed with a newline.
3. One write. If the disk takes only a part of it, the part is cut off again and the error raised.
4. The lock is given back; the file is synced outside it, where the kernel batches the syncs of all
   writers.

A write or sync that fails is never repeated: its fate is unknown, the handle is dropped, and the
error says so.
"""

import threading
import time
from collections.abc import Callable
from types import TracebackType

from mnemolog import fs
from mnemolog.errors import (
    CorruptionError,
    MnemologError,
    SessionCorruptError,
    StorageError,
    StorageIOError,
)
from mnemolog.fs import Disk, File, full
from mnemolog.fs.lock import Lock
from mnemolog.log import forks
from mnemolog.log.places import Chain, Place, SessionPlace, open_guard
from mnemolog.log.tail import Tail, check_format
from mnemolog.model.entry import MAX_SEQ

What = Callable[[], str]
"""Names what is written; asked only when there is an error to tell."""


class Handle:
    """Everything held open for one log; its methods are for the holder of its lock."""

    chain: Chain
    active: File
    sealed_bytes: int
    tail: Tail

    def __init__(self, disk: Disk, place: Place) -> None:
        self._disk = disk
        self._place = place
        self.guard: File | None = None
        try:
            self.lock = Lock(disk.open(place.lock, "update"), place.name)
        except FileNotFoundError:
            raise without_lock(disk, place) from None

    def is_here(self) -> bool:
        """Whether the lock's path still leads to the lock that is held."""
        return self._disk.ident(self._place.lock) == self.lock.ident

    def follow(self) -> None:
        """Catch up with what others wrote and changed; cheap when that was nothing."""
        if not self._is_as_it_was():
            self._refresh()
        size = self.active.size()
        if size != self.tail.size:
            self.tail = self._place.tail(self.active, size, self.tail, self._floor)
            check_format(self.tail.v, self._place.versions.current)

    def _is_as_it_was(self) -> bool:
        """Whether the guard and the segment that is written to still stand where they stood: an
        editor that saves puts a new file there, and nobody would read what goes into the old."""
        if self.guard is None or self._disk.ident(self._place.guard) != self.guard.ident:
            return False
        return self._path == self._place.guard or self._disk.ident(self._path) == self.active.ident

    def _refresh(self) -> None:
        self.guard = None
        guard = open_guard(self._disk, self._place)
        # Whoever created the log or swapped its guard may have been killed before its name, or one
        # on the way to it, was durable; nothing is to be built on those.
        fs.sync_up(self._disk, self._place.guard.rpartition("/")[0])
        self.chain = self._place.chain(guard)
        self._path = self.chain.path(self.chain.active)
        self.active = self._open_active()
        self.sealed_bytes = self.chain.sealed_bytes
        self._floor = Tail(0, self.chain.active.first_seq - 1)
        self.tail = self._floor
        self.guard = guard

    def _open_active(self) -> File:
        try:
            return self._disk.open(self._path, "append")
        except FileNotFoundError as error:
            if self._disk.ident(self._place.guard) is None:
                raise
            raise CorruptionError(
                f"The segment {self._path} is missing.",
                advice="`mnemolog doctor` tells what else is; restore it from a backup.",
            ) from error

    def check_format(self) -> None:
        """Refuse to write where a later mnemolog has written."""
        check_format(self.chain.v, self._place.versions.current)

    def write(self, data: bytes, last_seq: int) -> None:
        """Append at the end, sealing a torn tail first; all of it or nothing."""
        self.check_format()
        if last_seq > MAX_SEQ:  # nobody would read what has such a number
            raise CorruptionError(
                f"{self._place.name!r:.200} has a line with the last number that there is.",
                advice="No program of ours wrote it: restore the log from a backup.",
            )
        if self.tail.torn:
            data = b"\n" + data
        taken = self.active.append(data)
        if taken < len(data):
            self.active.truncate(self.tail.size)
            self.active.sync()  # or a power loss could bring back what is refused now
            raise full(f"write {len(data)} bytes to {self._place.name!r:.80}")
        self.tail = Tail(self.tail.size + len(data), last_seq)


class Writer:
    """Appends to one log from any number of threads and processes."""

    def __init__(self, disk: Disk, place: Place, lock_timeout: float) -> None:
        self.place = place
        self._disk = disk
        self.timeout = lock_timeout
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Let go of everything held open; the next use opens it anew."""
        self._opening = threading.Lock()
        self._handle: Handle | None = None

    def locked(self) -> "Locked":
        """Hold the checked lock; an error of the disk inside the block drops the handle."""
        return _Minded(self)

    def append(self, compose: Callable[[Handle], tuple[bytes, int]], what: What) -> File:
        """Write what `compose` makes under the lock; returns the file, which is not synced yet.

        `compose` gives the bytes and the last number used in them; `what` names them in errors.
        """
        is_done = False
        try:
            with Locked(self) as handle:
                content, last_seq = compose(handle)
                try:
                    handle.write(content, last_seq)
                except StorageIOError as error:
                    raise _fate_unknown("write", what()) from error
                file = handle.active
            is_done = True
        finally:
            if not is_done:
                self.let_go()
        return file

    def let_go(self) -> None:
        """Give the lock back if this thread still has it after an interrupt."""
        handle = self._handle
        if handle is not None:
            handle.lock.let_go()

    def sync(self, file: File, what: What) -> None:
        """Make what was appended durable, or raise an error that says whose fate is unknown."""
        try:
            file.sync()
        except MnemologError as error:
            self.drop(self._handle)
            raise _fate_unknown("sync", what()) from error

    def acquire(self) -> Handle:
        """The handle, with its checked lock held, caught up with what others did."""
        deadline = time.monotonic() + self.timeout
        while True:
            handle = self._handle or self._open()
            handle.lock.acquire(deadline)
            is_ready = False
            try:
                if handle.is_here():
                    handle.follow()
                    is_ready = True
            except FileNotFoundError:
                raise self.place.missing() from None  # the whole log went meanwhile
            finally:
                if not is_ready:  # also when an error or a signal came between
                    self.drop(handle)  # before anybody else can get it
                    handle.lock.release()
            if is_ready:
                return handle

    def drop(self, handle: Handle | None) -> None:
        """Let go of a handle that cannot be trusted any more; the next use opens another one."""
        with self._opening:
            if self._handle is handle:
                self._handle = None

    def _open(self) -> Handle:
        with self._opening:
            if self._handle is None:
                self._handle = Handle(self._disk, self.place)
            return self._handle


class Locked:
    """A block under a log's lock. A class: a generator costs an append a good part of its time."""

    __slots__ = ("_handle", "_turn", "_writer")

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._handle: Handle | None = None

    def __enter__(self) -> Handle:
        is_ours = False
        try:
            handle = self._writer.acquire()
            self._turn = handle.lock.turn
            self._handle = handle
            is_ours = True
        finally:
            if not is_ours:
                self._writer.let_go()
        return handle

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        handle = self._handle
        assert handle is not None
        if isinstance(error, FileNotFoundError | StorageError):
            self._writer.drop(handle)  # before anybody else can get it
        handle.lock.release()
        self._handle = None
        if isinstance(error, FileNotFoundError):  # the whole log went while it was worked on
            raise self._writer.place.missing() from None


class _Minded(Locked):
    """The same for a block that nobody minds: what an interrupt kept is given back in the end.

    Appending minds its own: Python drops an interrupt that comes where a `__del__` begins.
    """

    __slots__ = ()

    def __del__(self) -> None:
        handle: Handle | None = getattr(self, "_handle", None)
        if handle is not None:  # an interrupt came before the lock was given back
            handle.lock.let_go(self._turn)


def without_lock(disk: Disk, place: Place) -> MnemologError:
    """The error for a log without its lock: all of it has gone, or a session's lock alone."""
    guard = disk.ident(place.guard)
    is_alone = guard is not None and disk.ident(place.lock) is None
    is_session = isinstance(place, SessionPlace)
    if not (is_session and is_alone and disk.ident(place.guard) == guard):
        return place.missing()
    return SessionCorruptError(
        f"{place.lock} is missing, and without it nothing is written.",
        advice="`mnemolog doctor --repair` makes it again.",
    )


def _fate_unknown(action: str, what: str) -> StorageIOError:
    return StorageIOError(
        f"Could not {action} {what}: whether it survives a crash is unknown.",
        advice="Write it again with the same id: that is safe.",
    )
