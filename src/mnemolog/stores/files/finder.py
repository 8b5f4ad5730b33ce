"""Searching the files: the index says where the best lines lie, and the logs what they say."""

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from mnemolog import paths
from mnemolog.embedders import open_embedder
from mnemolog.errors import CorruptionError, SessionError, StorageIOError
from mnemolog.fs import Disk, File, limits
from mnemolog.fs.real import RealDisk
from mnemolog.graph.shelf import FilesShelf
from mnemolog.index.export import SHAPES
from mnemolog.index.follow import Follow
from mnemolog.index.index import Index
from mnemolog.log import forks
from mnemolog.log.places import SessionPlace, guard_ident, look
from mnemolog.model.entry import MARKS, Entry
from mnemolog.model.query import Hit, Hits, Query
from mnemolog.model.times import to_moment, to_text
from mnemolog.policy.access import Viewer
from mnemolog.ports import (
    Asked,
    Candidate,
    Follower,
    Listed,
    LogKey,
    Progress,
    Spot,
    Unlearned,
    Use,
    Wanted,
)
from mnemolog.ports.embedder import Embedder
from mnemolog.ports.keeping import Wiped
from mnemolog.settings import Decay, Settings
from mnemolog.stores.files import second
from mnemolog.stores.files.archiving import listed
from mnemolog.stores.files.census import is_its_own
from mnemolog.stores.files.exports import Export
from mnemolog.stores.files.feed import FilesFeed, entry_at, log_name, place_named
from mnemolog.stores.files.follower import Files, FilesFollower, moved
from mnemolog.stores.files.leafing import PAUSES, FilesCounter
from mnemolog.stores.files.shadow import Shadow, shown
from mnemolog.stores.files.uses import Uses, read_uses

