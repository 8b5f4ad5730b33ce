"""Versions: every text that a node had, one line each, in a file that only grows.

A version is written before its text takes its place, and noted as done after that. One that was
never done, because of a crash, is declared void by whoever looks next.

    {"v":1,"number":7,"at":"…","by":"owner","reason":"…","hash":"…","text":"…"}
    {"v":1,"done":7}
    {"v":1,"void":8}
"""

from collections.abc import Iterator
from hashlib import sha256

import msgspec

from mnemolog import fs
from mnemolog.fs import Disk
from mnemolog.model.node import NodeVersion

_START = b'{"v":1,'


class _Mark(msgspec.Struct):
    """A line that says what became of a version."""

    done: int = 0
    void: int = 0


_version = msgspec.json.Decoder(NodeVersion)
_mark = msgspec.json.Decoder(_Mark)


class History:
    """The versions of one node, as its file told them at one moment."""

    def __init__(self, content: bytes = b"") -> None:
        self.is_torn = bool(content) and not content.endswith(b"\n")
        self._lines = content.split(b"\n")[:-1]
        self.content = content

    def newest(self) -> Iterator[NodeVersion]:
        """The versions that are not void, last one first; read only as far as asked."""
        void: set[int] = set()
        for line in reversed(self._lines):
            if (mark := _marked(line)) is not None:
                void.add(mark.void)
            elif (found := version_of(line)) is not None and found.number not in void:
                yield found

    def all(self) -> list[NodeVersion]:
        """All of them, oldest first."""
        return list(self.newest())[::-1]

    def last(self) -> NodeVersion | None:
        """The last one."""
        return next(self.newest(), None)

    def is_done(self, number: int) -> bool:
        """Whether a version is known to have taken its place."""
        return any(
            (mark := _marked(line)) is not None and mark.done == number
            for line in reversed(self._lines)
        )

    def highest(self) -> int:
        """The highest number that was ever given, void ones too."""
        found = (version_of(line) for line in reversed(self._lines))
        return next((one.number for one in found if one is not None), 0)

    def taken(self, plan: str) -> NodeVersion | None:
        """The version that a plan made, if it did."""
        name = b'"plan":' + msgspec.json.encode(plan)
        if not plan or name not in self.content:
            return None
        return next((one for one in self.newest() if one.plan == plan), None)

    def knows(self, digest: str) -> bool:
        """Whether some version had a text with this hash."""
        return digest.encode() in self.content


def hash_of(content: bytes | str) -> str:
    """The hash of a file's exact bytes."""
    raw = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    return sha256(raw).hexdigest()


def version_of(line: bytes) -> NodeVersion | None:
    """The version that a line holds, if it holds one."""
    try:
        return _version.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _marked(line: bytes) -> _Mark | None:
    if len(line) > 64 or not line.startswith((b'{"v":1,"done":', b'{"v":1,"void":')):
        return None
    try:
        return _mark.decode(line)
    except msgspec.DecodeError:
        return None


def read(disk: Disk, path: str) -> History:
    """What a file of versions tells; nothing where there is none."""
    try:
        return History(fs.read_all(disk, path))
    except FileNotFoundError:
        return History()


def line_of(version: NodeVersion) -> bytes:
    """A version as its line, without the newline."""
    return _START + msgspec.json.encode(version)[1:]


def append(disk: Disk, path: str, version: NodeVersion, history: History) -> None:
    """Add a version durably; a line that a crash tore is closed first."""
    line = line_of(version) + b"\n"
    _add(disk, path, b"\n" + line if history.is_torn else line).sync()


def mark(disk: Disk, path: str, *, done: int = 0, void: int = 0) -> None:
    """Note what became of a version; only a void one must not be lost."""
    name, number = ("void", void) if void else ("done", done)
    file = _add(disk, path, b'{"v":1,"%s":%d}\n' % (name.encode(), number))
    if void:
        file.sync()


def _add(disk: Disk, path: str, content: bytes) -> fs.File:
    try:
        file = disk.open(path, "append")
    except FileNotFoundError:
        folder = path.rpartition("/")[0]
        disk.mkdir(folder)
        file = disk.open(path, "create")
        fs.sync_up(disk, folder)
    size = file.size()
    if file.append(content) != len(content):
        file.truncate(size)
        raise fs.full(f"write {path}")
    return file
