"""Which logs there are below a root, and which folders tell no log that can be opened."""

from contextlib import suppress

from mnemolog import fs, paths
from mnemolog.errors import MnemologError, SessionError, StorageIOError
from mnemolog.fs import Disk
from mnemolog.log import manifests, sidecars
from mnemolog.log.places import SessionPlace, facts, guard_ident
from mnemolog.log.scan import Scan
from mnemolog.paths import id_of
from mnemolog.ports import SHARED, LogKey
from mnemolog.stores.files.feed import log_name, place_named


def census(disk: Disk) -> tuple[list[LogKey], list[str]]:
    """Every log, archived ones too, and the folders whose log cannot be told."""
    found: list[LogKey] = []
    strange: list[str] = []
    folders = [f"{paths.SESSIONS}/{name}" for name in sidecars.session_names(disk)]
    folders += [f"{paths.USERS}/{name}" for name in disk.list(paths.USERS)]
    for folder in folders:
        if guard_ident(disk, place_named(folder)) is None:
            continue  # a user without a log
        key = _user(disk, folder) if folder.startswith(paths.USERS) else _session(disk, folder)
        if key is None or log_name(key) != folder:
            strange.append(folder)
        else:
            found.append(key)
    if disk.ident(place_named(paths.SHARED).guard) is not None:
        found.append(SHARED)
    return found, strange


def is_its_own(disk: Disk, folder: str, error: MnemologError) -> bool:
    """Whether an error is one log's own, which must not keep the others; if not, the disk fails."""
    return not isinstance(error, StorageIOError) or _is_strange(disk, folder)


def _is_strange(disk: Disk, folder: str) -> bool:
    """Whether something that is no plain file lies in the place of one of a log's files."""
    status = disk.stat(folder)
    if status is not None and not status.is_folder:
        return True
    place = place_named(folder)
    names = [name for name in disk.list(folder) if manifests.SEGMENT.fullmatch(name)]
    paths_of = [place.guard, place.lock, *(f"{folder}/{name}" for name in names)]
    if isinstance(place, SessionPlace):
        paths_of.append(place.archive.guard)
    return any(fs.is_strange(disk, path) for path in paths_of)


def users(disk: Disk) -> list[str]:
    """The users who have a log of their own."""
    folders = [f"{paths.USERS}/{name}" for name in disk.list(paths.USERS)]
    there = [one for one in folders if guard_ident(disk, place_named(one)) is not None]
    return [key.id for key in (_user(disk, folder) for folder in there) if key is not None]


def _session(disk: Disk, folder: str) -> LogKey | None:
    place = SessionPlace(folder, folder)
    try:
        return LogKey("session", facts(disk, place)[1].session_id)
    except (SessionError, StorageIOError) as error:
        if is_its_own(disk, folder, error):
            return None
        raise


def _user(disk: Disk, folder: str) -> LogKey | None:
    """The name tells the user, unless it is a hash; then a line may."""
    identifier = id_of(folder.rpartition("/")[2])
    if identifier is not None:
        return LogKey("user", identifier)
    with suppress(SessionError):
        for fed in Scan(disk, place_named(folder), None):
            if fed.entry.user_id is not None:
                key = LogKey("user", fed.entry.user_id)
                if log_name(key) == folder:
                    return key
    return None