# So many logs are kept open for reading hits. Each costs two descriptors or a few more, and two
# thirds of what a process may have are left to others.
_MAX_OPEN = min(256, limits.open_files() // 6)
_STAMP = len("2026-11-15T09:00:00.000Z")
# A log that goes into the archive or out of it is looked for again, so many times.
_TRIES = 5

Opened = tuple[File, int, list[File]]
"""An open guard, the generation that it names, and that generation's segments."""


class _Feed(FilesFeed):
    """The feed with what lies beside the lines: the uses that were noted, and the last line."""

    def listed(self, name: str) -> Listed | None:
        place = place_named(name)
        if not isinstance(place, SessionPlace):
            return None
        try:
            return listed(self._disk, place)
        except SessionError:
            return None

    def uses(self, name: str, after: int) -> tuple[list[Use], int]:
        return read_uses(self._disk, name, after)


class FilesFinder:
    """The index of a root, with the lines that it points to."""

    def __init__(
        self,
        disk: Disk,
        root: str,
        embedder: Embedder | None,
        timeout_ms: int = 0,
        command: Sequence[str] = (),
    ) -> None:
        self._disk = disk
        self._uses = Uses(disk)
        self._shadow = Shadow(disk, FilesShelf(disk))
        self._index = Index(f"{root}/{paths.INDEX}", _Feed(disk), embedder, timeout_ms, command)
        self.forget()
        forks.settle(self)

    def settle(self) -> None:
        """Close the database before a fork."""
        self._index.settle()

    def go_on(self) -> None:
        """Let the parent go on after a fork."""
        self._index.go_on()

    def forget(self) -> None:
        """Let go of everything held open, as a forked child must."""
        self._mutex = threading.RLock()
        self._held: dict[str, Opened] = {}
        self._index.forget()
        self._shadow.forget()

    def search(
        self, query: Query, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> Hits:
        if "node" in query.kinds:
            with self._mutex:
                self._shadow.refresh()
        for pause in PAUSES:
            if pause:
                time.sleep(pause)
            files: Files = {}
            # Without the mutex: it may wait for an embedder, and no erasure should.
            found = self._index.search(query, viewer, _log(session_id), now, decay)
            with self._mutex:
                read = [(self._read(one.spot, files), one) for one in found.candidates]
                if not moved(self._disk, files):
                    break  # else a log was rewritten meanwhile, and the index is told so
        there = [(entry, one) for entry, one in read if entry is not None]
        if query.recalls:
            with self._mutex:
                self._note(there[: query.recalls], now)
        hits = [Hit(entry=shown(entry), relevance=one.relevance, why=one.why)
                for entry, one in there]  # fmt: skip
        is_whole = all(files.values())
        missing = 0 if is_whole else sum(not files[one.spot[:2]] for _, one in read)
        return Hits(hits, found.semantic, missing, found.notes)

    def _note(self, found: list[tuple[Entry, Candidate]], now: datetime) -> None:
        at = to_text(now)
        if self._uses.note(
            (one.spot.log, one.spot.generation, Use(entry.id, at)) for entry, one in found
        ):
            self._flush()

    def _read(self, spot: Spot, files: Files) -> Entry | None:
        """The entry at a spot; None if the line is no longer what the index saw."""
        entry = self._line(spot, files)
        if entry is None or entry.seq != spot.seq or entry.type in MARKS:
            return None
        if _is_at(entry.timestamp, spot.time):
            return entry
        first = to_text(datetime.fromtimestamp(spot.time / 1000, UTC))
        if first == entry.timestamp:
            return entry
        return msgspec.structs.replace(entry, timestamp=first, at=entry.written_at)

    def _line(self, spot: Spot, files: Files) -> Entry | None:
        """The valid line at a spot; read again if its log went elsewhere and was overwritten."""
        key = (spot.log, spot.generation)
        while True:
            if key not in files:
                files[key] = self._open(*key)
            if spot.segment >= len(files[key]):
                return None
            entry = entry_at(files[key][spot.segment], spot.offset, spot.length)
            if entry is not None or self._is_here(spot.log):
                return entry
            del files[key]

    def _open(self, name: str, generation: int) -> list[File]:
        """The segments of a log, kept open while its guard stays; none if it was rewritten."""
        if not name:
            return []  # removed from the index since it was asked
        place = place_named(name)
        held = self._held.get(name)
        if held is None or held[0].ident != guard_ident(self._disk, place):
            held = self._opened(name)
            self._remember(name, held)
        return held[2] if held is not None and held[1] == generation else []

    def _is_here(self, name: str) -> bool:
        held = self._held.get(name)
        return held is not None and held[0].ident == guard_ident(self._disk, place_named(name))

    def _flush(self) -> None:
        """Write uses down; the index is told first, or a kill in between would hide them."""
        logs = self._uses.logs()
        if logs:
            self._index.note(logs)
        self._uses.flush()

    def _remember(self, name: str, held: Opened | None) -> None:
        self._held.pop(name, None)
        if held is not None:
            self._held[name] = held
        while len(self._held) > _MAX_OPEN:
            del self._held[next(iter(self._held))]

    def _opened(self, name: str) -> Opened | None:
        place = place_named(name)
        for _ in range(_TRIES):
            try:
                guard, chain = look(self._disk, place)
                return guard, chain.generation, chain.open(self._disk)
            except FileNotFoundError:
                continue  # it went elsewhere just now
            except (SessionError, CorruptionError):
                break
            except StorageIOError as error:
                if not is_its_own(self._disk, name, error):
                    raise
                break
        return None  # removed since the index saw it, or damaged

    def follow(
        self, query: Query, viewer: Viewer, session_id: str | None, after: Mapping[str, int] | None
    ) -> Follower:
        follow = Follow(query, viewer, _log(session_id), after)
        if after is None:
            self._index.look(follow)
        return FilesFollower(self._disk, self._index, self._read, follow)

    def export(
        self, shape: str, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> dict[str, Any]:
        export = Export(self._disk, self._index, self._read)
        return SHAPES[shape](export.sessions(viewer, _log(session_id), now, decay), session_id)

    def counter(self) -> FilesCounter:
        """What shows parts of logs, and counts."""
        return FilesCounter(self._disk, self._index, self._read, self._open, self._mutex)

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        return self._index.sessions(wanted, viewer)

    def unlearned(self, asked: Asked) -> list[Unlearned]:
        return self._index.unlearned(asked)

    def catch_up(self, progress: Progress | None = None) -> int:
        return self._index.catch_up(progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        return self._index.rebuild(progress)

    def purge(self, gone: Wiped | str) -> bool:
        """Forget entries, or a whole log, for good; False if all of the index has to go."""
        with self._mutex:
            if isinstance(gone, Wiped):
                self._uses.drop(gone.log, gone.ids)
            else:
                self._uses.drop_log(gone)
            return self._index.purge(gone)

    def close(self) -> None:
        self._flush()
        self._held.clear()
        self._index.close()


def _is_at(stamp: str, time: int) -> bool:
    """Whether a timestamp, spelled as we do, is this moment; most are, and asking is cheap."""
    if stamp[_STAMP - 1 :] != "Z":
        return False
    try:
        return round(to_moment(stamp).timestamp() * 1000) == time
    except ValueError:
        return False  # written by hand


def _log(session_id: str | None) -> str | None:
    return None if session_id is None else log_name(LogKey("session", session_id))


def make_finder(
    disk: RealDisk, settings: Settings, embedder: Embedder | str | None = None
) -> FilesFinder:
    """The finder of a root, with this embedder or the one that its settings name."""
    chosen = settings.search.embedder if embedder is None else embedder
    opened = None if chosen == "none" else open_embedder(chosen)
    command = second.command(chosen) if isinstance(chosen, str) else ()
    return FilesFinder(disk, disk.root, opened, settings.search.timeout_ms, command)
