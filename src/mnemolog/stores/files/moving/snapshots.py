"""Backups: everything below a root that is not derived, in one file, while writers go on.

The file is a plain `tar.gz` whose members are named like the files of the root. Its last member
lists them all with their sizes and sums, so that a restore can tell whether it has everything.

The order matters. Work that was noted before the backup began comes first, so that a restored root
finishes it. Sessions come before the archive and are looked for once more after it, so that one
that moves between the two meanwhile is met at least once.
"""

import io
import json
import os
import re
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, BinaryIO

from mnemolog import fs, paths
from mnemolog.errors import (
    CorruptionError,
    MnemologError,
    SessionError,
    StorageIOError,
)
from mnemolog.fs import FILE_MODE, Disk, File
from mnemolog.log import manifests, sidecars, snapshot
from mnemolog.log.places import SessionPlace
from mnemolog.log.snapshot import BLOCK, PATIENCE, ChangedError, Content, Part
from mnemolog.model.times import to_moment
from mnemolog.ports import Progress
from mnemolog.ports.moving import BackedUp
from mnemolog.stores.files.census import is_its_own
from mnemolog.stores.files.feed import place_named
from mnemolog.stores.files.moving import outside

LISTING = "backup.json"
VERSION = 1
KEYS = frozenset({"redact.key", "token", "tokens.toml"})

_DERIVED = frozenset({paths.INDEX, "leases"})
_LOGS = (paths.SESSIONS, paths.USERS)
_ROOMS = (paths.INTENTS, paths.SESSIONS, paths.USERS, paths.SHARED)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")
_MAX_PATH = 1024


def is_safe(path: str) -> bool:
    """Whether a name can be unpacked below a folder on any system."""
    parts = path.split("/")
    is_plain = not any(part in ("", ".", "..") or len(part) > 255 for part in parts)
    is_short = len(path) <= _MAX_PATH
    return is_plain and is_short and ":" not in parts[0] and not _UNSAFE.search(path)


