"""The door: who may come in, with how much, and where each request goes.

Every request must name this server and must not come from a foreign page, also one for the page
itself. What holds data asks for a token; the page's own files hold none.
"""

import secrets
import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from mnemolog.errors import MnemologError
from mnemolog.faces import asgi
from mnemolog.faces.http import limits, problems
from mnemolog.faces.http.limits import Measured, Rate
from mnemolog.faces.http.passes import NOBODY, Desk, Pass, Scope, which
from mnemolog.faces.http.problems import MEDIA_TYPE, Known, RefusedError
from mnemolog.faces.mcp.guard import Doorway, Headers, bearer, gathered

API = "/api/v1"
MCP = "/mcp"
METRICS = "/metrics"
HEALTH = "/healthz"
LOGIN = f"{API}/login"
DOWNLOADS = f"{API}/downloads/"
IMPORTS = f"{API}/imports"
VISIT = "mnemolog.visit"

_READING = {"GET", "HEAD"}
# Whatever else somebody sends is counted as one: figures must not grow by what strangers say.
_METHODS = {*_READING, "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
# Many clients end an address with a slash; the API's own routes take that too.
_ALONE = {MCP, METRICS, HEALTH}
_OF_ONESELF = {f"{API}/me", f"{API}/logout"}
_ASKING = {f"{API}/search", f"{API}/context", f"{API}/logout", LOGIN}
_MIB = 1024 * 1024

OF_API = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)

CLOSE = (b"connection", b"close")

_WORDS = {
    401: ("E_TOKEN", "This needs a token.", "Send `Authorization: Bearer …`; sign in with the link"
          " that `mnemolog token link` prints."),
    403: ("E_ORIGIN", "Pages of that Origin may not use this server.", ""),
    421: ("E_HOST", "This server does not answer to that Host.",
          "server.allow_hosts names others."),
}  # fmt: skip


class Arrival(NamedTuple):
    """A request that came in: who asks, what they may see, and what it goes by in the log."""

    request_id: str
    known: Pass
    reach: Scope


class Seen(NamedTuple):
    """What is noted of a request when it is over; never a path, a query or content."""

    method: str
    route: str
    status: int
    seconds: float
    request_id: str


class Places(NamedTuple):
    """The apps behind the door."""

    api: asgi.App
    mcp: asgi.App
    page: asgi.App


class Allowance(NamedTuple):
    """How much the door lets through."""

    per_minute: int
    body_mb: float
    import_mb: float
    body_seconds: float


