"""Reading without a lock: catch up with what was appended, then read single lines by their place.

A reader keeps the segments of one generation open, so a rewrite never disturbs it: until it catches
up the next time, it goes on reading the old files. It stops at the last newline; what follows is a
write in progress, or was torn off.
"""

import threading
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from mnemolog.errors import CorruptionError
from mnemolog.fs import Disk, File
from mnemolog.log import forks, lines
from mnemolog.log.fold import Fold, Head, Spot
from mnemolog.log.places import Chain, Place, guard_ident, look
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.model.entry import MARKS, Damage, Entry

OnDamage = Callable[[Damage, bytes], None]


def leave_alone(damage: Damage, content: bytes) -> None:
    """For whoever only looks: no copy of damage is kept."""


class View(NamedTuple):
    """A log at one moment: its entries in order, and what could not be read."""

    heads: list[Head]
    damage: tuple[Damage, ...]
    size: int
    last_seq: int
    """The last number that was given in this log, also if its line has left it."""
    last_written: str | None
    files: tuple[File, ...]
    versions: Versions = CURRENT

    def line(self, head: Head) -> bytes | None:
        """The bytes of an entry's line; None if they are no longer what they were."""
        spot = head.spot
        line = self.files[spot.segment].read(spot.offset, spot.length).rstrip(b"\r\n")
        return line if lines.verify(line) else None

    def entry(self, head: Head) -> Entry | None:
        """An entry's current revision, under its first timestamp; None if it is gone meanwhile."""
        line = self.line(head)
        found = lines.entry(line, self.versions) if line else None
        if found is None or found.id != head.id or found.type in MARKS:
            return None
        if found.timestamp == head.first:
            return found
        return msgspec.structs.replace(found, timestamp=head.first, at=found.written_at)


class _Mark(NamedTuple):
    """How far has been read, and what the last line's sum was there."""

    segment: int = 0
    offset: int = 0
    last_start: int = 0
    last_sum: bytes | None = None


