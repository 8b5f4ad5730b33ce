"""What mending a session needs: its segments by their names, its lock, a way to set aside."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from mnemolog import fs, paths
from mnemolog.errors import SessionError, StorageIOError
from mnemolog.fs import Disk
from mnemolog.log import manifests
from mnemolog.log.places import SessionPlace
from mnemolog.model.entry import Damage
from mnemolog.stores.files.doctor.lines import keep

_SEGMENT = re.compile(r"memory\.g(\d{1,9})\.(\d{1,9})\.jsonl")


def segment_number(name: str) -> tuple[int, int] | None:
    """The generation and the number that a segment's name tells; None for any other name."""
    if name == manifests.FIRST_SEGMENT:
        return 1, 1
    match = _SEGMENT.fullmatch(name)
    number = (int(match[1]), int(match[2])) if match else None
    return number if number and manifests.segment_name(*number) == name else None


def chains_in(names: list[str]) -> dict[int, dict[int, str]]:
    """The segments among these names, by generation and number, in order."""
    found = ((segment_number(name), name) for name in names)
    chains: dict[int, dict[int, str]] = {}
    for number, name in sorted((number, name) for number, name in found if number):
        chains.setdefault(number[0], {})[number[1]] = name
    return chains


T = TypeVar("T")


def at_rest(disk: Disk, place: SessionPlace, look: Callable[[], list[T]]) -> list[T]:
    """What is there while nobody holds a session's lock, so that nobody is at work on it; nothing
    if somebody does, or the lock cannot be had: that is a finding of its own."""
    if is_closed(disk, place):
        return []
    with suppress(FileNotFoundError, SessionError):
        lock = disk.open(place.lock, "update")
        if lock.try_lock():
            try:
                return look()
            finally:
                lock.unlock()
    return []


def is_closed(disk: Disk, place: SessionPlace) -> bool:
    """Whether a session has a lock that cannot be opened for writing, as on a disk for reading."""
    try:
        disk.open(place.lock, "update")
    except FileNotFoundError:
        return False
    except StorageIOError:
        return True
    return False


def make_lock(disk: Disk, folder: str) -> str:
    """Make the lock file that a session is missing."""
    with suppress(FileExistsError):
        disk.open(f"{folder}/{paths.LOCK}", "create")
    disk.sync_folder(folder)
    return "made"


def set_aside(disk: Disk, place: SessionPlace, name: str) -> None:
    """Copy a file of a session to quarantine, whole."""
    content = fs.read_all(disk, f"{place.folder}/{name}")
    damage = Damage(segment=name, offset=0, length=len(content), why="set aside")
    keep(disk, place.name, damage, content)