class Door:
    """The app that stands before all others."""

    def __init__(
        self,
        places: Places,
        desk: Desk,
        doorway: Doorway,
        terms: Allowance,
        note: Callable[[Seen], None],
    ) -> None:
        self._places = places
        self._desk = desk
        self._doorway = doorway
        self._note = note
        self._failures = Rate(120, 60)
        self.use(terms)

    def use(self, terms: Allowance) -> None:
        """Let so much through from now on."""
        self._terms = terms
        self._rate = Rate(terms.per_minute, max(50, terms.per_minute // 20))

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        if scope["type"] == "lifespan":
            await self._places.api(scope, receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    async def _answer(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        request_id = secrets.token_hex(8)
        answer = _Answer(send, request_id)
        began = time.monotonic()
        try:
            await self._come_in(scope, receive, answer, request_id)
        except (MnemologError, RefusedError) as error:
            if answer.status:
                raise  # too late to say it in another way
            if answer.body is None:  # nobody has begun to read it
                await limits.drained(receive, _length(gathered(scope["headers"])))
            await _tell(answer, error, request_id)
        finally:
            route = str(scope.get("path_template") or _route(scope))
            took = time.monotonic() - began
            method = scope["method"] if scope["method"] in _METHODS else "OTHER"
            self._note(Seen(method, route, answer.status, took, request_id))

    async def _come_in(
        self, scope: asgi.Scope, receive: asgi.Receive, answer: "_Answer", request_id: str
    ) -> None:
        given = gathered(scope["headers"])
        if (status := self._doorway.refusal(given)) is not None:
            raise _refusal(status)
        path = scope["path"] = _path(scope)
        known = self._admitted(path, given)
        if known is not None:
            reach = _reach(known, path, given)
            _check_writing(known, reach, scope["method"], path)
            scope[VISIT] = Arrival(request_id, known, reach)
        most = self._most(path)
        _check_length(given, most)
        _check_framed_once(given)
        is_due = _length(given) > 0 or b"transfer-encoding" in given
        body = Measured(receive, most, self._terms.body_seconds, is_due=is_due)
        answer.body = body
        await self._place(path)(scope, body, answer)

    def _admitted(self, path: str, given: Headers) -> Pass | None:
        """The pass of whoever asks; None where nobody needs one."""
        if not _needs_token(path):
            if path == LOGIN and (wait := self._failures.wait("login")):
                raise limits.too_many(wait)
            return Pass(NOBODY, NOBODY) if path.startswith(API) else None
        known = self._desk.accepted(bearer(given))
        if known is None:
            if wait := self._failures.wait("token"):
                raise limits.too_many(wait)
            raise _refusal(401)
        if wait := self._rate.wait(known.id):
            raise limits.too_many(wait)
        return known

    def _most(self, path: str) -> int:
        mb = self._terms.import_mb if path == IMPORTS else self._terms.body_mb
        return int(mb * _MIB)

    def _place(self, path: str) -> asgi.App:
        if path == MCP:
            return self._places.mcp
        is_api = path.startswith("/api/") or path in (METRICS, HEALTH)
        return self._places.api if is_api else self._places.page


class _Answer:
    """Passes an answer on, with the headers that every answer has, and remembers its status."""

    def __init__(self, send: asgi.Send, request_id: str) -> None:
        self._send = send
        self._id = (b"x-request-id", request_id.encode())
        self.status = 0
        self.body: Measured | None = None

    async def __call__(self, message: asgi.Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = list(message.get("headers", []))
            is_rest_unwanted = self.body is not None and self.body.is_refused
            usual = (*OF_API, CLOSE) if is_rest_unwanted else OF_API
            named = {name.lower() for name, _ in headers}
            more = (one for one in usual if one[0] not in named)
            message = {**message, "headers": [*headers, *more, self._id]}
        await self._send(message)


def _path(scope: asgi.Scope) -> str:
    """Where a request goes; ids may hold a slash, which stays encoded until the path is cut."""
    path = scope["raw_path"].decode("latin-1") if scope.get("raw_path") else quote(scope["path"])
    alone = path.removesuffix("/")
    return alone if alone in _ALONE else path


def is_open(path: str) -> bool:
    """Whether a path of the API asks for no token: what is brought there is the key."""
    return path == LOGIN or path.startswith(DOWNLOADS)


def _needs_token(path: str) -> bool:
    if is_open(path):
        return False
    return path.startswith("/api/") or path in (MCP, METRICS)


def _reach(known: Pass, path: str, given: Headers) -> Scope:
    """What a request is about; who merely asks who they are need not say it."""
    agent, user = _header(given, "agent"), _header(given, "user")
    if path in _OF_ONESELF and user is None:
        user = next(iter(known.users), None)
    return known.narrowed(agent, user)


def _check_writing(known: Pass, reach: Scope, method: str, path: str) -> None:
    if (method in _READING and path != MCP) or path in _ASKING:
        return
    if known.read_only:
        raise RefusedError(
            403, "E_READ_ONLY", "This token only reads.", advice="Use one that may write."
        )
    if reach.beside:
        raise which("agent")


def _check_length(given: Headers, most: int) -> None:
    if _length(given) > most:
        raise limits.too_large(most)


def _check_framed_once(given: Headers) -> None:
    """Refuse a body that a proxy in front may have seen end elsewhere than we would."""
    if b"content-length" in given and b"transfer-encoding" in given:
        message = "The length of the body is told in two ways."
        raise RefusedError(400, "E_FRAMING", message, advice="Send one of the two headers.")


def _length(given: Headers) -> int:
    """How long a body says it is; 0 where it does not."""
    lengths = given.get(b"content-length", [])
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


def _header(given: Headers, what: str) -> str | None:
    found = given.get(f"mnemolog-{what}".encode(), [])
    return found[0].decode("utf-8", "replace") if found else None


def _route(scope: asgi.Scope) -> str:
    path = scope["path"]
    if path in _ALONE or path == "/":
        return str(path)
    return "/static/…" if path.startswith("/static/") else "…"


def _refusal(status: int) -> RefusedError:
    code, message, advice = _WORDS[status]
    return RefusedError(status, code, message, advice=advice)


async def _tell(answer: _Answer, error: Known, request_id: str) -> None:
    body = msgspec.json.encode(problems.problem_of(error, request_id))
    status = problems.status_of(error)
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        CLOSE,  # whatever is still to come of the request is not wanted
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if (wait := error.details.get("retry_after")) is not None:
        headers.append((b"retry-after", str(wait).encode()))
    await answer({"type": "http.response.start", "status": status, "headers": headers})
    await answer({"type": "http.response.body", "body": body})
