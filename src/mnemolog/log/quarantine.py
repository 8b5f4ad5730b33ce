"""Damaged lines are copied aside, so that their bytes are kept whatever happens to the log."""

from hashlib import sha256

from mnemolog import fs
from mnemolog.errors import StorageError
from mnemolog.fs import Disk
from mnemolog.model.entry import Damage
from mnemolog.paths import QUARANTINE, file_name

_LONGEST = 120


def path_of(log: str, damage: Damage, content: bytes) -> str:
    """Where damaged bytes are kept."""
    mark = sha256(content).hexdigest()[:16]
    return f"{QUARANTINE}/{_short(log)}.{damage.segment}.{damage.offset}.{mark}"


def name_of(kind: str, identifier: str) -> str:
    """What the copies of a log go by: a session's id; the others begin with what no id can have."""
    return identifier if kind == "session" else f"\0{kind}{identifier}"


def _short(log: str) -> str:
    """A name that leaves room for what comes after it, and is still nobody else's."""
    name = file_name(log)
    return (
        name if len(name) <= _LONGEST else f"{name[:90]}%x{sha256(name.encode()).hexdigest()[:24]}"
    )


def files(disk: Disk, log: str) -> list[str]:
    """Every copy that was made for a log."""
    start = f"{_short(log)}."
    return [f"{QUARANTINE}/{name}" for name in disk.list(QUARANTINE) if name.startswith(start)]


def keep(disk: Disk, log: str, damage: Damage, content: bytes) -> bool:
    """Copy damaged bytes aside once; False if the disk would not have it."""
    path = path_of(log, damage, content)
    found = disk.stat(path)
    if found is not None and found.size == len(content):
        return True
    try:
        disk.mkdir(QUARANTINE)
        disk.unlink(path)  # a crash cut the copy short
        fs.write_new(disk, path, content)
        disk.sync_folder(QUARANTINE)
    except (FileExistsError, StorageError):
        return disk.stat(path) is not None
    return True
