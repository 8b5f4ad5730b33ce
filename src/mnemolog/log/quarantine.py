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
    return f"{QUARANTINE}/{_short(log)}.{damage.segment}.{damage.offset}.{_mark(content)}"


def is_whole(path: str, content: bytes) -> bool:
    """Whether this is what a copy of that name was made of, and not what a crash left of it."""
    return path.endswith(f".{_mark(content)}")


def _mark(content: bytes) -> str:
    return sha256(content).hexdigest()[:16]


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


def keep(disk: Disk, log: str, damage: Damage, content: bytes, *, is_leaving: bool = False) -> bool:
    """Copy damaged bytes aside once; False if the disk would not have it.

    Before they leave the log, a copy that is there already is synced as well: whoever made it may
    have been killed before that.
    """
    path = path_of(log, damage, content)
    try:
        if not is_kept(disk, path, content):
            disk.mkdir(QUARANTINE)
            disk.unlink(path)  # a crash cut the copy short
            fs.write_new(disk, path, content)
        elif is_leaving:
            disk.open(path, "update").sync()
        else:
            return True
        disk.sync_folder(QUARANTINE)
    except (FileExistsError, FileNotFoundError, StorageError):
        return is_kept(disk, path, content)
    return True


def is_kept(disk: Disk, path: str, content: bytes) -> bool:
    """Whether a copy holds all of the damaged bytes."""
    try:
        return fs.read_all(disk, path) == content
    except (FileNotFoundError, StorageError):
        return False
