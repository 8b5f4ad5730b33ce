"""A log at one moment, to be copied while writers go on.

Only the length of the last segment is fixed under the lock: sealed segments do not grow any more,
and files that a rewrite replaces stay readable for as long as they are held open. What was
acknowledged before the snapshot was taken is in it.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from typing import NamedTuple, Protocol, TypeVar

import msgspec

from mnemolog import fs
from mnemolog.errors import ConcurrentModificationError, SessionNotFoundError
from mnemolog.fs import Disk
from mnemolog.log import manifests, moved
from mnemolog.log.places import Chain, Place, SessionPlace, open_guard
from mnemolog.log.writer import Writer

BLOCK = 1024 * 1024
PATIENCE = 60.0
"""So many seconds are waited for the lock of a log."""
_TRIES = 3

T = TypeVar("T")


class Readable(Protocol):
    """An open file that is only read, or something like it."""

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes from `offset`; fewer only at the end."""


class Content:
    """Bytes in memory, to be read like a file."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self, offset: int, length: int) -> bytes:
        return self._content[offset : offset + length]


class Part(NamedTuple):
    """The beginning of a file, up to a length."""

    file: Readable
    size: int

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, a block at a time; fewer only if somebody cut the file."""
        for offset in range(0, self.size, BLOCK):
            yield self.file.read(offset, min(BLOCK, self.size - offset))

    def digest(self) -> str:
        """The SHA-256 of its bytes, in hexadecimal."""
        total = sha256()
        for chunk in self.chunks():
            total.update(chunk)
        return total.hexdigest()


class ChangedError(Exception):
    """Bytes were blanked while they were copied: an erasure came between."""


def undisturbed(copy: Callable[[], T], done: str) -> T:
    """Make a copy, anew if something is erased meanwhile."""
    for _ in range(_TRIES):
        with suppress(ChangedError):
            return copy()
    raise ConcurrentModificationError(
        f"Entries were erased while they were {done}.", advice="Nothing was kept; try again."
    )


class Picture(NamedTuple):
    """A session's manifest and a log's segments, as they were when the lock was held."""

    manifest: bytes
    chain: Chain
    parts: tuple[Part, ...]
    moved: tuple[tuple[int, bytes], ...] = ()
    """What compactions moved out, if it was asked for: to which generation, and the file."""


def take(disk: Disk, place: Place, timeout: float, *, with_moved: bool = False) -> Picture:
    """Fix a log's length; raises the place's own error when there is no such log.

    A session in the archive does not grow: it is taken from there.
    """
    try:
        return _living(disk, place, timeout, with_moved)
    except SessionNotFoundError:
        if not isinstance(place, SessionPlace) or disk.ident(place.archive.guard) is None:
            raise
    guard = open_guard(disk, place.archive)
    facts = msgspec.structs.replace(place.archive.manifest(guard), archived_at=None)
    content = manifests.render(facts)
    taken = _fixed(disk, content, place.archive.chain(guard))
    if with_moved:
        taken = taken._replace(moved=moved_files(disk, place, taken.manifest))
        if disk.ident(place.archive.guard) != guard.ident:
            raise ChangedError  # it came back, and so may have what was moved out of it
    return taken


def moved_files(disk: Disk, place: SessionPlace, manifest: bytes) -> tuple[tuple[int, bytes], ...]:
    """The files of what compactions moved out of a session; its manifest names them."""
    known = place.versions.manifest(manifest).markers.get("moved", ())
    named = ((one, moved.path_of(place.folder.rpartition("/")[2], one)) for one in known)
    there = ((one, path) for one, path in named if disk.ident(path) is not None)
    return tuple((one, fs.read_all(disk, path)) for one, path in there)


def _living(disk: Disk, place: Place, timeout: float, with_moved: bool) -> Picture:
    handle = Writer(disk, place, timeout).acquire()
    try:
        guard = open_guard(disk, place)
        content = guard.read(0, guard.size()) if isinstance(place, SessionPlace) else b""
        taken = _fixed(disk, content, place.chain(guard))
        if with_moved and isinstance(place, SessionPlace):
            taken = taken._replace(moved=moved_files(disk, place, content))
        return taken
    except FileNotFoundError:
        raise place.missing() from None
    finally:
        handle.lock.release()


def _fixed(disk: Disk, manifest: bytes, chain: Chain) -> Picture:
    return Picture(manifest, chain, tuple(Part(one, one.size()) for one in chain.open(disk)))


def pieces(snapshot: Picture) -> Iterator[bytes]:
    """Every line as it stands, newline included; what a sealed segment ends with needs none.

    The end of the last segment counts as a line only once its newline is there.
    """
    for number, part in enumerate(snapshot.parts):
        held = b""
        for chunk in part.chunks():
            *whole, held = (held + chunk).split(b"\n")
            yield from (line + b"\n" for line in whole)
        if held and number + 1 < len(snapshot.parts):
            yield held
