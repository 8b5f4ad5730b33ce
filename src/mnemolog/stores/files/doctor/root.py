"""The doctor's look at a root as a whole: what it lies on, its modes, what crashes left behind."""

import json
import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from mnemolog import fs, paths
from mnemolog.errors import ConcurrentModificationError, SettingsError, StorageError
from mnemolog.fs import Disk, Stat
from mnemolog.graph import plans
from mnemolog.log import intents, sessions
from mnemolog.stores.files import IGNORE, keeper, read_settings
from mnemolog.stores.files.doctor.findings import Case, case, shown

LEAST_FREE_BYTES = 100 * 1024 * 1024
LEAST_FREE_SHARE = 0.05

# What is younger may still be in the hands of its maker; making takes milliseconds.
SETTLED_NS = 60 * 1_000_000_000

_NETWORK = frozenset(
    "9p afpfs afs beegfs ceph cifs davfs drvfs glusterfs lustre ncpfs nfs nfs4 prl_fs smb2 smb3"
    " smbfs vboxsf vmhgfs webdav".split()
)
# Local disks are mounted by FUSE too; everything else that is comes from far away.
_LOCAL_FUSE = frozenset(
    "fuse.ntfs fuse.ntfs-3g fuse.exfat fuse.ext2 fuse.fuse-overlayfs fuse.bindfs fuse.lxcfs"
    " fuse.gocryptfs fuse.encfs fuse.cryfs fuse.mergerfs".split()
)
_SYNCED = re.compile(
    r"dropbox( \(.*\))?|onedrive( - .*|-.*)?|icloud ?drive|icloud~.*|mobile documents|cloudstorage"
    r"|google ?drive( .*|-.*)?|my drive|pcloud ?drive|nextcloud|owncloud|mega(sync)?|box( sync)?"
    r"|syncthing|proton ?drive",
    re.IGNORECASE,
)


class Around(NamedTuple):
    """What a root lies on: its full path, the kind of file system, the size of that."""

    root: str
    kind: str
    total_bytes: int


def check_settings(disk: Disk) -> Iterator[Case]:
    """Whether the settings can be used: else the other checks go by the defaults."""
    try:
        read_settings(disk, {})
    except (SettingsError, StorageError) as error:
        yield case("settings_unusable", "config.toml", f"the settings cannot be used: {error}")


def check_root(disk: Disk, around: Around | None) -> Iterator[Case]:
    """The checks that look at no single file."""
    if disk.stat(paths.SESSIONS) is None:
        yield case("root_bare", "", "there is no folder `sessions`: nothing was stored here yet")
    if disk.stat(".gitignore") is None:
        what = "there is no .gitignore, so memory could be committed"
        yield case("gitignore_missing", ".gitignore", what, partial(_write_ignore, disk))
    if around is not None:
        yield from _check_surroundings(disk, around)


def _write_ignore(disk: Disk) -> str:
    with suppress(FileExistsError):
        fs.write_new(disk, ".gitignore", IGNORE)
    disk.sync_folder("")
    return "written"


def _check_surroundings(disk: Disk, around: Around) -> Iterator[Case]:
    free = disk.free_bytes()
    if free < max(LEAST_FREE_BYTES, LEAST_FREE_SHARE * around.total_bytes):
        share = free / around.total_bytes if around.total_bytes else 0
        yield case("space_low", "", f"only {free / 1e6:,.0f} MB ({share:.1%}) are free")
    if is_network(around.kind):
        yield case("network_disk", "", f"the root lies on a network file system ({around.kind})")
    folder = synced_by(around.root)
    if folder:
        yield case("sync_folder", "", f"the root lies in the synced folder {shown(folder)!r}")


def is_network(kind: str) -> bool:
    """Whether a kind of file system keeps its files on another machine."""
    return kind in _NETWORK or (kind.startswith("fuse.") and kind not in _LOCAL_FUSE)


def synced_by(path: str) -> str | None:
    """The folder on the way to a path that a syncing program looks after, by its name."""
    return next((part for part in path.split(os.sep) if _SYNCED.fullmatch(part)), None)


def check_files(disk: Disk, now_ns: int, folder: str = "") -> Iterator[Case]:
    """Modes, links, names and temporary files of a folder and everywhere below it."""
    try:
        status = disk.stat(folder)
        names = disk.list(folder)
    except StorageError as error:
        yield case("unreadable", folder, error.message)
        return
    if status is not None:
        yield from _check_mode(disk, folder, status)
    yield from _check_twins(folder, names)
    for name in names:
        path = f"{folder}/{name}".removeprefix("/")
        found = disk.stat(path)
        if found is None:
            continue
        if found.is_folder:
            yield from check_files(disk, now_ns, path)
        else:
            yield from _check_file(disk, path, found, now_ns)


