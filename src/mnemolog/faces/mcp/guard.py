"""The door of a server on this machine: who may come in from a loopback port.

A loopback address is no boundary: any page in a browser can send requests to it, by its own name
that resolves to 127.0.0.1 as well. So a request must name this server (`Host`), must not come from
a foreign page (`Origin`), and must bring the token. There are no CORS headers, for nobody.
"""

import hmac
from collections.abc import Iterable

from mnemolog.faces import asgi
from mnemolog.faces.mcp.binding import is_loopback, written

Headers = dict[bytes, list[bytes]]

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
# The port that clients do not say.
_WEB = 80

_REFUSALS = {
    421: "This server does not answer to that Host.",
    403: "Pages of that Origin may not use this server.",
    401: "Send the token: `Authorization: Bearer …`; it is the file `token` in the memory's root.",
}


def names_of(port: int, more: Iterable[str] = (), host: str = "") -> tuple[str, ...]:
    """The names that a server on a loopback port answers to, also by the address that it has."""
    own = {*LOOPBACK, *([written(host)] if is_loopback(host) else [])}
    unsaid = own if port == _WEB else ()
    return (*(f"{name}:{port}" for name in own), *unsaid, *more)


class Doorway:
    """Which names a server answers to, and pages of which origins may use it."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {name.lower().encode() for name in names}
        self._origins = {
            scheme + name for name in self._names for scheme in (b"http://", b"https://")
        }

    def refusal(self, given: Headers) -> int | None:
        """The status for a request that names another server or comes from a foreign page."""
        hosts = given.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self._names:
            return 421
        origins = given.get(b"origin", [])
        return 403 if any(one.lower() not in self._origins for one in origins) else None


class Guard:
    """Lets only those requests through to an app that may come in."""

    def __init__(self, app: asgi.App, token: str, names: Iterable[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._doorway = Doorway(names)

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
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
        given = gathered(headers)
        token = bearer(given)
        is_right = token is not None and hmac.compare_digest(token, self._token)
        return self._doorway.refusal(given) or (None if is_right else 401)


def gathered(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Headers by their names; one that came twice has two values."""
    given: Headers = {}
    for name, value in headers:
        given.setdefault(name.lower(), []).append(value.strip())
    return given


def bearer(given: Headers) -> bytes | None:
    """The token that a request brought; None if it brought none, or several."""
    tokens = given.get(b"authorization", [])
    scheme, _, token = tokens[0].partition(b" ") if len(tokens) == 1 else (b"", b"", b"")
    return token.strip() if scheme.lower() == b"bearer" else None


async def _refuse(send: asgi.Send, status: int) -> None:
    body = _REFUSALS[status].encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(body)),
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
