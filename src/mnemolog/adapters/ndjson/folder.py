"""Where an agent's sessions lie, and how their files are made and removed.

    <root>/.work-agent/agents/<slug>/memory/
    ├── sessions/<session-id>.ndjson   one event a line, and nothing else
    ├── locks/<session-id>             empty, locked while somebody writes, never removed
    ├── redact.key                     the key of the tags in placeholders, once there is one
    ├── ids/<name>                     the id of a session whose file is named by its hash
    └── audit.jsonl                    what was cleared or deleted, never what it said

Slugs and ids become file names by `paths.file_name`, and no link is followed, so that no id leads
to the files of another agent.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import unquote

from mnemolog import fs
from mnemolog.errors import (
    InvalidFormatError,
    MnemologError,
    SessionExistsError,
    SessionNotFoundError,
)
from mnemolog.fs import Disk, File
from mnemolog.fs.lock import Lock
from mnemolog.log.places import FilePlace
from mnemolog.log.tail import Tail, find_end
from mnemolog.log.writer import Writer
from mnemolog.model.ids import check_id
from mnemolog.paths import file_name

SUFFIX = ".ndjson"

_CHUNK = 1024 * 1024


class EventsPlace(FilePlace):
    """Where a file of lines without numbers lies."""

    def tail(self, active: File, size: int, known: Tail, floor: Tail) -> Tail:
        return find_end(active, size, floor)

    def missing(self) -> MnemologError:
        return SessionNotFoundError(
            f"This agent has no session {self.name!r:.200}.",
            advice="`list` tells which there are; `new_session` makes one.",
            session_id=self.name,
        )


class AgentFolder:
    """The files of one agent."""

    def __init__(self, disk: Disk, agent: str, lock_timeout: float) -> None:
        self._disk = disk
        self._timeout = lock_timeout
        self._path = f".work-agent/agents/{file_name(check_id(agent, 'agent id'))}/memory"

    @property
    def redact_key(self) -> str:
        """Where the key of the redaction's tags lies."""
        return f"{self._path}/redact.key"

    def names(self) -> list[str]:
        """The names of all files among the sessions."""
        return self._disk.list(f"{self._path}/sessions")

    def place(self, session_id: str) -> EventsPlace:
        """Where a session lies, whether it exists or not."""
        name = file_name(check_id(session_id, "session id"))
        path = f"{self._path}/sessions/{name}{SUFFIX}"
        return EventsPlace(session_id, path, f"{self._path}/locks/{name}")

    def open(self, place: EventsPlace) -> Writer:
        """A writer for a file that exists; one that another program made gets its lock now."""
        if self._disk.ident(place.guard) is None:
            raise place.missing()
        self._make(place.lock)
        return Writer(self._disk, place, self._timeout)

    def audit(self) -> Writer:
        """A writer for the agent's audit, which begins with its first line."""
        # No encoded id begins with a dot.
        place = EventsPlace("audit", f"{self._path}/audit.jsonl", f"{self._path}/locks/.audit")
        self._make(place.guard)
        return self.open(place)

    def create(self, session_id: str) -> Writer:
        """Make an empty session, durably."""
        place = self.place(session_id)
        self._make(place.lock)
        with self._locked(place):  # or a deletion in progress would take the new one's id away
            self._keep_id(session_id)
            self._disk.mkdir(f"{self._path}/sessions")
            try:
                self._disk.open(place.guard, "create")
            except FileExistsError:
                raise SessionExistsError(
                    f"This agent has a session {session_id!r:.200} already.",
                    advice="Select it with `use`, or leave the id out to have a new one made.",
                    session_id=session_id,
                ) from None
        writer = self.open(place)
        with writer.locked():  # whoever opens a log makes the names on the way to it durable
            return writer

    def empty(self, session_id: str) -> int:
        """Blank a session's file and cut it to nothing; says how many bytes it had."""
        place = self.place(session_id)
        with self.open(place).locked():
            return _blank(self._disk, place.guard)

    def remove(self, session_id: str) -> int:
        """Blank a session's file and remove it; says how many bytes it had."""
        place = self.place(session_id)
        with self.open(place).locked():
            size = _blank(self._disk, place.guard)
            for path in (place.guard, self._id_path(session_id)):
                if self._disk.stat(path) is not None:
                    self._disk.unlink(path)
                    self._disk.sync_folder(path.rpartition("/")[0])
            return size

    def id_of(self, name: str) -> str | None:
        """The id of the session in a file of this name; None if it is not a session's."""
        stem = name.removesuffix(SUFFIX)
        found = self._disk.stat(f"{self._path}/sessions/{name}")
        if stem in (name, "") or (found is not None and not found.is_regular):
            return None
        return next((one for one in self._possible_ids(stem) if _is_named(one, stem)), None)

    def _possible_ids(self, stem: str) -> Iterator[str]:
        yield unquote(stem)
        with suppress(FileNotFoundError):
            yield fs.read_all(self._disk, f"{self._path}/ids/{stem}").decode(errors="replace")

    def _make(self, path: str) -> None:
        self._disk.mkdir(path.rpartition("/")[0])
        with suppress(FileExistsError):
            self._disk.open(path, "create")

    @contextmanager
    def _locked(self, place: EventsPlace) -> Iterator[None]:
        """Hold the lock of a session that need not exist yet."""
        lock = Lock(self._disk.open(place.lock, "update"), place.name)
        lock.acquire(time.monotonic() + self._timeout)
        try:
            yield
        finally:
            lock.release()

    def _id_path(self, session_id: str) -> str:
        return f"{self._path}/ids/{file_name(session_id)}"

    def _keep_id(self, session_id: str) -> None:
        """Note the id beside the sessions where the name of the file does not tell it."""
        path = self._id_path(session_id)
        folder, _, name = path.rpartition("/")
        if unquote(name) != session_id:
            self._disk.mkdir(folder)
            fs.replace(self._disk, path, session_id.encode())


def _is_named(session_id: str, name: str) -> bool:
    try:
        return file_name(check_id(session_id)) == name
    except InvalidFormatError:
        return False


def _blank(disk: Disk, path: str) -> int:
    """Overwrite a file, then cut it: cutting alone would leave its bytes on the disk.

    A crash in between leaves blank lines, which mean nothing.
    """
    file = disk.open(path, "update")
    size = file.size()
    for offset in range(0, size, _CHUNK):
        file.write_at(offset, b"\n" * min(_CHUNK, size - offset))
    file.sync()
    file.truncate(0)
    file.sync()
    return size
