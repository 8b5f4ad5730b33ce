"""A deadline: a search that takes too long says so instead of going on."""

import time

from mnemolog.errors import QueryTimeoutError


class Deadline:
    """So many seconds from now; none at all if that is 0."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def check(self) -> None:
        """Raise `QueryTimeoutError` once the time is up."""
        if self._seconds and time.monotonic() > self._end:
            raise QueryTimeoutError(
                f"The search took longer than {self._seconds * 1000:.0f} ms.",
                advice="Narrow it, run `mnemolog reindex` first, or raise search.timeout_ms.",
            )
