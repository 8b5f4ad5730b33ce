"""Receiving: what a layout finds in foreign files becomes sessions and entries, in batches."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from mnemolog.errors import (
    ConcurrentModificationError,
    InputError,
    InvalidFormatError,
    MnemologError,
    SchemaInvalidError,
    SessionError,
    SessionExistsError,
    SessionNotFoundError,
    SettingsError,
    SizeLimitError,
    taken_session,
)
from mnemolog.layouts.contract import (
    AnyFound,
    EntryFound,
    Refused,
    SessionFound,
    Skipped,
    Tombstone,
)
from mnemolog.memory.import_report import ImportReport, count_kind
from mnemolog.memory.import_target import Away, Queued, Target, says_the_same
from mnemolog.memory.proving import LONGEST_REASON
from mnemolog.memory.sessions import Sessions
from mnemolog.memory.writing import Writing
from mnemolog.model import plain
from mnemolog.model.entry import Entry, Receipt
from mnemolog.model.ids import check_id, check_name
from mnemolog.model.session import Session
from mnemolog.model.times import normalise
from mnemolog.policy import drafting
from mnemolog.policy.drafting import Circumstances
from mnemolog.ports import SHARED, LogKey, Write
from mnemolog.ports.keeping import Keeper

BATCH = 500
_BATCH_BYTES = 4 * 1024 * 1024
_HELD = 5000
_HELD_BYTES = 16 * 1024 * 1024


class ImportHost(Sessions, Writing):
    """A memory, as far as an import needs it."""


class _OvertakenError(Exception):
    """Somebody else stored one of the same ids between a look and a write."""


class Receiver:
    """Takes what is found, one at a time, and stores it."""

    def __init__(self, memory: ImportHost, report: ImportReport, prefix: str) -> None:
        self._memory = memory
        self._report = report
        self._prefix = prefix
        self._targets: dict[tuple[LogKey, str | None], Target] = {}
        self._held = 0
        self._size = 0

    def take(self, found: AnyFound) -> None:
        """Take the next thing that was found."""
        if isinstance(found, Refused):
            self._report.refuse(*found)
        elif isinstance(found, Skipped):
            count_kind(self._report.skipped, found.what, found.times)
        elif isinstance(found, SessionFound):
            self._session(found)
        else:
            self._entry(found)

    def finish(self) -> None:
        """Store what is still held."""
        for target in list(self._targets.values()):
            self._flush(target)

    # --- sessions

    def _session(self, found: SessionFound) -> Target:
        key = LogKey("session", f"{self._prefix}{found.id}")
        target = self._targets.get((key, key.id))
        if target is None:
            target = self._targets[key, key.id] = Target(key, key.id, None, exists=False)
            try:
                self._settle(target, found)
            except (InputError, SessionError) as error:
                target.refusal = error
                self._report.refuse(found.file, None, error.message, error.code)
        return target

    def _settle(self, target: Target, found: SessionFound) -> None:
        """Find the session, or make it; refuse one that belongs to somebody else."""
        facts = self._facts(found)
        known = self._loaded(target.log.id) or self._created(target, facts)
        if known is None:
            self._report.sessions["created"] += 1
            return
        agents = set(facts["agent_ids"])
        is_other = facts["user_id"] is not None and facts["user_id"] != known.user_id
        if is_other or (agents and not agents & set(known.agent_ids)):
            raise SchemaInvalidError(
                "a session with this id belongs to another user or to other agents",
                advice="Give a prefix for the ids of sessions.",
            )
        target.user, target.exists = known.user_id, True
        self._report.sessions["existing"] += 1

    def _loaded(self, session_id: str) -> Session | None:
        with suppress(SessionNotFoundError):
            return self._memory.load_session(session_id)
        return None

    def _created(self, target: Target, facts: dict[str, Any]) -> Session | None:
        """None once it is made; the session that somebody else made just before."""
        try:
            self._create(target, facts)
        except SessionExistsError:
            made = self._loaded(target.log.id)
            if made is None:  # it is not for this view to see
                raise
            return made
        return None

    def _facts(self, found: SessionFound) -> dict[str, Any]:
        check_id(found.id, "session id")
        facts: dict[str, Any] = {
            "user_id": check_name(found.user_id, "user id"),
            "agent_ids": tuple(check_id(one, "agent id") for one in found.agent_ids),
            "metadata": plain.plain_object(found.metadata, "metadata", []),
            "preferences": plain.plain_object(found.preferences, "preferences", []),
        }
        try:
            if found.created_at is not None:
                facts["created_at"] = normalise(found.created_at)
        except InvalidFormatError:
            count_kind(self._report.adjusted, "a session's time of creation is not valid")
        if found.settings:
            facts["settings"] = found.settings
        return facts

    def _create(self, target: Target, facts: dict[str, Any]) -> None:
        """Make a session; in a dry run only see whether it could be made."""
        memory = self._memory
        try:
            begun = memory._begun(session_id=target.session, **facts)
        except (SettingsError, SchemaInvalidError):
            if facts.pop("settings", None) is None:
                raise
            begun = memory._begun(session_id=target.session, **facts)
            count_kind(self._report.adjusted, "a session's settings were not taken over")
        target.user = begun.user_id
        if not self._report.dry_run:
            memory.create_session(session_id=target.session, **facts)
            target.exists = True
        elif self._is_taken(target.log.id):
            raise taken_session(target.log.id)

    def _is_taken(self, session_id: str) -> bool:
        """Whether there is a session of this id that this view does not see."""
        try:
            self._memory._store.load(session_id)
        except SessionNotFoundError:
            return False
        return True

    # --- entries

    def _entry(self, found: EntryFound) -> None:
        try:
            target = self._target(found)
            if target.refusal is not None:
                raise target.refusal
            drafted = drafting.draft(found.record, self._where(target))
        except (InputError, SessionError) as error:
            self._report.refuse(found.file, found.line, error.message, error.code)
            return
        for note in drafted.notes:
            count_kind(self._report.adjusted, note.partition(";")[0] if "future" in note else note)
        self._hold(target, Queued(found, drafted.entry, drafted.hidden))

    def _target(self, found: EntryFound) -> Target:
        scope, user = found.record.get("scope", "session"), found.record.get("user_id")
        if found.session is not None:
            if scope in ("user", "shared"):
                raise SchemaInvalidError("an entry of a session cannot have this scope")
            key = LogKey("session", f"{self._prefix}{found.session}")
            return self._targets.get((key, key.id)) or self._session(SessionFound(found.session))
        key = SHARED
        if scope == "user":
            name = check_id(user, "user id")
            key = LogKey("user", self._memory._may_reach_user(name, None))
        session = self._written_in(found.written_in)
        return self._targets.setdefault((key, session), Target(key, session, None, exists=True))

    def _written_in(self, session: object) -> str | None:
        """The session that a user's own or a shared entry came from, if it came as well."""
        key = LogKey("session", f"{self._prefix}{session}")
        known = self._targets.get((key, key.id))
        return None if known is None or known.refusal is not None else key.id

    def _where(self, target: Target) -> Circumstances:
        """Where an entry is written; of a session that a dry run does not make, as if it had."""
        session = target.session
        if session is None:
            return self._memory._where(None)
        told = self._targets[LogKey("session", session), session]
        if told.exists:
            return self._memory._where(session)
        anywhere = self._memory._where(None)
        return msgspec.structs.replace(anywhere, session_id=session, user_id=told.user)

    def _hold(self, target: Target, one: Queued) -> None:
        size = len(msgspec.json.encode(one.entry))
        target.held.append(one)
        target.size += size
        self._held += 1
        self._size += size
        if len(target.held) >= BATCH or target.size >= _BATCH_BYTES:
            self._flush(target)
        elif self._held >= _HELD or self._size >= _HELD_BYTES:
            self.finish()

    def _flush(self, target: Target) -> None:
        held, target.held = target.held, []
        self._held -= len(held)
        self._size -= target.size
        target.size = 0
        self._take_in(target, held)

    def _take_in(self, target: Target, held: list[Queued]) -> None:
        while held:
            new, held = self._absent(target, held), []
            if self._report.dry_run:
                self._pretend(target, new)
            elif new:
                try:
                    self._store(target, new)
                except _OvertakenError:
                    target.away, held = None, new  # look again
                    target.progress.look_again()

    def _absent(self, target: Target, held: Sequence[Queued]) -> list[Queued]:
        """What is not there yet, and was not deleted there; the rest is counted."""
        before, deleted = self._present(target, held), self._away(target).deleted - target.written
        new = []
        for one in held:
            if one.entry.id in before and not self._goes_on(target, one, before):
                self._report.present[one.entry.type] += 1
            elif one.entry.id in deleted:
                count_kind(self._report.skipped, "deleted here")
            else:
                new.append(one)
        return new

    def _goes_on(self, target: Target, one: Queued, before: Mapping[str, Entry | None]) -> bool:
        """Whether this is what an import which was killed did not come to: a revision, or the
        tombstone of the last line of all."""
        living, keeper = before[one.entry.id], self._memory._kept_by
        if living is None or keeper is None:
            return False
        if one.found.deleted and living.seq == target.seen and says_the_same(one.entry, living):
            return all(line.target != living.id for line in keeper.lines(target.log))
        return target.progress.goes_on(one.entry, living, lambda: keeper.lines(target.log))

    def _present(self, target: Target, held: Sequence[Queued]) -> dict[str, Entry | None]:
        """What was there before this import came to it; None for what lies in the archive."""
        if not target.exists:
            return {}
        ids = [one.entry.id for one in held]
        reading = self._memory._store.read(target.log, self._memory._viewer, ids=ids)
        target.seen = reading.summary.last_seq
        living = {one.id: one for one in reading.entries if one.id not in target.written}
        return {**dict.fromkeys(self._away(target).moved), **living}

    def _away(self, target: Target) -> Away:
        """What an import must not bring back; looked up once, unless others write the same."""
        if target.away is None:
            keeper = self._memory._kept_by if target.exists else None
            target.away = Away() if keeper is None else self._look_away(keeper, target.log)
        return target.away

    def _look_away(self, keeper: Keeper, log: LogKey) -> Away:
        hidden = {one.entry.id for one in keeper.hidden(log, self._memory._viewer)}
        moved = keeper.moved(log.id) if log.kind == "session" else {}
        hidden |= {name for name, one in moved.items() if one.died is not None}
        return Away(frozenset(hidden), frozenset(moved) - hidden)

    def _pretend(self, target: Target, new: Sequence[Queued]) -> None:
        for one in new:
            self._count(one, is_revision=one.entry.id in target.written)
            target.written.add(one.entry.id)

    def _count(self, one: Queued, *, is_revision: bool) -> None:
        report = self._report
        counter = report.revised if is_revision else report.stored
        (report.deleted if one.found.deleted else counter)[one.entry.type] += 1
        for kind in one.hidden:
            count_kind(report.redactions, kind)

    def _store(self, target: Target, new: Sequence[Queued]) -> None:
        try:
            receipts = self._written(target, new)
        except SizeLimitError as error:
            target.refusal = error
            self._refuse(new, error)
        except (InputError, SessionError, ConcurrentModificationError) as error:
            if len(new) == 1:
                self._refuse(new, error)
                return
            for one in new:  # only what is at fault is refused
                self._take_in(target, [one])
        else:
            for one, receipt in zip(new, receipts, strict=True):
                self._tally(target, one, receipt)

    def _written(self, target: Target, new: Sequence[Queued]) -> list[Receipt]:
        """Store them; what was deleted where it comes from gets its tombstone in the same write."""
        where = self._memory._where(target.session)
        writes: list[Write] = []
        for one in new:
            write = drafting.draft(one.found.record, where)
            writes.append(write)
            if one.found.deleted is not None:
                writes.append(self._tombstone(one.found.deleted, write.entry.id, where))
        writes[0] = writes[0]._replace(check=self._unless_overtaken(target, new))
        receipts = self._memory._append(target.log, writes, where)
        pairs = zip(writes, receipts, strict=True)
        return [receipt for write, receipt in pairs if write.entry.target is None]

    def _unless_overtaken(self, target: Target, new: Sequence[Queued]) -> Callable[[int], None]:
        """Refuses to write over what somebody else stored under one of these ids meanwhile."""
        memory, seen = self._memory, target.seen
        ids = tuple({one.entry.id for one in new} - target.written)

        def check(last_seq: int) -> None:
            if last_seq == seen or memory._kept_by is None or not ids:
                return
            living = memory._store.read(target.log, memory._viewer, ids=ids).entries
            # A torn line has a number too, and nobody wrote it; what was seen is no news.
            is_news = any(one.seq > seen for one in living)
            if is_news or memory._kept_by.hidden(target.log, memory._viewer, *ids):
                raise _OvertakenError

        return check

    def _tombstone(self, told: Tombstone, identifier: str, where: Circumstances) -> Write:
        """It arrives now, and can be undone from now on for as long as any other."""
        reason = self._memory._reason(told.reason[:LONGEST_REASON], where.session_id)
        marking = self._memory._marking("tombstone", identifier, where, reason)
        now = marking.entry.timestamp
        try:
            then = min(now, normalise(told.timestamp))
        except InvalidFormatError:
            then = now
        return Write(msgspec.structs.replace(marking.entry, timestamp=then, at=now))

    def _use(self, target: Target, one: Queued) -> None:
        """As often as it was used there, unless it was there or is nobody's session's."""
        if target.log.kind != "session" or not one.found.uses or self._memory._kept_by is None:
            return
        try:
            at = normalise(one.found.used_at)
        except InvalidFormatError:
            at = one.entry.timestamp
        self._memory._kept_by.use(target.log.id, [one.entry.id] * one.found.uses, at)

    def _refuse(self, held: Sequence[Queued], error: MnemologError) -> None:
        for one in held:
            self._report.refuse(one.found.file, one.found.line, error.message, error.code)

    def _tally(self, target: Target, one: Queued, receipt: Receipt) -> None:
        if receipt.id not in target.written:
            self._use(target, one)
        target.written.add(receipt.id)
        self._count(one, is_revision=receipt.status == "revised")
