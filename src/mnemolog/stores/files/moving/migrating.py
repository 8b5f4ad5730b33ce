"""Migration: every line of an earlier version is written anew, log by log.

Nothing has to be migrated to be used: a line of any earlier version is read as it is. A session is
rewritten as a new generation, a log of one file is replaced; either way a crash leaves the log as
it was or as it is to be. Damaged lines stay where they are.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from mnemolog import fs
from mnemolog.errors import (
    InvalidFormatError,
    SessionError,
    SessionNotFoundError,
    StorageIOError,
)
from mnemolog.fs import Disk
from mnemolog.log import lines, sessions
from mnemolog.log.places import Chain, Place, SessionPlace, facts, open_guard
from mnemolog.log.snapshot import PATIENCE
from mnemolog.log.versions import Versions
from mnemolog.log.writer import Handle, Writer
from mnemolog.ports import LogKey, Progress
from mnemolog.ports.moving import Migrated
from mnemolog.stores.files.census import census, is_its_own
from mnemolog.stores.files.feed import log_name, mark
from mnemolog.stores.files.held import place_of


class Migration:
    """Brings logs up to date."""

    def __init__(self, disk: Disk, versions: Versions, now: str, *, dry_run: bool) -> None:
        self._disk = disk
        self._versions = versions
        self._now = now
        self._dry_run = dry_run

    def run(self, logs: Sequence[LogKey] | None, progress: Progress | None) -> Iterator[Migrated]:
        """One log after the other; says of each what became of it."""
        chosen = census(self._disk)[0] if logs is None else logs
        for number, log in enumerate(chosen, 1):
            try:
                yield self._log(log)
            except SessionNotFoundError:
                if logs is not None:
                    raise
            except (SessionError, InvalidFormatError, StorageIOError) as error:
                if not is_its_own(self._disk, log_name(log), error):
                    raise
                yield Migrated(log, "refused", {}, 0, error.message)
            if progress is not None:
                progress(number, len(chosen))

    def _log(self, log: LogKey) -> Migrated:
        place = place_of(log, self._versions)
        if isinstance(place, SessionPlace):
            manifest = facts(self._disk, place)[1]
            if manifest.v > self._versions.current:
                return Migrated(log, "newer", {}, 0, f"it has format {manifest.v}")
            if self._versions.is_settled(manifest):
                return Migrated(log, "current", {})
            if self._disk.ident(place.guard) is None:
                return Migrated(
                    log, "refused", {}, 0, "it lies in the archive; it is read as it is"
                )
        found = self._counted(place)
        old = sum(count for v, count in found.items() if v < self._versions.current)
        if max(found, default=0) > self._versions.current:
            return Migrated(log, "newer", found, 0, f"it has format {max(found)}")
        if not old and not isinstance(place, SessionPlace):
            return Migrated(log, "current", found)
        if not self._dry_run:
            old = self._rewrite(place)
            mark(self._disk, log_name(log))
        return Migrated(log, "rewritten", found, old)

    def _counted(self, place: Place) -> dict[int, int]:
        """How many lines there are of each version."""
        found: Counter[int] = Counter()
        chain = place.chain(open_guard(self._disk, place))
        for raw in _raw_lines(self._disk, chain):
            version = self._versions.stored(raw) if lines.verify(raw) else None
            if version is not None:
                found[version] += 1
        return dict(found)

    def _rewrite(self, place: Place) -> int:
        writer = Writer(self._disk, place, PATIENCE)
        rewritten = _Rewritten(self._disk, self._versions)
        if isinstance(place, SessionPlace):
            sessions.rewrite(
                self._disk,
                writer,
                place,
                rewritten.lines,
                operation="migrate",
                since=self._now,
                edit=self._versions.settled,
            )
        else:
            with writer.locked() as handle:
                content = b"".join(line for _, line in rewritten.lines(handle))
                fs.replace(self._disk, place.guard, content)
        return rewritten.count


class _Rewritten:
    """The lines of a log as they will be; under its lock."""

    def __init__(self, disk: Disk, versions: Versions) -> None:
        self._disk = disk
        self._versions = versions
        self.count = 0

    def lines(self, handle: Handle) -> list[tuple[int, bytes]]:
        """Every line with its number; damage is kept where it is, under the number before it."""
        found: list[tuple[int, bytes]] = []
        seq = handle.chain.segments[0].first_seq
        for raw in _raw_lines(self._disk, handle.chain):
            entry = lines.valid(raw, self._versions)
            line = None
            if entry is not None:
                seq = entry.seq
                line = self._line(raw)
            found.append((seq, line or raw + b"\n"))
        return found

    def _line(self, raw: bytes) -> bytes | None:
        """A line of an earlier version as it is written now; None if it is not one."""
        if (self._versions.stored(raw) or 0) >= self._versions.current:
            return None
        self.count += 1
        return lines.rewritten(raw, self._versions)


def _raw_lines(disk: Disk, chain: Chain) -> Iterator[bytes]:
    """Every line of a log without its newline; what its end lacks one for too."""
    for segment in chain.segments:
        content = fs.read_all(disk, chain.path(segment))
        for raw in content.removesuffix(b"\n").split(b"\n") if content else ():
            yield raw.rstrip(b"\r")
