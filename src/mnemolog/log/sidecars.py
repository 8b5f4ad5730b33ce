"""Sidecars: `archive/<name>.manifest.json`, all that is needed to list an archived session.

A sidecar is the session's manifest with when it was archived, the sizes, the last line's number and
time, and a table of the gzip members that `archive/<name>.tar.gz` is made of. Its being there is
what makes a session archived: a tar without one does not count, and neither counts while the
session's own folder is there.
"""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import CorruptionError, LockTimeoutError, SessionCorruptError
from mnemolog.fs import Disk, File
from mnemolog.log import manifests
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.model.session import Manifest
from mnemolog.model.times import is_moment

ENDING = ".manifest.json"
TAR_ENDING = ".tar.gz"
GATE = f"{paths.ARCHIVE}/{paths.LOCK}"

MEMBER = 64 * 1024
"""So many bytes of a file, before compression, are one gzip member; the last one has fewer."""

# Nothing that we write comes near these; what claims to be larger was not written by us.
_LONGEST_MEMBER = MEMBER + 1024
_MOST_BYTES = 1 << 40
_MOST_FILES = 100_000
_LARGEST_SIDECAR = 1 << 28
_HIGHEST_RATIO = 1040  # gzip reaches no more

_SUM = re.compile("[0-9a-f]{64}")
_PAUSE = 0.002

BEYOND_REPAIR = "Restore it from a backup, or delete the two files in `archive`."


class Packed(msgspec.Struct, frozen=True):
    """One file of an archive: its SHA-256, where its members begin, and where the last one ends."""

    name: str
    size: int
    sum: str
    members: tuple[int, ...]


class Packing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a sidecar adds to the manifest."""

    archived_at: str
    original_size_bytes: int
    compressed_size_bytes: int
    last_seq: int = 0
    last_written: str | None = None
    files: tuple[Packed, ...]


class Sidecar(NamedTuple):
    """A sidecar, read: the session's own facts, and how it was packed."""

    facts: Manifest
    packing: Packing


_decode = msgspec.json.Decoder(Packing).decode
_fields = msgspec.json.Decoder(dict[str, Any]).decode


def path_of(name: str) -> str:
    """Where the sidecar of a session with this folder name lies."""
    return f"{paths.ARCHIVE}/{name}{ENDING}"


def tar_of(name: str) -> str:
    """Where the archive of a session with this folder name lies."""
    return f"{paths.ARCHIVE}/{name}{TAR_ENDING}"


def unborn(name: str) -> str:
    """Where a sidecar lies before it counts, and where its bytes are overwritten after that."""
    return f"{path_of(name)}.tmp"


def names(disk: Disk) -> list[str]:
    """The folder names of all archived sessions."""
    found = disk.list(paths.ARCHIVE)
    return [one.removesuffix(ENDING) for one in found if one.endswith(ENDING)]


def session_names(disk: Disk) -> list[str]:
    """The folder names of all sessions, archived or not.

    The archive is looked at twice: a session may go from either place to the other meanwhile.
    """
    before = names(disk)
    live = [name for name in disk.list(paths.SESSIONS) if not name.startswith(".")]
    return sorted({*before, *live, *names(disk)})


def render(manifest: bytes, packing: Packing) -> bytes:
    """A sidecar as people read it: everything that the manifest says, and how it was packed."""
    told = {**_fields(manifest), **msgspec.to_builtins(packing)}
    return msgspec.json.format(msgspec.json.encode(told), indent=2) + b"\n"


def read(guard: File, name: str, versions: Versions = CURRENT) -> Sidecar:
    """Read an open sidecar; raises an error if it is damaged, or says what cannot be."""
    path = path_of(name)
    if guard.size() > _LARGEST_SIDECAR:
        raise _corrupt(path, "it is larger than any that mnemolog writes")
    content = guard.read(0, guard.size())
    try:
        found = Sidecar(versions.manifest(content), _decode(content))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _corrupt(path, str(error)) from error
    wrong = manifests.flaw(found.facts, versions) or _wrong(found, name)
    if wrong:
        raise _corrupt(path, wrong)
    return found


