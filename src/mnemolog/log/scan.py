"""Scanning: the lines of a log after a position, one after the other, without folding them."""

from collections.abc import Iterator

from mnemolog.errors import CorruptionError, SessionNotFoundError
from mnemolog.fs import Disk, File
from mnemolog.log import lines
from mnemolog.log.places import Chain, Place, guard_ident, look
from mnemolog.ports import Fed, Position


class Scan:
    """One pass over a log; `position` is how far it came."""

    def __init__(self, disk: Disk, place: Place, since: Position | None) -> None:
        self._disk = disk
        self._place = place
        self._guard, self.chain, self._files = _open(disk, place)
        self._versions = place.versions
        self.restarted = since is None or not self._fits(since)
        self.position = since or Position()
        if self.restarted:
            self.position = Position(self.chain.generation)
        self.size = sum(file.size() for file in self._files)
        self._damaged = 0

    def _fits(self, since: Position) -> bool:
        """Whether the bytes before the position are still those that were read."""
        if since.generation != self.chain.generation or since.segment >= len(self._files):
            return False
        if since.sum is None:
            return since.offset == 0
        before = self._files[since.segment].read(since.offset - since.length, since.length)
        found = lines.verify(before.rstrip(b"\r\n"))
        return found is not None and found.decode() == since.sum

    def __iter__(self) -> Iterator[Fed]:
        """Each valid line and the position after it; of damage, what it can be seen to hide, which
        has no number and leaves the position where it was."""
        for number in range(self.position.segment, len(self._files)):
            start = self.position.offset if number == self.position.segment else 0
            yield from self._segment(number, start)

    def _segment(self, number: int, start: int) -> Iterator[Fed]:
        content = self._content(number, start)
        is_sealed = number + 1 < len(self._files)
        at = 0
        while at < len(content):
            end = content.find(b"\n", at)
            if end < 0 and not is_sealed:
                return
            end = len(content) if end < 0 else end + 1
            yield from self._line(number, start + at, content[at:end])
            at = end

    def _content(self, number: int, start: int) -> bytes:
        """What follows in a segment; read again if the log went elsewhere meanwhile.

        Then it may have been overwritten while it was read. After a rewrite, or if it is gone, what
        was read is as good as nothing: whoever asked finds out, and starts over.
        """
        while True:
            file = self._files[number]
            content = file.read(start, file.size() - start)
            if guard_ident(self._disk, self._place) == self._guard.ident:
                return content
            try:
                guard, chain, files = _open(self._disk, self._place)
            except SessionNotFoundError:
                return b""
            if chain.generation != self.chain.generation or len(files) <= number:
                return b""
            self._guard, self._files = guard, files

    def _line(self, number: int, offset: int, raw: bytes) -> Iterator[Fed]:
        line = raw.rstrip(b"\r\n")
        good = 0 if lines.verify(line) else lines.salvage(line)
        entry = lines.entry(line[good:], self._versions) if good >= 0 else None
        bad = line if entry is None else line[:good]
        self._damaged += bool(bad)
        if bad and (tombstone := lines.hiding(bad)) is not None:
            yield Fed(tombstone, self.position)
        if entry is None:
            return
        offset, length = offset + good, len(raw) - good
        total = entry.sum.removeprefix("sha256:")
        after = Position(self.chain.generation, number, offset + length, length, total)
        self.position = after
        damaged, self._damaged = self._damaged, 0
        yield Fed(entry, after, lines.hidden_in(line[good:]), damaged)


def _open(disk: Disk, place: Place) -> tuple[File, Chain, list[File]]:
    """Open the guard and the segments that it names, again if a rewrite came between."""
    for _ in range(100):
        guard, chain = look(disk, place)
        try:
            return guard, chain, chain.open(disk)
        except FileNotFoundError:
            continue
    raise CorruptionError(
        f"A segment of {place.name!r:.200} is missing.",
        advice="`mnemolog doctor` tells which; restore it from a backup.",
    )
