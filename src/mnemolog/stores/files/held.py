"""One log as the store holds it: its place, its writer and its reader."""

from contextlib import suppress

from mnemolog import paths
from mnemolog.fs import Disk, File
from mnemolog.log import manifests, quarantine, sessions
from mnemolog.log.places import FilePlace, Place, open_guard
from mnemolog.log.reader import OnDamage, Reader
from mnemolog.log.writer import Writer
from mnemolog.model.entry import Damage
from mnemolog.model.session import Manifest
from mnemolog.ports import LogKey
from mnemolog.settings import Settings


class Held:
    """What is kept open and remembered of one log."""

    def __init__(self, disk: Disk, key: LogKey, settings: Settings) -> None:
        self.key = key
        self._disk = disk
        self._place = place_of(key)
        self.writer = Writer(disk, self._place, settings.concurrency.lock_timeout_ms / 1000)
        self.reader = Reader(disk, self._place, _keeper(disk, self._place.name))
        self._manifest: tuple[File, Manifest] | None = None

    def manifest(self) -> Manifest:
        """A session's manifest, read again only when it was replaced."""
        held = self._manifest
        if held is None or held[0].ident != self._disk.ident(self._place.guard):
            guard = open_guard(self._disk, self._place)
            content = guard.read(0, guard.size())
            held = (guard, manifests.parse(content, self._place.guard.rpartition("/")[0]))
            self._manifest = held
        return held[1]

    def exists(self) -> bool:
        """Whether there is anything to read; a session that is missing is an error instead."""
        return self.key.kind == "session" or self._disk.ident(self._place.guard) is not None

    def ensure_exists(self) -> None:
        """Make the files of a log that begins with its first entry."""
        if self.exists():
            return
        folder = self._place.guard.rpartition("/")[0]
        self._disk.mkdir(folder)
        with suppress(FileExistsError):
            self._disk.open(self._place.lock, "create")
        self._disk.sync_folder(folder)  # a log without its lock could never be written to
        with suppress(FileExistsError):
            self._disk.open(self._place.guard, "create")


def _keeper(disk: Disk, name: str) -> OnDamage:
    """A plain function, not a method: what is dropped must not wait for the garbage collector."""

    def keep(damage: Damage, content: bytes) -> None:
        quarantine.keep(disk, name, damage, content)

    return keep


def place_of(key: LogKey) -> Place:
    """Where a log lies."""
    if key.kind == "session":
        return sessions.place(key.id)
    if key.kind == "user":
        folder, file = paths.user_folder(key.id), "preferences.jsonl"
    else:
        folder, file = paths.SHARED, "knowledge.jsonl"
    return FilePlace(key.id or key.kind, f"{folder}/{file}", f"{folder}/lock")