class Reader:
    """Reads one log from any number of threads, beside any number of writers."""

    _chain: Chain
    _mark: _Mark

    def __init__(
        self, disk: Disk, place: Place, on_damage: OnDamage, *, as_of: str | None = None
    ) -> None:
        self._as_of = as_of
        self._disk = disk
        self._place = place
        self._on_damage = on_damage
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Let go of everything read and held open; the next use starts anew."""
        self._mutex = threading.Lock()
        self.guard: File | None = None
        self._files: list[File] = []
        self._start_over()

    def restart(self) -> None:
        """Read everything again at the next look; safe beside other threads."""
        with self._mutex:
            self.guard = None
            self._files = []
            self._start_over()

    def forget_entries(self, ids: Iterable[str]) -> None:
        """Let go of entries that were just erased, without reading all the others again."""
        with self._mutex:
            if not self._files:
                return
            guard, chain = look(self._disk, self._place)
            if chain != self._chain._replace(generation=self._chain.generation + 1):
                return  # somebody else was there too: the next look reads it all
            for identifier in ids:
                self._fold.heads.pop(identifier, None)
            self.guard, self._chain = guard, chain
            self._mark = self._mark._replace(last_sum=None)  # the last line may be a blank one now

    def _start_over(self) -> None:
        self._fold = Fold()
        self._mark = _Mark()

    def view(self) -> View:
        """Catch up, and take a picture of all entries; hidden ones too."""
        with self._mutex:
            self._catch_up()
            return self._picture(self._fold.in_order())

    def find(self, *identifiers: str) -> View:
        """Catch up, and take a picture of single entries; hidden ones too."""
        with self._mutex:
            self._catch_up()
            found = (self._fold.heads.get(identifier) for identifier in dict.fromkeys(identifiers))
            return self._picture([head for head in found if head is not None])

    def _picture(self, heads: list[Head]) -> View:
        fold = self._fold
        return View(
            heads,
            tuple(fold.damage),
            sum(file.size() for file in self._files),
            max(fold.last_seq, self._given()),
            fold.last_written,
            tuple(self._files),
            self._place.versions,
        )

    def _given(self) -> int:
        """The last number that a rewrite knew of: its line may be in the archive by now.

        A look at an earlier moment is told of no later number.
        """
        return self._chain.active.first_seq - 1 if self._as_of is None else 0

    def _catch_up(self) -> None:
        self._follow()
        while True:
            if not self._read_segment(self._mark.segment):
                self._start_over()
            elif self._mark.segment + 1 < len(self._files):
                self._mark = _Mark(self._mark.segment + 1)
            else:
                return

    def _follow(self) -> None:
        """Open what the guard names now; start over if it is another generation, or another file
        lies in the place of the last segment, as when an editor saved it."""
        if self.is_here() and self._is_last_here():
            return
        for _ in range(100):
            guard, chain = look(self._disk, self._place)
            try:
                self._open(chain)
            except FileNotFoundError:
                continue  # a rewrite came between; the guard names other files by now
            self.guard = guard
            return
        raise CorruptionError(
            f"A segment of {self._place.name!r:.200} is missing.",
            advice="`mnemolog doctor` tells which; restore it from a backup.",
        )

    def is_here(self) -> bool:
        """Whether the log still stands where it was last looked at, as it was."""
        known = self.guard
        return known is not None and known.ident == guard_ident(self._disk, self._place)

    def _is_last_here(self) -> bool:
        chain = self._chain
        if chain.archive is not None:
            return True
        return self._disk.ident(chain.path(chain.active)) == self._files[-1].ident

    def _open(self, chain: Chain) -> None:
        kept = self._kept(chain)
        self._files = kept + chain.open(self._disk, len(kept))
        self._chain = chain
        if not kept:
            self._start_over()

    def _kept(self, chain: Chain) -> list[File]:
        """The open files, if they are still the first segments of the chain; else none."""
        if not 0 < len(self._files) <= len(chain.segments):
            return []
        if self._chain.generation != chain.generation:
            return []
        for file, segment in zip(self._files, chain.segments, strict=False):
            if self._disk.ident(chain.path(segment)) != file.ident:
                return []
        return self._files

    def _read_segment(self, number: int) -> bool:
        """Take the new lines of one segment; False if what was read before is no longer there."""
        file, mark = self._files[number], self._mark
        size = file.size()
        if size == mark.offset:
            return True
        if size < mark.offset:
            return False
        chunk = file.read(mark.last_start, size - mark.last_start)
        if not self.is_here():  # then it may have been overwritten while it was read
            self._follow()
            return self._read_segment(self._mark.segment)
        seen = mark.offset - mark.last_start
        if mark.last_sum and lines.verify(chunk[:seen].rstrip(b"\r\n")) != mark.last_sum:
            return False
        is_sealed = number + 1 < len(self._files)
        self._take(number, chunk, seen, mark.last_start, is_sealed)
        return True

    def _take(self, number: int, chunk: bytes, start: int, base: int, is_sealed: bool) -> None:
        """Fold every complete line of `chunk` from `start` on; it begins at `base` in the file."""
        while start < len(chunk):
            end = chunk.find(b"\n", start)
            if end < 0 and not is_sealed:
                return
            end = len(chunk) - 1 if end < 0 else end
            spot = Spot(number, base + start, end + 1 - start)
            total = self._take_line(chunk[start : end + 1].rstrip(b"\r\n"), spot)
            self._mark = _Mark(number, base + end + 1, base + start, total)
            start = end + 1

    def _take_line(self, line: bytes, spot: Spot) -> bytes | None:
        if not line:
            return None
        total = lines.verify(line)
        entry = lines.entry(line, self._place.versions) if total else None
        if entry is None:
            self._take_damage(line, spot)
            return None
        self._take_entry(entry, spot, lines.hidden_in(line))
        return total

    def _take_entry(self, entry: Entry, spot: Spot, hidden: tuple[str, ...]) -> None:
        """Fold one line, unless it was written after the moment that is asked for.

        What was erased counts whenever it was: nothing of it is left to show.
        """
        if self._as_of is None or entry.type == "erased" or entry.written_at <= self._as_of:
            self._fold.take(entry, spot, hidden)

    def _take_damage(self, line: bytes, spot: Spot) -> None:
        good = lines.salvage(line)
        bad = line if good < 0 else line[:good]
        why = "not a line of this format or not the bytes that were written"
        segment = self._chain.segments[spot.segment].name
        damage = Damage(segment=segment, offset=spot.offset, length=len(bad), why=why)
        self._fold.damage.append(damage)
        self._on_damage(damage, bad)
        if (tombstone := lines.hiding(bad)) is not None:
            self._fold.hide(tombstone)
        if good >= 0:
            entry = lines.entry(line[good:], self._place.versions)
            if entry is not None:
                rest = Spot(spot.segment, spot.offset + good, spot.length - good)
                self._take_entry(entry, rest, lines.hidden_in(line[good:]))
