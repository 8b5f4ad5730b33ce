"""A session's folder: created, changed, split into segments, rewritten, removed.

Every change is durable when its function returns, and leaves after a crash either the state before
it or the state after it.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import MnemologError, SessionCorruptError, taken_session
from mnemolog.fs import Disk
from mnemolog.fs.lock import Lock
from mnemolog.log import intents, manifests, runs, sidecars
from mnemolog.log.places import SessionPlace
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.log.writer import Handle, Writer, without_lock
from mnemolog.model.session import Manifest, Segment

# Work in progress lies beside the sessions under a name that no session can have.
NEW = ".new-"
GONE = ".gone-"
REMOVE = "remove"

_GATE_SECONDS = 5.0

_PASSING = re.compile(f"({re.escape(NEW)}|{re.escape(GONE)})[0-9a-f]+")
# Only what we name so ourselves is ours to remove.
_OURS = re.compile(r"memory(\.g\d+\.\d+)?\.jsonl|[^/]+\.tmp")


def place(session_id: str, versions: Versions = CURRENT) -> SessionPlace:
    """Where a session lies."""
    return SessionPlace(session_id, paths.session_folder(session_id), versions)


def create(disk: Disk, manifest: Manifest) -> None:
    """Make the folder under another name, then rename it into being."""
    target = paths.session_folder(manifest.session_id)
    first = Segment(manifests.FIRST_SEGMENT)
    manifest = msgspec.structs.replace(manifest, segments=(first,))
    fresh = f"{paths.SESSIONS}/{NEW}{os.urandom(8).hex()}"
    try:
        disk.mkdir(fresh)
        fs.write_new(disk, f"{fresh}/{manifests.NAME}", manifests.render(manifest))
        disk.open(f"{fresh}/{first.name}", "create")
        disk.open(f"{fresh}/{paths.LOCK}", "create")
        disk.sync_folder(fresh)
        bring_into_being(disk, fresh, target)
    except FileExistsError:
        fs.remove_folder(disk, fresh)
        raise taken_session(manifest.session_id) from None
    except MnemologError:  # as on a full disk: whoever tries again must not fill it up
        with suppress(MnemologError):
            fs.remove_folder(disk, fresh)
        raise
    disk.sync_folder(paths.SESSIONS)


def bring_into_being(disk: Disk, fresh: str, target: str) -> None:
    """Rename a folder to its name, unless a session of that name is there, or in the archive."""
    with sidecars.gate(disk, _GATE_SECONDS):
        if disk.ident(sidecars.path_of(target.rpartition("/")[2])) is not None:
            raise FileExistsError(target)
        disk.rename(fresh, target)


def change(
    disk: Disk, writer: Writer, place: SessionPlace, edit: Callable[[Manifest], Manifest]
) -> Manifest:
    """Read, change and swap the manifest under the lock."""
    with writer.locked() as handle:
        before = writable(place, handle)
        after = edit(before)
        if after != before:
            manifests.swap(disk, place.folder, place.versions.stamped(after))
        return after


def writable(place: SessionPlace, handle: Handle) -> Manifest:
    """The manifest under the lock, unless a newer mnemolog wrote it."""
    if handle.guard is None:
        raise SessionCorruptError(f"The session {place.name!r:.200} has no manifest.")
    manifest = place.manifest(handle.guard)
    handle.check_format()
    return manifest


def raise_version(disk: Disk, place: SessionPlace, handle: Handle) -> None:
    """Say in the manifest that lines of today's version follow; under the lock, before the first.

    Or a program of an earlier version, which looks at the last segment only, could write there.
    """
    manifest = writable(place, handle)
    manifests.swap(disk, place.folder, place.versions.stamped(manifest))
    handle.follow()


def begin_segment(disk: Disk, place: SessionPlace, handle: Handle) -> None:
    """Seal the active segment and begin the next one; under the lock."""
    manifest = writable(place, handle)
    tail = handle.tail
    handle.active.sync()
    manifest = place.versions.stamped(manifest)
    after = manifests.next_segment(manifest, tail.size, tail.seq + 1)
    path = f"{place.folder}/{after.segments[-1].name}"
    disk.unlink(path)  # left by a crash before the manifest named it
    disk.open(path, "create")
    disk.sync_folder(place.folder)
    manifests.swap(disk, place.folder, after)
    handle.follow()


def rewrite(
    disk: Disk,
    writer: Writer,
    place: SessionPlace,
    lines: Callable[[Handle], list[tuple[int, bytes]]],
    *,
    operation: str,
    since: str,
    edit: Callable[[Manifest], Manifest] = lambda manifest: manifest,
    swapped: Callable[[], None] = lambda: None,
) -> Manifest:
    """Write a new generation that holds the given (seq, line) pairs, swap it in, drop the old one.

    `lines` and `edit`, which may change other facts, run under the lock before the swap, `swapped`
    after it, while the old files are still there. Numbers go on where the old generation stopped.
    """
    with writer.locked() as handle:
        handle.lock.sign(operation, since)
        try:
            before = writable(place, handle)
            after = _next_generation(disk, place, before, lines(handle), handle.tail.seq + 1)
            after = place.versions.stamped(edit(after))
            manifests.swap(disk, place.folder, after)
            swapped()
            drop_orphans(disk, place, after)
        finally:
            handle.lock.unsign()
        return after


def drop_orphans(disk: Disk, place: SessionPlace, manifest: Manifest) -> None:
    """Remove what a rewrite left behind, or would have if it had not been interrupted."""
    for name in filter(is_ours, orphans(disk, place, manifest)):
        disk.unlink(f"{place.folder}/{name}")
    disk.sync_folder(place.folder)


def is_ours(name: str) -> bool:
    """Whether a file in a session's folder is named as only we name one."""
    return _OURS.fullmatch(name) is not None


