"""The gate: many may use the index at once; whoever throws it away waits for them and is alone.

SQLite's files go by fixed names. If they were replaced while another process is opening them, it
would hold the old database with the new journal, and spoil both.

Two locks, both of which end with their process: `lock` is shared by those who use the index, and
`queue` is held while waiting for it, so that many users cannot keep one who waits out for ever.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW

_LOCK = "lock"
_QUEUE = "queue"

GATES = (_LOCK, _QUEUE)
"""The files of the gate; whoever throws the index away leaves them."""


class Gate:
    """The gate of one index, for one thread at a time."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._held: dict[str, int] = {}

    def forget(self) -> None:
        """Close what a forked child inherited; its parent's locks stay."""
        held, self._held = self._held, {}
        for descriptor in held.values():
            os.close(descriptor)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Use the index beside others, for as long as the block runs."""
        try:
            with self._locked(_QUEUE, fcntl.LOCK_EX):
                self._take(_LOCK, fcntl.LOCK_SH)
            yield
        finally:
            self._leave(_LOCK)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep everybody else out, for as long as the block runs."""
        with self._locked(_QUEUE, fcntl.LOCK_EX), self._locked(_LOCK, fcntl.LOCK_EX):
            yield

    @contextmanager
    def _locked(self, name: str, kind: int) -> Iterator[None]:
        try:  # from the first: an interrupt may come before the next line
            self._take(name, kind)
            yield
        finally:
            self._leave(name)

    def _take(self, name: str, kind: int) -> None:
        """Wait for a lock; again if its file was removed meanwhile, for others have another."""
        while True:
            if name not in self._held:
                self._held[name] = os.open(f"{self._folder}/{name}", _FLAGS, 0o600)
            fcntl.flock(self._held[name], kind)
            if self._is_there(name):
                return
            os.close(self._held.pop(name))

    def _is_there(self, name: str) -> bool:
        own = os.fstat(self._held[name])
        try:
            found = os.stat(f"{self._folder}/{name}", follow_symlinks=False)
        except FileNotFoundError:
            return False
        return (own.st_dev, own.st_ino) == (found.st_dev, found.st_ino)

    def _leave(self, name: str) -> None:
        descriptor = self._held.get(name)
        if descriptor is not None:  # a forked child may have begun afresh
            fcntl.flock(descriptor, fcntl.LOCK_UN)
