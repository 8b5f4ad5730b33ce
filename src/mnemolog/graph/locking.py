"""The lock of a user's graph, held for the moment of a write."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mnemolog.fs import Disk
from mnemolog.fs.lock import Lock
from mnemolog.graph import addresses


@contextmanager
def locked(disk: Disk, user_id: str, patience: float) -> Iterator[None]:
    """Hold a user's graph; raises `LockTimeoutError` when somebody else holds it for too long."""
    folder = addresses.user_folder(user_id)
    path = f"{folder}/{addresses.LOCK}"
    deadline = time.monotonic() + patience
    while True:
        lock = _lock(disk, folder, path)
        lock.acquire(deadline)
        if disk.ident(path) == lock.ident:
            break
        lock.release()  # the folder was removed meanwhile, or somebody replaced the file
    try:
        yield
    finally:
        lock.release()


def _lock(disk: Disk, folder: str, path: str) -> Lock:
    with suppress(FileNotFoundError):
        return Lock(disk.open(path, "update"), f"the graph in {folder}")
    disk.mkdir(folder)
    with suppress(FileExistsError):
        disk.open(path, "create")
    return Lock(disk.open(path, "update"), f"the graph in {folder}")
