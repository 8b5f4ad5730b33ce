"""Reading: single entries, typed lists, preferences, statistics."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from mnemolog.errors import (
    MnemologError,
    SessionError,
    SessionNotFoundError,
    StorageError,
)
from mnemolog.memory.forgetting import Forgetting
from mnemolog.model import plain, shapes
from mnemolog.model.entry import Entry, Warned, type_name
from mnemolog.model.ids import check_id, check_name
from mnemolog.model.session import Statistics, Summary, together
from mnemolog.model.times import normalise
from mnemolog.policy import filters as filtering
from mnemolog.policy.access import OWNER
from mnemolog.ports import SHARED, LogKey, Reading


class Getting(Forgetting):
    """The verbs that read; none of them writes to a log."""

    def get_memory(self, session_id: str, memory_id: str) -> Entry | None:
        """One entry of the session, of its user or shared, if this handle may see it."""
        check_id(memory_id, "memory id")
        for log in self._own_logs(session_id):
            for entry in self._store.read(log, self._viewer, ids=(memory_id,)).entries:
                return entry
        return self._moved_entry(session_id, memory_id)

    def get_entries(
        self,
        session_id: str,
        filters: Mapping[str, Any] | None = None,
        /,
        *,
        types: Iterable[str] | str | None = None,
        after: int = 0,
        last: int | None = None,
        as_of: object = None,
        **more: Any,
    ) -> Warned:
        """A session's entries in order: of these types, past the number `after`, the `last` few.

        With `as_of`, a time, they are those that were there at that moment, as they were then.
        """
        wanted = filtering.prepare({**shapes.as_record(filters), **more})
        chosen = None if types is None else {type_name(t) for t in plain.strings(types, "types")}
        last = plain.count(last, "last")
        cut = None if wanted else last
        past = plain.count(after, "after") or 0
        moment = None if as_of is None else normalise(as_of, "as_of")
        reading = self._read(session_id, types=chosen, after=past, last=cut, as_of=moment)
        found = [entry for entry in reading.entries if filtering.matches(entry, wanted)]
        if wanted and last is not None:
            found = found[-last:] if last > 0 else []
        return Warned(iter(found), _warnings(reading), reading.summary.last_seq)

    def get_decisions(
        self, session_id: str, filters: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Warned:
        """Decisions: by `impact`, `made_by`, `approved_by`, `tags`, `time_range`, …"""
        return self.get_entries(session_id, filters, types="decision", **more)

    def get_findings(
        self, session_id: str, filters: Mapping[str, Any] | None = None, /, **more: Any
    ) -> Warned:
        """Findings: by `severity`, `status`, `category`, `discovered_by`, `tags`, …"""
        return self.get_entries(session_id, filters, types="finding", **more)

    def get_preferences(
        self, session_id: str | None = None, *, user_id: str | None = None
    ) -> Warned:
        """The preferences in force, one for each key: the session's, else the user's, else shared.

        Of several writers the last one counts.
        """
        logs = [SHARED]
        session_user = None if session_id is None else self._manifest(session_id).user_id
        user = check_name(user_id, "user id") or session_user
        if user is not None:
            logs.append(LogKey("user", self._may_reach_user(user, session_user)))
        if session_id is not None:
            logs.append(LogKey("session", session_id))
        readings = [self._store.read(log, self._viewer, types={"preference"}) for log in logs]
        in_force: dict[str, Entry] = {}
        for reading in readings:
            for entry in sorted(reading.entries, key=lambda entry: entry.seq):
                in_force[_key(entry)] = entry
        warnings = tuple(text for reading in readings for text in _warnings(reading))
        return Warned(iter(in_force.values()), warnings)

    def get_statistics(self, session_id: str) -> Statistics:
        """A session in numbers, counted from its log."""
        manifest = self._manifest(session_id)
        summary = self._read(session_id, last=0).summary
        limit = self._settings(manifest).storage.max_session_bytes
        return _statistics(session_id, summary, limit, manifest.created_at)

    get_session_stats = get_statistics

    def get_global_statistics(self) -> Statistics:
        """All sessions that this handle may see, in numbers."""
        read: list[Summary] = []
        limit, times, warnings = 0, list[str](), list[str]()

        def left_out(name: str, error: MnemologError) -> None:
            warnings.append(f"{name:.200} is not counted: {error}")

        # Whose session it is that cannot be read, nobody can tell: only the owner hears of it.
        for one in self._visible(left_out if self._viewer == OWNER else _unheard):
            try:
                summary = self._read(one.manifest.session_id, last=0).summary
                most = self._settings(one.manifest).storage.max_session_bytes
            except SessionNotFoundError:
                continue  # it went meanwhile
            except (SessionError, StorageError) as error:
                left_out(one.manifest.session_id, error)
                continue
            read.append(summary)
            limit += most
            times += [one.manifest.created_at, one.last_written or one.manifest.created_at]
        total = msgspec.structs.replace(together(read), last_written=max(times, default=None))
        found = _statistics(None, total, limit, min(times, default=None), len(read))
        return msgspec.structs.replace(found, warnings=tuple(warnings))


def _unheard(name: str, error: MnemologError) -> None:
    """For whoever must not hear of what is left out."""


def _key(entry: Entry) -> str:
    found = entry.content.get("key") if isinstance(entry.content, dict) else None
    return found if isinstance(found, str) else entry.id


def _warnings(reading: Reading) -> tuple[str, ...]:
    return tuple(str(damage) for damage in reading.damage)


def _statistics(
    session_id: str | None,
    summary: Summary,
    limit: int,
    created_at: str | None,
    sessions: int = 1,
) -> Statistics:
    counts = summary.counts
    changed = max(filter(None, (summary.last_written, created_at)), default=None)
    return Statistics(
        session_id=session_id,
        total_entries=sum(counts.values()),
        total_messages=counts.get("conversation", 0),
        total_decisions=counts.get("decision", 0),
        total_findings=counts.get("finding", 0),
        total_preferences=counts.get("preference", 0),
        conversations=counts.get("conversation", 0),
        decisions=counts.get("decision", 0),
        findings=counts.get("finding", 0),
        preferences=counts.get("preference", 0),
        by_type=counts,
        by_agent=summary.agents,
        size_bytes=summary.size_bytes,
        total_size_bytes=summary.size_bytes,
        max_size_bytes=limit,
        corrupted_lines=summary.damaged,
        redactions=summary.redactions,
        revisions=summary.revisions,
        created_at=created_at,
        updated_at=changed,
        last_accessed=changed,
        sessions=sessions,
    )