def _check_file(disk: Disk, path: str, status: Stat, now_ns: int) -> Iterator[Case]:
    if status.is_link:
        yield case("link", path, "it is a symbolic link")
        return
    yield from _check_mode(disk, path, status)
    if _is_temporary(path) and now_ns - status.mtime_ns >= SETTLED_NS:
        mend = partial(_remove_file, disk, path)
        yield case("temporary", path, "a temporary file was left behind", mend)


def _is_temporary(path: str) -> bool:
    """Those of a session are its orphans: they are looked at, and removed, under its lock."""
    return path.endswith(".tmp") and not path.startswith(f"{paths.SESSIONS}/")


def _check_mode(disk: Disk, path: str, status: Stat) -> Iterator[Case]:
    wanted = fs.FOLDER_MODE if status.is_folder else fs.FILE_MODE
    if os.name != "posix" or not status.mode & ~wanted:
        return
    kind = "folder" if status.is_folder else "file"
    what = f"the {kind} has mode {status.mode:04o}; memory is private: {wanted:04o}"
    yield case("mode_loose", path, what, partial(_tighten, disk, path, status.mode & wanted))


def _tighten(disk: Disk, path: str, mode: int) -> str:
    disk.chmod(path, mode)
    return f"mode {mode:04o} now"


def _check_twins(folder: str, names: list[str]) -> Iterator[Case]:
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(unicodedata.normalize("NFC", name).casefold(), name)
        if other != name:
            what = f"its name differs from {shown(other)!r} only in case or in form"
            yield case("twin", f"{folder}/{name}".removeprefix("/"), what)


def _remove_file(disk: Disk, path: str) -> str:
    disk.unlink(path)
    disk.sync_folder(path.rpartition("/")[0])
    return "removed"


def check_intents(disk: Disk) -> Iterator[Case]:
    """Work that a crash interrupted; what somebody is working on now is left alone."""
    for path, content in _intents(disk):
        if content.endswith(b"\n") and _is_free(disk, path):
            what = f"unfinished work: {_operation(content)}"
            yield case("intent_open", path, what, partial(_finish, disk, path))


def _intents(disk: Disk) -> Iterator[tuple[str, bytes]]:
    for name in disk.list(paths.INTENTS):
        path = f"{paths.INTENTS}/{name}"
        if name.endswith(".json") and not name.startswith(plans.PREFIX):
            with suppress(FileNotFoundError):
                yield path, fs.read_all(disk, path)


def _is_free(disk: Disk, path: str) -> bool:
    with suppress(FileNotFoundError):
        file = disk.open(path, "update")
        if file.try_lock():
            file.unlock()
            return True
    return False


def _operation(content: bytes) -> str:
    try:
        return str(json.loads(content).get("operation", "of an unknown kind"))
    except (ValueError, AttributeError):
        return "of an unknown kind"


def _finish(disk: Disk, path: str) -> str:
    if intents.finish_one(disk, path, lambda fields: keeper.finish(disk, fields)):
        return "finished"
    if disk.ident(path) is None:
        return "it was finished already"
    raise ConcurrentModificationError("somebody works on it, or only a later mnemolog knows how")


def check_leftovers(disk: Disk, now_ns: int) -> Iterator[Case]:
    """Folders of sessions that were being made or removed when something crashed."""
    for name in disk.list(paths.SESSIONS):
        path = f"{paths.SESSIONS}/{name}"
        status = disk.stat(path)
        if status is None or not name.startswith((sessions.NEW, sessions.GONE)):
            continue
        if name.startswith(sessions.GONE):
            if not _is_being_removed(disk, path):
                what = "a deleted session is not gone completely"
                yield case("leftover", path, what, partial(_remove_folder, disk, path))
        elif now_ns - status.mtime_ns >= SETTLED_NS:
            yield _unborn(disk, path)


def _is_being_removed(disk: Disk, path: str) -> bool:
    name = path.encode()
    return any(name in content and not _is_free(disk, intent) for intent, content in _intents(disk))


def _unborn(disk: Disk, path: str) -> Case:
    sizes = {name: disk.stat(f"{path}/{name}") for name in disk.list(path)}
    if any(name.endswith(".jsonl") and found and found.size for name, found in sizes.items()):
        return case("leftover_lines", path, "a session that was never finished has lines in it")
    what = "a session's folder was never finished"
    return case("leftover", path, what, partial(_remove_folder, disk, path))


def _remove_folder(disk: Disk, path: str) -> str:
    fs.remove_folder(disk, path, is_private=True)
    disk.sync_folder(paths.SESSIONS)
    return "removed"
