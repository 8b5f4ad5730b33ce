"""The contents of a log under its lock: every line that counts, and which of them are needed."""

from collections.abc import Iterator
from typing import NamedTuple

from mnemolog.fs import Disk
from mnemolog.log import lines
from mnemolog.log.fold import Fold, Head, Spot
from mnemolog.log.places import Chain
from mnemolog.model.entry import Entry


class Line(NamedTuple):
    """One valid line: what it says, its bytes with the newline, and where they lie."""

    entry: Entry
    raw: bytes
    spot: Spot


class Contents:
    """All valid lines of a log, and the fold of them; damage has been kept in quarantine."""

    def __init__(self, disk: Disk, chain: Chain) -> None:
        self._fold = Fold()
        self.lines: list[Line] = []
        for number, segment in enumerate(chain.segments):
            file = disk.open(chain.path(segment), "read")
            for line in _lines(number, file.read(0, file.size())):
                self.lines.append(line)
                self._fold.take(line.entry, line.spot)

    @property
    def heads(self) -> dict[str, Head]:
        """The entries, hidden ones too."""
        return self._fold.heads

    def is_needed(self, line: Line) -> bool:
        """Whether a line is an entry's last revision, or what hides it now."""
        entry = line.entry
        if entry.type in ("undelete", "erased"):
            return False
        head = self.heads.get(entry.target or entry.id)
        if entry.type == "tombstone":
            return head is not None and head.died == entry.written_at and head.seq < entry.seq
        return head is not None and head.seq == entry.seq


def _lines(number: int, content: bytes) -> Iterator[Line]:
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end + 1
        raw = content[start:end].rstrip(b"\r\n")
        good = 0 if lines.verify(raw) else lines.salvage(raw)
        entry = lines.entry(raw[good:]) if good >= 0 else None
        if entry is not None:
            yield Line(entry, raw[good:] + b"\n", Spot(number, start + good, end - start - good))
        start = end
