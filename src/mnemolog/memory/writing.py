"""Writing: entries, typed entries, preferences, revisions."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import msgspec

from mnemolog.errors import (
    ConcurrentModificationError,
    EntryNotFoundError,
    SchemaInvalidError,
    shown,
)
from mnemolog.memory.base import around
from mnemolog.memory.forgetting import Forgetting
from mnemolog.model import plain, shapes
from mnemolog.model.entry import Entry, Receipt
from mnemolog.model.ids import check_id
from mnemolog.model.observing import observers, tell_took
from mnemolog.model.shapes import Conversation, Decision, Finding, Preference
from mnemolog.policy import drafting
from mnemolog.policy.access import may_change
from mnemolog.policy.drafting import Circumstances
from mnemolog.ports import SHARED, LogKey, Write

_TRIES = 8


class Writing(Forgetting):
    """The verbs that store something; each returns receipts."""

    def add_memory(
        self, session_id: str, entry: Mapping[str, Any] | None = None, /, **fields: Any
    ) -> Receipt:
        """Add one entry, given as a dictionary, as keywords, or both."""
        return self._write(session_id, [{**shapes.as_record(entry), **fields}])[0]

    def add_many(self, session_id: str, entries: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Add several entries with one write and one sync; none is stored if one is refused."""
        if isinstance(entries, str | bytes | Mapping) or not isinstance(entries, Iterable):
            raise SchemaInvalidError(f"Entries come as a list, not as {shown(entries)}.")
        return self._write(session_id, [shapes.as_record(entry) for entry in entries])

    def add_conversation(
        self,
        session_id: str,
        message: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Conversation],
    ) -> Receipt:
        """Add a message: `role`, `content`, `agent_id`, `context`, `metadata`, …"""
        return self._write(session_id, [shapes.typed("conversation", message, fields)])[0]

    def add_decision(
        self,
        session_id: str,
        decision_record: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Decision],
    ) -> Receipt:
        """Add a decision: `decision`, `rationale`, `made_by`, `approved_by`, `impact`, …"""
        return self._write(session_id, [shapes.typed("decision", decision_record, fields)])[0]

    def add_finding(
        self,
        session_id: str,
        finding: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Finding],
    ) -> Receipt:
        """Add a finding: `description`, `severity`, `evidence`, `recommendation`, `status`, …"""
        return self._write(session_id, [shapes.typed("finding", finding, fields)])[0]

    def update_preference(
        self,
        session_id: str | None,
        preference: Mapping[str, Any] | None = None,
        /,
        **fields: Unpack[Preference],
    ) -> Receipt:
        """Set a preference by its `key`: for the session, or with `scope` for the user or for all.

        Without a session, give `scope="user"` and `user_id`, or `scope="shared"`.
        """
        record = shapes.typed("preference", preference, fields)
        return self._write(session_id, [record])[0]

    def update_memory(
        self,
        session_id: str,
        memory_id: str,
        *,
        expected_seq: int | None = None,
        **changes: Any,
    ) -> Receipt:
        """Store a new revision with other `content`, `tags`, `importance`, `status`, `metadata`, …

        With `expected_seq` the change is refused unless that revision is still the current one.
        """
        check_id(session_id, "session id")
        check_id(memory_id, "memory id")
        plain.count(expected_seq, "expected_seq")
        for attempt in range(_TRIES):
            try:
                return self._revise(session_id, memory_id, expected_seq, changes)
            except ConcurrentModificationError:
                if expected_seq is not None or attempt == _TRIES - 1:
                    raise
        raise AssertionError("unreachable")

    def _revise(
        self, session_id: str, memory_id: str, expected: int | None, changes: Mapping[str, Any]
    ) -> Receipt:
        where = self._where(session_id)
        log, before = self._find(session_id, where.user_id, memory_id)
        if before is None and self._kept_by is not None:
            moved = self._moved_entry(session_id, memory_id)
            if moved is not None and may_change(self._viewer, moved):
                return self._revise_moved(moved, expected, changes, where)
        if before is None or not may_change(self._viewer, before):
            raise EntryNotFoundError(
                f"There is no entry {memory_id!r:.140} that this handle may change.",
                advice="`get_entries` lists what there is.",
                id=memory_id,
            )
        replaced = before.seq if expected is None else expected
        write = drafting.revise(before, changes, where)._replace(expected_seq=replaced)
        return self._append(log, [write], where)[0]

    def _revise_moved(
        self, before: Entry, expected: int | None, changes: Mapping[str, Any], where: Circumstances
    ) -> Receipt:
        """What a compaction moved to the archive comes back to the log as its new revision."""
        session_id = str(where.session_id)
        if expected not in (None, before.seq):
            raise ConcurrentModificationError(
                f"The entry {before.id!r:.140} was changed meanwhile.",
                advice="Read it again and repeat the change.",
                id=before.id,
                expected_seq=expected,
                seq=before.seq,
            )
        first = msgspec.structs.replace(before, timestamp=before.created or before.timestamp)
        write = drafting.revise(first, changes, where)
        write = write._replace(check=self._if_moved(session_id, [before]))
        (receipt,) = self._append(LogKey("session", session_id), [write], where)
        self._keeper.forget_moved(session_id, [before.id], receipt.seq)
        return msgspec.structs.replace(receipt, status="revised")

    def _find(
        self, session_id: str, user_id: str | None, memory_id: str
    ) -> tuple[LogKey, Entry | None]:
        """An entry of the session; else one of its user's; else a shared one."""
        logs = around(session_id, user_id)
        for log in logs:
            for entry in self._store.read(log, self._viewer, ids=(memory_id,)).entries:
                return log, entry
        return logs[0], None

    def _write(self, session_id: str | None, records: list[Mapping[str, Any]]) -> list[Receipt]:
        where = self._where(session_id)
        log: LogKey | None = None
        writes: list[Write] = []
        for record in records:
            write = drafting.draft(record, where)
            own = self._log_of(write.entry, where)
            if log is not None and own != log:
                raise SchemaInvalidError(
                    "One call writes to one log, but these entries have different scopes.",
                    advice="Add those of scope user and shared by calls of their own.",
                    field="scope",
                )
            log = own
            writes.append(write)
        return self._append(log, writes, where) if log is not None else []

    def _append(self, log: LogKey, writes: list[Write], where: Circumstances) -> list[Receipt]:
        began = time.perf_counter()
        done, told = self._stored(log, writes, where)
        if observers:
            tell_took("write", where.session_id, began, entries=len(writes))
        warnings = done.warnings + told
        return [
            Receipt(
                id=write.entry.id,
                status="revised" if is_revision else "stored",
                durable=done.durable,
                seq=seq,
                session_id=write.entry.session_id,
                redactions=write.hidden,
                warnings=write.notes + warnings,
            )
            for write, seq, is_revision in zip(writes, done.seqs, done.revised, strict=True)
        ]

    def _log_of(self, entry: Entry, where: Circumstances) -> LogKey:
        if entry.scope == "shared":
            return SHARED
        if entry.scope == "user":
            user = entry.user_id or where.user_id
            if user is None:
                raise SchemaInvalidError(
                    "An entry of scope user needs a user.",
                    advice="Give user_id, or create the session with one.",
                    field="user_id",
                )
            return LogKey("user", self._may_reach_user(user, where.user_id))
        if where.session_id is None:
            raise SchemaInvalidError(
                "Without a session, the scope must be user or shared.", field="scope"
            )
        return LogKey("session", where.session_id)
