"""Putting whole lines into logs: a session that is new, or the end of a log that is there.

Both happen at once or not at all, whatever comes between: a new session gets its name when it is
complete, and what is added to one becomes part of it when its manifest names it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import SessionExistsError, SessionNotFoundError
from mnemolog.fs import Disk, File, full
from mnemolog.log import intents, manifests, sessions
from mnemolog.log.places import FilePlace, Place, SessionPlace
from mnemolog.log.scan import Scan
from mnemolog.log.snapshot import BLOCK, PATIENCE
from mnemolog.log.writer import Handle, Writer
from mnemolog.model.session import Manifest, Segment

EXTEND = "extend"

# What users own and what all share: the logs of one file.
_OWN = re.compile(
    rf"{paths.USERS}/[a-z0-9_%-]+/{re.escape(paths.PREFERENCES)}"
    rf"|{paths.SHARED}/{re.escape(paths.KNOWLEDGE)}"
)


class Piece(NamedTuple):
    """A line that comes in: the sum and the number if it is valid, and its bytes if needed."""

    sum: str | None
    seq: int
    raw: bytes


class There(NamedTuple):
    """What a log holds already: the sums of its valid lines, and the last number it ever gave."""

    sums: Sequence[str]
    last: int = 0


class ConflictError(Exception):
    """What is there and what comes in contradict each other."""


class FreshSession:
    """A session's folder under another name, until it is complete."""

    def __init__(self, disk: Disk, folder: str, manifest: Manifest, content: bytes) -> None:
        self._disk = disk
        self._manifest = manifest
        self._content = content
        self._folder = folder
        disk.mkdir(self._folder)
        self._files: list[File] = [
            disk.open(f"{self._folder}/{segment.name}", "create") for segment in manifest.segments
        ]
        self._held = bytearray()
        self._number = 0

    def add(self, segment: int, piece: bytes) -> None:
        """Add a piece to one of the segments, which come in order."""
        if segment != self._number or len(self._held) > BLOCK:
            self._flush()
        self._number = segment
        self._held += piece

    def _flush(self) -> None:
        content, self._held = bytes(self._held), bytearray()
        if content and self._files[self._number].append(content) != len(content):
            raise full(f"write {self._folder}")

    def finish(self) -> None:
        """Make everything durable and give the session its name."""
        self._flush()
        for file in self._files:
            file.sync()
        fs.write_new(self._disk, f"{self._folder}/{manifests.NAME}", self._content)
        self._disk.open(f"{self._folder}/{paths.LOCK}", "create")
        self._disk.sync_folder(self._folder)
        try:
            target = paths.session_folder(self._manifest.session_id)
            sessions.bring_into_being(self._disk, self._folder, target)
        except FileExistsError:
            raise SessionExistsError("It came into being meanwhile.") from None
        self._disk.sync_folder(paths.SESSIONS)

    def give_up(self) -> None:
        """Leave nothing behind."""
        fs.remove_folder(self._disk, self._folder)


def there(disk: Disk, place: Place) -> There:
    """What a log holds, in order."""
    scan = Scan(disk, place, None)
    found = [(fed.entry.sum, fed.entry.seq) for fed in scan if fed.entry.seq]
    # After a rewrite, the segment that is written to tells how far the numbers had come.
    given = scan.chain.active.first_seq - 1
    return There([total for total, _ in found], max([given, *(seq for _, seq in found)]))


def missing(here: There, incoming: Sequence[Piece]) -> Sequence[Piece]:
    """What comes after the lines that are there already; raises if they are not the first ones.

    A number that was given here before belongs to a line that went: it was erased, and a rewrite
    left no blank in its place. What an older export still says of it must not come back.
    """
    known = iter(here.sums)
    for number, piece in enumerate(incoming):
        if piece.sum is None:
            continue
        before = next(known, None)
        if before is None and piece.seq <= here.last:
            raise ConflictError(f"the line with number {piece.seq} went from here")
        if before is None:
            return incoming[number:]
        if before != piece.sum:
            raise ConflictError(f"the line with number {piece.seq} is another one here")
    return ()


def extend(disk: Disk, place: Place, incoming: Sequence[Piece], timeout: float) -> int:
    """Add what is missing at the end of a log; says how many lines that were."""
    with Writer(disk, place, timeout).locked() as handle:
        handle.check_format()
        if handle.tail.torn:
            _seal(handle)
        rest = missing(there(disk, place), incoming)
        if rest:
            content = b"".join(piece.raw.removesuffix(b"\n") + b"\n" for piece in rest)
            if isinstance(place, SessionPlace):
                _graft(disk, place, handle, content, rest)
            else:
                _replace(disk, place.guard, content)
        return len(rest)


def _replace(disk: Disk, path: str, more: bytes) -> None:
    """Noted as an intent: what a crash leaves of it holds ids of which the log knows nothing."""
    before, temporary = fs.read_all(disk, path), f"{path}.tmp"
    with intents.noted(
        disk, {"operation": EXTEND, "path": path}, lambda: disk.ident(temporary) is not None
    ):
        fs.replace(disk, path, before + more)


def finish(disk: Disk, fields: intents.Fields) -> bool:
    """Let go of what was to replace the log of a user, or the shared one; False if the intent is
    not about that."""
    path = fields.get("path")
    if fields.get("operation") != EXTEND or not isinstance(path, str) or not _OWN.fullmatch(path):
        return False
    lock = f"{path.rpartition('/')[0]}/{paths.LOCK}"
    try:
        with Writer(disk, FilePlace(path, path, lock), PATIENCE).locked():
            fs.shred(disk, f"{path}.tmp")
    except SessionNotFoundError:  # nobody ever wrote to it: nobody does now
        fs.shred(disk, f"{path}.tmp")
    return True


def _seal(handle: Handle) -> None:
    """End a torn tail as the next writer would: it may turn out to be a whole line."""
    if handle.active.append(b"\n") != 1:
        raise full("end a line")
    handle.active.sync()
    handle.follow()


def _graft(
    disk: Disk, place: SessionPlace, handle: Handle, content: bytes, rest: Sequence[Piece]
) -> None:
    """A sealed segment of its own for what is added, and a fresh one to go on with."""
    manifest = sessions.writable(place, handle)
    handle.active.sync()
    *before, last = manifest.segments
    number = len(manifest.segments)
    next_seq = max(handle.tail.seq, *(piece.seq for piece in rest)) + 1
    sealed = Segment(last.name, last.first_seq, handle.tail.size)
    graft = Segment(_name(manifest, number + 1), rest[0].seq, len(content))
    active = Segment(_name(manifest, number + 2), next_seq)
    for segment, text in ((graft, content), (active, b"")):
        disk.unlink(f"{place.folder}/{segment.name}")  # left by a crash
        fs.write_new(disk, f"{place.folder}/{segment.name}", text)
    disk.sync_folder(place.folder)
    after = msgspec.structs.replace(manifest, segments=(*before, sealed, graft, active))
    manifests.swap(disk, place.folder, place.versions.stamped(after))


def _name(manifest: Manifest, number: int) -> str:
    return manifests.segment_name(manifest.generation, number)