class Backup:
    """Writes one backup."""

    def __init__(self, disk: Disk, root: str | None, *, with_keys: bool) -> None:
        self._disk = disk
        self._root = root
        self._left_out = _DERIVED if with_keys else _DERIVED | KEYS

    def write(self, target: str, now: str, progress: Progress | None) -> BackedUp:
        """Write it under a temporary name, then give it its own; anew if something is erased."""
        return snapshot.undisturbed(lambda: self._write(target, now, progress), "copied")

    def _write(self, target: str, now: str, progress: Progress | None) -> BackedUp:
        self._warnings: list[str] = []
        self._done: set[str] = set()
        self._archives: set[str] = set()
        listed: list[dict[str, Any]] = []
        with outside.new_file(target, self._root) as stream:
            with (
                outside.packed(stream) as through,
                tarfile.TarFile(fileobj=through, mode="w", format=tarfile.PAX_FORMAT) as tar,
            ):
                for path, part in self._members(progress):
                    listed.append(_add(tar, path, part, now))
                _add_listing(tar, listed, now)
            packed = stream.tell()
        # One that was restored meanwhile is in it twice, and one session.
        away = {f"{paths.SESSIONS}/{name}" for name in self._archives}
        return BackedUp(
            path=os.path.abspath(target),
            sessions=sum(folder.startswith(f"{paths.SESSIONS}/") for folder in self._done | away),
            files=len(listed),
            bytes=sum(one["size"] for one in listed),
            packed_bytes=packed,
            warnings=tuple(self._warnings),
        )

    # --- what belongs in it, in order

    def _members(self, progress: Progress | None) -> Iterator[tuple[str, Part]]:
        for path, part in self._everything(progress):
            if is_safe(path):
                yield path, part
            else:
                self._warnings.append(f"left out, its name cannot be kept: {path!r:.120}")

    def _everything(self, progress: Progress | None) -> Iterator[tuple[str, Part]]:
        yield from self._plain(paths.INTENTS)
        yield from self._logs(progress)
        for name in self._disk.list(""):
            if name == paths.ARCHIVE:
                yield from self._archive()
            elif name not in self._left_out and name not in _ROOMS:
                yield from self._plain(name)
        yield from self._logs(progress)

    def _logs(self, progress: Progress | None) -> Iterator[tuple[str, Part]]:
        """The folders of all logs that were not met yet."""
        found = [f"{room}/{name}" for room in _LOGS for name in self._disk.list(room)]
        fresh = [name for name in (*found, paths.SHARED) if name not in self._done]
        for number, folder in enumerate(fresh, 1):
            if not folder.rpartition("/")[2].startswith("."):
                yield from self._log(folder)
            if progress is not None:
                progress(len(self._done), len(self._done) + len(fresh) - number)

    def _log(self, folder: str) -> Iterator[tuple[str, Part]]:
        place = place_named(folder)
        try:
            taken = snapshot.take(self._disk, place, PATIENCE)
        except (CorruptionError, SessionError, StorageIOError) as error:
            if not is_its_own(self._disk, folder, error):
                raise
            yield from self._without_log(folder, error)
            return
        self._done.add(folder)
        names = {place.guard, place.lock}
        if isinstance(place, SessionPlace):
            yield place.guard, _part(taken.manifest)
        yield place.lock, _part(b"")
        for segment, part in zip(taken.chain.segments, taken.parts, strict=True):
            names.add(f"{folder}/{segment.name}")
            yield f"{folder}/{segment.name}", part
        yield from self._beside(folder, names)

    def _without_log(self, folder: str, error: MnemologError) -> Iterator[tuple[str, Part]]:
        """A damaged session is copied as it is; a user may have other files than a log."""
        if self._disk.stat(folder) is None:
            return
        if folder.startswith(f"{paths.SESSIONS}/") or isinstance(error, StorageIOError):
            self._warnings.append(f"copied as it is: {folder}: {error.message}")
        self._done.add(folder)
        yield from self._plain(folder)

    def _beside(self, folder: str, known: set[str]) -> Iterator[tuple[str, Part]]:
        """What lies beside a log; segments that the manifest does not name are no part of it."""
        for name in self._disk.list(folder):
            if f"{folder}/{name}" not in known and not manifests.SEGMENT.fullmatch(name):
                yield from self._plain(f"{folder}/{name}")

    def _plain(self, path: str) -> Iterator[tuple[str, Part]]:
        """A file, or all files of a folder; what is temporary or a link is none of ours."""
        status = self._disk.stat(path)
        if status is None or path.endswith(".tmp") or path == f"{paths.INTENTS}/reserve":
            return
        if status.is_folder:
            for name in self._disk.list(path):
                yield from self._plain(f"{path}/{name}")
        elif not status.is_regular:
            self._warnings.append(f"left out, it is no plain file: {path!r:.120}")
        else:
            try:
                file = self._disk.open(path, "read")
            except FileNotFoundError:
                return
            yield path, Part(file, _complete(path, file))

    def _archive(self) -> Iterator[tuple[str, Part]]:
        """An archived session is two files that fit together, or none."""
        for name in self._disk.list(paths.ARCHIVE):
            if name.endswith(sidecars.ENDING):
                yield from self._archived(name.removesuffix(sidecars.ENDING))
            elif not name.endswith(sidecars.TAR_ENDING) and name != "lock":
                yield from self._plain(f"{paths.ARCHIVE}/{name}")

    def _archived(self, name: str) -> Iterator[tuple[str, Part]]:
        both = (sidecars.tar_of(name), sidecars.path_of(name))
        strange = [path for path in both if fs.is_strange(self._disk, path)]
        if strange:
            self._warnings.append(f"left out, it is no plain file: {strange[0]!r:.120}")
            return
        try:
            with sidecars.gate(self._disk, PATIENCE):
                files = [self._disk.open(path, "read") for path in both]
        except FileNotFoundError:
            return  # it was restored meanwhile: the second look at the sessions finds it
        self._archives.add(name)
        for path, file in zip(both, files, strict=True):
            yield path, Part(file, file.size())


def _part(content: bytes) -> Part:
    return Part(Content(content), len(content))


def _complete(path: str, file: File) -> int:
    """How much of a file to copy: of one that lines are added to, up to the last newline."""
    size = file.size()
    end = size
    while path.endswith(".jsonl") and end > 0:
        start = max(0, end - BLOCK)
        newline = file.read(start, end - start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return end


class _Hashed(io.RawIOBase):
    """The bytes of a part, one after the other, hashed as they go."""

    def __init__(self, part: Part) -> None:
        self._part = part
        self._offset = 0
        self.digest = sha256()

    def read(self, size: int = -1) -> bytes:
        length = min(size if size >= 0 else BLOCK, self._part.size - self._offset)
        chunk = self._part.file.read(self._offset, length)
        if len(chunk) < length:
            raise ChangedError
        self._offset += length
        self.digest.update(chunk)
        return chunk


def _add(tar: tarfile.TarFile, path: str, part: Part, now: str) -> dict[str, Any]:
    stream = _Hashed(part)
    tar.addfile(_header(path, part.size, now), stream)
    total = stream.digest.hexdigest()
    if part.digest() != total:
        raise ChangedError
    return {"path": path, "size": part.size, "sha256": total}


def _add_listing(tar: tarfile.TarFile, listed: list[dict[str, Any]], now: str) -> None:
    facts = {"mnemolog": "backup", "v": VERSION, "made_at": now, "files": listed}
    content = json.dumps(facts, indent=1).encode() + b"\n"
    stream: BinaryIO = io.BytesIO(content)
    tar.addfile(_header(LISTING, len(content), now), stream)


def _header(path: str, size: int, now: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.size = size
    info.mode = FILE_MODE
    info.mtime = int(to_moment(now).timestamp())
    return info
