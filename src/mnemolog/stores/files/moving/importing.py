"""Import in our own form: everything is checked first, then each log is stored at once.

What is there already is left alone; what goes on where it ends is added to it; what contradicts it
is refused, and said.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import takewhile
from typing import BinaryIO, Literal, cast

from mnemolog import paths
from mnemolog.errors import InputError, SessionError, SessionNotFoundError
from mnemolog.fs import Disk, full
from mnemolog.log import intents, moved, sessions
from mnemolog.log.native import MAX_LINE, Begun, LogEnds, Parser, file_of, use_of
from mnemolog.log.snapshot import PATIENCE
from mnemolog.log.versions import Versions
from mnemolog.log.vetting import Vetted, vet_manifest, vet_moved, vet_use
from mnemolog.log.writer import Writer
from mnemolog.model.ids import check_id
from mnemolog.model.session import Manifest
from mnemolog.ports import LogKey, Progress, Use
from mnemolog.ports.moving import Imported, Taken
from mnemolog.settings import Settings
from mnemolog.stores.files.feed import log_name, mark
from mnemolog.stores.files.held import Held, place_of
from mnemolog.stores.files.moving import outside
from mnemolog.stores.files.moving.errands import Errand
from mnemolog.stores.files.moving.grafting import (
    ConflictError,
    FreshSession,
    Piece,
    There,
    extend,
    missing,
    there,
)
from mnemolog.stores.files.moving.replanting import GraphFile, Replanting, joined
from mnemolog.stores.files.uses import Uses

_OFTEN = 1024

Event = Begun | bytes | LogEnds


class Incoming:
    """One log of an export while it is read; nothing of it comes out that was not vetted."""

    def __init__(self, begun: Begun, events: Iterator[Event], parser: Parser) -> None:
        self.log = begun.log
        self.part = begun.part
        self.generation = begun.generation
        self.content = begun.manifest
        self.manifest: Manifest | None = None
        self._events = events
        self._parser = parser

    def vet(self, settings: Settings, versions: Versions, before: Manifest | None) -> None:
        """Look at what is said before the lines; `before` is the manifest that came last."""
        with _told(self._parser):
            if self.part == "graph":
                check_id(self.log.id, "user id")
                return
            if self.part != "log":
                assert before is not None  # they follow the log of a session
                self.manifest = before
                if self.part == "moved":
                    vet_moved(before, self.generation)
                self._vetted = Vetted(self.log, None, versions)
                return
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

    def uses(self) -> Iterator[Use]:
        """Every note of use."""
        with _told(self._parser):
            for event in self._events:
                if not isinstance(event, bytes):
                    return
                found = use_of(event)
                vet_use(found.id, found.at)
                yield Use(found.id, found.at)

    def files(self) -> Iterator[GraphFile]:
        """Every file of a graph."""
        with _told(self._parser):
            pieces = takewhile(lambda event: isinstance(event, bytes), self._events)
            yield from joined(self.log.id, (file_of(cast(bytes, one)) for one in pieces))

    def skim(self) -> int:
        """Look at all of it, and store nothing; how many bytes there are."""
        if self.part == "uses":
            return sum(len(use.id) + len(use.at) + 30 for use in self.uses())
        return sum(len(piece.raw) for _, piece in self.pieces())


@contextmanager
def _told(parser: Parser) -> Iterator[None]:
    """Name the line of the export in what is raised."""
    try:
        yield
    except (InputError, SessionError) as error:
        if "line" in error.details:
            raise
        raise parser.refusal(error.message.rstrip(".")) from error


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
        logs: dict[LogKey, Errand] = {}
        graphs: dict[str, Errand] = {}
        for one in self._logs(progress, 0, passes):
            if one.part == "log":
                logs[one.log] = self._errand(one)
            elif one.part == "graph":
                graphs[one.log.id] = Replanting(self._disk, one.log.id).plan(one.files())
            else:
                logs[one.log] = logs[one.log].with_room(one.skim())
        errands = (*logs.values(), *graphs.values())
        if dry_run:
            return Imported(tuple(errand.taken for errand in errands), dry_run)
        needed = sum(errand.bytes for errand in errands)
        if needed > self._disk.free_bytes():
            raise full(f"import {needed:,} bytes")
        return Imported(tuple(self._done(self._logs(progress, 1, passes), logs, graphs)), dry_run)

    def _done(
        self,
        incoming: Iterator[Incoming],
        logs: dict[LogKey, Errand],
        graphs: dict[str, Errand],
    ) -> list[Taken]:
        done: list[Taken] = []
        for one in incoming:
            if one.part == "log":
                done.append(self._store(one, logs.get(one.log) or _unchecked(one.log)))
            elif one.part == "graph":
                errand = graphs.get(one.log.id) or _unchecked(one.log, "graph")
                done.append(Replanting(self._disk, one.log.id).store(one.files(), errand.taken))
            else:
                done[-1] = self._store_beside(one, done[-1])
        return done

    def _logs(self, progress: Progress | None, done: int, passes: int) -> Iterator[Incoming]:
        """Each log in turn; whoever takes it reads its pieces, all of them."""
        file, source = outside.opened(self._path)
        size = file.size()

        def tell() -> None:
            if progress is not None:
                progress(done * size + source.offset, passes * size)

        stream = outside.unpacked(file, source)
        parser = Parser(_lines(self._path, stream, tell))
        parser.header()
        events = parser.events()
        manifest: Manifest | None = None
        for begun in events:
            if isinstance(begun, Begun):
                incoming = Incoming(begun, events, parser)
                incoming.vet(self._settings, self._versions, manifest)
                manifest = incoming.manifest
                yield incoming
        tell()

    # --- first: what would be done

    def _errand(self, incoming: Incoming) -> Errand:
        here, why = self._there(incoming.log)
        size, pieces = 0, []
        for _, piece in incoming.pieces():
            size += len(piece.raw)
            pieces.append(piece._replace(raw=b""))
        log = incoming.log
        if why:
            return Errand(Taken(log, "refused", 0, why))
        if here is None:
            return Errand(Taken(log, "stored", len(pieces)), size)
        try:
            rest = missing(here, pieces)
        except ConflictError as error:
            return Errand(Taken(log, "refused", 0, str(error)))
        if not rest:
            return Errand(Taken(log, "present", 0))
        if self._is_archived(log):
            return Errand(Taken(log, "refused", 0, "it lies in the archive; restore it first"))
        return Errand(Taken(log, "extended", len(rest)), size)

    def _is_archived(self, log: LogKey) -> bool:
        return log.kind == "session" and self._disk.ident(place_of(log).guard) is None

    def _there(self, log: LogKey) -> tuple[There | None, str]:
        """What is there, None if it is nothing; or why nothing can be added to it."""
        try:
            return there(self._disk, place_of(log, self._versions)), ""
        except SessionNotFoundError:
            return None, ""
        except SessionError as error:
            return None, error.message

    # --- then: doing it

    def _store(self, incoming: Incoming, errand: Errand) -> Taken:
        if errand.taken.status in ("present", "refused"):
            incoming.skim()
            return errand.taken
        try:
            if errand.taken.status == "stored" and incoming.log.kind == "session":
                lines = self._create(incoming)
            else:
                lines = self._extend(incoming)
        except (ConflictError, SessionError) as error:
            return Taken(incoming.log, "refused", 0, str(error))
        mark(self._disk, log_name(incoming.log))
        return errand.taken._replace(lines=lines)

    def _store_beside(self, incoming: Incoming, taken: Taken) -> Taken:
        """What compactions had moved out, unless it is there; of a new session its uses too."""
        if incoming.part == "uses" and taken.status == "stored":
            notes = Uses(self._disk)
            notes.note((log_name(incoming.log), None, use) for use in incoming.uses())
            notes.flush()
        elif incoming.part == "moved" and taken.status != "refused":
            path = moved.path_of(paths.file_name(incoming.log.id), incoming.generation)
            lines = [piece.raw for _, piece in incoming.pieces()]
            if self._add_moved(incoming, path, lines):
                return taken._replace(moved=taken.moved + len(lines))
        else:
            incoming.skim()
        return taken

    def _add_moved(self, incoming: Incoming, path: str, lines: list[bytes]) -> bool:
        """Under the lock: nobody else may be compacting or erasing there."""
        place = sessions.place(incoming.log.id, self._versions)
        with (
            suppress(SessionNotFoundError),  # it lies in the archive, and so does all of it
            Writer(self._disk, place, PATIENCE).locked() as handle,
        ):
            now = sessions.writable(place, handle)
            known = now.markers.get("moved", ())
            # What was rewritten or erased from since then is newer than the export.
            before = incoming.manifest
            is_same = before is not None and now.generation == before.generation
            if is_same and incoming.generation in known and self._disk.ident(path) is None:
                moved.keep(self._disk, path, lines)
                return True
        return False

    def _create(self, incoming: Incoming) -> int:
        """Noted as an intent: what a crash leaves of it, no erasure would look for."""
        assert incoming.manifest is not None
        folder = f"{paths.SESSIONS}/{sessions.NEW}{os.urandom(8).hex()}"
        note = {"operation": sessions.REMOVE, "folder": folder}
        count = 0
        with (
            intents.noted(self._disk, note, lambda: self._disk.ident(folder) is not None),
            ExitStack() as undone,
        ):
            fresh = FreshSession(self._disk, folder, incoming.manifest, incoming.content)
            undone.callback(_give_up, fresh)
            for segment, piece in incoming.pieces():
                fresh.add(segment, piece.raw)
                count += 1
            fresh.finish()
            undone.pop_all()
        return count

    def _extend(self, incoming: Incoming) -> int:
        here, _ = self._there(incoming.log)
        known = 0 if here is None else len(here.sums)
        pieces: list[Piece] = []
        for _, piece in incoming.pieces():
            is_known = known > 0
            known -= piece.sum is not None
            pieces.append(piece._replace(raw=b"") if is_known else piece)
        if incoming.log.kind != "session":
            Held(self._disk, incoming.log, self._settings, self._versions).ensure_exists()
        return extend(self._disk, place_of(incoming.log, self._versions), pieces, PATIENCE)


def _unchecked(log: LogKey, part: Literal["log", "graph"] = "log") -> Errand:
    """What is to be done with what was not in the file when it was checked."""
    return Errand(Taken(log, "refused", 0, "it was not checked", part=part))


def _lines(path: str, stream: BinaryIO, tell: Callable[[], None]) -> Iterator[bytes]:
    """Every line; damage is told here, for the pieces of a log are taken by many hands."""
    number = 0
    while line := _line(path, stream):
        if number % _OFTEN == 0:
            tell()
        number += 1
        yield line


def _line(path: str, stream: BinaryIO) -> bytes:
    with outside.damage_told(path):
        return stream.readline(MAX_LINE + 1)


def _give_up(fresh: FreshSession) -> None:
    with suppress(FileNotFoundError):
        fresh.give_up()
