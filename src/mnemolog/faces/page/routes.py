"""The page's files: the index for every view, the rest below `/static/`, with strict headers.

The index names its files below `/static/`; they are given out below `/static/<hash of them all>/`,
where they never change, so that a browser keeps them until another version is installed. The
modules that a view needs are named in its index, so that none is found only when another is read.
"""

import gzip
import mimetypes
import os
import posixpath
import re
from functools import cache
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import unquote

from mnemolog.errors import StorageError
from mnemolog.faces import asgi
from mnemolog.layouts.folder import FolderSource

STATIC = os.path.join(os.path.dirname(__file__), "static")
INDEX = "index.html"
VIEWS = ("sessions", "search", "knowledge", "review", "forgetting", "health")
LOST = "lost"
"""The view of an address that leads nowhere."""

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types page-worker"
)
_OFF = (
    "accelerometer autoplay camera clipboard-read display-capture encrypted-media fullscreen "
    "geolocation gyroscope hid identity-credentials-get idle-detection local-fonts magnetometer "
    "microphone midi payment picture-in-picture publickey-credentials-get screen-wake-lock serial "
    "storage-access usb window-management xr-spatial-tracking"
).split()
PERMISSIONS = ", ".join([*(f"{name}=()" for name in _OFF), "clipboard-write=(self)"])

HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": PERMISSIONS,
    "x-frame-options": "DENY",
}

_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json",
          ".webmanifest": "application/manifest+json", ".svg": "image/svg+xml"}  # fmt: skip
_IMPORT = re.compile(r'^(?:import|export) [^"]*? from "(\.[^"]+)"', re.MULTILINE)
_GZIP = re.compile(r"gzip(?:;q=(?!0(?:\.0*)?$).*)?")
_UNTIL_CHANGED = "no-cache"
_FOR_EVER = "public, max-age=31536000, immutable"
_MISSING = b"""<!doctype html><meta charset="utf-8"><title>mnemolog</title>
<p>The page is not installed. The API is at <code>/api/v1</code>.</p>
"""


class Given(NamedTuple):
    """An answer: status, kind, for how long it may be kept, and the bytes."""

    status: int
    kind: str
    keep: str
    body: bytes


class Page:
    """Gives out the page; everything is read once."""

    def __init__(self, folder: str = STATIC) -> None:
        self._files = _files(folder)
        self.hash = _hash(self._files)
        views = (*VIEWS, "session", "entry", LOST)
        self._indexes = {view: self._index(view) for view in views}

    def _index(self, view: str) -> bytes:
        links = "".join(
            f'<link rel="modulepreload" href="/static/{name}">\n'
            for name in sorted(
                _needed(self._files, "app.js") | _needed(self._files, f"views/{view}.js")
            )
        )
        whole = self._files.get(INDEX, _MISSING).replace(b"</head>", f"{links}</head>".encode())
        return whole.replace(b"/static/", f"/static/{self.hash}/".encode())

    async def __call__(self, scope: asgi.Scope, receive: asgi.Receive, send: asgi.Send) -> None:
        given = self.answer(scope["method"], unquote(scope["path"]), is_read=_takes_page(scope))
        packed = _takes_gzip(scope)
        body = _packed(given.body) if packed else given.body
        headers = {
            **HEADERS,
            "content-type": given.kind,
            "cache-control": given.keep,
            "vary": "accept-encoding",
            "content-length": str(len(body)),
            **({"content-encoding": "gzip"} if packed else {}),
        }
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": given.status, "headers": raw})
        await send(
            {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body}
        )

    def answer(self, method: str, path: str, *, is_read: bool = False) -> Given:
        """What stands at a path; where nothing does, a person who reads pages gets one too."""
        if method not in ("GET", "HEAD"):
            return Given(405, "text/plain; charset=utf-8", _UNTIL_CHANGED, b"Not that way.\n")
        if path.startswith("/static/"):
            return self._static(path.removeprefix("/static/"))
        if path == "/" or path.removeprefix("/").split("/")[0] in VIEWS:
            return self._shown(200, _view(path))
        if path.removeprefix("/") in ("favicon.ico", "favicon.svg", "robots.txt"):
            return self._static(path.removeprefix("/"))
        return self._shown(404, LOST) if is_read else _nothing()

    def _shown(self, status: int, view: str) -> Given:
        return Given(status, "text/html; charset=utf-8", _UNTIL_CHANGED, self._indexes[view])

    def _static(self, name: str) -> Given:
        own = name.removeprefix(f"{self.hash}/")
        keep = _UNTIL_CHANGED if own == name else _FOR_EVER
        body = self._files.get(own)
        return _nothing() if body is None else Given(200, _kind(own), keep, body)


def _takes_gzip(scope: asgi.Scope) -> bool:
    return any(_GZIP.fullmatch(coding) for coding in _listed(scope, b"accept-encoding"))


def _takes_page(scope: asgi.Scope) -> bool:
    """Whether somebody asks with a browser: programs take anything, and name no page."""
    return any(kind.startswith("text/html") for kind in _listed(scope, b"accept"))


def _listed(scope: asgi.Scope, header: bytes) -> list[str]:
    said = [value.decode("latin-1") for name, value in scope["headers"] if name == header]
    return [part.replace(" ", "").lower() for one in said for part in one.split(",")]


@cache
def _packed(body: bytes) -> bytes:
    """Packed once for each file: there are only those of the page."""
    return gzip.compress(body, mtime=0)


def _view(path: str) -> str:
    """Which view a path shows, as `viewOf` of app.js says it."""
    first, *rest = path.removeprefix("/").split("/")
    if first != "sessions" or not any(rest):
        return first or "sessions"
    return "entry" if rest[1:2] == ["entries"] and any(rest[2:]) else "session"


def _needed(files: dict[str, bytes], name: str) -> set[str]:
    """A module and all those that it imports as it is read."""
    found, open_ = set[str](), [name]
    while open_:
        one = open_.pop()
        if one in found or one not in files:
            continue
        found.add(one)
        folder = posixpath.dirname(one)
        names = _IMPORT.findall(files[one].decode())
        open_ += [posixpath.normpath(posixpath.join(folder, other)) for other in names]
    return found


def _nothing() -> Given:
    said = b"Nothing is here. The page is at /, the API below /api/v1.\n"
    return Given(404, "text/plain; charset=utf-8", _UNTIL_CHANGED, said)


def _kind(name: str) -> str:
    ending = os.path.splitext(name)[1]
    kind = _TYPES.get(ending) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _files(folder: str) -> dict[str, bytes]:
    try:
        source = FolderSource(folder)
    except StorageError:
        return {}
    return {name: source.read(name) for name in source.names()}


def _hash(files: dict[str, bytes]) -> str:
    total = sha256()
    for name in sorted(files):
        total.update(name.encode() + b"\0" + sha256(files[name]).digest())
    return total.hexdigest()[:16]
