"""Damaged lines are copied aside, so that their bytes are kept whatever happens to the log."""

from hashlib import sha256

from mnemolog import fs
from mnemolog.errors import StorageError
from mnemolog.fs import Disk
from mnemolog.model.entry import Damage
from mnemolog.paths import QUARANTINE, file_name


def path_of(log: str, damage: Damage, content: bytes) -> str:
    """Where damaged bytes are kept."""
    mark = sha256(content).hexdigest()[:16]
    return f"{QUARANTINE}/{file_name(log)[:120]}.{damage.segment}.{damage.offset}.{mark}"


def files(disk: Disk, log: str) -> list[str]:
    """Every copy that was made for a log."""
    start = f"{file_name(log)[:120]}."
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
