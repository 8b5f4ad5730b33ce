"""Following the files: what the index says is new, with the lines themselves."""

from collections.abc import Callable

from mnemolog.fs import Disk, File
from mnemolog.index.follow import Follow, Look, Match
from mnemolog.index.index import Index
from mnemolog.model.entry import Entry
from mnemolog.model.query import Hit
from mnemolog.ports import Spot
from mnemolog.stores.files.feed import mark

Files = dict[tuple[str, int], list[File]]
"""The segments of each log and generation; none if the log moved on since the index saw it."""

Read = Callable[[Spot, Files], Entry | None]


def moved(disk: Disk, files: Files) -> bool:
    """Whether a log was rewritten or removed; if so, the index is told to look again."""
    gone = {name for (name, _), opened in files.items() if not opened}
    for name in filter(None, gone):
        mark(disk, name)
    return bool(gone)


class FilesFollower:
    """Follows the sessions below a root."""

    def __init__(self, disk: Disk, index: Index, read: Read, follow: Follow) -> None:
        self._disk = disk
        self._index = index
        self._read = read
        self._follow = follow

    def news(self) -> list[Hit]:
        look = self._index.look(self._follow)
        files: Files = {}
        hits = [self._hit(match, files) for match in look.matches]
        if moved(self._disk, files) or (None in hits and self._index.look(self._follow) != look):
            return []  # nothing was taken, so all of it comes again once the index caught up
        _sync(look, files)
        self._follow.settle(look)
        return [hit for hit in hits if hit is not None]

    def _hit(self, match: Match, files: Files) -> Hit | None:
        entry = self._read(match.spot, files)
        if entry is None or entry.seq != match.seq:
            return None
        why = {"lexical": round(match.share, 6), "final": round(match.share, 6)}
        return Hit(entry=entry, relevance=match.share, why=why)


def _sync(look: Look, files: Files) -> None:
    """Make durable what is handed out: its numbers may be kept, and must never be given again."""
    for log, generation, segment in {match.spot[:3] for match in look.matches}:
        opened = files[log, generation]
        if segment < len(opened):
            opened[segment].sync()
