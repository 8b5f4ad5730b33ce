"""How much one client may ask, send and take its time: rates, bodies, patience."""

import time
from collections import OrderedDict
from collections.abc import Callable

import anyio

from mnemolog.errors import SizeLimitError
from mnemolog.faces import asgi
from mnemolog.faces.http.problems import RefusedError

_MOST_KNOWN = 4096
_SMALL = 64 * 1024
_DRAIN_SECONDS = 1.0


class Rate:
    """A bucket for each key that fills with time; whoever empties it has to wait."""

    def __init__(
        self, per_minute: int, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_minute / 60
        self._burst = float(burst)
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Take one from a bucket: 0, or the seconds until there is one again."""
        now = self._clock()
        left, since = self._left.pop(key, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._per_second)
        is_empty = left < 1
        self._left[key] = (left if is_empty else left - 1, now)
        while len(self._left) > _MOST_KNOWN:
            self._left.popitem(last=False)
        return (1 - left) / self._per_second if is_empty else 0.0


def too_many(seconds: float) -> RefusedError:
    """The refusal of a request too many."""
    wait = max(1, round(seconds + 0.5))
    return RefusedError(
        429,
        "E_RATE",
        "Too many requests at once.",
        advice=f"Try again in {wait} s.",
        retry_after=wait,
    )


class Measured:
    """The body of a request, as long as it stays small enough and comes in time."""

    def __init__(
        self, receive: asgi.Receive, most: int, seconds: float, *, is_due: bool = False
    ) -> None:
        self._receive = receive
        self._most = most
        self._left = seconds
        self._is_due = is_due
        self._size = 0
        self._is_whole = False
        self.is_refused = False

    async def __call__(self) -> asgi.Message:
        if self._is_whole:
            return await self._receive()  # from here on it tells only that the client went away
        began = time.monotonic()
        try:
            with anyio.fail_after(max(0.0, self._left)):
                message = await self._receive()
        except TimeoutError:
            self.is_refused = True
            raise RefusedError(408, "E_SLOW", "The body did not arrive in time.") from None
        self._left -= time.monotonic() - began
        if self._is_due and message["type"] == "http.disconnect":
            self.is_refused = True
            raise RefusedError(400, "E_CUT_SHORT", "The body ended before it was whole.")
        self._size += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        if self._size > self._most:
            self.is_refused = True
            raise too_large(self._most)
        return message


async def drained(receive: asgi.Receive, length: int) -> None:
    """Take in the small body of a request that is refused: a connection that is closed before it
    came is reset, and the answer may be lost with it."""
    left = _SMALL
    with anyio.move_on_after(_DRAIN_SECONDS):
        while length <= _SMALL and left > 0:
            message = await receive()
            left -= len(message.get("body", b""))
            if not message.get("more_body", False):
                return


def too_large(most: int) -> SizeLimitError:
    """The refusal of a body that is larger than a request may be."""
    return SizeLimitError(
        f"The body of the request is larger than {most:,} bytes.",
        advice="Send less at once; server.max_body_mb and server.max_import_mb set the limits.",
    )
