"""Leafing: parts of a log by way of the index; of its lines only those are read that are shown."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import RLock

from mnemolog.fs import Disk, File
from mnemolog.index.index import Index
from mnemolog.index.windows import Part, Row
from mnemolog.model.inspecting import Bucket, Numbered, RawLine
from mnemolog.model.times import to_text
from mnemolog.policy.access import Viewer
from mnemolog.ports import LogKey
from mnemolog.ports.looking import Placed, Span, Window
from mnemolog.stores.files.feed import log_name, place_named
from mnemolog.stores.files.follower import Files, Read, moved
from mnemolog.stores.files.looking import raw_line

# How long to wait before each look, should a log be rewritten while it is looked at.
PAUSES = (0.0, 0.001, 0.005, 0.02, 0.1)

Open = Callable[[str, int], list[File]]


class FilesCounter:
    """Shows and counts what the index knows, with the lines that it points to."""

    def __init__(self, disk: Disk, index: Index, read: Read, opened: Open, mutex: RLock) -> None:
        self._disk = disk
        self._index = index
        self._read = read
        self._open = opened
        self._mutex = mutex

    def part(self, log: LogKey, viewer: Viewer, span: Span, most: int | None) -> Window:
        name = log_name(log)
        found, placed = self._looked(
            lambda: self._index.windows(viewer, lambda one: one.part(name, span, most))
        )
        return Window(placed, found.within, found.total)

    def one(self, log: LogKey, viewer: Viewer, identifier: str) -> Placed | None:
        placed = self._looked(lambda: self._alone(log, viewer, identifier))[1]
        return placed[0] if placed else None

    def raw(self, log: LogKey, viewer: Viewer, identifier: str) -> RawLine | None:
        with self._mutex:
            for pause in PAUSES:
                time.sleep(pause)
                rows = self._alone(log, viewer, identifier).rows
                files = self._open(*rows[0].spot[:2]) if rows else []
                if not rows or not moved(self._disk, {rows[0].spot[:2]: files}):
                    break
            return self._exact(rows[0], files) if files else None

    def minimap(self, log: LogKey, viewer: Viewer, most: int, ahead: int) -> list[Bucket]:
        name = log_name(log)
        return self._index.windows(viewer, lambda one: one.minimap(name, most, ahead))

    def numbers(self, session_id: str | None, viewer: Viewer) -> Numbered:
        name = None if session_id is None else log_name(LogKey("session", session_id))
        return self._index.windows(viewer, lambda one: one.numbers(name))

    def hidden(self, session_id: str | None, viewer: Viewer, skip: int, most: int | None) -> Window:
        name = None if session_id is None else log_name(LogKey("session", session_id))
        found, placed = self._looked(
            lambda: self._index.windows(viewer, lambda one: one.hidden(name, skip, most))
        )
        return Window(placed, found.within, found.total)

    def growth(self, viewer: Viewer, unit: str) -> dict[str, dict[str, int]]:
        return self._index.windows(viewer, lambda one: one.growth(unit))

    def _alone(self, log: LogKey, viewer: Viewer, identifier: str) -> Part:
        name = log_name(log)
        row = self._index.windows(viewer, lambda one: one.one(name, identifier))
        return Part([] if row is None else [row], 1, 1)

    def _looked(self, ask: Callable[[], Part]) -> tuple[Part, list[Placed]]:
        """What the index says, and the lines; again if a log was rewritten meanwhile."""
        with self._mutex:
            for pause in PAUSES:
                time.sleep(pause)
                files: Files = {}
                found = ask()
                read = [self._placed(row, files) for row in found.rows]
                if not moved(self._disk, files):
                    break
        return found, [one for one in read if one is not None]

    def _placed(self, row: Row, files: Files) -> Placed | None:
        entry = self._read(row.spot, files)
        if entry is None:
            return None
        used = to_text(datetime.fromtimestamp(row.used / 1000, UTC)) if row.uses else None
        return Placed(entry, row.place, row.revisions, row.died, row.secrets, row.uses, used)

    def _exact(self, row: Row, files: list[File]) -> RawLine:
        spot = row.spot
        line = files[spot.segment].read(spot.offset, spot.length)
        return raw_line(self._disk, place_named(spot.log), line, spot.segment, spot.offset)
