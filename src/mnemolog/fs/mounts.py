"""What a path lies on, and whether it lies below another."""

import os
import re
import shutil
from typing import NamedTuple


class FileSystem(NamedTuple):
    """What a path lies on; `kind` is empty where the system does not tell."""

    kind: str
    total_bytes: int


def file_system(path: str, mounts: str = "/proc/self/mountinfo") -> FileSystem:
    """The file system under a path: the one that is mounted nearest to it."""
    total = shutil.disk_usage(path).total
    try:
        with open(mounts, "rb") as table:
            rows = [row.split(b" ") for row in table.read().splitlines()]
    except OSError:
        return FileSystem("", total)
    real = os.fsencode(os.path.realpath(path))
    found = [(_unescaped(row[4]), row[row.index(b"-") + 1]) for row in rows if b"-" in row]
    above = [(point, kind) for point, kind in found if _is_below(real, point)]
    # Of two mounted on the same point, the later one is on top.
    kind = max(reversed(above), key=lambda one: len(one[0]), default=(b"", b""))[1]
    return FileSystem(kind.decode("ascii", "replace"), total)


def lies_below(path: str, folder: str) -> bool:
    """Whether a path leads into a folder or to it, links on the way followed."""
    return _is_below(*(os.fsencode(os.path.realpath(one)) for one in (path, folder)))


def _unescaped(point: bytes) -> bytes:
    """The mount table writes blanks and backslashes as three octal digits."""
    return re.sub(rb"\\([0-7]{3})", lambda match: bytes([int(match[1], 8) & 255]), point)


def _is_below(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
