"""Sessions in the archive: listed like all others, and brought back when they are written to."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TypeVar

from mnemolog import fs, paths
from mnemolog.errors import (
    ConcurrentModificationError,
    SessionArchivedError,
    SessionCorruptError,
    SessionError,
    SessionNotFoundError,
    StorageError,
    StorageIOError,
)
from mnemolog.fs import Disk, File
from mnemolog.log import archive, sidecars
from mnemolog.log.places import (
    ArchivePlace,
    Place,
    SessionPlace,
    guard_ident,
    open_guard,
    standing,
    told,
)
from mnemolog.log.tail import last_line
from mnemolog.log.versions import Versions
from mnemolog.model.entry import Entry
from mnemolog.model.session import Manifest
from mnemolog.ports import Listed, LogKey, Progress, Unread
from mnemolog.ports.keeping import Archived
from mnemolog.settings import Settings
from mnemolog.stores.files.feed import mark
from mnemolog.stores.files.held import Held

T = TypeVar("T")

# So often a session may go elsewhere under our hands before we give up.
_TRIES = 100
_PATIENCE = 60.0


class Archives:
    """The archive of one root."""

    def __init__(self, disk: Disk, held: Callable[[LogKey], Held]) -> None:
        self._disk = disk
        self._held = held

    def archive(self, session_id: str, now: str, progress: Progress | None = None) -> Archived:
        """Move a whole session to the archive; nothing happens if it is there already."""
        held = self._held(LogKey("session", session_id))
        place = _session_place(held)
        for _ in range(_TRIES):
            with suppress(SessionNotFoundError):
                archive.archive(self._disk, place, held.lock_timeout, now, progress)
            mark(self._disk, place.folder)
            with suppress(SessionNotFoundError):
                return self._archived(place)
            if guard_ident(self._disk, place) is None:
                raise place.missing()
        raise _restless(session_id)

    def restore(self, session_id: str) -> None:
        """Bring an archived session back; nothing happens if it is not archived."""
        held = self._held(LogKey("session", session_id))
        bring_back(self._disk, held)

    def _archived(self, place: SessionPlace) -> Archived:
        guard = open_guard(self._disk, place.archive)
        try:
            facts, packing = sidecars.read(guard, place.archive.folder, place.versions)
        except SessionCorruptError:
            if self._disk.ident(place.archive.guard) == guard.ident:
                raise
            raise place.missing() from None  # it came back while its sidecar was read
        return Archived(
            Listed(facts, packing.last_seq, packing.last_written),
            packing.archived_at,
            packing.original_size_bytes,
            packing.compressed_size_bytes,
        )


def _session_place(held: Held) -> SessionPlace:
    assert isinstance(held.place, SessionPlace)
    return held.place


def bring_back(disk: Disk, held: Held) -> None:
    """Restore a session if it is archived, and tell the index."""
    _restore(disk, _session_place(held), held.lock_timeout)


def _restore(disk: Disk, place: SessionPlace, timeout: float) -> None:
    if archive.restore(disk, place, timeout):
        mark(disk, place.folder)


def at_home(disk: Disk, place: Place, work: Callable[[], T], timeout: float = _PATIENCE) -> T:
    """Do some work on a session where it is written to; again if it is archived meanwhile."""
    if not isinstance(place, SessionPlace):
        return work()
    for _ in range(_TRIES):
        _restore(disk, place, timeout)
        try:
            return work()
        except SessionNotFoundError:
            standing(disk, place)  # raises the same error if it is really gone
    raise _restless(place.name)


def writing(disk: Disk, held: Held, settings: Settings, work: Callable[[], T]) -> T:
    """Do some work on a log; if that is a session which lies in the archive, restore it first."""
    was_live = False
    for _ in range(_TRIES):
        try:
            return work()
        except SessionNotFoundError:
            if was_live or not isinstance(held.place, SessionPlace):
                raise
            # Raises the same error if there is no such session in the archive either.
            was_live = held.manifest().archived_at is None
            if not was_live:
                _check_allowed(held, settings)
                bring_back(disk, held)
    raise _restless(held.key.id)


def _check_allowed(held: Held, settings: Settings) -> None:
    if not settings.archive.auto_restore:
        raise SessionArchivedError(
            f"The session {held.key.id!r:.200} lies in the archive, where it is only read.",
            advice="`mnemolog restore` brings it back; archive.auto_restore lets a write do so.",
            session_id=held.key.id,
        )


def _restless(session_id: str) -> ConcurrentModificationError:
    return ConcurrentModificationError(
        f"The session {session_id!r:.200} was archived and restored again and again meanwhile.",
        advice="Nothing was written. Try again.",
        session_id=session_id,
    )


def all_listed(disk: Disk, versions: Versions, left_out: Unread | None) -> Iterator[Listed]:
    """All sessions that can be read. An error of the disk that may pass, or that concerns more than
    one of them, is nobody's to pass over in silence."""
    for name in sidecars.session_names(disk):
        place = SessionPlace(name, f"{paths.SESSIONS}/{name}", versions)
        try:
            yield listed(disk, place)
        except SessionNotFoundError:
            continue  # it went meanwhile
        except (SessionError, StorageIOError) as error:
            if left_out is not None:
                left_out(place.folder, error)
            elif isinstance(error, StorageIOError) and not _has_strange_guard(disk, place):
                raise


def _has_strange_guard(disk: Disk, place: SessionPlace) -> bool:
    return any(fs.is_strange(disk, one.guard) for one in (place, place.archive))


def listed(disk: Disk, place: SessionPlace) -> Listed:
    """A session's facts and its last line, wherever it stands."""

    def read(where: Place, guard: File) -> Listed | None:
        if isinstance(where, ArchivePlace):
            facts, packing = sidecars.read(guard, where.folder, where.versions)
            return Listed(facts, packing.last_seq, packing.last_written)
        found = _listed(disk, place, place.manifest(guard))
        # Else its files may have been overwritten while they were read.
        return found if guard_ident(disk, place) == guard.ident else None

    for _ in range(_TRIES):
        listed_now = told(disk, place, read)
        if listed_now is not None:
            return listed_now
    raise _restless(place.name)


def _listed(disk: Disk, place: Place, manifest: Manifest) -> Listed:
    """Look only at the ends of segments: the last that has a line tells."""
    folder = place.guard.rpartition("/")[0]
    for segment in reversed(manifest.segments):
        last = _last_line(disk, f"{folder}/{segment.name}")
        if last is not None:
            return Listed(manifest, last.seq, last.at or last.timestamp)
    return Listed(manifest, 0, None)


def _last_line(disk: Disk, path: str) -> Entry | None:
    """The last line of a segment; who reads the session is told of one that cannot be opened."""
    try:
        return last_line(disk.open(path, "read"))
    except FileNotFoundError:
        return None
    except StorageIOError:
        if fs.is_strange(disk, path):
            return None
        raise


def archived_file(disk: Disk, log: str, name: str) -> bytes:
    """A file that lies beside the segments of an archived session; empty if there is none."""
    place = SessionPlace(log, log)
    try:
        archive = place.archive.chain(open_guard(disk, place.archive)).archive
        assert archive is not None
        (file,) = archive.files(disk, [name])
        return file.read(0, file.size())
    except (FileNotFoundError, KeyError, SessionError, StorageError):
        return b""
