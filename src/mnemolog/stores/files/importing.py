"""Import in our own form: everything is checked first, then each log is stored at once.

What is there already is left alone; what goes on where it ends is added to it; what contradicts it
is refused, and said.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple

from mnemolog.errors import InputError, SessionError, SessionNotFoundError
from mnemolog.fs import Disk, full
from mnemolog.log.native import MAX_LINE, Begun, LogEnds, Parser
from mnemolog.log.snapshot import PATIENCE
from mnemolog.log.versions import Versions
from mnemolog.log.vetting import Vetted, vet_manifest
from mnemolog.ports import LogKey, Progress
from mnemolog.ports.moving import Imported, Taken
from mnemolog.settings import Settings
from mnemolog.stores.files import outside
from mnemolog.stores.files.feed import log_name, mark
from mnemolog.stores.files.grafting import (
    ConflictError,
    FreshSession,
    Piece,
    extend,
    missing,
    sums,
)
from mnemolog.stores.files.held import Held, place_of

_OFTEN = 1024

Event = Begun | bytes | LogEnds


class Incoming:
    """One log of an export while it is read; nothing of it comes out that was not vetted."""

    def __init__(self, begun: Begun, events: Iterator[Event], parser: Parser) -> None:
        self.log = begun.log
        self.content = begun.manifest
        self._events = events
        self._parser = parser

    def vet(self, settings: Settings, versions: Versions) -> None:
        """Look at what is said of the log before its lines."""
        with _told(self._parser):
            self.manifest = vet_manifest(self.log, self.content, versions)
            if self.manifest is not None:
                settings.with_overrides(self.manifest.settings)
            self._vetted = Vetted(self.log, self.manifest, versions)

    def pieces(self) -> Iterator[tuple[int, Piece]]:
        """Every piece, and the segment that it belongs to."""
        with _told(self._parser):
            for event in self._events:
                if not isinstance(event, bytes):
                    self._vetted.finish()
                    return
                total = self._vetted.take(event)
                yield self._vetted.segment, Piece(total, self._vetted.last_seq, event)
                self._vetted.move_on()


@contextmanager
def _told(parser: Parser) -> Iterator[None]:
    """Name the line of the export in what is raised."""
    try:
        yield
    except (InputError, SessionError) as error:
        if "line" in error.details:
            raise
        raise parser.refusal(error.message.rstrip(".")) from error


class Plan(NamedTuple):
    """What is to be done with one log, and how much room it may need."""

    taken: Taken
    bytes: int = 0


class NativeImport:
    """Reads one file in."""

    def __init__(self, disk: Disk, settings: Settings, versions: Versions, path: str) -> None:
        self._disk = disk
        self._settings = settings
        self._versions = versions
        self._path = path

    def run(self, *, dry_run: bool, progress: Progress | None) -> Imported:
        """Check all of it, then store what is not there yet."""
        passes = 1 if dry_run else 2
        plans = {one.log: self._plan(one) for one in self._logs(progress, 0, passes)}
        if dry_run:
            return Imported(tuple(plan.taken for plan in plans.values()), dry_run)
        needed = sum(plan.bytes for plan in plans.values())
        if needed > self._disk.free_bytes():
            raise full(f"import {needed:,} bytes")
        done = [self._store(one, plans) for one in self._logs(progress, 1, passes)]
        return Imported(tuple(done), dry_run)

    def _logs(self, progress: Progress | None, done: int, passes: int) -> Iterator[Incoming]:
        """Each log in turn; whoever takes it reads its pieces, all of them."""
        file, source = outside.opened(self._path)
        size = file.size()

        def tell() -> None:
            if progress is not None:
                progress(done * size + source.offset, passes * size)

        with outside.damage_told(self._path):
            stream = outside.unpacked(file, source)
            parser = Parser(_lines(iter(lambda: stream.readline(MAX_LINE + 1), b""), tell))
            parser.header()
            events = parser.events()
            for begun in events:
                if isinstance(begun, Begun):
                    incoming = Incoming(begun, events, parser)
                    incoming.vet(self._settings, self._versions)
                    yield incoming
        tell()

    # --- first: what would be done

    def _plan(self, incoming: Incoming) -> Plan:
        there, why = self._there(incoming.log)
        size, pieces = 0, []
        for _, piece in incoming.pieces():
            size += len(piece.raw)
            pieces.append(piece._replace(raw=b""))
        log = incoming.log
        if why:
            return Plan(Taken(log, "refused", 0, why))
        if there is None:
            return Plan(Taken(log, "stored", len(pieces)), size)
        try:
            rest = missing(there, pieces)
        except ConflictError as error:
            return Plan(Taken(log, "refused", 0, str(error)))
        if not rest:
            return Plan(Taken(log, "present", 0))
        if self._is_archived(log):
            return Plan(Taken(log, "refused", 0, "it lies in the archive; restore it first"))
        return Plan(Taken(log, "extended", len(rest)), size)

    def _is_archived(self, log: LogKey) -> bool:
        return log.kind == "session" and self._disk.ident(place_of(log).guard) is None

    def _there(self, log: LogKey) -> tuple[list[str] | None, str]:
        """The sums of what is there, None if it is nothing; or why nothing can be added to it."""
        try:
            return sums(self._disk, place_of(log, self._versions)), ""
        except SessionNotFoundError:
            return None, ""
        except SessionError as error:
            return None, error.message

    # --- then: doing it

    def _store(self, incoming: Incoming, plans: dict[LogKey, Plan]) -> Taken:
        plan = plans.get(incoming.log)
        if plan is None or plan.taken.status in ("present", "refused"):
            for _ in incoming.pieces():
                pass
            return plan.taken if plan else Taken(incoming.log, "refused", 0, "it was not checked")
        try:
            if plan.taken.status == "stored" and incoming.log.kind == "session":
                lines = self._create(incoming)
            else:
                lines = self._extend(incoming)
        except (ConflictError, SessionError) as error:
            return Taken(incoming.log, "refused", 0, str(error))
        mark(self._disk, log_name(incoming.log))
        return plan.taken._replace(lines=lines)

    def _create(self, incoming: Incoming) -> int:
        assert incoming.manifest is not None
        fresh = FreshSession(self._disk, incoming.manifest, incoming.content)
        count = 0
        with ExitStack() as undone:
            undone.callback(_give_up, fresh)
            for segment, piece in incoming.pieces():
                fresh.add(segment, piece.raw)
                count += 1
            fresh.finish()
            undone.pop_all()
        return count

    def _extend(self, incoming: Incoming) -> int:
        there, _ = self._there(incoming.log)
        known = len(there or ())
        pieces: list[Piece] = []
        for _, piece in incoming.pieces():
            is_known = known > 0
            known -= piece.sum is not None
            pieces.append(piece._replace(raw=b"") if is_known else piece)
        if incoming.log.kind != "session":
            Held(self._disk, incoming.log, self._settings, self._versions).ensure_exists()
        return extend(self._disk, place_of(incoming.log, self._versions), pieces, PATIENCE)


def _lines(source: Iterator[bytes], tell: object) -> Iterator[bytes]:
    for number, line in enumerate(source):
        if number % _OFTEN == 0 and callable(tell):
            tell()
        yield line


def _give_up(fresh: FreshSession) -> None:
    with suppress(FileNotFoundError):
        fresh.give_up()
