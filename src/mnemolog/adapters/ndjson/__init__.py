"""The sessions of an agent as plain NDJSON files: save, load, clear, list, delete."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from mnemolog.adapters.ndjson.events import Draft, Event, Found, read, time_of
from mnemolog.adapters.ndjson.folder import AgentFolder
from mnemolog.errors import InvalidFormatError, StorageIOError
from mnemolog.fs import Disk
from mnemolog.fs.real import RealDisk
from mnemolog.log import forks
from mnemolog.log.places import open_guard
from mnemolog.log.redacting import Redaction
from mnemolog.log.writer import Writer
from mnemolog.model.ids import new_session_id
from mnemolog.model.times import of_file, to_text
from mnemolog.policy.redaction import Redactor

__all__ = ["AgentSessions", "Erasure", "Event", "Found", "Saved", "SessionFile"]

Action = Literal["clear", "delete"]

_encode = msgspec.json.Encoder().encode


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """Where an event went, under which timestamp, and what had to be changed in it."""

    session_id: str
    timestamp: Any
    redactions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class SessionFile(msgspec.Struct, frozen=True, kw_only=True):
    """A session as `list` tells it; `timestamp` is that of its last event."""

    id: str
    timestamp: str | None
    mtime: str
    size: int


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """The confirmation that a session was cleared or deleted; the audit holds the same."""

    v: int = 1
    action: Action
    session_id: str
    timestamp: str
    bytes: int


def _make_redactor(
    key: bytes, patterns: Sequence[tuple[str, str]], kinds: Sequence[str]
) -> Redactor:
    return Redactor(key, patterns=patterns, rules=kinds or None)


def _as_it_is(value: Any) -> tuple[Any, Mapping[str, int]]:
    return value, {}


def _utc_now() -> datetime:
    return datetime.now(UTC)


class AgentSessions:
    """One agent's sessions, for any number of threads beside any number of processes."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        agent: str,
        *,
        disk: Disk | None = None,
        now: Callable[[], datetime] = _utc_now,
        lock_timeout: float = 5.0,
        redact: bool = True,
    ) -> None:
        self._disk = disk or RealDisk(os.fspath(root))
        self._folder = AgentFolder(self._disk, agent, lock_timeout)
        self._now = now
        redaction = Redaction(self._disk, _make_redactor, self._folder.redact_key)
        self._redact = redaction.for_rules() if redact else _as_it_is
        self._current: Writer | None = None
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Share no mutex with the process that this one was forked from."""
        self._mutex = threading.Lock()

    @property
    def active(self) -> str | None:
        """The id of the session that `save` writes to."""
        return None if self._current is None else self._current.place.name

    def new_session(self, session_id: str | None = None) -> str:
        """Make an empty session and make it the active one; returns its id."""
        writer = self._create(session_id)
        with self._mutex:
            self._current = writer
        return writer.place.name

    def use(self, session_id: str) -> None:
        """Make a session that exists the active one."""
        writer = self._folder.open(self._folder.place(session_id))
        with self._mutex:
            self._current = writer

    def save(self, event: Mapping[str, Any]) -> Saved:
        """Append an event to the active session, which is made if there is none; durable then."""
        draft = Draft(event, self._redact)
        with self._mutex:
            writer = self._current = self._current or self._create()
        _append(writer, lambda: draft.line(self._now()))
        name = writer.place.name
        return Saved(
            session_id=name,
            timestamp=draft.timestamp,
            redactions=draft.redactions,
            warnings=draft.warnings,
        )

    def load(self, session_id: str, limit: int | None = None) -> Found[Event]:
        """The events of a session in the order of saving, or only the last so many."""
        _check_limit(limit)
        place = self._folder.place(session_id)
        return read(open_guard(self._disk, place), place.guard.rpartition("/")[2], limit)

    def list(self) -> Found[SessionFile]:
        """All sessions of this agent, the one with the newest event first."""
        sessions: list[SessionFile] = []
        strange: list[str] = []
        for name in self._folder.names():
            session_id = self._folder.id_of(name)
            if session_id is None:
                strange.append(f"{name} is not the file of a session")
                continue
            try:
                sessions.append(self._listed(session_id))
            except FileNotFoundError:
                continue  # deleted meanwhile
            except StorageIOError as error:
                strange.append(f"{name} is not listed: {error}")
        sessions.sort(key=lambda one: (one.timestamp or one.mtime, one.mtime, one.id), reverse=True)
        return Found(sessions, strange)

    def clear(self, session_id: str) -> Erasure:
        """Overwrite a session's events and cut its file to zero bytes; audited."""
        return self._audited("clear", session_id, self._folder.empty(session_id))

    def delete(self, session_id: str) -> Erasure:
        """Overwrite a session's events and remove its file; audited."""
        size = self._folder.remove(session_id)
        with self._mutex:
            if self.active == session_id:
                self._current = None
        return self._audited("delete", session_id, size)

    def _create(self, session_id: str | None = None) -> Writer:
        chosen = new_session_id(self._now()) if session_id is None else session_id
        return self._folder.create(chosen)

    def _listed(self, session_id: str) -> SessionFile:
        path = self._folder.place(session_id).guard
        found = self._disk.stat(path)
        if found is None:
            raise FileNotFoundError(path)
        last = read(self._disk.open(path, "read"), "", 1)
        return SessionFile(
            id=session_id,
            timestamp=time_of(last[0]) if last else None,
            mtime=of_file(found.mtime_ns),
            size=found.size,
        )

    def _audited(self, action: Action, session_id: str, size: int) -> Erasure:
        now = to_text(self._now())
        done = Erasure(action=action, session_id=session_id, timestamp=now, bytes=size)
        _append(self._folder.audit(), lambda: _encode(done) + b"\n")
        return done


def _append(writer: Writer, line: Callable[[], bytes]) -> None:
    """One line, made under the lock; on the disk when this returns."""
    file = writer.append(lambda _: (line(), 0), lambda: "an event")
    try:
        writer.sync(file, lambda: f"what was added to {writer.place.name!r:.200}")
    except StorageIOError as error:
        raise StorageIOError(
            error.message, advice="Load the session and look before saving it again."
        ) from error


def _check_limit(limit: object) -> None:
    if limit is None:
        return
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise InvalidFormatError(
            f"The limit {limit!r:.40} is no number of events.",
            advice="Give 0 or more, or leave it out for all of them.",
            field="limit",
        )
