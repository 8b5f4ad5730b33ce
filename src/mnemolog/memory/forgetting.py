"""Forgetting: delete hides and can be undone; erase removes the bytes and proves it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import msgspec

from mnemolog.errors import SchemaInvalidError, SessionError, StorageError, StorageFullError
from mnemolog.memory import run_logs
from mnemolog.memory.base import around
from mnemolog.memory.returning import Returning
from mnemolog.model.entry import FORMAT, Entry
from mnemolog.model.forgetting import Deletion, Erasure, Restored
from mnemolog.model.ids import new_entry_id
from mnemolog.model.observing import tell
from mnemolog.model.session import Manifest
from mnemolog.model.times import known_moment, shifted, to_text
from mnemolog.policy.access import OWNER, may_change
from mnemolog.policy.compaction import Weighed
from mnemolog.policy.compartments import NOTE
from mnemolog.policy.drafting import Circumstances
from mnemolog.policy.forms import texts_of
from mnemolog.policy.selection import EVERYTHING, Selection, select
from mnemolog.ports import SHARED, LogKey, Progress, Write
from mnemolog.settings import Privacy

_TOO_LATE = "the time in which it could be undone is over"

Criteria = Mapping[str, Any] | None


class Forgetting(Returning):
    """The verbs that make something go."""

    def delete(
        self, session_id: str | None, criteria: Criteria = None, /, *, reason: str = "", **more: Any
    ) -> Deletion:
        """Hide what all criteria mean: `ids`, `types`, `time_range`, `tags`, `topic`, `agents`, …

        It is gone for every reader at once, and comes back with `undelete` for 30 days. Without a
        session, what users own and what all share is meant; then give `ids` or `user_id`.
        """
        return self._hide(session_id, select(criteria, more), reason)

    def delete_memory(self, session_id: str, memory_id: str) -> bool:
        """Hide one entry; False if there is none that this handle may delete."""
        return self.delete(session_id, ids=[memory_id]).deleted_count > 0

    def delete_memories_by_topic(self, session_id: str, topic: str) -> int:
        """Hide what carries a topic as its tag or in its context; says how many."""
        return self.delete(session_id, topic=topic).deleted_count

    def delete_memories_by_time_range(
        self, session_id: str, start: object = None, end: object = None
    ) -> int:
        """Hide what happened between two moments, both included; says how many."""
        return self.delete(session_id, time_range={"start": start, "end": end}).deleted_count

    def clear_session(self, session_id: str, *, reason: str = "") -> Deletion:
        """Hide everything in a session that this handle may delete; its facts stay."""
        return self._hide(session_id, EVERYTHING, reason)

    def undelete(
        self,
        session_id: str | None,
        criteria: Mapping[str, Any] | list[str] | None = None,
        /,
        **more: Any,
    ) -> Restored:
        """Bring back what was deleted, as it was; a list of ids will do as criteria."""
        listed = {"ids": criteria} if isinstance(criteria, list) else criteria
        chosen = select(listed, more, "a time_range from 0 on means all.")
        where = self._where(session_id)
        back: list[str] = []
        refused: dict[str, str] = {}
        for log in self._logs(where, chosen):
            hidden = self._keeper.hidden(log, self._viewer)
            within = _within(log, chosen)
            wanted = [one for one in hidden if within.matches(one.entry)]
            late = {one.entry.id for one in wanted if self._is_late(one, session_id)}
            refused |= dict.fromkeys(late, _TOO_LATE)
            ids = [one.entry.id for one in wanted if one.entry.id not in late]
            self._mark(log, "undelete", ids, where, "")
            back += ids
        if session_id is not None:
            back += self._bring_back(session_id, chosen, where, refused)
        missing = (chosen.ids or frozenset()) - set(back) - set(refused)
        refused |= dict.fromkeys(missing, "nothing deleted has this id")
        return Restored(ids=tuple(back), refused=refused)

    def erase(
        self,
        session_id: str | Sequence[str] | None,
        criteria: Criteria = None,
        /,
        *,
        reason: str = "",
        verify: bool = True,
        progress: Progress | None = None,
        **more: Any,
    ) -> Erasure:
        """Remove what all criteria mean from every file, for good, and look whether it is gone.

        Deleted entries are meant too. It cannot be undone. Several sessions are looked for once, at
        the end. Without a session, what users own and what all share is meant; then give `ids` or
        `user_id`.
        """
        chosen = select(criteria, more, "or use delete_session.")
        several = session_id if isinstance(session_id, list | tuple) else (session_id,)
        for each in several:  # before anything is gone of the first
            self._manifest_of(each)
        now = to_text(self._clock.now())
        said: list[str] | None = [] if verify and self._may_look_for_words else None
        places: Counter[str] = Counter()
        erased = [
            one for each in several for one in self._erased(each, chosen, reason, said, places)
        ]
        ids = tuple(one for _, one in erased)
        proof = None
        if verify and erased:
            proof = self._prove(ids, said or (), progress, erased=frozenset(erased))
        return Erasure(
            erased_count=len(ids),
            ids=ids,
            erased_at=now,
            places=dict(places),
            out_of_reach=self.known_backups(),
            verification=proof,
        )

    @property
    def _may_look_for_words(self) -> bool:
        """Whether a proof looks for what was said: what other files say is the owner's to know."""
        return self._viewer == OWNER

    def _erased(
        self,
        session_id: str | None,
        chosen: Selection,
        reason: str,
        said: list[str] | None,
        places: Counter[str],
    ) -> list[tuple[LogKey, str]]:
        """What was removed from one session's logs; what it said and where it lay is added up."""
        where = self._where(session_id)
        before = self._manifest_of(session_id)
        meant = self._meant(where, chosen)
        if said is not None:
            said += [one for log, ids in meant.items() for one in self._said(log, ids)]
        for log, ids in meant.items():
            record = self._audited("erase", session_id, len(ids), reason, chosen.kinds)
            gone = self._keeper.erase(log, run_logs.with_uses(self._keeper, log, ids), record)
            places.update(gone.places)
        self._archive_again(before)
        return [(_home(log), one) for log, ids in meant.items() for one in sorted(ids)]

    def _archive_again(self, before: Manifest | None) -> None:
        """What lay in the archive and was brought back to work on it goes there again."""
        if before is not None and before.archived_at is not None:
            # It is gone, or a run was begun on it meanwhile, or there is no room for both.
            with suppress(SessionError, StorageFullError):
                self._keeper.archive(before.session_id, before.archived_at)

    def _meant(self, where: Circumstances, chosen: Selection) -> dict[LogKey, set[str]]:
        """The ids to erase from each log.

        Ids that no entry goes by may still stand in damage; the owner may erase that too.
        """
        found = self._chosen(where, chosen, is_all=True)
        meant = {log: {entry.id for entry in entries} for log, entries in found.items()}
        if self._viewer != OWNER or set(chosen.kinds) != {"ids"}:
            return meant
        unseen = set(chosen.ids or ()) - {one for ids in meant.values() for one in ids}
        for log in self._logs(where, chosen, is_all=True) if unseen else ():
            if named := self._keeper.in_damage(log, unseen):
                meant.setdefault(log, set()).update(named)
        return meant

    def _said(self, log: LogKey, ids: set[str]) -> Iterator[str]:
        """Everything that any line about these ids says."""
        said = [line for line in self._keeper.lines(log) if (line.target or line.id) in ids]
        if log.kind == "session":
            moved = self._keeper.moved(log.id, is_salvage=True)
            said += [moved[one].entry for one in ids if one in moved]
        for line in said:
            yield from texts_of([line.content, line.context, line.metadata])

    def delete_session(
        self,
        session_id: str,
        *,
        reason: str = "",
        verify: bool = False,
        progress: Progress | None = None,
    ) -> Erasure:
        """Remove a session and everything in it for good; not for agents.

        Of one that cannot be read any more nobody can tell what it held, nor prove that it is gone.
        """
        self._manifest(session_id)
        self.check_allowed("delete_session")
        log = LogKey("session", session_id)
        count, ids, said = 0, set[str](), list[str]()
        try:
            count = sum(self._read(session_id, last=0).summary.counts.values())
            if verify:
                ids = {one.target or one.id for one in self._keeper.lines(log)}
                said = list(self._said(log, ids)) if self._may_look_for_words else []
        except StorageError:  # it must be possible to be rid of what nobody can read
            verify = False
        record = self._audited("delete session", session_id, count, reason, {})
        gone = self._keeper.remove(session_id, record)
        tell("session.deleted", session_id, entries=count)
        return Erasure(
            erased_count=count,
            ids=tuple(sorted(ids)),
            erased_at=record.at,
            places=gone.places,
            out_of_reach=self.known_backups(),
            verification=self._prove(ids, said, progress, erased={(log, one) for one in ids})
            if verify
            else None,
        )

    def _hide(self, session_id: str | None, chosen: Selection, reason: str) -> Deletion:
        where = self._where(session_id)
        found = self._chosen(where, chosen)
        why = self._reason(reason, session_id)
        for log, entries in found.items():
            self._mark(log, "tombstone", [entry.id for entry in entries], where, why)
        ids = [entry.id for entries in found.values() for entry in entries]
        if session_id is not None:
            ids += self._hide_moved(session_id, chosen, where, why)
        privacy = self._privacy(self._manifest_of(session_id))
        if ids and privacy.audit_deletions:
            self._keeper.record(self._audited("delete", session_id, len(ids), reason, chosen.kinds))
        until = shifted(where.now, days=privacy.undelete_days)
        return Deletion(
            deleted_count=len(ids),
            ids=tuple(ids),
            deleted_at=to_text(where.now),
            criteria=chosen.kinds,
            restorable_until=to_text(until),
        )

    def _hide_moved(
        self, session_id: str, chosen: Selection, where: Circumstances, reason: str
    ) -> list[str]:
        """What compactions moved out comes back to the log, hidden."""

        def meant() -> list[Entry]:
            return [one.entry for one in self._moved(session_id, chosen) if one.died is None]

        def writes(one: Entry) -> tuple[Write, ...]:
            hiding = self._marking("tombstone", one.id, where, reason)
            return Write(_as_written(one, where), True), hiding

        return self._return(session_id, meant, writes, where)

    def _mark(
        self, log: LogKey, kind: str, ids: Iterable[str], where: Circumstances, reason: str
    ) -> None:
        """Append a tombstone or an undelete for each id, with one write and one sync."""
        writes = [self._marking(kind, target, where, reason) for target in ids]
        if writes:
            self._store.append(log, writes, self._viewer, where.storage)

    def _marking(self, kind: str, target: str, where: Circumstances, reason: str) -> Write:
        entry = Entry(
            v=FORMAT,
            id=new_entry_id(where.now),
            session_id=where.session_id,
            timestamp=to_text(where.now),
            type=kind,
            origin=self._viewer.origin,
            agent_id=self._viewer.agent,
            target=target,
            reason=reason or None,
        )
        return Write(entry)

    def _logs(
        self, where: Circumstances, chosen: Selection, *, is_all: bool = False
    ) -> list[LogKey]:
        """The session's log, with `is_all` those of its runs; ids are also looked for in its user's
        and in the shared one."""
        if where.session_id is None:
            return [*self._logs_of_users(chosen), SHARED]
        logs = around(where.session_id, where.user_id)
        logs = logs[:1] if chosen.ids is None else logs
        return logs + (run_logs.of_session(self._keeper, where.session_id) if is_all else [])

    def _logs_of_users(self, chosen: Selection) -> list[LogKey]:
        """Without a session: the logs of the users who are named, or of all who may own an id."""
        named = chosen.filters.get("user_id") or tuple(filter(None, [self._viewer.user]))
        if not named and chosen.ids is None:
            raise SchemaInvalidError(
                "Nothing says whose entries are meant.",
                advice="Name a session, or give ids or user_id.",
            )
        known = self._keeper.users()
        users = named or (known if self._viewer == OWNER else ())
        for user in users:
            self._may_reach_user(user, None)
        return [LogKey("user", user) for user in users if user in known]

    def _chosen(
        self, where: Circumstances, chosen: Selection, *, is_all: bool = False
    ) -> dict[LogKey, list[Entry]]:
        """The living entries that are meant; with `is_all` also hidden, archived and runs' ones."""
        found: dict[LogKey, list[Entry]] = {}
        for log in self._logs(where, chosen, is_all=is_all):
            ids = None if chosen.ids is None else tuple(chosen.ids)
            read = self._store.read(log, self._viewer, ids=ids, types=chosen.types)
            entries = list(read.entries)
            if is_all:
                entries += [one.entry for one in self._keeper.hidden(log, self._viewer)]
            if is_all and log.kind == "session":
                moved = self._keeper.moved(log.id, is_salvage=True)
                entries += [one.entry for one in moved.values()]
            within = _within(log, chosen)
            meant = {
                entry.id: entry
                for entry in entries
                if within.matches(entry)
                and may_change(self._viewer, entry)
                and (log.kind != "run" or entry.type == NOTE)  # whose run it is stays known
            }
            if meant:
                found[log] = list(meant.values())
        return found

    def _bring_back(
        self, session_id: str, chosen: Selection, where: Circumstances, refused: dict[str, str]
    ) -> list[str]:
        """What compactions moved to the archive comes back as an entry of the log; what was never
        deleted only if its id is given."""

        def wanted() -> list[Entry]:
            moved = self._moved(session_id, chosen)
            meant = [one for one in moved if one.died is not None or chosen.ids is not None]
            late = {one.entry.id for one in meant if one.died and self._is_late(one, session_id)}
            refused.update(dict.fromkeys(late, _TOO_LATE))
            return [one.entry for one in meant if one.entry.id not in late]

        def writes(one: Entry) -> tuple[Write, ...]:
            return (Write(_as_written(one, where), True),)

        return self._return(session_id, wanted, writes, where)

    def _manifest_of(self, session_id: str | None) -> Manifest | None:
        return None if session_id is None else self._manifest(session_id)

    def _privacy(self, manifest: Manifest | None) -> Privacy:
        settings = self.settings if manifest is None else self._settings(manifest)
        return settings.privacy

    def _is_late(self, one: Weighed, session_id: str | None) -> bool:
        days = self._privacy(self._manifest_of(session_id)).undelete_days
        return self._clock.now() - known_moment(one.died or "") > timedelta(days=days)


def _home(log: LogKey) -> LogKey:
    """The log that an entry is of: notes of a run are their session's."""
    return LogKey("session", log.id) if log.kind == "run" else log


def _within(log: LogKey, chosen: Selection) -> Selection:
    """What is meant in a log: all of a user's own is that user's, whatever a line says."""
    if log.kind != "user" or "user_id" not in chosen.filters:
        return chosen
    rest = {name: value for name, value in chosen.filters.items() if name != "user_id"}
    return chosen._replace(filters=rest)


def _as_written(entry: Entry, where: Circumstances) -> Entry:
    return msgspec.structs.replace(entry, at=to_text(where.now), seq=0, sum="")
