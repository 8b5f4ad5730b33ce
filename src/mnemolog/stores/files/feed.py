"""What the index is fed with: the marks that writers leave, and the lines of the logs."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache

from mnemolog import paths
from mnemolog.errors import CorruptionError, SessionError, SessionNotFoundError, StorageError
from mnemolog.fs import Disk, File
from mnemolog.log import lines, sidecars
from mnemolog.log.places import FilePlace, Place, SessionPlace, facts, look
from mnemolog.log.scan import Scan
from mnemolog.model.entry import Entry
from mnemolog.ports import LogKey, News, Position
from mnemolog.stores.files import learned

FOLDER = f"{paths.INDEX}/{paths.NODES}"
"""Where nodes lie as lines."""

_ALL = f"{paths.NODES}/%*"
"""Stands for all logs among those that have news; nobody's nodes have this name."""

_WITNESS = "%0"
"""Lies among the marks. Whoever takes those away without reading their logs, as `rm -rf` does,
takes it along, even if a new mark keeps the folder: then all logs have to be read."""

_FILES = {paths.USERS: paths.PREFERENCES, paths.SHARED: paths.KNOWLEDGE}


@lru_cache(maxsize=1024)
def log_name(key: LogKey) -> str:
    """The name of the folder in which a log lies."""
    if key.kind == "session":
        return paths.session_folder(key.id)
    return paths.user_folder(key.id) if key.kind == "user" else paths.SHARED


@lru_cache(maxsize=1024)
def place_named(name: str) -> Place:
    """Where the log of this name lies."""
    room, _, rest = name.partition("/")
    if room == paths.SESSIONS:
        return SessionPlace(name, name)
    if room == paths.NODES:
        return FilePlace(name, f"{FOLDER}/{rest}.jsonl", f"{FOLDER}/{rest}.lock")
    return FilePlace(name, f"{name}/{_FILES[room]}", f"{name}/{paths.LOCK}")


def mark(disk: Disk, name: str) -> tuple[str, ...]:
    """Tell the index that a log has news; it is derived, so a failure is only a warning."""
    path = _mark_path(name)
    try:
        if disk.ident(path) is None:
            _leave(disk, path)
    except FileExistsError:
        pass
    except (OSError, StorageError) as error:  # whatever happens to `index/`, the entry is stored
        return (f"stored, but the index could not be told: {error}",)
    return ()


def unmark(disk: Disk, name: str) -> None:
    """Remove a log's mark."""
    disk.unlink(_mark_path(name))


def _leave(disk: Disk, path: str) -> None:
    try:
        disk.open(path, "create")
    except FileNotFoundError:  # made anew, it lacks its witness
        disk.mkdir(paths.DIRTY)
        disk.open(path, "create")


@lru_cache(maxsize=1024)
def _mark_path(name: str) -> str:
    """A session's mark is named like its folder; the others begin as no encoded id can."""
    room, _, rest = name.partition("/")
    prefix = {paths.SESSIONS: "", paths.USERS: "%u-", paths.NODES: "%n-"}.get(room, "%s")
    return f"{paths.DIRTY}/{prefix}{rest}"


def nodes_log(user_id: str) -> str:
    """The name of the log that a user's nodes are for the index."""
    return f"{paths.NODES}/{paths.file_name(user_id)}"


def dirty_path(user_id: str) -> str:
    """The sign that a user's nodes changed since they became lines."""
    return f"{FOLDER}/{paths.file_name(user_id)}.dirty"


def mark_nodes(disk: Disk, user_id: str, address: str = "") -> None:
    """Leave that sign, with the address that changed; without one any of them may have.

    The nodes are stored without it too, and found a little later.
    """
    with suppress(OSError, StorageError):
        try:
            file = disk.open(dirty_path(user_id), "append")
        except FileNotFoundError:
            disk.mkdir(FOLDER)
            file = disk.open(dirty_path(user_id), "create")
        file.append(f"{address}\n".encode())


class FilesFeed:
    """Feeds an index from the files below a root."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def marked(self) -> list[str]:
        """The logs whose marks lie there; all of them if somebody took marks away."""
        found = self._disk.list(paths.DIRTY)
        names = [_name_of_mark(mark) for mark in found if mark != _WITNESS]
        return names if _WITNESS in found else [*{*names, *self.all(), _ALL}]

    def unmark(self, name: str) -> None:
        """Remove a log's mark."""
        unmark(self._disk, name)
        if name == _ALL:
            self._disk.mkdir(paths.DIRTY)
            with suppress(FileExistsError):
                self._disk.open(f"{paths.DIRTY}/{_WITNESS}", "create")

    def all(self) -> Iterator[str]:
        """Every log below the root."""
        for name in sidecars.session_names(self._disk):
            yield f"{paths.SESSIONS}/{name}"
        for name in self._disk.list(paths.USERS):
            if not name.startswith("."):
                yield f"{paths.USERS}/{name}"
        yield paths.SHARED
        for name in self._disk.list(FOLDER):
            if name.endswith(".jsonl"):
                yield f"{paths.NODES}/{name.removesuffix('.jsonl')}"

    def read(self, name: str, since: Position | None) -> News | None:
        """The lines of a log after a position."""
        if name == _ALL:
            return None
        place = place_named(name)
        try:
            scan = Scan(self._disk, place, since)
            manifest, markers = None, {}
            if isinstance(place, SessionPlace):
                manifest = facts(self._disk, place)[1]
            elif not name.startswith(f"{paths.NODES}/"):
                markers = learned.read(self._disk, name)
        except SessionNotFoundError:
            return None
        generation = scan.chain.generation
        return News(scan.restarted, iter(scan), generation, scan.size, manifest, markers)

    def entries(
        self, name: str, generation: int, places: Sequence[tuple[int, int, int]]
    ) -> list[Entry | None]:
        """The entries at these places of a log; None where none is any more."""
        try:
            _, chain = look(self._disk, place_named(name))
            files = chain.open(self._disk) if chain.generation == generation else []
        except (FileNotFoundError, SessionError, CorruptionError):
            files = []
        return [
            entry_at(files[segment], offset, length) if segment < len(files) else None
            for segment, offset, length in places
        ]


def entry_at(file: File, offset: int, length: int) -> Entry | None:
    """The valid line at a place; a damaged archive is told of by whoever reads the session."""
    try:
        return lines.valid(file.read(offset, length).rstrip(b"\r\n"))
    except CorruptionError:
        return None


def _name_of_mark(mark: str) -> str:
    if mark.startswith("%u-"):
        return f"{paths.USERS}/{mark[3:]}"
    if mark.startswith("%n-"):
        return f"{paths.NODES}/{mark[3:]}"
    return paths.SHARED if mark == "%s" else f"{paths.SESSIONS}/{mark}"
