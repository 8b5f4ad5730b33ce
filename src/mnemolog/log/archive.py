"""A whole session goes into the archive, and comes back.

Archiving, under the session's checked lock: the tar is written and synced, read back and compared
with the segments; then its sidecar is renamed into being, which is when the session is archived;
then the session's folder is renamed away and its bytes are overwritten. Restoring is the reverse: a
fresh folder is filled and checked beside the sessions, renamed into being, and the archive goes.

The folder wins wherever both are there. An intent names the session and the folder that is on its
way in or out, so that whoever opens the root after a crash brings it to the one end or the other.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256

from mnemolog import fs, paths
from mnemolog.errors import (
    CorruptionError,
    LockTimeoutError,
    SessionCorruptError,
    SessionError,
    StorageError,
)
from mnemolog.fs import Disk, File
from mnemolog.log import intents, packing, runs, sessions, sidecars
from mnemolog.log.places import SessionPlace
from mnemolog.log.writer import Writer
from mnemolog.model.session import Manifest
from mnemolog.ports import Progress

ARCHIVE = "archive"
RESTORE = "restore"
DISCARD = "discard"

_NAME = re.compile("[a-z0-9_%-]+")
_FOLDER = re.compile(re.escape(f"{paths.SESSIONS}/.") + "(new|gone)-[0-9a-f]+")
# Whoever opens a root does not wait for those who work in it: the intent will be there again.
_GLANCE = 0.05


def archive(
    disk: Disk, place: SessionPlace, timeout: float, now: str, progress: Progress | None = None
) -> None:
    """Move a session into the archive; raises `SessionNotFoundError` if it has no folder."""
    gone = f"{paths.SESSIONS}/{sessions.GONE}{os.urandom(8).hex()}"
    with Writer(disk, place, timeout).locked() as handle:
        manifest = sessions.writable(place, handle)
        _refuse_strangers(disk, place, manifest)
        handle.lock.sign(ARCHIVE, now)
        try:
            with intents.noted(disk, _fields(ARCHIVE, place, gone)):
                packing.pack(disk, place, handle, now, progress)
                with sidecars.gate(disk, timeout):
                    disk.rename(sidecars.unborn(place.archive.folder), place.archive.guard)
                    disk.sync_folder(paths.ARCHIVE)
                    _move_away(disk, place, gone)
                _remove_folder(disk, gone)
        finally:
            handle.lock.unsign()


def _fields(operation: str, place: SessionPlace, folder: str) -> intents.Fields:
    return {"operation": operation, "name": place.archive.folder, "folder": folder}


def _refuse_strangers(disk: Disk, place: SessionPlace, manifest: Manifest) -> None:
    """What somebody put beside the segments would be lost, and so would a run that goes on."""
    beside = sessions.orphans(disk, place, manifest)
    strangers = [name for name in beside if not sessions.is_ours(name)]
    there = disk.list(runs.folder_of(place))
    strangers += [f"{runs.FOLDER}/{name}" for name in there if not name.endswith(runs.PASSING)]
    if strangers:
        raise SessionCorruptError(
            f"{place.folder}/{strangers[0]} is not part of the session's log: it would be lost.",
            advice="End the run, or move the file elsewhere; then archive the session.",
            session_id=place.name,
        )


def _move_away(disk: Disk, place: SessionPlace, gone: str) -> None:
    disk.rename(place.folder, gone)
    disk.sync_folder(paths.SESSIONS)


def _remove_folder(disk: Disk, folder: str) -> None:
    fs.remove_folder(disk, folder, is_private=True)
    disk.sync_folder(paths.SESSIONS)


def restore(disk: Disk, place: SessionPlace, timeout: float) -> bool:
    """Bring a session back; False if it is not archived, or somebody else has just done it."""
    with _owned(disk, place, timeout) as guard:
        if guard is None or disk.ident(place.folder) is not None:
            return False
        fresh = f"{paths.SESSIONS}/{sessions.NEW}{os.urandom(8).hex()}"
        with intents.noted(disk, _fields(RESTORE, place, fresh)):
            lock = _unpack(disk, place, fresh)
            try:
                disk.rename(fresh, place.folder)
                disk.sync_folder(paths.SESSIONS)
                # Its lock is held: nobody archives the session anew before this archive is gone.
                sidecars.discard(disk, place.archive.folder)
            finally:
                lock.unlock()
    return True


def _unpack(disk: Disk, place: SessionPlace, fresh: str) -> File:
    with ExitStack() as undone:
        undone.callback(_give_up, disk, fresh)
        sidecar, found = packing.opened(disk, place, place.archive.guard)
        lock = packing.unpack(disk, sidecar, found, fresh)
        undone.pop_all()
    return lock


def _give_up(disk: Disk, fresh: str) -> None:
    with suppress(StorageError):
        _remove_folder(disk, fresh)


def remove(
    disk: Disk,
    place: SessionPlace,
    timeout: float,
    fields: intents.Fields,
    rest: Callable[[intents.Fields], None],
) -> bool:
    """Delete an archived session; False if it is not archived, or not only.

    `rest` does what remains to be done elsewhere, knowing `fields`, also after a crash.
    """
    with _owned(disk, place, timeout) as guard:
        if guard is None or disk.ident(place.folder) is not None:
            return False
        known = {"sidecar": _sum(guard), **_fields(DISCARD, place, "")}
        with intents.noted(disk, {**known, **fields}):
            _discard(disk, place, timeout)
            rest(fields)
    return True


def finish_removal(disk: Disk, fields: intents.Fields) -> bool:
    """Finish the deletion of an archived session; False if the intent is none, or it came back."""
    name = str(fields.get("name", ""))
    if fields.get("operation") != DISCARD or not _NAME.fullmatch(name):
        return False
    place = SessionPlace(name, f"{paths.SESSIONS}/{name}")
    disk.sync_folder(paths.ARCHIVE)
    try:
        with _owned(disk, place, _GLANCE) as guard:
            is_another = guard is not None and _sum(guard) != fields.get("sidecar")
            if is_another or disk.ident(place.folder) is not None:
                return False
            _discard(disk, place, _GLANCE)
    except LockTimeoutError:
        return False
    return True


def _sum(guard: File) -> str:
    return sha256(guard.read(0, guard.size())).hexdigest()


def _discard(disk: Disk, place: SessionPlace, timeout: float) -> None:
    with sidecars.gate(disk, timeout):
        if disk.ident(place.folder) is None:
            sidecars.discard(disk, place.archive.folder)


@contextmanager
def _owned(disk: Disk, place: SessionPlace, timeout: float) -> Iterator[File | None]:
    """The sidecar, locked: nobody else restores or deletes what it stands for. None without one."""
    guard = _lock(disk, place, timeout)
    try:
        yield guard
    finally:
        if guard is not None:
            guard.unlock()


def _lock(disk: Disk, place: SessionPlace, timeout: float) -> File | None:
    while True:
        try:
            guard = disk.open(place.archive.guard, "update")
        except FileNotFoundError:
            return None
        sidecars.lock(guard, f"the archive of {place.name!r:.200}", timeout)
        if disk.ident(place.archive.guard) == guard.ident:
            return guard
        guard.unlock()  # the session was restored meanwhile, and maybe archived again


def finish(disk: Disk, fields: intents.Fields) -> bool:
    """Bring what a crash interrupted to an end; False if the intent is none of these, or not yet.

    Whatever came of the session since, nothing is lost: a folder goes only if it holds exactly what
    the archive holds, and an archive only if there is a folder, or if it never counted.
    """
    operation, name, folder = (str(fields.get(one, "")) for one in ("operation", "name", "folder"))
    is_moving = operation in (ARCHIVE, RESTORE) and _FOLDER.fullmatch(folder)
    if not (is_moving or operation == DISCARD) or not _NAME.fullmatch(name):
        return False
    for room in (paths.SESSIONS, paths.ARCHIVE):
        disk.mkdir(room)
        disk.sync_folder(room)  # or a power loss brings back a name without its files
    if is_moving:
        _remove_folder(disk, folder)
    place = SessionPlace(name, f"{paths.SESSIONS}/{name}")
    try:
        if disk.ident(place.folder) is not None:
            _settle(disk, place, operation, folder)
        elif disk.ident(place.archive.guard) is None:
            _discard(disk, place, _GLANCE)  # left of an archive that does not count any more
    except (LockTimeoutError, SessionError, CorruptionError):
        return False  # somebody works on it, or it is for the doctor
    return True


def _settle(disk: Disk, place: SessionPlace, operation: str, gone: str) -> None:
    """Of a session that is in both places, the one goes that nobody needs."""
    with Writer(disk, place, _GLANCE).locked():
        if operation == ARCHIVE and _is_archived(disk, place):
            _move_away(disk, place, gone)
            _remove_folder(disk, gone)
        else:
            sidecars.discard(disk, place.archive.folder)


def _is_archived(disk: Disk, place: SessionPlace) -> bool:
    """Whether a whole archive holds all that the folder holds."""
    try:
        sidecar, found = packing.opened(disk, place, place.archive.guard)
        packing.check(disk, sidecar, found)
        return packing.is_of(disk, place, sidecar.packing)
    except (FileNotFoundError, SessionError, StorageError):
        return False
