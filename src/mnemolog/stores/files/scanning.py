"""Scanning: looking for bytes in every file below the root, also inside what is compressed."""

import re
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Protocol
from urllib.parse import unquote

from mnemolog import fs, paths
from mnemolog.fs import Disk, File
from mnemolog.log import lines
from mnemolog.log.tail import backwards
from mnemolog.model.entry import MARKS
from mnemolog.ports import SHARED, LogKey, Progress
from mnemolog.ports.keeping import Looked, Trace

_PIECE = 1 << 20
_DATABASE = f"{paths.INDEX}/index.db"
_kept: dict[tuple[str, object], File] = {}
_GZIP = b"\x1f\x8b\x08"
_ZEROS = re.compile(rb"\0*")
# So much of a packed file is unpacked at once: a thousand times of it is still a little memory.
_FED = 1 << 14
_DAMAGED = "damaged, so not all that it holds can be looked at"
_ARCHIVED = re.compile(rf"{paths.ARCHIVE}/([^/]+?)(?:\.g\d+\.jsonl\.gz|\.tar\.gz)")
# So many needles are looked for one by one; more of them with a sieve, in a single pass.
_FEW = 32
SIEVED = 8
"""Needles of at least so many bytes can be sieved."""


class Sieve(Protocol):
    """Finds very many needles in one pass."""

    def find(self, window: bytes, known: int) -> Iterator[tuple[int, str]]:
        """Where needles begin, and their forms; of those that end after the first `known` bytes."""


MakeSieve = Callable[[Mapping[str, bytes]], Sieve]


def scan(
    disk: Disk,
    needles: Mapping[str, bytes],
    progress: Progress | None = None,
    looked: Looked | None = None,
    make_sieve: MakeSieve | None = None,
) -> Iterator[Trace]:
    """Every place where one of the needles stands; `needles` are named by their form."""
    # A pipe or a device holds nothing.
    found = [path for path, one in fs.walk(disk) if one.is_regular]
    told = looked or _nobody
    sought = _Sought(needles, make_sieve)
    for done, path in enumerate(found, 1):
        try:
            file = _opened(disk, path)
        except FileNotFoundError:
            continue  # removed meanwhile
        for trace in _scan_pieces(path, _told(path, _pieces(file), told), sought):
            yield _attributed(trace, _line_at(file, trace.offset)) if _is_log(path) else trace
        if file.read(0, len(_GZIP)) == _GZIP:
            yield from _in_archive(path, file, sought, told)
        if progress is not None:
            progress(done, len(found))


def _opened(disk: Disk, path: str) -> File:
    """A file to read; those of the index's database once, and never closed again.

    Whoever closes any descriptor of a file gives up all locks of the process on it. SQLite would
    go on as if it had them, and another process would remove the journal under its feet.
    """
    root = getattr(disk, "root", None)
    if root is None or not path.startswith(_DATABASE):
        return disk.open(path, "read")
    key = (root, disk.ident(path))
    if key not in _kept:
        _kept[key] = disk.open(path, "read")
    return _kept[key]


def _nobody(path: str, size: int) -> None:
    """Nobody wants to know how much was looked through."""


def _told(path: str, pieces: Iterator[bytes], looked: Looked) -> Iterator[bytes]:
    """The pieces of a file, each told of once it was handed on."""
    looked(path, 0)
    for piece in pieces:
        yield piece
        looked(path, len(piece))


def _in_archive(path: str, file: File, sought: "_Sought", looked: Looked) -> Iterator[Trace]:
    """What stands in a packed file, with the session that its name tells, and whose line it is."""
    content, session = b"", _session_of(path)
    damaged: list[int] = []
    unpacked = _told(path, _unpacked(file, damaged.append), looked)
    for trace in _scan_pieces(f"{path} (unpacked)", unpacked, sought):
        if session is None:  # any other packed file is nobody's line
            yield trace
            continue
        content = content or b"".join(_unpacked(file, damaged.append))
        told = _attributed(trace, _line_in(content, trace.offset), paths.id_of(_packed(path)))
        yield told._replace(session_id=session)
    if damaged:
        yield Trace(path, damaged[0], _DAMAGED, session_id=session)


def _session_of(path: str) -> str | None:
    """The session whose archive a file is, by its name."""
    return unquote(_packed(path)) or None


def _packed(path: str) -> str:
    """The name in the archive of the session that a file is of; empty if it is of none."""
    found = _ARCHIVED.fullmatch(path)
    return "" if found is None else found[1]


