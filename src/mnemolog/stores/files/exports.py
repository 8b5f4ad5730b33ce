"""What the index knows of each session, with the place of every line; read on demand."""

import sys
from collections.abc import Iterator
from datetime import datetime
from itertools import groupby

from mnemolog import paths
from mnemolog.errors import ConcurrentModificationError, SessionError
from mnemolog.fs import Disk
from mnemolog.index.export import Exported, Indexed
from mnemolog.index.index import Index
from mnemolog.log.places import SessionPlace, facts
from mnemolog.model.query import Query
from mnemolog.model.session import Manifest
from mnemolog.policy.access import Viewer
from mnemolog.ports import Candidate
from mnemolog.settings import Decay
from mnemolog.stores.files.follower import Files, Read, moved

_TRIES = 8

# Everything; as relevant as its own formula makes what matches perfectly.
_ALL = Query(limit=sys.maxsize, scorer="product")


class Export:
    """Reads what is exported."""

    def __init__(self, disk: Disk, index: Index, read: Read) -> None:
        self._disk = disk
        self._index = index
        self._read = read

    def sessions(
        self, viewer: Viewer, log: str | None, now: datetime, decay: Decay
    ) -> list[Indexed]:
        """What is known of one session, or of each that holds something the viewer may see."""
        for _ in range(_TRIES):
            found = self._index.search(_ALL, viewer, log, now, decay).candidates
            by_log: dict[str, list[Candidate]] = {} if log is None else {log: []}
            for one in sorted(found, key=lambda one: one.spot):
                by_log.setdefault(one.spot.log, []).append(one)
            files: Files = {}
            known = [self._known(name, by_log[name], files) for name in sorted(by_log)]
            if not moved(self._disk, files):
                return [one for one in known if one is not None]
        raise ConcurrentModificationError(
            "A session was rewritten each time it was read.", advice="Try again."
        )

    def _known(self, name: str, found: list[Candidate], files: Files) -> Indexed | None:
        if not name.startswith(f"{paths.SESSIONS}/"):
            return None  # a user's own log and the shared one belong to no session
        place = SessionPlace(name, name)
        try:
            manifest = facts(self._disk, place)[1]
        except SessionError:
            return None  # removed meanwhile
        placed = list(self._placed(manifest, found, files))
        return Indexed(manifest.session_id, manifest.created_at, placed)

    def _placed(
        self, manifest: Manifest, found: list[Candidate], files: Files
    ) -> Iterator[Exported]:
        for segment, group in groupby(found, lambda one: one.spot.segment):
            at, line = 0, 1
            for spot, relevance, why in group:
                entry = self._read(spot, files)
                if entry is None:
                    continue
                file = files[spot.log, spot.generation][segment]
                line += file.read(at, spot.offset - at).count(b"\n")
                at = spot.offset
                name = manifest.segments[segment].name
                yield Exported(entry, name, line, spot.offset, relevance, why["decay"])
