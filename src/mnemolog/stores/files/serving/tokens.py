"""The token of a root's owner, which servers on this machine ask for."""

import secrets
import time

from mnemolog import fs
from mnemolog.errors import StorageIOError
from mnemolog.fs.real import RealDisk

TOKEN = "token"
_BYTES = 32
_SHORTEST = 32
_LOOKS = 100
_PAUSE = 0.01


def has_token(root: str) -> bool:
    """Whether a root has a token already."""
    return RealDisk(root).stat(TOKEN) is not None


def owner_token(root: str) -> str:
    """The token of a root, made if there is none; of two that come together, one makes it."""
    disk = RealDisk(root)
    try:
        fs.write_new(disk, TOKEN, secrets.token_hex(_BYTES).encode() + b"\n")
        disk.sync_folder("")
    except FileExistsError:
        pass
    for _ in range(_LOOKS):  # whoever makes it may not have written it yet
        token = fs.read_all(disk, TOKEN).decode("ascii", "replace").strip()
        if len(token) >= _SHORTEST and token.isalnum():
            return token
        time.sleep(_PAUSE)
    raise StorageIOError(
        f"The file {TOKEN!r} in the root holds no token.",
        advice="Remove it; the next start of the server makes another.",
    )
