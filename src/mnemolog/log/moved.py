"""What compactions moved out: `archive/<name>.g<generation>.jsonl.gz`, lines as they stood.

A file is written once, by the compaction that raised the log to its generation, and replaced only
when one of its lines is erased or brought back.
"""

import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterable

import msgspec

from mnemolog import fs, paths
from mnemolog.errors import CorruptionError
from mnemolog.fs import Disk
from mnemolog.log import lines
from mnemolog.log.blanking import shred
from mnemolog.model.entry import MARKS, Entry
from mnemolog.policy.compaction import Weighed

_NAME = re.compile(r"(.+)\.g(\d+)\.jsonl\.gz")


def path_of(name: str, generation: int) -> str:
    """Where the lines lie that left a log when it became this generation."""
    return f"{paths.ARCHIVE}/{name}.g{generation}.jsonl.gz"


def files(disk: Disk, name: str) -> list[str]:
    """All such files of a log, oldest first."""
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


def read(disk: Disk, path: str) -> list[tuple[bytes, Entry]]:
    """The lines of one file, and what they say."""
    try:
        content = gzip.decompress(fs.read_all(disk, path))
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptionError(
            f"{path} cannot be unpacked: {error}.", advice="Restore it from a backup."
        ) from error
    found = ((raw + b"\n", raw.rstrip(b"\r")) for raw in content.split(b"\n") if raw)
    decoded = ((raw, lines.entry(line)) for raw, line in found if lines.verify(line))
    return [(raw, entry) for raw, entry in decoded if entry is not None]


def entries(disk: Disk, name: str, generations: Iterable[int]) -> dict[str, Weighed]:
    """The entries that left a log with these generations, and since when they are hidden."""
    found: dict[str, Weighed] = {}
    for generation in generations:
        path = path_of(name, generation)
        for raw, entry in read(disk, path) if disk.ident(path) is not None else ():
            if entry.type not in MARKS:
                found[entry.id] = Weighed(entry, None, len(raw))
            elif entry.type == "tombstone" and entry.target in found:
                found[entry.target] = found[entry.target]._replace(died=entry.written_at)
    return found


def forget(disk: Disk, name: str, ids: Collection[str]) -> int:
    """Take the lines about these ids out of every file; says how many there were."""
    gone = frozenset(ids)

    def kept(raw: bytes, entry: Entry) -> bytes | None:
        return None if (entry.target or entry.id) in gone else raw

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
    found = read(disk, path)
    after = [edit(raw, entry) for raw, entry in found]
    differ = sum(new != raw for new, (raw, _) in zip(after, found, strict=True))
    if not differ:
        return 0
    old = disk.open(path, "update")
    if kept := [raw for raw in after if raw is not None]:
        fs.replace(disk, path, gzip.compress(b"".join(kept), mtime=0))
        old.write_at(0, bytes(old.size()))  # it has no name any more, but the device has its bytes
        old.sync()
    else:
        shred(disk, path)
        disk.sync_folder(paths.ARCHIVE)
    return differ
