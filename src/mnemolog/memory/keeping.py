"""Keeping logs small: compaction, on demand and by itself, and what it moved to the archive."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from mnemolog.errors import SizeLimitError
from mnemolog.memory.proving import Proving
from mnemolog.model.entry import Entry
from mnemolog.model.forgetting import Compaction
from mnemolog.model.observing import is_observed, tell, timed
from mnemolog.model.session import Manifest
from mnemolog.model.times import to_text
from mnemolog.policy import compaction
from mnemolog.policy.access import may_see
from mnemolog.policy.compaction import Needs
from mnemolog.policy.drafting import Circumstances
from mnemolog.ports import Appended, LogKey, Write
from mnemolog.settings import Settings
from mnemolog.settings.sections import MIB

# A log that stays large is compacted again only after it has grown by this share of its limit.
_GROWN = 0.02
# A log that fills this share of its limit is worth a warning.
_NEAR = 0.9


class Keeping(Proving):
    """The verbs about how much is kept."""

    def compact_session(self, session_id: str) -> Compaction:
        """Rewrite a session's log without what nobody needs; for the owner alone.

        Superseded revisions go, and what was deleted longer ago than it can be undone. What has
        become irrelevant moves to the archive, where `get_memory` and
        `query(include_archived=True)` still find it.
        """
        manifest = self._manifest(session_id)
        self._owner_only("compact a session")
        limit = self._settings(manifest).storage.max_session_bytes
        return self._compact(manifest, limit)

    def _compact(self, manifest: Manifest, room: int) -> Compaction:
        now = self._clock.now()
        session_id = manifest.session_id
        judge = partial(_judged, now, self._settings(manifest), room)
        before = self._living(session_id)
        tell("compaction.started", session_id, entries_before=before)
        with timed("compaction.ended", session_id) as numbers:
            done = self._keeper.compact(session_id, judge, to_text(now))
            reduced = (done.before_bytes - done.after_bytes) / MIB
            numbers |= {"entries_before": before, "entries_after": self._living(session_id)}
            numbers["size_reduction_mb"] = reduced
        sizes = {"before_size": done.before_bytes, "after_size": done.after_bytes}
        removed = done.dropped + done.moved
        self._keeper.record(self._audited("compact", session_id, removed, "", sizes))
        return Compaction(
            session_id=session_id,
            **sizes,
            removed_count=removed,
            dropped=done.dropped,
            archived=done.moved,
            superseded=done.superseded,
            compacted_at=to_text(now),
        )

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
            if log.kind != "session":
                raise
            told = self._make_room(log.id, error)
            done = self._store.append(log, writes, self._viewer, where.storage)
        limit = where.storage.max_session_bytes
        if log.kind == "session" and done.used > _NEAR * limit:
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
