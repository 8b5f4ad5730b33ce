"""What compactions moved out: `archive/<name>.g<generation>.jsonl.gz`, lines as they stood.

A file is written once, by the compaction that raised the log to its generation, and replaced only
when one of its lines is erased or brought back.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import CorruptionError, StorageFullError
from mnemolog.fs import Disk
from mnemolog.log import lines
from mnemolog.model.entry import MARKS, Entry
from mnemolog.policy.compaction import Weighed

_NAME = re.compile(r"(.+)\.g(\d+)\.jsonl\.gz(\.tmp)?")
_PIECE = 1 << 16
_UNFINISHED = ".tmp"
# How often a file is read again that was replaced while it was read.
_LOOKS = 5


def path_of(name: str, generation: int) -> str:
    """Where the lines lie that left a log when it became this generation."""
    return f"{paths.ARCHIVE}/{name}.g{generation}.jsonl.gz"


def files(disk: Disk, name: str) -> list[str]:
    """All such files of a log, oldest first."""
    return [path for path in _named(disk, name) if not path.endswith(_UNFINISHED)]


def generations(disk: Disk, name: str, last: int) -> list[int]:
    """To which generations something left a log, as far as the files tell, up to the last one."""
    found = (_NAME.fullmatch(path.rpartition("/")[2]) for path in files(disk, name))
    return [number for match in found if match and (number := int(match[2])) <= last]


def every(disk: Disk) -> list[str]:
    """All such files of all logs."""
    found = disk.list(paths.ARCHIVE)
    return [f"{paths.ARCHIVE}/{one}" for one in found if (m := _NAME.fullmatch(one)) and not m[3]]


def drop_unfinished(disk: Disk, name: str) -> None:
    """Overwrite and remove what an interrupted compaction was about to write."""
    for path in _named(disk, name):
        if path.endswith(_UNFINISHED):
            fs.shred(disk, path)


def _named(disk: Disk, name: str) -> list[str]:
    found = []
    for one in disk.list(paths.ARCHIVE):
        match = _NAME.fullmatch(one)
        if match and match[1] == name:
            found.append((int(match[2]), f"{paths.ARCHIVE}/{one}"))
    return [path for _, path in sorted(found)]


def keep(disk: Disk, path: str, content: list[bytes]) -> None:
    """Write lines out, durably; what a crash left under this name is written anew."""
    disk.mkdir(paths.ARCHIVE)
    fs.replace(disk, path, gzip.compress(b"".join(content), mtime=0))


def read(disk: Disk, path: str, *, is_salvage: bool = False) -> list[tuple[bytes, Entry]]:
    """The lines of one file, and what they say; of a damaged one, if asked, what can be read."""
    return lines_of(fs.read_all(disk, path), path, is_salvage=is_salvage)


def lines_of(packed: bytes, path: str, *, is_salvage: bool = False) -> list[tuple[bytes, Entry]]:
    """The lines that the bytes of such a file hold."""
    content, why = _unpacked(packed)
    if why and not is_salvage:
        raise CorruptionError(
            f"{path} cannot be unpacked: {why}.", advice="Restore it from a backup."
        )
    found = ((raw + b"\n", raw.rstrip(b"\r")) for raw in content.split(b"\n") if raw)
    decoded = ((raw, lines.valid(line)) for raw, line in found)
    return [(raw, entry) for raw, entry in decoded if entry is not None]


def _unpacked(packed: bytes) -> tuple[bytes, str]:
    """As much as can be unpacked, and why it is not all; a file that was overwritten is empty."""
    if not packed.strip(b"\0"):
        return b"", ""
    stream, parts = zlib.decompressobj(wbits=31), []
    try:
        for start in range(0, len(packed), _PIECE):
            parts.append(stream.decompress(packed[start : start + _PIECE]))
    except zlib.error as error:
        return b"".join(parts), str(error)
    return b"".join(parts), "" if stream.eof else "it ends too early"


def entries(
    disk: Disk, name: str, generations: Iterable[int], *, is_salvage: bool = False
) -> dict[str, Weighed]:
    """The entries that left a log with these generations, and since when they are hidden; of
    damaged files, if asked, what can be read."""
    found: dict[str, Weighed] = {}
    for generation in generations:
        for raw, entry in _as_it_is_now(disk, path_of(name, generation), is_salvage):
            if entry.type not in MARKS:
                found[entry.id] = Weighed(_first_said(entry), None, len(raw))
            elif entry.type == "tombstone" and entry.target in found:
                found[entry.target] = found[entry.target]._replace(died=entry.written_at)
    return found


def _first_said(entry: Entry) -> Entry:
    """An entry under its first timestamp, as in its log before; a revision may bear another."""
    if entry.created in (None, entry.timestamp):
        return entry
    return msgspec.structs.replace(entry, timestamp=entry.created, at=entry.written_at)


def _as_it_is_now(disk: Disk, path: str, is_salvage: bool) -> list[tuple[bytes, Entry]]:
    """What a file says that others may replace meanwhile, and overwrite what it was before."""
    for _ in range(_LOOKS):
        try:
            file = disk.open(path, "read")
        except FileNotFoundError:
            return []
        with suppress(CorruptionError):
            found = lines_of(file.read(0, file.size()), path)
            if disk.ident(path) == file.ident:
                return found
    if disk.ident(path) is None:
        return []
    return read(disk, path, is_salvage=is_salvage)


def forget(disk: Disk, name: str, limits: Mapping[str, int]) -> int:
    """Take the lines about these ids, each up to a number, out of every file; says how many there
    were."""

    def kept(raw: bytes, entry: Entry) -> bytes | None:
        return None if entry.seq <= limits.get(entry.target or entry.id, 0) else raw

    return sum(_rewrite(disk, path, kept) for path in files(disk, name))


def change(disk: Disk, name: str, edit: Callable[[Entry], Entry]) -> int:
    """Change entries where they lie; says how many were."""

    def changed(raw: bytes, entry: Entry) -> bytes | None:
        after = edit(entry)
        if after is entry:
            return raw
        return lines.Draft(msgspec.structs.replace(after, seq=0, sum="")).line(entry.seq)

    return sum(_rewrite(disk, path, changed) for path in files(disk, name))


def _rewrite(disk: Disk, path: str, edit: Callable[[bytes, Entry], bytes | None]) -> int:
    """Replace a file by what is left of it, and overwrite the old one; how many lines differ."""
    found = read(disk, path, is_salvage=True)
    after = [edit(raw, entry) for raw, entry in found]
    differ = sum(new != raw for new, (raw, _) in zip(after, found, strict=True))
    if not differ and not _unpacked(fs.read_all(disk, path))[1] and found:
        return 0
    old = disk.open(path, "update")
    if kept := [raw for raw in after if raw is not None]:
        packed = gzip.compress(b"".join(kept), mtime=0)
        try:
            fs.replace(disk, path, packed)
        except StorageFullError:
            if len(packed) > old.size():
                raise
            # A full disk has no room for a second one; zeros behind the end are none of it.
            old.write_at(0, packed + bytes(old.size() - len(packed)))
        else:
            old.write_at(0, bytes(old.size()))  # without a name, but the device has its bytes
        old.sync()
    else:
        fs.shred(disk, path)
        disk.sync_folder(paths.ARCHIVE)
    return differ
