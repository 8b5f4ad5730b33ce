"""Settling: a position in a log is remembered only once the line there is durable."""

from mnemolog.errors import CorruptionError
from mnemolog.fs import Disk, File
from mnemolog.log import lines
from mnemolog.log.places import Chain, Place, look
from mnemolog.log.tail import backwards

# So often a log may be rewritten between looking up its files and opening them.
_TRIES = 100


def settled(disk: Disk, place: Place) -> tuple[int, str]:
    """Sync a log; the number and the sum of its last line, (0, "") if it has none.

    A line without a newline does not count: its writer may still take it back.
    """
    for _ in range(_TRIES):
        chain = look(disk, place)[1]
        try:
            return _end(disk, chain)
        except FileNotFoundError:
            continue  # a rewrite came between; the guard names other files by now
    raise CorruptionError(
        f"A segment of {place.name!r:.200} is missing.",
        advice="`mnemolog doctor` tells which; restore it from a backup.",
    )


def _end(disk: Disk, chain: Chain) -> tuple[int, str]:
    """Segments that are sealed, and archives, were synced when they became so."""
    for file in reversed(chain.open(disk)):
        found = _last(file)
        if found is not None:
            if chain.archive is None:
                disk.open(chain.path(chain.active), "append").sync()
            return found
    return 0, ""


def _last(file: File) -> tuple[int, str] | None:
    size = file.size()
    end = size
    if size and file.read(size - 1, 1) != b"\n":
        torn = next(backwards(file, 0, size), None)
        end = torn[0] if torn else size
    for _, line in backwards(file, 0, end):
        entry = lines.valid(line.rstrip(b"\r"))
        if entry is not None:
            return entry.seq, entry.sum
    return None
