"""Subjects: what belongs to a user, a session or an agent, gathered for an export."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from mnemolog.errors import (
    InvalidQueryError,
    MnemologError,
    NotAllowedError,
    SchemaInvalidError,
    SessionNotFoundError,
    StorageError,
)
from mnemolog.layouts.contract import Bundle, Derived, SessionOut, Tombstone
from mnemolog.memory import run_logs
from mnemolog.memory.getting import Getting
from mnemolog.memory.sessions import Sessions
from mnemolog.model.entry import Entry
from mnemolog.model.ids import check_name
from mnemolog.model.node import Node
from mnemolog.model.session import Session
from mnemolog.model.times import hours_between, to_text
from mnemolog.policy import decay as decaying
from mnemolog.policy.access import OWNER, may_see
from mnemolog.policy.compartments import NOTE
from mnemolog.policy.importance import importance
from mnemolog.ports import SHARED, LogKey

Belongs = Callable[[Entry], bool]
"""Whether an entry is one of the subject's."""
IndexExport = Callable[[str, str], dict[str, Any]]


class ExportHost(Sessions, Getting):
    """A memory, as far as an export needs it."""


class Subject(NamedTuple):
    """Whom or what an export is about; nothing named means everything."""

    session_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None

    @classmethod
    def of(cls, session_id: object, user_id: object, agent_id: object) -> "Subject":
        """A subject as it was asked for; only one thing can be named."""
        named = cls(
            check_name(session_id, "session id"),
            check_name(user_id, "user id"),
            check_name(agent_id, "agent id"),
        )
        if len(named.shown()) > 1:
            raise SchemaInvalidError(
                "An export is about a session, a user or an agent: name one of them.",
                advice="Make one export for each.",
            )
        return named

    def shown(self) -> dict[str, str]:
        """What was named."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Gathering:
    """Reads what belongs to a subject, as far as the handle may see it."""

    def __init__(self, memory: ExportHost, subject: Subject, index: IndexExport) -> None:
        self._memory = memory
        self._export_index = index
        self._subject = subject
        self.warnings: list[str] = []
        """What could not be read, and why; for the owner alone."""
        self._sessions = sorted(self._all(), key=lambda one: (one.created_at, one.id))

    @property
    def sessions(self) -> int:
        """How many sessions are looked at."""
        return len(self._sessions)

    def _all(self) -> list[Session]:
        subject = self._subject
        if subject.session_id is not None:
            return [self._memory.load_session(subject.session_id)]
        # By the logs themselves: a catalogue does not tell of those that cannot be read.
        return self._memory._every(self._left_out)

    def _left_out(self, name: str, error: MnemologError) -> None:
        """One that cannot be read must not keep the others, and nobody may think it was there."""
        if self._memory._viewer == OWNER:
            self.warnings.append(f"{name} is left out: {error}")

    def bundle(self) -> Bundle:
        """Everything that belongs to the subject; the sessions are read as they are taken."""
        return Bundle(
            self._subject.shown(),
            to_text(self._memory._clock.now()),
            self._sessions_out(),
            {user: own for user in self._users() if (own := self._own_or_none(user))},
            self._chosen(SHARED, self._is_shared_with()),
            self.warnings,
            {user: nodes for user in self._graphs() if (nodes := self._nodes(user))},
        )

    def _graphs(self) -> list[str]:
        """Whose graph belongs to the subject; an agent's view has none."""
        memory, subject = self._memory, self._subject
        is_whole = subject.session_id is None and subject.agent_id is None
        if not is_whole or memory._viewer.agent is not None or memory._shelved_by is None:
            return []
        wanted = subject.user_id or memory._viewer.user
        if subject.user_id is not None:
            memory._may_reach_user(subject.user_id, None)
        return memory._shelf.users() if wanted is None else [wanted]

    def _nodes(self, user: str) -> list[Node]:
        def left_out(address: str, error: MnemologError) -> None:
            self._left_out(f"the node {address} of the user {user}", error)

        return list(self._memory._shelf.nodes(user, left_out))

    def _sessions_out(self) -> Iterator[SessionOut]:
        for session in self._sessions:
            try:
                found = self._session_out(session)
            except SessionNotFoundError:
                continue  # it went meanwhile
            except MnemologError as error:
                if self._subject.session_id is not None:
                    raise
                self._left_out(session.id, error)
                continue
            if found is not None:
                yield found

    def _session_out(self, session: Session) -> SessionOut | None:
        living = self._memory.get_entries(session.id)
        is_whole, belongs = self._of_session(session)
        found = sorted([*living, *self._moved(session.id)], key=lambda entry: entry.seq)
        entries = [entry for entry in found if is_whole or belongs(entry)]
        runs = self._runs(session.id, (lambda _: True) if is_whole else belongs)
        agent = self._subject.agent_id
        if not (is_whole or entries or runs or (agent is not None and agent in session.agent_ids)):
            return None
        out = self._out(session, entries, is_whole, living.warnings)
        return out._replace(runs=runs)

    def _runs(self, session_id: str, belongs: Belongs) -> dict[str, list[Entry]]:
        """What runs have noted that nobody has ended yet, as far as the handle may see it."""
        keeper, found = self._memory._kept_by, {}
        for log in () if keeper is None else run_logs.of_session(keeper, session_id):
            with suppress(NotAllowedError):  # it ended meanwhile
                reading = self._memory._store.read(log, self._memory._viewer, types={NOTE})
                found[log.run] = [note for note in reading.entries if belongs(note)]
                for damage in reading.damage if self._memory._viewer == OWNER else ():
                    self.warnings.append(f"the run {log.run} of {session_id}: {damage}")
        return {run: notes for run, notes in found.items() if notes}

    def _moved(self, session_id: str) -> list[Entry]:
        """What a compaction moved to the archive is as much a part of the session as the rest."""
        memory = self._memory
        if memory._kept_by is None:
            return []
        moved = memory._moved_out(
            session_id, lambda one: one.died is None and may_see(memory._viewer, one.entry)
        )
        return [one.entry for one in moved]

    def _tombstones(self, session_id: str) -> list[Tombstone]:
        keeper, log = self._memory._kept_by, LogKey("session", session_id)
        hidden = [] if keeper is None else keeper.hidden(log, self._memory._viewer)
        return [Tombstone(one.entry.id, one.died or one.entry.written_at) for one in hidden]

    def _of_session(self, session: Session) -> tuple[bool, Belongs]:
        """Whether all of a session belongs to the subject, and otherwise what of it does."""
        subject = self._subject
        if subject.agent_id is not None:
            return False, self._named()
        is_whole = subject.user_id in (None, session.user_id)
        return is_whole, lambda entry: entry.user_id == subject.user_id

    def _users(self) -> list[str]:
        """Whose own logs to look at; a user's stays when the last session of theirs is gone."""
        known = {one.user_id for one in self._sessions if one.user_id is not None}
        wanted = self._subject.user_id
        if wanted is None:
            return sorted(known | self._without_sessions())
        self._memory._may_reach_user(wanted, wanted if wanted in known else None)
        return [wanted]

    def _without_sessions(self) -> set[str]:
        memory = self._memory
        if self._subject.session_id is not None or memory._kept_by is None:
            return set()
        if memory._viewer == OWNER:
            return set(memory._kept_by.users())
        return set() if memory._viewer.user is None else {memory._viewer.user}

    def _own_or_none(self, user: str) -> list[Entry]:
        try:
            return self._own_log(user)
        except MnemologError as error:
            if self._subject.user_id is not None:
                raise
            self._left_out(f"the log of the user {user}", error)
            return []

    def _own_log(self, user: str) -> list[Entry]:
        return self._chosen(LogKey("user", user), self._named())

    def _named(self) -> Belongs:
        """What belongs to the session or the agent that is named; where neither is, everything."""
        subject = self._subject
        if subject.session_id is not None:
            return lambda entry: entry.session_id == subject.session_id
        if subject.agent_id is not None:
            return lambda entry: entry.agent_id == subject.agent_id
        return lambda entry: True

    def _is_shared_with(self) -> Belongs:
        subject = self._subject
        if subject.user_id is None:
            return self._named()
        own = {one.id for one in self._sessions if one.user_id == subject.user_id}
        return lambda entry: entry.session_id in own or entry.user_id == subject.user_id

    def _chosen(self, log: LogKey, belongs: Belongs) -> list[Entry]:
        reading = self._memory._store.read(log, self._memory._viewer)
        return [entry for entry in reading.entries if belongs(entry)]

    def _out(
        self, session: Session, entries: list[Entry], is_whole: bool, warnings: tuple[str, ...]
    ) -> SessionOut:
        return SessionOut(
            session,
            entries,
            lambda: self._derived(session.id, entries),
            lambda: self._index(session.id, "inverted") if is_whole else None,
            self._decay(session),
            self._tombstones(session.id) if is_whole else (),
            warnings,
        )

    def _derived(self, session_id: str, entries: list[Entry]) -> dict[str, Derived]:
        memory = self._memory
        decay = memory._settings(memory._manifest(session_id)).decay
        now = memory._clock.now()
        known = self._index(session_id, "entries") or {}
        placed: Mapping[str, Any] = known.get("entries", {})
        counts, last = self._uses(session_id)
        found = {}
        for entry in entries:
            weight, count = importance(entry), counts[entry.id]
            age = hours_between(entry.timestamp, now)
            left = decaying.factor(entry.type, age, decay, decaying.boost(count, weight))
            relevance = placed.get(entry.id, {}).get("current_relevance")
            found[entry.id] = Derived(left, weight, relevance, count or None, last.get(entry.id))
        return found

    def _uses(self, session_id: str) -> tuple[Counter[str], dict[str, str]]:
        """How often each entry of a session was used, and when last."""
        keeper = self._memory._kept_by
        noted = [] if keeper is None else keeper.uses(session_id)
        last = {use.id: use.at for use in sorted(noted, key=lambda use: use.at)}
        return Counter(use.id for use in noted), last

    def _index(self, session_id: str, shape: str) -> dict[str, Any] | None:
        try:
            return self._export_index(session_id, shape)
        except (InvalidQueryError, StorageError):  # derived: an export does without
            return None

    def _decay(self, session: Session) -> dict[str, Any]:
        """How a session decays, if it has a way of its own."""
        if not session.settings:
            return {}
        memory = self._memory
        decay = memory._settings(memory._manifest(session.id)).decay
        if decay == memory.settings.decay:
            return {}
        return {
            "enabled": decay.enabled,
            "half_life_hours": decay.half_life_hours.for_type("conversation"),
            "min_decay_factor": decay.minimum,
        }
