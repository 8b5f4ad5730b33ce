"""Our own form of an export: one file of lines, in which every line of every log stands as it is.

    {"mnemolog":"native","v":1,"exported_at":"2026-11-15T09:00:00.000Z"}
    {"mnemolog":"log","kind":"session","id":"talk","manifest":{…}}
    {"v":1,"id":"mem_…", … ,"seq":1,"sum":"sha256:…"}
    {"mnemolog":"bytes","base64":"…"}
    {"mnemolog":"end of log","lines":2,"bytes":612,"sum":"sha256:…"}
    {"mnemolog":"end","logs":1,"lines":2}

A line of a log begins with its version and is copied byte for byte. What does not, or is damaged,
is carried as `bytes`. The sum at the end of a log is over everything between its two marks.
"""

import base64
import binascii
from collections.abc import Generator, Iterator
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import msgspec

from mnemolog.errors import InvalidFormatError
from mnemolog.log import lines
from mnemolog.log.versions import Versions
from mnemolog.ports import LogKey

VERSION = 1
MAX_LINE = 64 * 1024 * 1024

_ENTRY = b'{"v":'
_encode = msgspec.json.Encoder().encode


class Mark(msgspec.Struct, frozen=True, kw_only=True, tag_field="mnemolog",
           forbid_unknown_fields=True, omit_defaults=True):  # fmt: skip
    """A line that is not a log's."""


class Header(Mark, frozen=True, kw_only=True, tag="native"):
    """The first line."""

    v: int
    exported_at: str


class LogBegins(Mark, frozen=True, kw_only=True, tag="log"):
    """Which log follows, and its manifest if it has one."""

    kind: Literal["session", "user", "shared"]
    id: str = ""
    manifest: dict[str, Any] = {}


class Bytes(Mark, frozen=True, kw_only=True, tag="bytes"):
    """Bytes of a log that are no line of ours."""

    base64: str


class LogEnds(Mark, frozen=True, kw_only=True, tag="end of log"):
    """How much a log held."""

    lines: int
    bytes: int
    sum: str


class End(Mark, frozen=True, kw_only=True, tag="end"):
    """The last line: without it, something is missing."""

    logs: int
    lines: int


_decode = msgspec.json.Decoder(Header | LogBegins | Bytes | LogEnds | End).decode


class Begun(NamedTuple):
    """A log begins here; the manifest as it will be stored, if it has one."""

    log: LogKey
    manifest: bytes


def mark(value: Mark) -> bytes:
    """A mark as a line."""
    return _encode(value) + b"\n"


def carried(piece: bytes, versions: Versions) -> tuple[bytes, bool]:
    """A piece of a log as the export carries it, and whether it is a line that can be read."""
    line = piece.rstrip(b"\r\n")
    is_line = piece.endswith(b"\n") and piece.startswith(_ENTRY) and lines.verify(line) is not None
    if is_line and lines.entry(line, versions) is not None:
        return piece, True
    return mark(Bytes(base64=base64.b64encode(piece).decode())), not line


class Parser:
    """Reads an export line by line and refuses whatever is not exactly one."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self.number = 0

    def header(self) -> Header:
        """The first line; raises if this is something else."""
        found = self._mark(self._next())
        if not isinstance(found, Header):
            raise self.refusal("it does not begin like an export in our own form")
        if found.v != VERSION:
            raise self.refusal(f"it has version {found.v}; this mnemolog reads {VERSION}")
        return found

    def events(self) -> Iterator[Begun | bytes | LogEnds]:
        """Each log: where it begins, its pieces, where it ends. Nothing may follow the end."""
        logs = total = 0
        seen: set[LogKey] = set()
        while isinstance(found := self._mark(self._next()), LogBegins):
            key = LogKey(found.kind, found.id)
            if key in seen:
                raise self.refusal("it holds the same log twice")
            seen.add(key)
            manifest = _encode(found.manifest) if found.manifest else b""
            yield Begun(key, manifest and msgspec.json.format(manifest, indent=2) + b"\n")
            end = yield from self._log()
            logs, total = logs + 1, total + end.lines
            yield end
        if not isinstance(found, End) or (found.logs, found.lines) != (logs, total):
            raise self.refusal("it does not end as it should")
        if next(self._source, None) is not None:
            self.number += 1
            raise self.refusal("something follows the end")

    def _log(self) -> Generator[bytes, None, LogEnds]:
        digest, count, size = sha256(), 0, 0
        while True:
            raw = self._next()
            found = None if raw.startswith(_ENTRY) else self._mark(raw)
            if isinstance(found, LogEnds):
                break
            piece = self._line(raw) if found is None else self._bytes(found)
            digest.update(raw)
            count, size = count + 1, size + len(piece)
            yield piece
        if found != LogEnds(lines=count, bytes=size, sum=f"sha256:{digest.hexdigest()}"):
            raise self.refusal("the lines of the log are not those that were exported")
        return found

    def _line(self, raw: bytes) -> bytes:
        if lines.verify(raw.rstrip(b"\r\n")) is None:
            raise self.refusal("its sum is wrong")
        return raw

    def _bytes(self, found: Any) -> bytes:
        if not isinstance(found, Bytes):
            raise self.refusal("the log is not ended")
        try:
            piece = base64.b64decode(found.base64, validate=True)
        except (binascii.Error, ValueError):
            raise self.refusal("it is not base64") from None
        if not piece or b"\n" in piece[:-1]:
            raise self.refusal("these are not the bytes of one line")
        return piece

    def _next(self) -> bytes:
        self.number += 1
        raw = next(self._source, b"")
        if not raw.endswith(b"\n"):
            is_long = len(raw) > MAX_LINE
            raise self.refusal("the line is too long" if is_long else "the file is cut off here")
        return raw

    def _mark(self, raw: bytes) -> Mark:
        try:
            found: Mark = _decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise self.refusal("it is no line of an export") from None
        return found

    def refusal(self, why: str) -> InvalidFormatError:
        """The error for the line that was read last."""
        return InvalidFormatError(
            f"Line {self.number:,} of the export: {why}.",
            advice="Nothing was imported. Export it again, or take another copy.",
            line=self.number,
        )
