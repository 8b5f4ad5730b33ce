"""Where logs lie: each has a lock file, a guard file, and a list of segments.

The guard is the file whose replacement means that the list of segments changed. For a session it is
the manifest; a log of one file is its own guard.
"""

from typing import NamedTuple, Protocol

from mnemolog.errors import MnemologError, SessionNotFoundError, StorageIOError, no_session
from mnemolog.fs import Disk, File
from mnemolog.log import manifests
from mnemolog.log.tail import Tail, find_tail
from mnemolog.model.entry import FORMAT
from mnemolog.model.session import Manifest, Segment


class Chain(NamedTuple):
    """The segments of a log, in order; the last one is written to."""

    folder: str
    generation: int
    segments: tuple[Segment, ...]
    v: int = FORMAT

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

    def chain(self, guard: File) -> Chain:
        """The segments, as the guard tells them now."""

    def tail(self, active: File, known: Tail, floor: Tail) -> Tail:
        """The end of the segment that is written to, where `known` is what it was before."""

    def missing(self) -> MnemologError:
        """The error for a log that is not there."""


class SessionPlace:
    """A session's folder."""

    def __init__(self, session_id: str, folder: str) -> None:
        self.name = session_id
        self.folder = folder
        self.lock = f"{folder}/lock"
        self.guard = f"{folder}/{manifests.NAME}"

    def manifest(self, guard: File) -> Manifest:
        """The manifest that an open guard holds."""
        return manifests.parse(guard.read(0, guard.size()), self.folder)

    def chain(self, guard: File) -> Chain:
        manifest = self.manifest(guard)
        return Chain(self.folder, manifest.generation, manifest.segments, manifest.v)

    def tail(self, active: File, known: Tail, floor: Tail) -> Tail:
        return find_tail(active, known, floor)

    def missing(self) -> MnemologError:
        return no_session(self.name)


class FilePlace:
    """A log of one file that is never split."""

    def __init__(self, name: str, path: str, lock: str) -> None:
        self.name = name
        self.lock = lock
        self.guard = path
        folder, _, file = path.rpartition("/")
        self._chain = Chain(folder, 1, (Segment(file),))

    def chain(self, guard: File) -> Chain:
        return self._chain

    def tail(self, active: File, known: Tail, floor: Tail) -> Tail:
        return find_tail(active, known, floor)

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
