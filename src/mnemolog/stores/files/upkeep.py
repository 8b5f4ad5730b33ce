"""What maintaining a root needs: the size of each session, and that only one does it at a time."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mnemolog import paths
from mnemolog.errors import SessionError, SessionNotFoundError, StorageIOError
from mnemolog.fs import Disk, File
from mnemolog.log.places import SessionPlace, open_guard
from mnemolog.ports import Unread

LEASES = "leases"


def sizes(disk: Disk, left_out: Unread) -> Iterator[tuple[str, int]]:
    """How many bytes the log of each session takes, by looking at no line; archived ones not."""
    for name in disk.list(paths.SESSIONS):
        place = SessionPlace(name, f"{paths.SESSIONS}/{name}")
        if name.startswith("."):
            continue
        try:
            yield _size(disk, place)
        except SessionNotFoundError:
            continue  # it went meanwhile
        except (SessionError, StorageIOError) as error:
            left_out(place.folder, error)


def _size(disk: Disk, place: SessionPlace) -> tuple[str, int]:
    guard = open_guard(disk, place)
    session_id, chain = place.manifest(guard).session_id, place.chain(guard)
    found = disk.stat(chain.path(chain.active))
    return session_id, chain.sealed_bytes + (found.size if found else 0)


@contextmanager
def lease(disk: Disk, name: str) -> Iterator[bool]:
    """Hold a piece of work; False inside if somebody else does. It ends with its holder."""
    file = taken(disk, name)
    try:
        yield file is not None
    finally:
        if file is not None:
            file.unlock()


def taken(disk: Disk, name: str) -> File | None:
    """A lease that is held until it is unlocked or its holder ends; None if somebody has it."""
    file = _opened(disk, f"{LEASES}/{name}")
    return file if file.try_lock() else None


def _opened(disk: Disk, path: str) -> File:
    """The file stays: whoever replaced it would hold a lease of their own."""
    disk.mkdir(LEASES)
    with suppress(FileNotFoundError):
        return disk.open(path, "update")
    try:
        return disk.open(path, "create")
    except FileExistsError:
        return disk.open(path, "update")
