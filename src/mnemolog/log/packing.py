"""Packing: from a session's folder to an archive that is whole, and from an archive to a folder."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from hashlib import sha256

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import StorageError
from mnemolog.fs import Disk, File
from mnemolog.log import manifests, sidecars
from mnemolog.log.members import Archive, Packer, pieces_of
from mnemolog.log.places import Chain, SessionPlace
from mnemolog.log.sidecars import MEMBER, Packing, Sidecar
from mnemolog.log.tail import last_line
from mnemolog.log.writer import Handle
from mnemolog.model.session import Manifest
from mnemolog.ports import Progress


def pack(
    disk: Disk, place: SessionPlace, handle: Handle, now: str, progress: Progress | None
) -> None:
    """Write tar and sidecar durably and see that they are whole; the sidecar has no name yet.

    For the holder of the session's lock. What fails leaves nothing behind.
    """
    name = place.archive.folder
    disk.mkdir(paths.ARCHIVE)
    disk.sync_folder("")
    sidecars.discard(disk, name)  # left by a crash: the session's folder wins
    with ExitStack() as undone:
        undone.callback(_give_up, disk, name)
        content = _write(disk, place, handle, now, progress)
        fs.write_new(disk, sidecars.unborn(name), content)
        disk.sync_folder(paths.ARCHIVE)
        sidecar, archive = opened(disk, place, sidecars.unborn(name))
        check(disk, sidecar, archive)
        if not is_of(disk, place, sidecar.packing):
            raise sidecars.damaged(name, "it does not hold what was to be archived")
        undone.pop_all()


def _give_up(disk: Disk, name: str) -> None:
    with suppress(StorageError):
        sidecars.discard(disk, name)


def _write(
    disk: Disk, place: SessionPlace, handle: Handle, now: str, progress: Progress | None
) -> bytes:
    """Write the tar; gives the content of its sidecar."""
    manifest = fs.read_all(disk, place.guard)
    packer = Packer(disk.open(sidecars.tar_of(place.archive.folder), "create"), now)
    packer.add(manifests.NAME, len(manifest), _cut(manifest))
    segments = list(zip(handle.chain.segments, handle.chain.open(disk), strict=True))
    total, done = sum(file.size() for _, file in segments), 0
    for segment, file in segments:
        packer.add(segment.name, file.size(), pieces_of(file, file.size()))
        done += file.size()
        if progress is not None:
            progress(done, total)
    with suppress(FileNotFoundError):
        # Whoever adds to it takes no lock: what comes later is lost, and may be.
        uses = fs.read_all(disk, f"{place.folder}/{paths.ACCESS}")
        packer.add(paths.ACCESS, len(uses), _cut(uses))
    packer.close()
    seq, written = _last(handle.chain, [file for _, file in segments])
    packing = Packing(
        archived_at=now,
        original_size_bytes=sum(packed.size for packed in packer.files),
        compressed_size_bytes=packer.size,
        last_seq=seq,
        last_written=written,
        files=tuple(packer.files),
    )
    return sidecars.render(manifest, packing)


def _cut(content: bytes) -> Iterator[bytes]:
    return (content[start : start + MEMBER] for start in range(0, len(content), MEMBER))


def _last(chain: Chain, files: list[File]) -> tuple[int, str | None]:
    """The number and the time of the last line."""
    found = next(filter(None, map(last_line, reversed(files))), None)
    if found is None:
        return chain.active.first_seq - 1, None
    return found.seq, found.written_at


def opened(disk: Disk, place: SessionPlace, path: str) -> tuple[Sidecar, Archive]:
    """The sidecar at a path, and the archive that it belongs to."""
    guard = disk.open(path, "read")
    sidecar = sidecars.read(guard, place.archive.folder, place.versions)
    return sidecar, Archive(place.archive.folder, sidecar.packing, guard)


def check(disk: Disk, sidecar: Sidecar, archive: Archive) -> None:
    """Read a whole archive; raises an error if any byte of it is not what it should be."""
    for _ in unpacked(disk, sidecar, archive):
        pass


def is_of(disk: Disk, place: SessionPlace, packing: Packing) -> bool:
    """Whether an archive holds exactly what a session's folder holds now, uses left aside."""
    for packed in packing.files:
        if packed.name == paths.ACCESS:
            continue
        try:
            file = disk.open(f"{place.folder}/{packed.name}", "read")
        except FileNotFoundError:
            return False
        digest = sha256()
        for piece in pieces_of(file, file.size()):
            digest.update(piece)
        if file.size() != packed.size or digest.hexdigest() != packed.sum:
            return False
    return True


def unpacked(
    disk: Disk, sidecar: Sidecar, archive: Archive
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Every file of an archive, in pieces; all are read, and none is other than it should be."""
    try:
        archive.check_frame(disk)
        names = [packed.name for packed in sidecar.packing.files]
        files = archive.files(disk, names)
    except FileNotFoundError:
        raise sidecars.damaged(archive.name, "it is missing or cut short") from None
    _check_facts(b"".join(files[0].pieces()), sidecar.facts, archive.name)
    for name, file in zip(names, files, strict=True):
        pieces = file.pieces()
        yield name, pieces
        for _ in pieces:  # to its end, where the sum is compared
            pass


def _check_facts(manifest: bytes, facts: Manifest, name: str) -> None:
    """The sidecar is what is listed and read by: it must say what the manifest says."""
    inside = manifests.parse(manifest, sidecars.tar_of(name))
    if inside != msgspec.structs.replace(facts, archived_at=None):
        raise sidecars.damaged(name, "its manifest says something else than its sidecar")


def unpack(disk: Disk, sidecar: Sidecar, archive: Archive, folder: str) -> File:
    """Fill a fresh folder, durably; gives its lock, which is held."""
    disk.mkdir(folder)
    for name, pieces in unpacked(disk, sidecar, archive):
        file = disk.open(f"{folder}/{name}", "create")
        for piece in pieces:
            if file.append(piece) != len(piece):
                raise fs.full(f"restore the session {sidecar.facts.session_id!r:.80}")
        file.sync()
    lock = disk.open(f"{folder}/{paths.LOCK}", "create")
    lock.try_lock()
    disk.sync_folder(folder)
    return lock
