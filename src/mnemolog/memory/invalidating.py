"""When a session is due: the four moments that say so, and what became of learning from it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec

from mnemolog.errors import MnemologError, SessionError, StorageError
from mnemolog.memory.keeping import Keeping
from mnemolog.model import given, plain
from mnemolog.model.lesson import OWN, Due, EditPlan, Lesson, Log
from mnemolog.model.session import Manifest
from mnemolog.model.times import normalise, shifted, to_moment, to_text
from mnemolog.policy import learning
from mnemolog.policy.access import OWNER
from mnemolog.policy.learning import Marks
from mnemolog.ports import SHARED, Asked, LogKey, Unlearned, of_own_log

Markers = dict[str, Any]


class Invalidating(Keeping):
    """The verbs that say when a session should be learned from."""

    def end_turn(self, session_id: str) -> bool:
        """Say that a turn is complete; True if the session is due to be learned from now."""
        if learning.is_exempt(self._manifest(session_id)):
            return False
        threshold = self.settings.knowledge.turn_threshold
        now = to_text(self._clock.now())

        def counted(marks: Marks) -> Marks:
            after = learning.count_turn(marks)
            if after.turns - after.turns_seen < threshold:
                return after
            seq, _ = self._keeper.settled(LogKey("session", session_id))
            return learning.invalidate(after, seq, "turns", now)

        return self._set_marks(LogKey("session", session_id), counted).is_due

    def reset_session(self, session_id: str) -> bool:
        """Say that an agent begins anew here; True if there is something to learn from."""
        return self._invalidate(session_id, "reset")

    def context_compacted(self, session_id: str) -> bool:
        """Say that an agent's context was cut short; True if there is something to learn from."""
        return self._invalidate(session_id, "compacted")

    def sleep_session(self, session_id: str) -> bool:
        """Say that nobody is active here; True if there is something to learn from."""
        return self._invalidate(session_id, "sleep")

    def _invalidate(self, session_id: str, cause: learning.Cause) -> bool:
        if learning.is_exempt(self._manifest(session_id)):
            return False
        log = LogKey("session", session_id)
        seq, _ = self._keeper.settled(log)
        now = to_text(self._clock.now())
        change = partial(learning.invalidate, seq=seq, cause=cause, now=now)
        return self._set_marks(log, change).is_due

    def _set_marks(self, log: LogKey, change: Callable[[Marks], Marks]) -> Marks:
        """Change a log's marks under its lock; nothing is written where they stay."""

        def edit(markers: dict[str, Any]) -> dict[str, Any]:
            before = learning.marks_of(markers)
            after = change(before)
            return markers if after == before else learning.with_marks(markers, after)

        return learning.marks_of(self._change_markers(log, edit))

    def _change_markers(self, log: LogKey, edit: Callable[[Markers], Markers]) -> Markers:
        """Change what a log's markers are; nobody writes to the log meanwhile."""
        if log.kind != "session":
            return self._keeper.mark(log, edit)

        def edited(manifest: Manifest) -> Manifest:
            after = edit(manifest.markers)
            if after is manifest.markers:
                return manifest
            return msgspec.structs.replace(manifest, markers=after)

        return self._store.change(log.id, edited).markers

    def _while_still(self, log: LogKey, work: Callable[[], object]) -> None:
        """Do something while nobody can write to a log, or delete or erase anything in it."""

        def edit(markers: Markers) -> Markers:
            work()
            return markers

        self._change_markers(log, edit)

    def due_sessions(self, limit: int | None = None, now: datetime | None = None) -> list[Due]:
        """The sessions to learn from, oldest first; for the owner alone.

        They come from the index, which knows them without looking at each session. What users and
        all share outside of sessions is learned from too: once nobody has added to it for a while,
        or so many lines came as turns make a session due.
        """
        self._for_worker()
        moment = self._clock.now() if now is None else to_moment(normalise(now, "now"))
        plain.count(limit, "limit")
        knowledge = self.settings.knowledge
        idle = shifted(moment, minutes=-knowledge.idle_minutes)
        asked = Asked(to_text(moment), to_text(idle), knowledge.turn_threshold, limit)
        return [self._due(one, knowledge.turn_threshold) for one in self._unlearned(asked)]

    def parked_sessions(self) -> list[Due]:
        """The sessions that nobody learns from any more, because it failed too often."""
        self._for_worker()
        asked = Asked("", "", 0, parked=True)
        return [self._due(one, 0) for one in self._unlearned(asked)]

    def _unlearned(self, asked: Asked) -> list[Unlearned]:
        if self._index is not None:
            with suppress(StorageError):  # derived: without it every session is looked at
                return self._index.unlearned(asked)
        found = [one for one in self._looked_at() if _is_meant(one, asked)]
        found.sort(key=lambda one: (one.since, one.manifest.session_id))
        return found[: asked.limit]

    def _looked_at(self) -> Iterator[Unlearned]:
        """What the index would know, by looking at every session."""
        for one in self._store.sessions():
            marks = learning.marks_of(one.manifest.markers)
            if one.last_seq <= marks.processed_until:
                continue
            with suppress(SessionError):
                log = LogKey("session", one.manifest.session_id)
                read = self._store.read(log, OWNER, after=marks.processed_until).entries
                turns = 0 if marks.turns else sum(map(learning.ends_turn, read))
                yield Unlearned(*one, turns)
        for log in (SHARED, *(LogKey("user", user) for user in self._keeper.users())):
            found = self._unlearned_own(log)
            if found is not None:
                yield found

    def _unlearned_own(self, log: LogKey) -> Unlearned | None:
        """A log that is no session's, if it has lines that nobody has learned from."""
        read = self._store.read(log, OWNER, last=0).summary
        markers = self._keeper.markers(log)
        new = read.last_seq - learning.marks_of(markers).processed_until
        if new <= 0:
            return None
        return of_own_log(log, markers, read.last_seq, read.last_written, new)

    def _due(self, one: Unlearned, threshold: int) -> Due:
        manifest, marks = one.manifest, learning.marks_of(one.manifest.markers)
        return Due(
            session_id=manifest.session_id,
            user_id=manifest.user_id or self.settings.knowledge.default_user,
            agent_id=(*manifest.agent_ids, learning.DEFAULT_AGENT)[0],
            cause=_cause(one, marks, threshold),
            invalidated=marks.invalidated,
            processed_until=marks.processed_until,
            since=one.since,
            attempts=marks.attempts,
            error=marks.error,
            log=_kind(one.log),
        )

    def mark_processed(self, due: Due, until: int, total: str) -> bool:
        """Say that everything up to a line was learned from; False if somebody else did so.

        Lines that came later, and what was said about them, stay: then the session is due again.
        """
        self._for_worker()
        given.record(due, Due, "due")
        given.whole(until, "until")
        given.text(total, "total")

        def advanced(marks: Marks) -> Marks:
            is_ours = marks.processed_until == due.processed_until < until
            return learning.advance(marks, until, total) if is_ours else marks

        after = self._try_marks(log_of(due), advanced)
        return after is not None and after.processed_until == until

    def note_failure(self, due: Due, error: BaseException) -> bool:
        """Count that learning from a session failed; True if it is parked now.

        Of the error only its code is kept, or the name of its class: never what it says.
        """
        self._for_worker()
        given.record(due, Due, "due")
        code = error.code if isinstance(error, MnemologError) else type(error).__name__
        now = self._clock.now()

        def failed(marks: Marks) -> Marks:
            is_ours = marks.processed_until == due.processed_until
            return learning.fail(marks, code, now, self.settings) if is_ours else marks

        after = self._try_marks(log_of(due), failed)
        return after is not None and after.is_parked

    def retry_session(self, session_id: str) -> bool:
        """Learn from a session again that failed; True if it was parked. `@` and a user's id means
        that user's own log, `@` alone the shared one."""
        self._for_worker()
        log = self._named_log(session_id)
        if log.kind != "session":
            was_parked = learning.marks_of(self._keeper.markers(log)).is_parked
            self._set_marks(log, learning.retry)
            return was_parked
        was_parked = learning.marks_of(self._manifest(session_id).markers).is_parked
        with self.brought_back(session_id):
            self._set_marks(log, learning.retry)
        return was_parked

    def _named_log(self, name: str) -> LogKey:
        """The log that a name means; a session's own name comes first."""
        if given.text(name, "session_id").startswith(OWN):
            try:
                self._manifest(name)
            except SessionError:
                return LogKey("user", name[1:]) if name[1:] else SHARED
        return LogKey("session", name)

    def _try_marks(self, log: LogKey, change: Callable[[Marks], Marks]) -> Marks | None:
        """The marks after a change; None if the session is gone."""
        with suppress(SessionError):
            return self._set_marks(log, change)
        return None

    def lease_session(self, session_id: str, log: Log = "session") -> AbstractContextManager[bool]:
        """Hold the work on a session; False inside if another worker does. Ends with its holder."""
        return self._lease("learn" if log == "session" else "learn-own", session_id)

    def lease_user(self, user_id: str) -> AbstractContextManager[bool]:
        """The same for everything that is known of a user, for whoever must not be disturbed."""
        return self._lease("know", user_id)

    def _lease(self, what: str, whose: str) -> AbstractContextManager[bool]:
        self._for_worker()
        return self._keeper.lease(
            f"{what}-{sha256(given.text(whose, 'name').encode()).hexdigest()[:32]}"
        )

    @contextmanager
    def brought_back(self, session_id: str, log: Log = "session") -> Iterator[None]:
        """Have a session out of the archive for a while, if it lies there."""
        self._for_worker()
        archived = self._manifest(session_id).archived_at if log == "session" else None
        if archived is None:
            yield
            return
        own = LogKey("session", session_id)
        end = self._keeper.settled(own)
        self._keeper.restore(session_id)
        yield
        with suppress(SessionError):
            if self._keeper.settled(own) == end:  # else somebody writes to it again
                self._keeper.archive(session_id, archived)

    def _for_worker(self) -> None:
        """What a worker does reaches every session, so it is the owner's."""
        self._for_owner("learn from sessions")


def _cause(one: Unlearned, marks: Marks, threshold: int) -> str:
    if marks.is_parked:
        return "parked"
    if learning.is_exempt(one.manifest):
        return "exempt"
    if marks.is_due:
        return marks.cause
    return "turns" if 0 < threshold <= one.turns else "idle"


def log_of(work: Due | EditPlan | Lesson) -> LogKey:
    """The log that something is to be learned from."""
    if work.log == "session":
        return LogKey("session", work.session_id)
    return LogKey("user", work.user_id) if work.log == "user" else SHARED


def _kind(log: LogKey | None) -> Log:
    if log is None:
        return "session"
    return "user" if log.kind == "user" else "shared"


def _is_meant(one: Unlearned, asked: Asked) -> bool:
    """What the index asks its table."""
    marks = learning.marks_of(one.manifest.markers)
    if asked.parked or marks.is_parked:
        return asked.parked and marks.is_parked
    is_idle = one.last_written is not None and one.last_written <= asked.idle_since
    is_ripe = marks.is_due or is_idle or one.turns >= asked.turns
    return is_ripe and marks.next_try <= asked.now
