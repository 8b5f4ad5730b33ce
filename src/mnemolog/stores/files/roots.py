"""What may be asked of a root from outside, without opening it as a memory."""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mnemolog import fs, paths
from mnemolog.fs import Ident
from mnemolog.fs.real import RealDisk, full_path
from mnemolog.log.reader import Reader, leave_alone
from mnemolog.model.entry import Entry
from mnemolog.model.session import Session
from mnemolog.ports import SHARED, LogKey
from mnemolog.settings import Settings
from mnemolog.stores.files import read_settings
from mnemolog.stores.files.held import place_of

__all__ = [
    "NAME",
    "RootFile",
    "files",
    "full_path",
    "ident",
    "is_root",
    "is_taken",
    "nearest",
    "raw_lines",
    "remove",
    "settings_of",
]

NAME = ".mnemolog"


class RootFile(NamedTuple):
    """A file below a root: where it is and how long."""

    path: str
    size: int


def nearest(folder: str) -> str | None:
    """The root that is nearest to a folder: its own, or that of a folder above it."""
    while True:
        found = RealDisk(folder).stat(NAME)
        if found is not None and (found.is_folder or found.is_link):
            return os.path.join(folder, NAME)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def is_root(root: str) -> bool:
    """Whether a memory was ever opened here."""
    found = RealDisk(root).stat(paths.SESSIONS)
    return found is not None and found.is_folder


def ident(root: str) -> Ident | None:
    """What tells a root from every other folder at its path; None if there is none."""
    return RealDisk(root).ident("")


def is_taken(path: str) -> bool:
    """Whether something else than a folder lies where a root was to be."""
    folder, name = os.path.split(full_path(path))
    found = RealDisk(folder).stat(name) if name else None
    return found is not None and not (found.is_folder or found.is_link)


def files(root: str) -> Iterator[RootFile]:
    """Every file below a root, in the order of their names."""
    disk = RealDisk(root)
    for path, status in fs.walk(disk):
        if not status.is_folder:
            yield RootFile(path, status.size)


def remove(root: str) -> None:
    """Remove a root and everything in it."""
    folder, name = os.path.split(full_path(root))
    fs.remove_folder(RealDisk(folder), name)


def settings_of(root: str, environ: Mapping[str, str]) -> Settings:
    """The settings that a root would be opened with."""
    return read_settings(RealDisk(root), environ)


def raw_lines(root: str, session: Session, entries: list[Entry]) -> Iterator[bytes]:
    """The exact line of each of these entries, without its newline, as the log holds it now."""
    disk = RealDisk(root)
    views = {}
    for entry in entries:
        key = _log_of(entry, session)
        if key not in views:
            view = Reader(disk, place_of(key), leave_alone).view()
            views[key] = view, {head.id: head for head in view.heads}
        view, heads = views[key]
        line = view.line(heads[entry.id]) if entry.id in heads else None
        if line is not None:
            yield line


def _log_of(entry: Entry, session: Session) -> LogKey:
    if entry.scope == "shared":
        return SHARED
    if entry.scope == "user":
        return LogKey("user", entry.user_id or session.user_id or "")
    return LogKey("session", session.id)
