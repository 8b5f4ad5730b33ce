"""The lock of a log or a graph: a mutex for our threads, an advisory lock for other processes.

The advisory lock sits on a file of its own that is never replaced while the log lives. It dies with
its holder, so there is nothing to expire and nothing to steal.
"""

import json
import os
import threading
import time
from contextlib import suppress

from mnemolog.errors import LockTimeoutError, StorageFullError
from mnemolog.fs import File
from mnemolog.model.observing import observers, tell

# An append has the lock for some 50 µs: looking on for as long as that costs less than a sleep.
_YIELDS = 40
_let_others_run = getattr(os, "sched_yield", lambda: None)
_SHORTEST = 0.0002
_LONGEST = 0.005
# Nobody is woken when the lock is given back. Who sleeps for this share of the time waited so far
# sleeps too long by as much at most; doubling the sleep would double the wait.
_SHARE = 0.125


class Lock:
    """An exclusive lock on an open lock file."""

    def __init__(self, file: File, name: str) -> None:
        self._file = file
        self._name = name
        # An interrupt may hit between taking the lock and the work: then this thread still has
        # it until it lets go, or takes it again: its next release gives it back for good.
        self._mutex = threading.RLock()
        self.ident = file.ident
        self.turn = 0
        """Counts how often the lock was taken; for its holder."""

    def acquire(self, deadline: float) -> None:
        """Take the lock, or raise `LockTimeoutError` once `deadline` (monotonic) has passed."""
        if not self._mutex.acquire(blocking=False):
            tell("lock.contended", self._name)
            if not self._mutex.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise self._timeout()
        is_ours = False
        try:
            if not self._file.try_lock():
                self._wait_for_file(deadline)
            self.turn += 1
            is_ours = True
        finally:
            if not is_ours:  # the file may be: a signal can come just after it was taken
                self._give_back()
        if observers:
            tell("lock.acquired", self._name)

    def _wait_for_file(self, deadline: float) -> None:
        tell("lock.contended", self._name)
        for _ in range(_YIELDS):
            _let_others_run()
            if self._file.try_lock():
                return
        began = now = time.monotonic()
        while now < deadline:
            time.sleep(min(max(_SHORTEST, (now - began) * _SHARE), _LONGEST))
            if self._file.try_lock():
                return
            now = time.monotonic()
        raise self._timeout()

    def release(self) -> None:
        """Give the lock back."""
        self._give_back()
        if observers:
            tell("lock.released", self._name)

    def _give_back(self) -> None:
        try:
            self._file.unlock()
        finally:
            try:
                while True:
                    self._mutex.release()
            except RuntimeError:  # raised once it is no longer ours
                pass

    def let_go(self, turn: int | None = None) -> None:
        """Give the lock back if it is still this thread's: an interrupt may have come just before
        `release` did, and whoever catches it may never take the lock again.

        With a `turn`, only if it was not taken again since.
        """
        if not self._mutex.acquire(blocking=False):
            return  # another thread has it, and gives it back
        if turn in (None, self.turn):
            self._give_back()
        else:
            self._mutex.release()

    def sign(self, operation: str, since: str) -> None:
        """Write into the lock file who holds it and why; for work that takes long."""
        holder = {"v": 1, "pid": os.getpid(), "operation": operation, "acquired_at": since}
        self._file.truncate(0)
        with suppress(StorageFullError):  # a courtesy: the lock holds without it
            self._file.write_at(0, json.dumps(holder).encode())

    def unsign(self) -> None:
        """Empty the lock file again."""
        self._file.truncate(0)

    def _timeout(self) -> LockTimeoutError:
        tell("lock.timeout", self._name)
        holder = self._file.read(0, 1024).decode("utf-8", "replace")
        return LockTimeoutError(
            f"Lock acquisition timeout for {self._name}"
            + (f", held by {holder}." if holder else "."),
            advice="Nothing was written. Try again, or raise concurrency.lock_timeout_ms.",
            holder=holder,
        )
