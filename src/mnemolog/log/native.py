"""Our own form of an export: one file of lines, in which every line of every log stands as it is.

    {"mnemolog":"native","v":1,"exported_at":"2026-11-15T09:00:00.000Z"}
    {"mnemolog":"log","kind":"session","id":"talk","manifest":{…}}
    {"v":1,"id":"mem_…", … ,"seq":1,"sum":"sha256:…"}
    {"mnemolog":"bytes","base64":"…"}
    {"mnemolog":"end of log","lines":2,"bytes":612,"sum":"sha256:…"}
    {"mnemolog":"moved","generation":2}
    {"v":1,"id":"mem_…", … ,"seq":1,"sum":"sha256:…"}
    {"mnemolog":"end of log","lines":1,"bytes":306,"sum":"sha256:…"}
    {"mnemolog":"uses"}
    {"mnemolog":"use","id":"mem_…","at":"2026-11-15T09:00:00.000Z"}
    {"mnemolog":"end of log","lines":1,"bytes":64,"sum":"sha256:…"}
    {"mnemolog":"graph","user":"ann"}
    {"mnemolog":"file","path":"memory/topics/tea.md","base64":"…"}
    {"mnemolog":"end of log","lines":1,"bytes":78,"sum":"sha256:…"}
    {"mnemolog":"end","logs":1,"lines":2}

A line of a log begins with its version and is copied byte for byte. What does not, or is damaged,
is carried as `bytes`. The sum at the end of a log is over everything between its two marks. After
the log of a session, what each compaction moved out of it and the notes of use follow likewise.
After all logs come the graphs, file by file; a long file comes in several lines with the same path.
"""

import base64
import binascii
from collections.abc import Callable, Generator, Iterator
from hashlib import sha256
from typing import Any, Literal, NamedTuple

import msgspec

from mnemolog.errors import InvalidFormatError
from mnemolog.log import lines
from mnemolog.log.versions import Versions
from mnemolog.ports import LogKey

VERSION = 1
MAX_LINE = 64 * 1024 * 1024
_PIECE = 3 * 1024 * 1024

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


class MovedBegins(Mark, frozen=True, kw_only=True, tag="moved"):
    """What the compaction to this generation moved out of the session before follows."""

    generation: int


class UsesBegin(Mark, frozen=True, kw_only=True, tag="uses"):
    """The notes of use of the session before follow."""


class UseNoted(Mark, frozen=True, kw_only=True, tag="use"):
    """That an entry was used."""

    id: str
    at: str


class GraphBegins(Mark, frozen=True, kw_only=True, tag="graph"):
    """The graph of a user follows."""

    user: str


class FilePiece(Mark, frozen=True, kw_only=True, tag="file"):
    """A file of a graph, or the next piece of it."""

    path: str
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


PieceOf = Callable[[bytes, Mark | None], bytes]
"""What a line of the export carries; raises if that does not belong there."""

_decode = msgspec.json.Decoder(
    Header
    | LogBegins
    | Bytes
    | MovedBegins
    | UsesBegin
    | UseNoted
    | GraphBegins
    | FilePiece
    | LogEnds
    | End
).decode


class Begun(NamedTuple):
    """A log begins here, or what lies beside one; the manifest as it will be stored."""

    log: LogKey
    manifest: bytes = b""
    part: Literal["log", "moved", "uses", "graph"] = "log"
    generation: int = 0


def mark(value: Mark) -> bytes:
    """A mark as a line."""
    return _encode(value) + b"\n"


def use_of(raw: bytes) -> UseNoted:
    """The note of use that a line carries; of a line that was parsed before."""
    found = _decode(raw)
    assert isinstance(found, UseNoted)
    return found


def file_pieces(path: str, content: bytes) -> Iterator[bytes]:
    """A file of a graph as lines."""
    for start in range(0, max(1, len(content)), _PIECE):
        coded = base64.b64encode(content[start : start + _PIECE]).decode()
        yield mark(FilePiece(path=path, base64=coded))


