"""Tickets: each good for one download, once and soon; a link cannot carry a token."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from mnemolog.faces.http.problems import RefusedError

_LIVES = 600.0
_MOST_BYTES = 512 * 1024 * 1024


def too_large(most: int) -> RefusedError:
    """The refusal of an export that no download can hold."""
    return RefusedError(
        413,
        "E_SIZE_LIMIT",
        f"The export is larger than {most:,} bytes.",
        advice="Export a session or a user at a time, or use `mnemolog export`.",
    )


class Parcel(NamedTuple):
    """A file that waits to be fetched."""

    name: str
    kind: str
    content: bytes
    until: float


class Tickets:
    """Files that wait to be fetched; the oldest go when they take up too much."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._mutex = threading.Lock()
        self._held: OrderedDict[str, Parcel] = OrderedDict()

    def put(self, name: str, kind: str, content: bytes) -> str:
        """Hold a file ready; says the ticket. Raises a 413 for one that is too large to be held."""
        if len(content) > _MOST_BYTES:
            raise too_large(_MOST_BYTES)
        self.sweep()
        ticket = secrets.token_urlsafe(32)
        with self._mutex:
            self._held[ticket] = Parcel(name, kind, content, self._clock() + _LIVES)
            while sum(len(one.content) for one in self._held.values()) > _MOST_BYTES:
                self._held.popitem(last=False)
        return ticket

    def take(self, ticket: str) -> Parcel:
        """The file of a ticket, which is worthless then; raises a 404."""
        with self._mutex:
            found = self._held.pop(ticket, None)
        if found is None or found.until < self._clock():
            raise RefusedError(
                404, "E_TICKET", "This ticket was used before, or is too old.",
                advice="Export again.",
            )  # fmt: skip
        return found

    def sweep(self) -> None:
        """Let go of the files whose time is over."""
        now = self._clock()
        with self._mutex:
            for known in [one for one, held in self._held.items() if held.until < now]:
                del self._held[known]
