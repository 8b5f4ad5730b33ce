"""The doctor's look at every line of a log."""

from collections.abc import Iterator
from functools import partial

from mnemolog.errors import StorageFullError
from mnemolog.fs import Disk, File
from mnemolog.log import lines, quarantine
from mnemolog.model.entry import FORMAT, Damage, Entry
from mnemolog.stores.files.doctor.findings import Case, Tally, case

_BLOCK = 1024 * 1024


def each_line(file: File) -> Iterator[tuple[int, bytes, bool]]:
    """Where each line begins, its bytes without the newline, and whether it had one."""
    held, start, offset = b"", 0, 0
    while part := file.read(offset, _BLOCK):
        offset += len(part)
        *whole, held = (held + part).split(b"\n")
        for line in whole:
            yield start, line, True
            start += len(line) + 1
    if held:
        yield start, held, False


class LineCheck:
    """Goes through the segments of one log, in order."""

    def __init__(self, disk: Disk, log: str, tally: Tally) -> None:
        self._disk = disk
        self._log = log
        self._tally = tally
        self._last_seq = 0
        self._is_newer = False

    def segment(self, path: str, *, is_sealed: bool) -> Iterator[Case]:
        """Check every line of one segment; raises FileNotFoundError if it is gone."""
        file = self._disk.open(path, "read")
        for offset, line, is_complete in each_line(file):
            self._tally.size_bytes += len(line) + is_complete
            if is_complete or is_sealed:
                yield from self._line(path, offset, line.rstrip(b"\r"))
            else:
                what = f"the last {len(line):,} bytes have no newline, so they count as no line"
                yield case("tail_torn", path, what, offset=offset, length=len(line))

    def _line(self, path: str, offset: int, line: bytes) -> Iterator[Case]:
        if not line:
            return
        found = lines.valid(line)
        if found is None:
            # As in reading: a good line may be glued to the damage before it.
            good = lines.salvage(line)
            yield self._damaged(path, offset, line if good < 0 else line[:good])
            found = lines.entry(line[good:]) if good >= 0 else None
        if found is not None:
            yield from self._valid(path, offset, found)

    def _valid(self, path: str, offset: int, line: Entry) -> Iterator[Case]:
        self._tally.lines += 1
        if line.v > FORMAT and not self._is_newer:
            self._is_newer = True
            yield case("line_newer", path, f"a line has format {line.v}; this one is {FORMAT}")
        if line.seq <= self._last_seq:
            what = f"number {line.seq} comes after number {self._last_seq}"
            yield case("line_order", path, what, offset=offset)
        self._last_seq = max(self._last_seq, line.seq)

    def _damaged(self, path: str, offset: int, content: bytes) -> Case:
        segment = path.rpartition("/")[2]
        why = "not a line of this format, or not the bytes that were written"
        damage = Damage(segment=segment, offset=offset, length=len(content), why=why)
        copy = quarantine.path_of(self._log, damage, content)
        is_kept = quarantine.is_kept(self._disk, copy, content)
        what = f"the line at byte {offset:,} is {why} ({len(content):,} bytes)"
        return case(
            "line_kept" if is_kept else "line_damaged",
            path,
            what,
            None if is_kept else partial(self._keep, damage, content),
            offset=offset,
            length=len(content),
        )

    def _keep(self, damage: Damage, content: bytes) -> str:
        keep(self._disk, self._log, damage, content)
        return "its bytes are in quarantine now"


def keep(disk: Disk, log: str, damage: Damage, content: bytes) -> None:
    """Copy bytes to quarantine and look whether they are there; raises if they are not."""
    if not quarantine.keep(disk, log, damage, content, is_leaving=True):
        raise StorageFullError(
            f"The bytes of {damage.segment} could not be copied to quarantine.",
            advice="Free some space and try again; nothing was changed.",
        )