def _attributed(trace: Trace, line: bytes, session: str | None = None) -> Trace:
    """A trace with the entry whose line it stands in, and the logs that this is of."""
    entry = lines.valid(line)
    if entry is None or entry.type in MARKS:
        return trace
    room, _, rest = trace.path.partition("/")
    if room in (paths.USERS, paths.SHARED):
        # Their lines may tell of a session; they are of none.
        return trace._replace(entry_id=entry.id, homes=_owner(trace.path))
    around = paths.id_of(rest.partition("/")[0]) if room == paths.SESSIONS else session
    said = frozenset(LogKey("session", one) for one in (around, entry.session_id) if one)
    return trace._replace(entry_id=entry.id, homes=said)


def _owner(path: str) -> frozenset[LogKey]:
    """The log that a file is, of those that no session has; nobody's, if its name does not tell."""
    if path == f"{paths.SHARED}/{paths.KNOWLEDGE}":
        return frozenset({SHARED})
    _, name, *rest = path.split("/")
    user = paths.id_of(name) if rest == [paths.PREFERENCES] else None
    return frozenset() if user is None else frozenset({LogKey("user", user)})


def _line_in(content: bytes, offset: int) -> bytes:
    """The line of an archive that a byte stands in; the head of a file may lie before it."""
    start = content.rfind(b"\n", 0, offset) + 1
    end = content.find(b"\n", offset)
    line = content[start : end if end >= 0 else len(content)].rstrip(b"\r")
    return line if lines.verify(line) else line[max(0, lines.salvage(line)) :]


def _is_log(path: str) -> bool:
    return path.endswith(".jsonl") and path.split("/")[0] in (
        paths.SESSIONS, paths.USERS, paths.SHARED,
    )  # fmt: skip


def _line_at(file: File, offset: int) -> bytes:
    """The line that a byte stands in."""
    start = offset
    for begin, line in backwards(file, 0, offset):
        start = begin if begin + len(line) >= offset else offset
        break
    end, line = start, b""
    while end < file.size() and b"\n" not in line:
        line += file.read(end, 64 * 1024)
        end = start + len(line)
    return line.split(b"\n")[0].rstrip(b"\r")


def _pieces(file: File) -> Iterator[bytes]:
    for start in range(0, file.size(), _PIECE):
        yield file.read(start, _PIECE)


def _unpacked(file: File, damaged: Callable[[int], object]) -> Iterator[bytes]:
    """A compressed file's content, what follows a damaged member too; tells where one begins."""
    packed = file.read(0, file.size())
    begin = 0
    while 0 <= begin < len(packed):
        end = yield from _member(packed, begin)
        if end < 0:
            damaged(begin)
            begin = packed.find(_GZIP, begin + 1)
        else:
            zeros = _ZEROS.match(packed, end)  # blocks of a tape are filled up with them
            begin = zeros.end() if zeros else end


def _member(packed: bytes, at: int) -> Generator[bytes, None, int]:
    """What a member holds, as far as it can be unpacked; where it ends, or -1 if it is damaged.

    One that ends too early, as while it is written, hides nothing: all of it was unpacked.
    """
    unpacker = zlib.decompressobj(wbits=31)
    try:
        while at < len(packed) and not unpacker.eof:
            fed = packed[at : at + _FED]
            yield unpacker.decompress(fed)
            at += len(fed)
    except zlib.error:
        return -1
    return at - len(unpacker.unused_data)


class _Sought:
    """The needles, short and few ones apart from those for the sieve."""

    def __init__(self, needles: Mapping[str, bytes], make_sieve: MakeSieve | None) -> None:
        self.longest = max(map(len, needles.values()), default=0)
        self._apart = dict(needles)
        self._sieve: Sieve | None = None
        many = {form: one for form, one in needles.items() if len(one) >= SIEVED}
        if make_sieve is not None and len(many) > _FEW:
            self._sieve = make_sieve(many)
            self._apart = {form: one for form, one in needles.items() if form not in many}

    def find(self, window: bytes, known: int) -> Iterator[tuple[int, str]]:
        """Where a needle begins that ends after the first `known` bytes, and its form."""
        for form, needle in self._apart.items():
            at = window.find(needle, max(0, known - len(needle) + 1))
            while at >= 0:
                yield at, form
                at = window.find(needle, at + 1)
        if self._sieve is not None:
            yield from self._sieve.find(window, known)


def _scan_pieces(path: str, pieces: Iterator[bytes], sought: _Sought) -> Iterator[Trace]:
    """The pieces overlap by one byte less than the longest needle, so that none falls between."""
    before, base = b"", 0
    for piece in pieces:
        window = before + piece
        for at, form in sought.find(window, len(before)):
            yield Trace(path, base + at, form)
        kept = min(len(window), max(0, sought.longest - 1))
        base += len(window) - kept
        before = window[len(window) - kept :]
