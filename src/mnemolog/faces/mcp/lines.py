"""Messages from a client, mended where half a character would make them unreadable.

A text that was cut in the middle of an emoji ends in half a surrogate pair. Clients written in
JavaScript send that as an escape, and the protocol's library cannot read the message: over stdio
nobody would ever answer it, over HTTP it would be refused.
"""

import re
from io import TextIOWrapper

from mnemolog.faces import asgi

_ESCAPES = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})"  # half of one
    r"|.)"
)
_UNKNOWN = r"\ufffd"


def mended(json: str) -> str:
    """The JSON with every half of a surrogate pair replaced, by something just as long."""
    if "\\ud" not in json and "\\uD" not in json:
        return json
    return _ESCAPES.sub(lambda found: _UNKNOWN if found[1] else found[0], json)


class MendedInput(TextIOWrapper):
    """Standard input as text, a mended line at a time."""

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """The next line."""
        return mended(super().readline(size))


class MendedBodies:
    """An app whose requests come with mended bodies; each body must come in one piece."""

    def __init__(self, app: asgi.App) -> None:
        self._app = app

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        async def mending() -> asgi.Message:
            message = await receive()
            if message.get("body"):
                # Only escapes matter, and those are ASCII: whatever else there is stays as it is.
                body = mended(message["body"].decode("latin-1")).encode("latin-1")
                return {**message, "body": body}
            return message

        await self._app(scope, mending, send)