def file_of(raw: bytes) -> tuple[str, bytes]:
    """The path and the bytes that a line carries; of a line that was parsed before."""
    found = _decode(raw)
    assert isinstance(found, FilePiece)
    return found.path, base64.b64decode(found.base64)


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
        found = self._mark(self._next())
        while isinstance(found, LogBegins):
            key = LogKey(found.kind, found.id)
            if key in seen:
                raise self.refusal("it holds the same log twice")
            seen.add(key)
            manifest = _encode(found.manifest) if found.manifest else b""
            yield Begun(key, manifest and msgspec.json.format(manifest, indent=2) + b"\n")
            end = yield from self._log()
            logs, total = logs + 1, total + end.lines
            yield end
            found = yield from self._beside(key)
        found = yield from self._graphs(found)
        if not isinstance(found, End) or (found.logs, found.lines) != (logs, total):
            raise self.refusal("it does not end as it should")
        if next(self._source, None) is not None:
            self.number += 1
            raise self.refusal("something follows the end")

    def _graphs(self, found: Mark) -> Generator[Begun | bytes | LogEnds, None, Mark]:
        """What follows the logs; gives the first mark after it."""
        seen: set[str] = set()
        while isinstance(found, GraphBegins):
            if found.user in seen:
                raise self.refusal("it holds the same graph twice")
            seen.add(found.user)
            yield Begun(LogKey("user", found.user), part="graph")
            yield (yield from self._log(self._file))
            found = self._mark(self._next())
        return found

    def _beside(self, key: LogKey) -> Generator[Begun | bytes | LogEnds, None, Mark]:
        """What follows the log of a session; gives the first mark after it."""
        seen: list[Mark] = []
        while True:
            found = self._mark(self._next())
            if not isinstance(found, MovedBegins | UsesBegin):
                return found
            if key.kind != "session" or found in seen:
                raise self.refusal("this may follow the log of a session, and only once")
            seen.append(found)
            if isinstance(found, MovedBegins):
                yield Begun(key, part="moved", generation=found.generation)
                yield (yield from self._log())
            else:
                yield Begun(key, part="uses")
                yield (yield from self._log(self._use))

    def _log(self, piece_of: PieceOf | None = None) -> Generator[bytes, None, LogEnds]:
        digest, count, size = sha256(), 0, 0
        while True:
            raw = self._next()
            found = None if raw.startswith(_ENTRY) else self._mark(raw)
            if isinstance(found, LogEnds):
                break
            piece = (piece_of or self._piece)(raw, found)
            digest.update(raw)
            count, size = count + 1, size + len(piece)
            yield piece
        if found != LogEnds(lines=count, bytes=size, sum=f"sha256:{digest.hexdigest()}"):
            raise self.refusal("the lines of the log are not those that were exported")
        return found

    def _piece(self, raw: bytes, found: Mark | None) -> bytes:
        return self._line(raw) if found is None else self._bytes(found)

    def _use(self, raw: bytes, found: Mark | None) -> bytes:
        if not isinstance(found, UseNoted):
            raise self.refusal("it is no note of use")
        return raw

    def _file(self, raw: bytes, found: Mark | None) -> bytes:
        if not isinstance(found, FilePiece):
            raise self.refusal("it is no file of a graph")
        self._decoded(found.base64)
        return raw

    def _line(self, raw: bytes) -> bytes:
        if lines.verify(raw.rstrip(b"\r\n")) is None:
            raise self.refusal("its sum is wrong")
        return raw

    def _bytes(self, found: Any) -> bytes:
        if not isinstance(found, Bytes):
            raise self.refusal("the log is not ended")
        piece = self._decoded(found.base64)
        if not piece or b"\n" in piece[:-1]:
            raise self.refusal("these are not the bytes of one line")
        return piece

    def _decoded(self, coded: str) -> bytes:
        try:
            return base64.b64decode(coded, validate=True)
        except (binascii.Error, ValueError):
            raise self.refusal("it is not base64") from None

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
