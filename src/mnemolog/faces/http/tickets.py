"""Tickets: each good for one download, once and soon; a link cannot carry a token."""

import secrets
import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from mnemolog.faces.http.problems import RefusedError

_LIVES = 600.0
_MOST_BYTES = 512 * 1024 * 1024


class Held(NamedTuple):
    """A file that waits to be fetched."""

    name: str
    kind: str
    content: bytes
    until: float


class Tickets:
    """Files that wait to be fetched; the oldest go when they take up too much."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held: OrderedDict[str, Held] = OrderedDict()

    def put(self, name: str, kind: str, content: bytes) -> str:
        """Hold a file ready; says the ticket."""
        ticket = secrets.token_urlsafe(32)
        now = time.monotonic()
        with self._mutex:
            self._held[ticket] = Held(name, kind, content, now + _LIVES)
            for known in [one for one, held in self._held.items() if held.until < now]:
                del self._held[known]
            while sum(len(one.content) for one in self._held.values()) > _MOST_BYTES:
                self._held.popitem(last=False)
        return ticket

    def take(self, ticket: str) -> Held:
        """The file of a ticket, which is worthless then; raises a 404."""
        with self._mutex:
            found = self._held.pop(ticket, None)
        if found is None or found.until < time.monotonic():
            raise RefusedError(
                404, "E_TICKET", "This ticket was used before, or is too old.",
                advice="Export again.",
            )  # fmt: skip
        return found
