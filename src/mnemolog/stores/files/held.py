"""One log as the store holds it: its place, its writer and its reader."""

from contextlib import suppress

from mnemolog import paths
from mnemolog.fs import Disk, File
from mnemolog.log import moved, quarantine, runs, sessions
from mnemolog.log.places import FilePlace, Place, SessionPlace, facts, guard_ident
from mnemolog.log.reader import OnDamage, Reader, View
from mnemolog.log.versions import CURRENT, Versions
from mnemolog.log.writer import Writer
from mnemolog.model.entry import Damage
from mnemolog.model.observing import tell
from mnemolog.model.session import Manifest
from mnemolog.policy.compaction import Weighed
from mnemolog.ports import LogKey
from mnemolog.settings import Settings


class Held:
    """What is kept open and remembered of one log."""

    def __init__(
        self, disk: Disk, key: LogKey, settings: Settings, versions: Versions = CURRENT
    ) -> None:
        self.key = key
        self.versions = versions
        self._disk = disk
        self.place = place_of(key, versions)
        self.lock_timeout = settings.concurrency.lock_timeout_ms / 1000
        self.writer = Writer(disk, self.place, self.lock_timeout)
        self.quarantine = quarantine.name_of(key.kind, key.id)
        self.reader = Reader(disk, self.place, _keeper(disk, key, self.quarantine))
        self._manifest: tuple[File, Manifest] | None = None
        self._moved: tuple[Manifest, dict[str, Weighed]] | None = None

    def manifest(self) -> Manifest:
        """A session's manifest, read again only when it was replaced, archived or restored."""
        held = self._manifest
        if held is None or held[0].ident != guard_ident(self._disk, self.place):
            assert isinstance(self.place, SessionPlace)
            held = facts(self._disk, self.place)
            self._manifest = held
        return held[1]

    def moved(self) -> dict[str, Weighed]:
        """The entries that compactions moved out, as far as they can be read; read again only when
        the manifest changed."""
        manifest = self.manifest()
        known = self._moved
        if known is None or known[0] is not manifest:
            generations = manifest.markers.get("moved", ())
            found = moved.entries(
                self._disk, paths.file_name(self.key.id), generations, is_salvage=True
            )
            known = self._moved = (manifest, found)
        return known[1]

    def view_as_of(self, moment: str) -> View:
        """The log as it was at a moment, as far as its lines still tell; nothing is remembered."""
        damaged = _keeper(self._disk, self.key, self.quarantine)
        return Reader(self._disk, self.place, damaged, as_of=moment).view()

    def forget(self) -> None:
        """Let go of everything held open; the next use opens it anew."""
        self.writer.forget()
        self.reader.forget()
        self._manifest = None

    def exists(self) -> bool:
        """Whether there is anything to read; a session that is missing is an error instead."""
        return self.key.kind == "session" or self._disk.ident(self.place.guard) is not None

    def ensure_exists(self) -> None:
        """Make the files of a log that begins with its first entry; a lock that went comes back."""
        if self.exists() and self._disk.ident(self.place.lock) is not None:
            return
        if self.key.kind == "run":
            raise self.place.missing()  # it was made when the run began
        folder = self.place.guard.rpartition("/")[0]
        self._disk.mkdir(folder)
        with suppress(FileExistsError):
            self._disk.open(self.place.lock, "create")
        self._disk.sync_folder(folder)  # a log without its lock could never be written to
        with suppress(FileExistsError):
            self._disk.open(self.place.guard, "create")


def _keeper(disk: Disk, key: LogKey, name: str) -> OnDamage:
    """A plain function, not a method: what is dropped must not wait for the garbage collector."""

    def keep(damage: Damage, content: bytes) -> None:
        tell("damage", key.id or None, bytes=len(content))
        if key.kind != "run":  # nothing of a run may outlive it
            quarantine.keep(disk, name, damage, content)

    return keep


def place_of(key: LogKey, versions: Versions = CURRENT) -> Place:
    """Where a log lies."""
    if key.kind == "session":
        return sessions.place(key.id, versions)
    if key.kind == "run":
        return runs.place(sessions.place(key.id, versions), key.run)
    if key.kind == "user":
        folder, file = paths.user_folder(key.id), paths.PREFERENCES
    else:
        folder, file = paths.SHARED, paths.KNOWLEDGE
    return FilePlace(key.id or key.kind, f"{folder}/{file}", f"{folder}/{paths.LOCK}", versions)
