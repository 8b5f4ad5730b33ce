"""Keeping logs small: compaction, on demand and by itself, and what it moved to the archive."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial

from mnemolog.errors import ConcurrentModificationError, MnemologError, SizeLimitError
from mnemolog.memory.proving import Proving
from mnemolog.model.entry import Entry
from mnemolog.model.forgetting import Compaction
from mnemolog.model.observing import is_observed, tell, timed
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_text
from mnemolog.policy import compaction, quota
from mnemolog.policy.access import OWNER, may_see
from mnemolog.policy.compaction import Needs
from mnemolog.policy.drafting import Circumstances
from mnemolog.ports import Appended, LogKey, Write
from mnemolog.ports.keeping import Audited
from mnemolog.settings import Settings
from mnemolog.settings.sections import MIB

# A log that stays large is compacted again only after it has grown by this share of its limit.
_GROWN = 0.02
_EXPIRED = "could not be undone any more"


class Keeping(Proving):
    """The verbs about how much is kept."""

    def compact_session(self, session_id: str) -> Compaction:
        """Rewrite a session's log without what nobody needs; not for agents.

        Superseded revisions go, and what was deleted longer ago than it can be undone. What has
        become irrelevant moves to the archive, where `get_memory` and
        `query(include_archived=True)` still find it.
        """
        manifest = self._manifest(session_id)
        self.check_allowed("compact_session")
        limit = self._settings(manifest).storage.max_session_bytes
        return self._compact(manifest, limit)

    def _compact(self, manifest: Manifest, room: int) -> Compaction:
        now = self._clock.now()
        session_id = manifest.session_id
        judge = partial(_judged, now, self._settings(manifest), room)
        log = LogKey("session", session_id)
        gone = self._erase_expired(log, self._settings(manifest), is_part=True)
        before = self._living(session_id)
        tell("compaction.started", session_id, entries_before=before)
        with self._told_at_least(log, gone), timed("compaction.ended", session_id) as numbers:
            done = self._keeper.compact(session_id, judge, to_text(now))
            reduced = (done.before_bytes - done.after_bytes) / MIB
            numbers |= {"entries_before": before, "entries_after": self._living(session_id)}
            numbers["size_reduction_mb"] = reduced
        sizes = {"before_size": done.before_bytes, "after_size": done.after_bytes}
        dropped = gone + done.dropped
        removed = dropped + done.moved
        self._keeper.record(self._audited("compact", session_id, removed, "", sizes))
        return Compaction(
            session_id=session_id,
            **sizes,
            removed_count=removed,
            dropped=dropped,
            archived=done.moved,
            superseded=done.superseded,
            compacted_at=to_text(now),
        )

    def _erase_expired(self, log: LogKey, settings: Settings, *, is_part: bool = False) -> int:
        """Erase what was deleted longer ago than it can be undone, from wherever it got to.

        A rewrite would take it out of the log alone, and no purge would find it there any more.
        """
        last = self._store.read(log, OWNER, last=0).summary.last_seq
        hidden, days = self._keeper.hidden(log, OWNER), settings.privacy.undelete_days
        gone = compaction.expired(hidden, self._clock.now(), days)
        if gone:
            record = self._expiry(log, len(gone))
            self._keeper.erase_older(log, dict.fromkeys(gone, last), record, is_part=is_part)
        return len(gone)

    def _expiry(self, log: LogKey, count: int) -> Audited:
        session_id = log.id if log.kind == "session" else None
        return self._audited("erase", session_id, count, _EXPIRED, {})

    @contextmanager
    def _told_at_least(self, log: LogKey, gone: int) -> Iterator[None]:
        """If the compaction fails that would tell the audit of an erasure, the audit is told."""
        try:
            yield
        except MnemologError:
            if gone:
                self._keeper.record(self._expiry(log, gone))
            raise

    def _living(self, session_id: str) -> int:
        """How many entries a session has; counted only if somebody wants to know."""
        if not is_observed():
            return 0
        return sum(self._read(session_id, last=0).summary.counts.values())

    def _stored(
        self, log: LogKey, writes: Sequence[Write], where: Circumstances
    ) -> tuple[Appended, tuple[str, ...]]:
        """Append, making room where there is none; and what there is to say about that."""
        told: str | None = None
        try:
            done = self._store.append(log, writes, self._viewer, where.storage)
        except SizeLimitError as error:
            is_session = log.kind == "session"
            told = self._make_room(log.id, error) if is_session else self._tidy(log, error)
            done = self._store.append(log, writes, self._viewer, where.storage)
        limit = where.storage.max_session_bytes
        if log.kind == "session" and done.used > quota.NEARLY_FULL * limit:
            tell("size.near_limit", log.id, size_bytes=done.used, limit_bytes=limit)
        if log.kind == "session" and 0 < where.trigger < done.used:
            told = self._relieve(log.id, done.used) or told
        return done, (told,) if told else ()

    def _make_room(self, session_id: str, error: SizeLimitError) -> str:
        """Compact a log that an entry did not fit into; says what was done, or raises the error."""
        manifest = self._manifest(session_id)
        settings = self._settings(manifest)
        incoming = error.details.get("incoming_bytes")
        if not settings.compaction.auto or not isinstance(incoming, int):
            raise error
        limit = settings.storage.max_session_bytes
        room = int(limit * settings.compaction.size_trigger) - incoming
        if room <= 0:
            raise error  # moving everything else out would not help
        done = self._compact(manifest, room)
        if done.after_size + incoming > limit:
            raise SizeLimitError(
                f"The session {session_id!r:.200} holds {done.after_size:,} bytes after compaction;"
                f" {incoming:,} more would pass its limit of {limit:,}.",
                advice="Nothing more can go by itself: preferences and approved decisions stay. "
                "Delete or erase entries, write to another session, or raise "
                "storage.max_session_size_mb.",
                **{**error.details, "size_bytes": done.after_size},
            ) from error
        return _told(done)

    def _tidy(self, log: LogKey, error: SizeLimitError) -> str:
        """Rewrite a user's log or the shared one, that an entry did not fit into; says what was
        done, or raises the error."""
        incoming, limit = error.details.get("incoming_bytes"), error.details.get("limit_bytes")
        if log.kind == "run" or not self.settings.compaction.auto:
            raise error
        if not isinstance(incoming, int) or not isinstance(limit, int):
            raise error  # it is the whole root that is full
        self._erase_expired(log, self.settings)
        least = max(incoming, int(_GROWN * limit))
        done = self._keeper.tidy(log, least, to_text(self._clock.now()))
        if done.after_bytes + incoming > limit:
            raise SizeLimitError(
                error.message,
                advice="Delete or erase some of it, or raise storage.max_session_size_mb.",
                **error.details,
            ) from error
        if done.after_bytes == done.before_bytes:
            return "somebody else rewrote the log meanwhile"
        sizes = {"before_size": done.before_bytes, "after_size": done.after_bytes}
        self._keeper.record(self._audited("compact", None, 0, "", sizes))
        return f"the log was rewritten from {done.before_bytes:,} to {done.after_bytes:,} bytes"

    def _relieve(self, session_id: str, used: int) -> str | None:
        """Compact a log that has grown past the trigger, unless that was done just now."""
        manifest = self._manifest(session_id)
        if not self._is_large(manifest, used):
            return None
        settings = self._settings(manifest)
        room = settings.compaction.trigger(settings.storage.max_session_bytes)
        return _told(self._compact(manifest, room))

    def _is_large(self, manifest: Manifest, used: int) -> bool:
        """Whether a log has grown past its trigger, and since it was last compacted."""
        settings = self._settings(manifest)
        limit = settings.storage.max_session_bytes
        last = manifest.markers.get("compacted", {}).get("size_bytes", 0)
        return 0 < settings.compaction.trigger(limit) < used and used >= last + limit * _GROWN

    def _if_moved(self, session_id: str, expected: Sequence[Entry]) -> Callable[[int], None]:
        """Refuses to write what came out of the archive if it is not there any more, or came back
        already: whoever erased it must not find it in the log again."""

        def check(_: int) -> None:
            moved = self._keeper.moved(session_id, is_salvage=True)
            for one in expected:
                now = moved.get(one.id)
                log = LogKey("session", session_id)
                if now is None or now.entry.seq != one.seq or self._keeper.knows(log, one.id):
                    raise ConcurrentModificationError(
                        f"The entry {one.id!r:.140} was changed meanwhile.",
                        advice="Read it again and repeat the change.",
                        id=one.id,
                    )

        return check

    def _moved_entry(self, session_id: str, memory_id: str) -> Entry | None:
        found = self._keeper.moved(session_id).get(memory_id)
        if self._keeper.knows(LogKey("session", session_id), memory_id):
            return None  # it has a newer life in the log, or was deleted there
        if found is None or found.died is not None or not may_see(self._viewer, found.entry):
            return None
        return found.entry


def _judged(
    now: datetime, settings: Settings, room: int, entries: list[compaction.Weighed]
) -> compaction.Verdict:
    return compaction.judge(entries, Needs(now, settings, room))


def _told(done: Compaction) -> str:
    return (
        f"the session was compacted from {done.before_size:,} to {done.after_size:,} bytes; "
        f"{done.archived} entries moved to the archive"
    )