def _corrupt(path: str, why: str) -> SessionCorruptError:
    return SessionCorruptError(f"{path} cannot be used: {why}.", advice=BEYOND_REPAIR)


def damaged(name: str, why: str) -> CorruptionError:
    """The error for an archive whose bytes are not what was written."""
    return CorruptionError(f"{tar_of(name)} cannot be used: {why}.", advice=BEYOND_REPAIR)


def _wrong(found: Sidecar, name: str) -> str:
    """What cannot be in a sidecar; empty if everything can."""
    if paths.file_name(found.facts.session_id) != name:
        return "it is not of this session"
    segments = [segment.name for segment in found.facts.segments]
    listed = [packed.name for packed in found.packing.files]
    if not segments or not all(map(manifests.SEGMENT.fullmatch, segments)):
        return "it does not name its segments"
    if listed not in ([manifests.NAME, *segments], [manifests.NAME, *segments, paths.ACCESS]):
        return "it lists other files than those of a session"
    if len(listed) > _MOST_FILES or len(set(listed)) != len(listed):
        return "it lists too many files, or one of them twice"
    return _wrong_sizes(found.packing)


def _wrong_sizes(found: Packing) -> str:
    total = sum(packed.size for packed in found.files)
    if total != found.original_size_bytes or total > _MOST_BYTES:
        return "its sizes do not add up"
    if total > found.compressed_size_bytes * _HIGHEST_RATIO:
        return "its sizes are out of proportion"
    if not is_moment(found.archived_at):
        return "it does not say when it was archived"
    end = 0
    for packed in found.files:
        steps = [end, *packed.members]
        if packed.size < 0 or len(packed.members) != -(-packed.size // MEMBER) + 1:
            return "its table of members is not as long as it has to be"
        if not all(0 < b - a <= _LONGEST_MEMBER for a, b in pairwise(steps)):
            return "its table of members makes no sense"
        if not _SUM.fullmatch(packed.sum):
            return "a sum is missing"
        end = packed.members[-1]
    is_closed = 0 < found.compressed_size_bytes - end <= _LONGEST_MEMBER
    return "" if is_closed else "its table of members does not fit its size"


def discard(disk: Disk, name: str) -> None:
    """Take an archive away: for whoever looks at once, then its bytes are overwritten.

    For the holder of the session's lock, or of the gate if there is no session. Also removes what
    a crash left of an archive that was never finished.
    """
    path, tar = path_of(name), tar_of(name)
    leftover = unborn(name)
    if all(disk.ident(one) is None for one in (path, tar, leftover)):
        return
    fs.shred(disk, leftover)
    if disk.ident(path) is not None:
        disk.rename(path, leftover)
        disk.sync_folder(paths.ARCHIVE)
    fs.shred(disk, leftover)
    fs.shred(disk, tar)
    disk.sync_folder(paths.ARCHIVE)


@contextmanager
def gate(disk: Disk, timeout: float) -> Iterator[None]:
    """Keep sessions from being created while one goes into the archive, and the reverse.

    An id that is looked up in the archive, then among the sessions, could otherwise be missed.
    """
    disk.mkdir(paths.ARCHIVE)
    try:
        file = disk.open(GATE, "update")
    except FileNotFoundError:
        file = _made(disk)
    lock(file, "the archive", timeout)
    try:
        yield
    finally:
        file.unlock()


def _made(disk: Disk) -> File:
    try:
        return disk.open(GATE, "create")
    except FileExistsError:
        return disk.open(GATE, "update")


def lock(file: File, what: str, timeout: float) -> None:
    """Take the advisory lock of a file; its content is never quoted, unlike a lock file's."""
    deadline = time.monotonic() + timeout
    while not file.try_lock():
        if time.monotonic() >= deadline:
            raise LockTimeoutError(
                f"Lock acquisition timeout for {what}.",
                advice="Nothing was changed. Try again, or raise concurrency.lock_timeout_ms.",
            )
        time.sleep(_PAUSE)
