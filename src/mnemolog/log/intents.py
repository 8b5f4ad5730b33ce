"""Work that must be finished even after a crash, noted durably before it begins.

An intent is a small file that holds names and ids only, never content. Whoever works on it keeps it
locked; one that nobody has locked was left by a crash, and whoever opens the root next finishes it.
A reserve of 64 KiB is kept so that an intent can be noted on a full disk too.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

from mnemolog import fs
from mnemolog.errors import MnemologError, StorageFullError
from mnemolog.fs import Disk, File
from mnemolog.paths import INTENTS, RESERVE

RESERVED_BYTES = 64 * 1024
_VERSION = 1

Fields = Mapping[str, str | list[str]]
Work = Callable[[Fields], bool]
"""Finishes what an intent says, or answers False if it knows none of it; such an intent stays."""


def reserve(disk: Disk) -> None:
    """Set the reserve aside, unless it is there already or the disk has no room for it."""
    found = disk.stat(RESERVE)
    if found is not None and found.size >= RESERVED_BYTES:
        return
    try:
        disk.unlink(RESERVE)  # a crash left it short
        fs.write_new(disk, RESERVE, b"\n" * RESERVED_BYTES)
    except (FileExistsError, StorageFullError):
        return
    disk.sync_folder(INTENTS)


@contextmanager
def noted(
    disk: Disk, fields: Fields, has_begun: Callable[[], bool] = lambda: True
) -> Iterator[None]:
    """Note an intent durably, do the work inside the block, and strike the intent out after it.

    If the work raises, the intent stays, and is finished when the root is opened the next time;
    unless it had not begun, as when a lock was not to be had.
    """
    try:
        path, file = _note(disk, fields)
    except StorageFullError:
        spend_reserve(disk)
        path, file = _note(disk, fields)
    with ExitStack() as undone:
        undone.callback(file.unlock)
        try:
            yield
        except MnemologError:
            if not has_begun():
                _strike(disk, path)
            raise
        undone.pop_all()
    _strike(disk, path)
    reserve(disk)


def finish(disk: Disk, work: Work) -> int:
    """Finish every intent that a crash left behind; says how many there were.

    One that cannot be finished now waits, for room, for quiet, or for its session to be mended: the
    root opens all the same, and the doctor tells what stands in the way.
    """
    left = [name for name in disk.list(INTENTS) if name.endswith(".json")]
    done = 0
    for name in left:
        with suppress(MnemologError):
            done += finish_one(disk, f"{INTENTS}/{name}", work)
    return done


def finish_one(disk: Disk, path: str, work: Work) -> bool:
    """Finish an intent; False if somebody works on it, or it is gone, or of a later version."""
    try:
        file = disk.open(path, "update")
    except FileNotFoundError:
        return False
    if not file.try_lock():
        return False
    # Whoever noted it may have been killed before it was durable; the work must not outlive it.
    file.sync()
    disk.sync_folder(INTENTS)
    try:
        content = file.read(0, file.size())
        is_done = _is_torn(content) or _worked(content, work)
        if is_done:
            _strike(disk, path)
    finally:
        file.unlock()
    return is_done


def _is_torn(content: bytes) -> bool:
    """Whether a crash came while it was noted: no work had begun."""
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return True
    return False


def _worked(content: bytes, work: Work) -> bool:
    fields = json.loads(content)
    is_ours = isinstance(fields, dict) and fields.pop("v", None) == _VERSION
    return is_ours and all(map(_is_plain, fields.values())) and work(fields)


def _is_plain(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(one, str) for one in value)
    )


def spend_reserve(disk: Disk) -> None:
    """Give the reserve back to a full disk, so that what must be done can be; it comes back."""
    disk.unlink(RESERVE)


def _begin(disk: Disk) -> tuple[str, File]:
    """A new file, locked: whoever opens the root may take an unlocked one for a leftover."""
    disk.mkdir(INTENTS)
    while True:
        path = f"{INTENTS}/{os.urandom(8).hex()}.json"
        file = disk.open(path, "create")
        if file.try_lock() and disk.ident(path) == file.ident:
            return path, file


def _note(disk: Disk, fields: Fields) -> tuple[str, File]:
    path, file = _begin(disk)
    content = json.dumps({"v": _VERSION, **fields}).encode() + b"\n"
    if file.append(content) != len(content):
        disk.unlink(path)
        raise fs.full("note an intent")
    file.sync()
    disk.sync_folder(INTENTS)
    return path, file


def _strike(disk: Disk, path: str) -> None:
    disk.unlink(path)
    disk.sync_folder(INTENTS)