def orphans(disk: Disk, place: SessionPlace, manifest: Manifest) -> list[str]:
    """The files of a session that its manifest does not name: left by a crash, or by a rewrite."""
    known = {segment.name for segment in manifest.segments}
    known |= {manifests.NAME, paths.LOCK, paths.ACCESS, runs.FOLDER}
    return [name for name in disk.list(place.folder) if name not in known]


def _next_generation(
    disk: Disk, place: SessionPlace, before: Manifest, kept: list[tuple[int, bytes]], next_seq: int
) -> Manifest:
    generation = before.generation + 1
    first = kept[0][0] if kept else next_seq
    content = b"".join(line for _, line in kept)
    sealed = Segment(manifests.segment_name(generation, 1), first, len(content))
    active = Segment(manifests.segment_name(generation, 2), next_seq)
    for segment, text in ((sealed, content), (active, b"")):
        path = f"{place.folder}/{segment.name}"
        disk.unlink(path)
        fs.write_new(disk, path, text)
    disk.sync_folder(place.folder)
    return msgspec.structs.replace(before, generation=generation, segments=(sealed, active))


@contextmanager
def locked(disk: Disk, place: SessionPlace, timeout: float) -> Iterator[None]:
    """Hold a session's checked lock; unlike a writer's, this needs no manifest and no segment."""
    deadline = monotonic() + timeout
    while True:
        lock = Lock(disk.open(place.lock, "update"), place.name)
        lock.acquire(deadline)
        if disk.ident(place.lock) == lock.ident:
            break
        lock.release()
    try:
        yield
    finally:
        lock.release()


def remove(
    disk: Disk,
    writer: Writer,
    place: SessionPlace,
    fields: intents.Fields,
    rest: Callable[[intents.Fields], None],
) -> None:
    """Rename a session's folder out of being, then overwrite and remove its files at leisure.

    `rest` does what remains to be done elsewhere, knowing `fields`, also after a crash.

    Only the holder of the checked lock may do so: a writer that waits for the lock meanwhile finds
    its path gone, and does not write into a file that nobody will read.
    """
    gone = f"{paths.SESSIONS}/{GONE}{os.urandom(8).hex()}"
    is_away = False

    def has_begun() -> bool:
        return is_away or disk.ident(gone) is not None

    with intents.noted(disk, {"operation": REMOVE, "folder": gone, **fields}, has_begun):
        _move_away(disk, writer, place, gone)
        is_away = True
        fs.remove_folder(disk, gone, is_private=True)
        disk.sync_folder(paths.SESSIONS)
        rest(fields)
    writer.forget()


def _move_away(disk: Disk, writer: Writer, place: SessionPlace, gone: str) -> None:
    """Also what can be neither read nor written any more: it must be possible to be rid of it."""
    try:
        with locked(disk, place, writer.timeout):
            sidecars.discard(disk, place.archive.folder)  # or a crash's leftover would count now
            disk.rename(place.folder, gone)
            disk.sync_folder(paths.SESSIONS)
    except FileNotFoundError:
        raise without_lock(disk, place) from None


def finish(disk: Disk, fields: intents.Fields) -> bool:
    """Finish a removal that a crash interrupted; False if the intent is not one.

    What was on its way in when the crash came goes too: nobody was told that it is there.
    """
    room, _, name = str(fields.get("folder", "")).partition("/")
    if fields.get("operation") != REMOVE or room != paths.SESSIONS or not _PASSING.fullmatch(name):
        return False
    disk.sync_folder(paths.SESSIONS)  # or a power loss brings back a name without its files
    fs.remove_folder(disk, f"{room}/{name}", is_private=True)
    disk.sync_folder(paths.SESSIONS)
    return True
