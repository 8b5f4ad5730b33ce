"""Searching the files: the index says where the best lines lie, and the logs what they say."""

import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from mnemolog import paths
from mnemolog.embedders import open_embedder
from mnemolog.errors import CorruptionError, SessionError
from mnemolog.fs import Disk, File
from mnemolog.fs.real import RealDisk
from mnemolog.index.export import SHAPES
from mnemolog.index.follow import Follow
from mnemolog.index.index import Index
from mnemolog.index.vectors import Embedder
from mnemolog.log import forks, lines
from mnemolog.log.places import Place, open_guard
from mnemolog.model.entry import MARKS, Entry
from mnemolog.model.query import Hit, Hits, Query
from mnemolog.model.times import to_text
from mnemolog.policy.access import Viewer
from mnemolog.ports import Follower, Found, Listed, LogKey, Progress, Spot, Use, Wanted
from mnemolog.settings import Decay, Settings
from mnemolog.stores.files.exports import Export
from mnemolog.stores.files.feed import FilesFeed, log_name, place_named
from mnemolog.stores.files.follower import Files, FilesFollower, moved
from mnemolog.stores.files.uses import Uses, read_uses

# So many logs are kept open for reading hits; each costs two descriptors or a few more.
_MAX_OPEN = 16
_LOOKS = 3

Held = tuple[File, int, list[File]]
"""An open guard, the generation that it names, and that generation's segments."""


class _Feed(FilesFeed):
    """The feed with the uses that were noted beside the logs."""

    def uses(self, name: str) -> list[Use]:
        return read_uses(self._disk, name)


class FilesFinder:
    """The index of a root, with the lines that it points to."""

    def __init__(
        self, disk: Disk, root: str, embedder: Embedder | None, timeout_ms: int = 0
    ) -> None:
        self._disk = disk
        self._uses = Uses(disk)
        self._index = Index(f"{root}/{paths.INDEX}", _Feed(disk), embedder, timeout_ms)
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Let go of everything held open, as a forked child must."""
        self._mutex = threading.RLock()
        self._held: dict[str, Held] = {}
        self._index.forget()

    def search(
        self, query: Query, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> Hits:
        with self._mutex:
            for _ in range(_LOOKS):
                files: Files = {}
                found = self._index.search(query, viewer, _log(session_id), now, decay)
                hits = self._hits(found, now, files)
                if not moved(self._disk, files):
                    break  # else a log was rewritten meanwhile, and the index is told so
        return hits

    def _hits(self, found: Found, now: datetime, files: Files) -> Hits:
        hits: list[Hit] = []
        uses: list[tuple[str, Use]] = []
        for candidate in found.candidates:
            entry = self._read(candidate.spot, files)
            if entry is not None:
                hits.append(Hit(entry=entry, relevance=candidate.relevance, why=candidate.why))
                uses.append((candidate.spot.log, Use(entry.id, to_text(now))))
        if self._uses.note(uses):
            self._flush()
        return Hits(hits, found.semantic)

    def _read(self, spot: Spot, files: Files) -> Entry | None:
        """The entry at a spot; None if the line is no longer what the index saw."""
        key = (spot.log, spot.generation)
        if key not in files:
            files[key] = self._open(*key)
        if spot.segment >= len(files[key]):
            return None
        line = files[key][spot.segment].read(spot.offset, spot.length).rstrip(b"\r\n")
        entry = lines.entry(line) if lines.verify(line) else None
        if entry is None or entry.seq != spot.seq or entry.type in MARKS:
            return None
        first = to_text(datetime.fromtimestamp(spot.time / 1000, UTC))
        if first == entry.timestamp:
            return entry
        return msgspec.structs.replace(entry, timestamp=first, at=entry.written_at)

    def _open(self, name: str, generation: int) -> list[File]:
        """The segments of a log, kept open while its guard stays; none if it was rewritten."""
        if not name:
            return []  # removed from the index since it was asked
        place = place_named(name)
        held = self._held.get(name)
        if held is None or held[0].ident != self._disk.ident(place.guard):
            held = self._opened(place)
            self._remember(name, held)
        return held[2] if held is not None and held[1] == generation else []

    def _flush(self) -> None:
        uses = self._uses.flush()
        if uses:
            self._index.use(uses)

    def _remember(self, name: str, held: Held | None) -> None:
        self._held.pop(name, None)
        if held is not None:
            self._held[name] = held
        while len(self._held) > _MAX_OPEN:
            del self._held[next(iter(self._held))]

    def _opened(self, place: Place) -> Held | None:
        try:
            guard = open_guard(self._disk, place)
            chain = place.chain(guard)
            files = [self._disk.open(chain.path(one), "read") for one in chain.segments]
        except (FileNotFoundError, SessionError, CorruptionError):
            return None  # removed or rewritten since the index saw it
        return guard, chain.generation, files

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

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        return self._index.sessions(wanted, viewer)

    def catch_up(self, progress: Progress | None = None) -> int:
        return self._index.catch_up(progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        return self._index.rebuild(progress)

    def close(self) -> None:
        self._flush()
        self._held.clear()
        self._index.close()


def _log(session_id: str | None) -> str | None:
    return None if session_id is None else log_name(LogKey("session", session_id))


def make_finder(disk: RealDisk, settings: Settings) -> FilesFinder:
    """The finder of a root, with the embedder that its settings name."""
    search = settings.search
    embedder = None if search.embedder == "none" else open_embedder(search.embedder)
    return FilesFinder(disk, disk.root, embedder, search.timeout_ms)
