"""The content of a simulated file: what is there, what is durable, and the changes in between."""

from hashlib import sha256
from random import Random
from typing import NamedTuple


class Content:
    """Bytes that never change. What is appended to the newest of a family shares its memory.

    Appending only ever makes the common buffer longer, beyond what older members look at, so a
    snapshot costs nothing. Not safe for threads by itself: the disk's mutex guards it.
    """

    __slots__ = ("_buffer", "_digest", "size")

    def __init__(self, buffer: bytearray | None = None, size: int = 0) -> None:
        self._buffer = bytearray() if buffer is None else buffer
        self._digest: bytes | None = None
        self.size = size

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`."""
        return bytes(self._buffer[offset : min(offset + length, self.size)])

    def whole(self) -> bytes:
        """All of it."""
        return self.read(0, self.size)

    def digest(self) -> bytes:
        """A hash of the bytes, computed once."""
        if self._digest is None:
            self._digest = sha256(self.whole()).digest()
        return self._digest

    def written(self, offset: int, piece: bytes) -> "Content":
        """The content after a write; a gap before it reads as zeros."""
        end = max(self.size, offset + len(piece))
        is_newest = len(self._buffer) == self.size
        buffer = self._buffer if is_newest and offset >= self.size else self._buffer[: self.size]
        if offset > len(buffer):
            buffer += bytes(offset - len(buffer))
        buffer[offset : offset + len(piece)] = piece
        return Content(buffer, end)

    def resized(self, size: int) -> "Content":
        """The content cut, or lengthened by zeros, to `size`."""
        if size <= self.size:
            return Content(self._buffer, size)
        return self.written(size, b"")


class Change(NamedTuple):
    """A write, or (without a piece) a truncation to `offset`, that a power loss may undo.

    `is_stuck`: a sync of it failed, and no later one will say what became of it. `is_durable`: it
    was synced, but stands after one that is stuck.
    """

    offset: int
    piece: bytes | None
    is_stuck: bool = False
    is_durable: bool = False

    def done(self, content: Content) -> Content:
        """The content after this change."""
        if self.piece is None:
            return content.resized(self.offset)
        return content.written(self.offset, self.piece)

    def survived(self, content: Content, rng: Random, keep: float) -> Content:
        """What a power loss makes of it: kept, dropped, torn, or with holes in it."""
        if self.is_durable or rng.random() < keep:
            return self.done(content)
        if not self.piece:
            return content
        fate = rng.random()
        if fate < 0.2:
            return content
        if fate < 0.5:
            return content.written(self.offset, self.piece[: rng.randrange(len(self.piece))])
        return self._holed(content, self.piece, rng)

    def _holed(self, content: Content, piece: bytes, rng: Random) -> Content:
        """The length survives, parts do not: they show what was there before, or zeros."""
        content = content.resized(max(content.size, self.offset + len(piece)))
        for _ in range(rng.randint(1, 2)):
            start = 0 if rng.random() < 0.2 else rng.randrange(len(piece))
            end = len(piece) if rng.random() < 0.2 else rng.randint(start, len(piece))
            old = content.read(self.offset + start, end - start)
            piece = piece[:start] + old + piece[end:]
        return content.written(self.offset, piece)


class FileNode(NamedTuple):
    """A file without its name: its content now, the durable one, and the changes between them."""

    content: Content
    durable: Content
    changes: tuple[Change, ...] = ()
    mtime_ns: int = 0
    mode: int = 0o600

    def changed(self, change: Change, mtime_ns: int) -> "FileNode":
        """After a change that is not synced."""
        return self._replace(
            content=change.done(self.content), changes=(*self.changes, change), mtime_ns=mtime_ns
        )

    def synced(self) -> "FileNode":
        """After a sync: everything is durable, except what an earlier sync failed to make so."""
        if not any(change.is_stuck for change in self.changes):
            return self._replace(durable=self.content, changes=())
        changes = (change._replace(is_durable=not change.is_stuck) for change in self.changes)
        return self._replace(changes=tuple(changes))

    def failed_to_sync(self) -> "FileNode":
        """After a sync that failed: the system forgets what it had to write, and may have."""
        changes = (
            change if change.is_durable else change._replace(is_stuck=True)
            for change in self.changes
        )
        return self._replace(changes=tuple(changes))

    def survived(self, rng: Random, keep: float) -> "FileNode":
        """A state in which a power loss may leave it."""
        if not self.changes:
            return self
        content = self.durable
        for change in self.changes:
            content = change.survived(content, rng, keep)
        return self._replace(content=content, durable=content, changes=())
