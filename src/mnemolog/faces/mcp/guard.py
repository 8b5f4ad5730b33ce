"""The door of a server on this machine: who may come in from a loopback port.

A loopback address is no boundary: any page in a browser can send requests to it, by its own name
that resolves to 127.0.0.1 as well. So a request must name this server (`Host`), must not come from
a foreign page (`Origin`), and must bring the token. There are no CORS headers, for nobody.
"""

import hmac
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_REFUSALS = {
    421: "This server does not answer to that Host.",
    403: "Pages of that Origin may not use this server.",
    401: "Send the token: `Authorization: Bearer …`; it is the file `token` in the memory's root.",
}


def names_of(port: int, more: Iterable[str] = ()) -> tuple[str, ...]:
    """The names that a server on a loopback port answers to."""
    return (*(f"{name}:{port}" for name in LOOPBACK), *more)


class Guard:
    """Lets only those requests through to an app that may come in."""

    def __init__(self, app: App, token: str, names: Iterable[str]) -> None:
        self._app = app
        self._token = f"bearer {token}".encode()
        self._names = {name.lower().encode() for name in names}
        self._origins = {
            scheme + name for name in self._names for scheme in (b"http://", b"https://")
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            status = self._refusal(scope["headers"])
            if status is None:
                await self._app(scope, receive, send)
            else:
                await _refuse(send, status)

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> int | None:
        """The status of a request that may not come in."""
        given: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            given.setdefault(name.lower(), []).append(value.strip())
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._names:
            return 421
        if any(origin.lower() not in self._origins for origin in given.get(b"origin", [])):
            return 403
        tokens = given.get(b"authorization", [])
        return None if len(tokens) == 1 and self._is_token(tokens[0]) else 401

    def _is_token(self, given: bytes) -> bool:
        scheme, _, token = given.partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._token)


async def _refuse(send: Send, status: int) -> None:
    body = _REFUSALS[status].encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
