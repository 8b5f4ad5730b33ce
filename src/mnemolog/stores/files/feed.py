"""What the index is fed with: the marks that writers leave, and the lines of the logs."""

from collections.abc import Iterator
from functools import lru_cache

from mnemolog import paths
from mnemolog.errors import SessionNotFoundError, StorageError
from mnemolog.fs import Disk
from mnemolog.log import sidecars
from mnemolog.log.places import FilePlace, Place, SessionPlace, facts
from mnemolog.log.scan import Scan
from mnemolog.ports import LogKey, News, Position

_FILES = {paths.USERS: "preferences.jsonl", paths.SHARED: "knowledge.jsonl"}


@lru_cache(maxsize=1024)
def log_name(key: LogKey) -> str:
    """The name of the folder in which a log lies."""
    if key.kind == "session":
        return paths.session_folder(key.id)
    return paths.user_folder(key.id) if key.kind == "user" else paths.SHARED


def place_named(name: str) -> Place:
    """Where the log of this name lies."""
    room, _, _ = name.partition("/")
    if room == paths.SESSIONS:
        return SessionPlace(name, name)
    return FilePlace(name, f"{name}/{_FILES[room]}", f"{name}/lock")


def mark(disk: Disk, name: str) -> tuple[str, ...]:
    """Tell the index that a log has news; it is derived, so a failure is only a warning."""
    path = _mark_path(name)
    try:
        if disk.ident(path) is None:
            disk.mkdir(paths.DIRTY)
            disk.open(path, "create")
    except FileExistsError:
        pass
    except (OSError, StorageError) as error:  # whatever happens to `index/`, the entry is stored
        return (f"stored, but the index could not be told: {error}",)
    return ()


@lru_cache(maxsize=1024)
def _mark_path(name: str) -> str:
    """A session's mark is named like its folder; the others begin as no encoded id can."""
    room, _, rest = name.partition("/")
    prefix = {paths.SESSIONS: "", paths.USERS: "%u-"}.get(room, "%s")
    return f"{paths.DIRTY}/{prefix}{rest}"


class FilesFeed:
    """Feeds an index from the files below a root."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def marked(self) -> list[str]:
        """The logs whose marks lie there."""
        return [_name_of_mark(mark) for mark in self._disk.list(paths.DIRTY)]

    def unmark(self, name: str) -> None:
        """Remove a log's mark."""
        self._disk.unlink(_mark_path(name))

    def all(self) -> Iterator[str]:
        """Every log below the root."""
        for name in sidecars.session_names(self._disk):
            yield f"{paths.SESSIONS}/{name}"
        for name in self._disk.list(paths.USERS):
            if not name.startswith("."):
                yield f"{paths.USERS}/{name}"
        yield paths.SHARED

    def read(self, name: str, since: Position | None) -> News | None:
        """The lines of a log after a position."""
        place = place_named(name)
        try:
            scan = Scan(self._disk, place, since)
            manifest = None
            if isinstance(place, SessionPlace):
                manifest = facts(self._disk, place)[1]
        except SessionNotFoundError:
            return None
        return News(scan.restarted, iter(scan), scan.chain.generation, scan.size, manifest)


def _name_of_mark(mark: str) -> str:
    if mark.startswith("%u-"):
        return f"{paths.USERS}/{mark[3:]}"
    return paths.SHARED if mark == "%s" else f"{paths.SESSIONS}/{mark}"
