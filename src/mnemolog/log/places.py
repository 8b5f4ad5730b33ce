"""Where logs lie: each has a lock file, a guard file, and a list of segments.

The guard is the file whose replacement means that the list of segments changed. For a session it is
the manifest, or its sidecar while it is archived; a log of one file is its own guard. A session may
go into the archive and come back between any two looks, so readers ask where it stands each time.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeVar

from mnemolog import paths
from mnemolog.errors import (
    MnemologError,
    SessionCorruptError,
    SessionNotFoundError,
    StorageIOError,
    no_session,
)
from mnemolog.fs import Disk, File, Ident
from mnemolog.log import manifests, sidecars
from mnemolog.log.members import Archive
from mnemolog.log.tail import Tail, find_tail
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.model.entry import FORMAT
from mnemolog.model.session import Manifest, Segment

T = TypeVar("T")

# A session that is not found in either place may be on its way from one to the other.
_LOOKS = 3
# So often it may go elsewhere while its guard is read.
_TRIES = 100


class Chain(NamedTuple):
    """The segments of a log, in order; the last one is written to."""

    folder: str
    generation: int
    segments: tuple[Segment, ...]
    v: int = FORMAT
    archive: Archive | None = None

    def open(self, disk: Disk, first: int = 0) -> list[File]:
        """Open the segments from one on, to be read; FileNotFoundError if they are gone by now."""
        wanted = self.segments[first:]
        if self.archive is not None:
            return list(self.archive.files(disk, [segment.name for segment in wanted]))
        return [disk.open(self.path(segment), "read") for segment in wanted]

    @property
    def active(self) -> Segment:
        """The segment that is written to."""
        return self.segments[-1]

    @property
    def sealed_bytes(self) -> int:
        """How much the segments hold that are no longer written to."""
        return sum(segment.size or 0 for segment in self.segments[:-1])

    def path(self, segment: Segment) -> str:
        """Where a segment lies."""
        return f"{self.folder}/{segment.name}"


class Place(Protocol):
    """Where one log lies."""

    name: str
    lock: str
    guard: str
    versions: Versions

    def chain(self, guard: File) -> Chain:
        """The segments, as the guard tells them now."""

    def tail(self, active: File, size: int, known: Tail, floor: Tail) -> Tail:
        """The end of the segment that is written to and has this size now; `known` is what it was
        before, when it had another one."""

    def missing(self) -> MnemologError:
        """The error for a log that is not there."""


class SessionPlace:
    """A session's folder; `archive` is where it stands when it is archived."""

    def __init__(self, session_id: str, folder: str, versions: Versions = CURRENT) -> None:
        self.archive = ArchivePlace(session_id, folder.rpartition("/")[2], versions)
        self.name = session_id
        self.versions = versions
        self.folder = folder
        self.lock = f"{folder}/{paths.LOCK}"
        self.guard = f"{folder}/{manifests.NAME}"

    def manifest(self, guard: File) -> Manifest:
        """The manifest that an open guard holds."""
        return manifests.parse(guard.read(0, guard.size()), self.folder, self.versions)

    def chain(self, guard: File) -> Chain:
        return Chain(self.folder, *_links(self.manifest(guard)))

    def tail(self, active: File, size: int, known: Tail, floor: Tail) -> Tail:
        return find_tail(active, size, known, floor)

    def missing(self) -> MnemologError:
        return no_session(self.name)


class ArchivePlace:
    """A session in the archive, which is only read; `folder` is the name that its folder had."""

    def __init__(self, session_id: str, folder: str, versions: Versions = CURRENT) -> None:
        self.name = session_id
        self.versions = versions
        self.folder = folder
        self.guard = self.lock = sidecars.path_of(folder)

    def manifest(self, guard: File) -> Manifest:
        """The session's own facts, as the sidecar tells them."""
        return sidecars.read(guard, self.folder, self.versions).facts

    def chain(self, guard: File) -> Chain:
        facts, packing = sidecars.read(guard, self.folder, self.versions)
        archive = Archive(self.folder, packing, guard)
        return Chain(sidecars.tar_of(self.folder), *_links(facts), archive)

    def tail(self, active: File, size: int, known: Tail, floor: Tail) -> Tail:
        return find_tail(active, size, known, floor)

    def missing(self) -> MnemologError:
        return no_session(self.name)


def _links(manifest: Manifest) -> tuple[int, tuple[Segment, ...], int]:
    return manifest.generation, manifest.segments, manifest.v


class FilePlace:
    """A log of one file that is never split."""

    def __init__(self, name: str, path: str, lock: str, versions: Versions = CURRENT) -> None:
        self.name = name
        self.versions = versions
        self.lock = lock
        self.guard = path
        folder, _, file = path.rpartition("/")
        self._chain = Chain(folder, 1, (Segment(file),))

    def chain(self, guard: File) -> Chain:
        return self._chain

    def tail(self, active: File, size: int, known: Tail, floor: Tail) -> Tail:
        return find_tail(active, size, known, floor)

    def missing(self) -> MnemologError:
        return SessionNotFoundError(f"There is no log {self.name!r:.200}.")


def open_guard(disk: Disk, place: Place) -> File:
    """Open the guard, or raise the place's own error when the log is not there."""
    try:
        return disk.open(place.guard, "read")
    except FileNotFoundError:
        raise place.missing() from None
    except StorageIOError:
        folder = disk.stat(place.guard.rpartition("/")[0])
        if folder is None or not folder.is_folder:  # a file or a link, which is never followed
            raise place.missing() from None
        raise


def standing(disk: Disk, place: Place) -> tuple[Place, File]:
    """Where a log stands now, and its open guard: in its place, or else in the archive."""
    if not isinstance(place, SessionPlace):
        return place, open_guard(disk, place)
    for one in (place, place.archive) * _LOOKS:
        with suppress(SessionNotFoundError):
            return one, open_guard(disk, one)
    raise place.missing()


def guard_ident(disk: Disk, place: Place) -> Ident | None:
    """What tells the guard from every other one, wherever the log stands."""
    found = disk.ident(place.guard)
    if found is None and isinstance(place, SessionPlace):
        found = disk.ident(place.archive.guard)
    return found


def look(disk: Disk, place: Place) -> tuple[File, Chain]:
    """The open guard and the segments that it names, wherever the log stands."""
    return told(disk, place, lambda where, guard: (guard, where.chain(guard)))


def facts(disk: Disk, place: SessionPlace) -> tuple[File, Manifest]:
    """The open guard and the session's own facts in it, wherever the session stands."""

    def read(where: Place, guard: File) -> tuple[File, Manifest]:
        assert isinstance(where, SessionPlace | ArchivePlace)
        return guard, where.manifest(guard)

    return told(disk, place, read)


def told(disk: Disk, place: Place, read: Callable[[Place, File], T]) -> T:
    """What the guard tells, wherever the log stands.

    Read again if it went elsewhere meanwhile: then it was overwritten, perhaps before it was read.
    """
    for _ in range(_TRIES):
        where, guard = standing(disk, place)
        try:
            return read(where, guard)
        except SessionCorruptError:
            if disk.ident(where.guard) == guard.ident:
                raise
    raise place.missing()
