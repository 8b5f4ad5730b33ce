"""Two renames that Python does not offer: swapping two files, and never replacing one.

Each answers False where the system or the file system cannot do it in one step; then there is a way
by steps, on which a crash may leave a file under the ending `OUT`.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from typing import Any

_NOREPLACE, _EXCHANGE = 1, 2  # of renameat2
_SWAP, _EXCL = 2, 4  # of renameatx_np
_CANNOT = {errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}

OUT = ".out"
"""The ending of a file that is taken out for a moment."""

Call = Callable[[int, bytes, int, bytes, int], int]


def _found() -> tuple[Call | None, int, int]:
    """The system's own function, and its flags for swapping and for not replacing."""
    if sys.platform == "win32":
        return None, 0, 0
    name, flags = ("renameat2", (_EXCHANGE, _NOREPLACE))
    if sys.platform == "darwin":
        name, flags = ("renameatx_np", (_SWAP, _EXCL))
    try:
        call: Any = getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, AttributeError):
        return None, 0, 0
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    return call, *flags


_call, _swap, _keep = _found()

Spot = tuple[int, str]
"""An open folder, and a name in it."""


def swapped(one: Spot, other: Spot) -> bool:
    """Swap two files in one step."""
    return _renamed(one, other, _swap)


def placed(source: Spot, target: Spot) -> bool:
    """Give a file another name, in one step, only if nothing goes by that name."""
    return _renamed(source, target, _keep)


def _renamed(one: Spot, other: Spot, flags: int) -> bool:
    if _call is None:
        return False
    if _call(one[0], os.fsencode(one[1]), other[0], os.fsencode(other[1]), flags) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), other[1])


def swap_by_steps(ours: Spot, theirs: Spot) -> None:
    """Take theirs out, put ours in where nothing is, and keep what came out."""
    out = (theirs[0], f"{theirs[1]}{OUT}")
    _rename(theirs, out)
    try:
        place_by_steps(ours, theirs)
    except FileExistsError:
        os.unlink(out[1], dir_fd=out[0])  # replaced by somebody: it would be gone anyway
        raise
    except OSError:
        _rename(out, theirs)
        raise
    _rename(out, ours)


def place_by_steps(source: Spot, target: Spot) -> None:
    """Give a file a second name, which fails if that is taken, and then take the first away."""
    folders = {"src_dir_fd": source[0], "dst_dir_fd": target[0]}
    os.link(source[1], target[1], follow_symlinks=False, **folders)
    os.unlink(source[1], dir_fd=source[0])


def _rename(source: Spot, target: Spot) -> None:
    os.replace(source[1], target[1], src_dir_fd=source[0], dst_dir_fd=target[0])
