"""Purging: what is past its retention is hidden, and erased once that cannot be undone any more."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from mnemolog.errors import (
    ConcurrentModificationError,
    LockTimeoutError,
    MnemologError,
    SessionNotFoundError,
)
from mnemolog.memory.forgetting import Forgetting
from mnemolog.memory.proving import PURGE
from mnemolog.model.entry import Entry
from mnemolog.model.maintenance import Purge, Reach
from mnemolog.model.session import Manifest
from mnemolog.model.times import normalise, to_moment, to_text
from mnemolog.policy.access import OWNER
from mnemolog.policy.retention import Due, Kept, Terms, due
from mnemolog.ports import SHARED, LogKey, Progress

MAINTAIN = "maintain"
REASON = "retention"

# So many tombstones are one write: they hold up the writers of their log for no longer.
_BATCH = 500


class Purging(Forgetting):
    """The verb that applies retention."""

    def purge(
        self,
        *,
        dry_run: bool = False,
        confirm: bool = False,
        as_of: object = None,
        progress: Progress | None = None,
    ) -> Purge:
        """Hide what is past its retention, erase what was hidden for longer than it can be undone.

        A root's first purge only tells what it would do, until it is confirmed. For the owner.
        With `as_of`, the `purged_at` of a dry run, exactly what that told is purged.
        """
        self._for_owner("purge")
        now = self._clock.now()
        at = now if as_of is None else min(now, to_moment(normalise(as_of, "as_of")))
        is_known = self._last_purge() is not None
        if dry_run or not (confirm or is_known):
            return self._purge(progress, at, is_dry=True, needs_confirmation=not is_known)
        with self._keeper.lease(MAINTAIN) as is_mine:
            if not is_mine:
                raise LockTimeoutError(
                    "Another program maintains this memory at the moment.",
                    advice="Nothing was purged. Try again when it is done.",
                )
            return self._purge(progress, at)

    def _purge(
        self,
        progress: Progress | None,
        at: datetime | None = None,
        *,
        is_dry: bool = False,
        is_automatic: bool = False,
        needs_confirmation: bool = False,
    ) -> Purge:
        work = _Work(at or self._clock.now(), is_dry, is_automatic)
        logs = list(self._all_logs(work))
        for number, (log, manifest) in enumerate(logs, 1):
            try:
                with suppress(SessionNotFoundError):  # deleted meanwhile
                    self._purge_log(log, manifest, work)
            except MnemologError as error:  # one that cannot be purged must not keep the others
                work.left_out(named(log), error)
            if progress is not None:
                progress(number, len(logs))
        done = work.report(needs_confirmation)
        if not is_dry:
            self._record_purge(done)
        return done

    def _record_purge(self, done: Purge) -> None:
        counts = {
            "tombstoned": done.tombstoned.count,
            "erased": done.erased.count,
            "sessions": len(done.removed_sessions),
        }
        total = done.tombstoned.count + done.erased.count
        self._keeper.record(self._audited(PURGE, None, total, REASON, counts))

    def _all_logs(self, work: "_Work") -> Iterator[tuple[LogKey, Manifest | None]]:
        for one in self._store.sessions(left_out=work.left_out):
            yield LogKey("session", one.manifest.session_id), one.manifest
        for user in self._keeper.users():
            yield LogKey("user", user), None
        yield SHARED, None

    def _purge_log(self, log: LogKey, manifest: Manifest | None, work: "_Work") -> None:
        privacy = self._privacy(manifest)
        if work.is_automatic and not privacy.auto_purge:
            return
        last = self._store.read(log, OWNER, last=0).summary.last_seq
        terms = Terms(privacy, work.now)
        found = due(self._kept(log, manifest, terms), terms)
        work.spared(log, found.spared)
        if work.is_dry:
            work.erased(log, found)
            work.hidden(log, found.hide)
        elif found.is_whole:
            record = self._audited("delete session", log.id, len(found.erase), REASON, {})
            self._keeper.remove(log.id, record, only_archived=True)
            work.erased(log, found)
        else:
            if found.erase:
                self._erase_hidden(log, found.erase, last, manifest)
                work.erased(log, found)
            work.hidden(log, self._bury(log, found.hide))

    def _kept(self, log: LogKey, manifest: Manifest | None, terms: Terms) -> Kept:
        """What a log holds; of one that is in use only what may be overdue is read."""
        hidden = self._keeper.hidden(log, OWNER)
        if manifest is None or manifest.archived_at is None:
            living = self._store.read(log, OWNER, before=terms.latest or "").entries
        else:
            living = self._store.read(log, OWNER).entries
        if manifest is None:
            return Kept(living, hidden)
        moved = {one.entry.id: one for one in self._moved_out(log.id)}
        return Kept(living, hidden, moved, manifest.archived_at)

    def _erase_hidden(
        self, log: LogKey, entries: tuple[Entry, ...], last: int, before: Manifest | None
    ) -> None:
        """Erase what was written up to a number: who revives one of these ids now keeps that."""
        session_id = log.id if log.kind == "session" else None
        record = self._audited("erase", session_id, len(entries), REASON, {})
        self._keeper.erase_older(log, {entry.id: last for entry in entries}, record)
        self._archive_again(before)

    def _bury(self, log: LogKey, entries: tuple[Entry, ...]) -> list[Entry]:
        """Hide entries, but none that was revised meanwhile: that one is young again."""
        done: list[Entry] = []
        for start in range(0, len(entries), _BATCH):
            batch = entries[start : start + _BATCH]
            try:
                done += self._tombstone(log, batch)
            except ConcurrentModificationError:
                for one in batch:
                    with suppress(ConcurrentModificationError):
                        done += self._tombstone(log, (one,))
        return done

    def _tombstone(self, log: LogKey, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        where = self._where(log.id if log.kind == "session" else None)
        writes = [
            self._marking("tombstone", one.id, where, REASON)._replace(expected_seq=one.seq)
            for one in entries
        ]
        self._store.append(log, writes, OWNER, where.storage)
        return entries


class _Work:
    """One purge: its moment, and what came of it so far."""

    def __init__(self, now: datetime, is_dry: bool, is_automatic: bool) -> None:
        self.now = now
        self.is_dry = is_dry
        self.is_automatic = is_automatic
        self._failed: dict[str, str] = {}
        self._removed: list[str] = []
        self._hidden = _Tally()
        self._erased = _Tally()
        self._spared = _Tally()

    def left_out(self, name: str, error: MnemologError) -> None:
        """Say why a log could not be purged."""
        self._failed[name] = str(error)

    def spared(self, log: LogKey, entries: tuple[Entry, ...]) -> None:
        """Count what stays of a log though it is old."""
        self._spared.add(log, entries)

    def hidden(self, log: LogKey, entries: tuple[Entry, ...] | list[Entry]) -> None:
        """Count what was hidden in a log."""
        self._hidden.add(log, entries)

    def erased(self, log: LogKey, found: Due) -> None:
        """Count what was erased in a log, or with it."""
        self._erased.add(log, found.erase)
        if found.is_whole:
            self._removed.append(log.id)

    def report(self, needs_confirmation: bool) -> Purge:
        """What came of it."""
        return Purge(
            is_dry_run=self.is_dry,
            purged_at=to_text(self.now),
            tombstoned=self._hidden.reach(),
            erased=self._erased.reach(),
            spared=self._spared.reach(),
            removed_sessions=tuple(self._removed),
            failed=self._failed,
            needs_confirmation=needs_confirmation,
        )


class _Tally:
    """Counts entries by type and by log."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._types: Counter[str] = Counter()
        self._logs: Counter[LogKey] = Counter()

    def add(self, log: LogKey, entries: tuple[Entry, ...] | list[Entry]) -> None:
        self._ids += (entry.id for entry in entries)
        self._types.update(entry.type for entry in entries)
        if entries:
            self._logs[log] += len(entries)

    def reach(self) -> Reach:
        return Reach(
            ids=tuple(self._ids),
            by_type=dict(self._types),
            by_session=self._by("session"),
            by_user=self._by("user"),
            shared=self._logs[SHARED],
        )

    def _by(self, kind: str) -> dict[str, int]:
        return {log.id: count for log, count in self._logs.items() if log.kind == kind}


def named(log: LogKey) -> str:
    """What a log is called where it is told that it was left out."""
    return {"session": log.id, "user": f"the log of the user {log.id}"}.get(
        log.kind, "the shared log"
    )
