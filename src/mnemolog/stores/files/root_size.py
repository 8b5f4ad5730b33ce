"""How much a root holds: measured once, followed while this program writes, measured again rarely.

Others write too, so the figure is measured again when a part of the room that was left has been
used up here, or some time has passed, and before anything is refused. Measuring looks at every
file; it never takes more than a small share of the time. What is admitted and not yet written
counts beside what was measured; a write that ends just then may count twice until the next time.
"""

import threading
import time

from mnemolog import fs, paths
from mnemolog.fs import Disk
from mnemolog.policy import quota

_ROOMS = (paths.SESSIONS, paths.USERS, paths.SHARED, paths.ARCHIVE)
_SECONDS = 60.0
_SHARE = 8
_PAUSE = 20.0


class RootSize:
    """The bytes of all logs and of the archive; the index is derived and does not count."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._mutex = threading.Lock()
        self._used: int | None = None
        self._grown = self._room = 0
        self._admitted = 0  # and not written yet: measuring cannot see it
        self._measured_at = self._cost = 0.0

    def prepare(self, limit: int) -> None:
        """Measure if it is time to; for whoever is about to write, and holds no lock yet."""
        with self._mutex:
            is_old = time.monotonic() - self._measured_at > _SECONDS
            is_used_up = self._grown * _SHARE > self._room
            if self._used is None or ((is_old or is_used_up) and self._is_time()):
                self._measure(limit)

    def admit(self, incoming: int, limit: int, *, is_needed: bool) -> None:
        """Count what is about to be written; refuse what is not needed if it passes the limit."""
        with self._mutex:
            used = self._measure(limit) if self._used is None else self._used
            if not is_needed:
                if used + self._admitted + incoming > limit and self._is_time():
                    used = self._measure(limit)
                quota.check_root(used + self._admitted, incoming, limit)
            self._admitted += incoming

    def end(self, admitted: int, written: int) -> None:
        """Say that a write is over, for which so much was admitted, and how much of it was made."""
        with self._mutex:
            self._admitted -= admitted
            self._grown += written
            if self._used is not None:
                self._used += written

    def _is_time(self) -> bool:
        """Whether measuring again would stay a small share of the time."""
        return time.monotonic() - self._measured_at > _PAUSE * self._cost

    def _measure(self, limit: int) -> int:
        begun = time.monotonic()
        found = (status for room in _ROOMS for _, status in fs.walk(self._disk, room))
        self._used = sum(status.size for status in found if not status.is_folder)
        self._measured_at = time.monotonic()
        self._cost = self._measured_at - begun
        self._grown, self._room = 0, max(0, limit - self._used)
        return self._used
