"""The contents of a log under its lock: every line that counts, and which of them are needed."""

from typing import NamedTuple

from mnemolog.fs import Disk
from mnemolog.log import lines
from mnemolog.log.fold import Fold, Head, Spot
from mnemolog.log.places import Chain
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.model.entry import Damage, Entry


class Line(NamedTuple):
    """One valid line: what it says, its bytes with the newline, and where they lie."""

    entry: Entry
    raw: bytes
    spot: Spot


class Contents:
    """All valid lines of a log, the fold of them, and what is damaged."""

    def __init__(self, disk: Disk, chain: Chain, versions: Versions = CURRENT) -> None:
        self._fold = Fold()
        self._versions = versions
        self.lines: list[Line] = []
        self.damage: list[tuple[Damage, bytes]] = []
        for number, segment in enumerate(chain.segments):
            file = disk.open(chain.path(segment), "read")
            self._segment(number, segment.name, file.read(0, file.size()))

    def _segment(self, number: int, name: str, content: bytes) -> None:
        start = 0
        while start < len(content):
            end = content.find(b"\n", start)
            end = len(content) if end < 0 else end + 1
            self._line(number, name, content[start:end].rstrip(b"\r\n"), start, end - start)
            start = end

    def _line(self, number: int, name: str, raw: bytes, start: int, length: int) -> None:
        good = 0 if lines.verify(raw) else lines.salvage(raw)
        entry = lines.entry(raw[good:], self._versions) if good >= 0 else None
        bad = raw if entry is None else raw[:good]
        if bad:
            why = "not a line of this format or not the bytes that were written"
            damage = Damage(segment=name, offset=start, length=len(bad), why=why)
            self.damage.append((damage, bad))
            if (tombstone := lines.hiding(bad)) is not None:
                self._fold.hide(tombstone)
        if entry is not None:
            line = Line(entry, raw[good:] + b"\n", Spot(number, start + good, length - good))
            self.lines.append(line)
            self._fold.take(entry, line.spot)

    @property
    def heads(self) -> dict[str, Head]:
        """The entries, hidden ones too."""
        return self._fold.heads

    def hidden_by_damage(self) -> list[Head]:
        """The entries that no line hides which could be kept."""
        marks = (one for one in self.lines if one.entry.type == "tombstone" and self.is_needed(one))
        kept = {one.entry.target for one in marks}
        return [head for head in self.heads.values() if head.dead and head.id not in kept]

    def is_needed(self, line: Line) -> bool:
        """Whether a line is an entry's last revision, or what hides it now."""
        entry = line.entry
        if entry.type in ("undelete", "erased"):
            return False
        head = self.heads.get(entry.target or entry.id)
        if entry.type == "tombstone":
            return head is not None and head.died == entry.written_at
        return head is not None and head.seq == entry.seq
