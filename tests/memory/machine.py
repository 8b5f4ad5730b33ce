"""The whole public API against plain dictionaries, one step at a time."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from mnemolog import Memory
from mnemolog.errors import (
    ConcurrentModificationError,
    EntryNotFoundError,
    SessionExistsError,
    SessionNotFoundError,
)
from mnemolog.model.entry import Receipt
from mnemolog.policy.redaction import Redactor

# What survives a crash is tested elsewhere: a disk in memory makes syncs free, and steps many.
QUICK = "/dev/shm" if Path("/dev/shm").is_dir() else None

AGENTS = ("a", "b")
USERS = (None, "u1", "u2")
IDS = st.sampled_from(["m1", "M1"])
SESSION_IDS = st.none() | st.sampled_from(["s1", "S1", "../s"])
TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
).filter(str.strip)
# Under some keys, such as "token", every value is hidden; that has tests of its own.
_REDACTOR = Redactor(bytes(32))
FACTS = st.tuples(TEXTS, TEXTS).filter(lambda pair: not _REDACTOR.tree(dict([pair])).counts)
TAGS = st.lists(st.sampled_from(["x", "y", "x.z"]), unique=True, max_size=2)
KINDS = st.sampled_from(["conversation", "note", "event", "stand-up"])
HANDLES = st.sampled_from(["one", "two"])
WRITERS = st.sampled_from([None, *AGENTS])


class SteppingClock:
    """A clock that shows another millisecond each time it is looked at."""

    def __init__(self) -> None:
        self._moment = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        self._moment += timedelta(milliseconds=1)
        return self._moment


class Log(dict[str, dict[str, Any]]):
    """The entries of one log, and the ids of those that are hidden."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden: set[str] = set()

    def shown(self) -> dict[str, dict[str, Any]]:
        """The entries that are not hidden."""
        return {given: entry for given, entry in self.items() if given not in self.hidden}


class Machine(RuleBasedStateMachine):
    """Two memories on one root; `model` is what must be in it."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self._root = tempfile.mkdtemp(dir=QUICK)
        self._clock = SteppingClock()
        self._open = {name: self._opened() for name in ("one", "two")}
        self.model: dict[str, dict[str, Any]] = {}
        self.users: dict[str, Log] = {}
        self.shared = Log()

    def _opened(self) -> Memory:
        # Small segments, so that a few entries are enough to begin new ones.
        settings = {"storage.segment_size_mb": 0.002}
        return Memory.open(self._root, settings=settings, clock=self._clock, environ={})

    def teardown(self) -> None:
        """At the end everybody looks at everything once more."""
        try:
            for session in ["s1", *self.model]:
                for agent in (None, *AGENTS):
                    self.read("one", agent, session)
                    self.read("two", agent, session)
        finally:
            shutil.rmtree(self._root)

    def _view(self, handle: str, agent: str | None) -> Memory:
        memory = self._open[handle]
        return memory if agent is None else memory.for_agent(agent)

    def _may_enter(self, session: str, agent: str | None) -> bool:
        facts = self.model.get(session)
        return facts is not None and (agent is None or agent in facts["agents"])

    @staticmethod
    def _may_see(entry: dict[str, Any], agent: str | None) -> bool:
        return agent is None or entry["scope"] != "agent" or entry["agent"] == agent

    @staticmethod
    def _may_change(entry: dict[str, Any], agent: str | None) -> bool:
        return agent is None or entry["agent"] == agent

    def _logs(self, session: str) -> list["Log"]:
        """What can be reached through a session: its own log, its user's, the shared one."""
        if session not in self.model:
            return [self.shared]
        facts = self.model[session]
        return [facts["entries"], self.users.get(facts["user"], Log()), self.shared]

    def _shown(self, session: str) -> list[dict[str, Any]]:
        """What nobody has hidden in each of them."""
        return [log.shown() for log in self._logs(session)]

    def _log(self, session: str, scope: str) -> "Log":
        """Where an entry of this scope goes."""
        own, user = self.model[session]["entries"], self.model[session]["user"]
        others = {"user": self.users.setdefault(user, Log()), "shared": self.shared}
        return others.get(scope, own)

    def _existing(self, session: str, number: int) -> str:
        """Some id that is there, or one that is not."""
        known = [one for log in self._shown(session) for one in log]
        return known[number % len(known)] if known else "m1"

    # --- sessions

    @initialize(target=sessions)
    def begin(self):
        """Two sessions to begin with: one for both agents, one for the first alone."""
        self.create("one", None, "s1", "u1", ["a", "b"])
        self.create("two", "a", "S1", None, [])
        return multiple("s1", "S1")

    @precondition(lambda self: len(self.model) < 3)
    @rule(
        target=sessions,
        handle=HANDLES,
        agent=WRITERS,
        given=SESSION_IDS,
        user=st.sampled_from(USERS),
        agents=st.lists(st.sampled_from(AGENTS), unique=True),
    )
    def create(self, handle, agent, given, user, agents):
        view = self._view(handle, agent)
        if given in self.model:
            with pytest.raises(SessionExistsError):
                view.create_session(user, agent_ids=agents, session_id=given)
            return given
        session = view.create_session(user, agent_ids=agents, session_id=given)
        named = [*agents, agent] if agent and agent not in agents else agents
        facts = {"user": user, "agents": named, "metadata": {}, "entries": Log(), "state": "active"}
        self.model[session.id] = facts
        assert session.agent_ids == tuple(named)
        return session.id

    @rule(handle=HANDLES, agent=WRITERS, session=sessions, fact=FACTS)
    def update_facts(self, handle, agent, session, fact):
        key, value = fact
        view = self._view(handle, agent)
        if not self._may_enter(session, agent):
            with pytest.raises(SessionNotFoundError):
                view.update_session(session, metadata={key: value})
            return
        view.update_session(session, metadata={key: value})
        self.model[session]["metadata"][key] = value

    @rule(handle=HANDLES, session=sessions)
    def close_session(self, handle, session):
        if session not in self.model:
            with pytest.raises(SessionNotFoundError):
                self._open[handle].close_session(session)
            return
        self._open[handle].close_session(session)
        self.model[session]["state"] = "idle"

    @rule(handle=HANDLES, session=sessions, sure=st.integers(0, 2))
    def delete(self, handle, session, sure):
        if sure:
            return
        if session not in self.model:
            with pytest.raises(SessionNotFoundError):
                self._open[handle].delete_session(session)
            return
        self._open[handle].delete_session(session)
        del self.model[session]

    @rule(handle=HANDLES)
    def reopen(self, handle):
        self._open[handle].close()
        self._open[handle] = self._opened()

    # --- writing

    def _stored(self, receipt: Receipt, session: str, entry: dict[str, Any]) -> None:
        """Note in the model what a receipt acknowledged."""
        assert receipt.durable
        log = self._log(session, entry["scope"])
        assert receipt.status == ("revised" if receipt.id in log else "stored")
        log[receipt.id] = entry
        log.hidden.discard(receipt.id)
        if entry["scope"] in ("session", "agent"):
            self.model[session]["state"] = "active"

    @rule(
        handle=HANDLES,
        agent=WRITERS,
        session=sessions,
        given=IDS | st.none(),
        kind=KINDS,
        content=TEXTS,
        tags=TAGS,
        scope=st.sampled_from(["session", "agent", "user", "shared"]),
    )
    def add(self, handle, agent, session, given, kind, content, tags, scope):
        self._add(handle, agent, session, given, kind, content, tags, scope)

    @rule(
        handle=HANDLES,
        agent=st.sampled_from(AGENTS),
        session=sessions,
        given=IDS,
        content=TEXTS,
        scope=st.sampled_from(["session", "agent", "shared"]),
    )
    def add_again(self, handle, agent, session, given, content, scope):
        self._add(handle, agent, session, given, "note", content, [], scope)

    def _add(self, handle, agent, session, given, kind, content, tags, scope):
        view = self._view(handle, agent)
        if scope == "agent" and agent is None:
            scope = "session"
        entry = {"type": kind, "content": content, "tags": tags, "scope": scope, "agent": agent}
        record = {"type": kind, "content": content, "tags": tags, "scope": scope}
        record |= {"id": given} if given else {}
        if not self._may_enter(session, agent):
            with pytest.raises(SessionNotFoundError):
                view.add_memory(session, record)
            return
        user = self.model[session]["user"]
        if scope == "user" and user is None:
            with pytest.raises(ValueError, match="user"):
                view.add_memory(session, record)
            return
        log = self._log(session, scope)
        if given in log and not self._may_change(log[given], agent):
            with pytest.raises(ConcurrentModificationError):
                view.add_memory(session, record)
            return
        self._stored(view.add_memory(session, record), session, entry)

    @rule(handle=HANDLES, session=sessions, contents=st.lists(TEXTS, max_size=4))
    def add_many(self, handle, session, contents):
        memory = self._open[handle]
        batch = [{"content": content} for content in contents]
        if session not in self.model:
            with pytest.raises(SessionNotFoundError):
                memory.add_many(session, batch)
            return
        for receipt, content in zip(memory.add_many(session, batch), contents, strict=True):
            entry = {"type": "conversation", "content": content, "tags": [], "scope": "session"}
            self._stored(receipt, session, {**entry, "agent": None})

    @rule(
        handle=HANDLES, session=sessions, text=TEXTS, which=st.sampled_from(["decision", "finding"])
    )
    def add_typed(self, handle, session, text, which):
        memory = self._open[handle]
        if session not in self.model:
            return
        content = {"decision": {"decision": text}, "finding": {"description": text}}[which]
        writer = memory.add_decision if which == "decision" else memory.add_finding
        receipt = writer(session, **content)
        stored = {**content, "status": "open"} if which == "finding" else content
        entry = {"type": which, "content": stored, "tags": [], "scope": "session", "agent": None}
        self._stored(receipt, session, entry)

    @rule(handle=HANDLES, session=sessions, key=st.sampled_from("kl"), value=st.integers(0, 9))
    def prefer(self, handle, session, key, value):
        if session not in self.model:
            return
        receipt = self._open[handle].update_preference(session, key=key, value=value)
        content = {"key": key, "value": value}
        entry = {"type": "preference", "content": content, "tags": [], "scope": "session"}
        self._stored(receipt, session, {**entry, "agent": None})

    @rule(handle=HANDLES, agent=WRITERS, session=sessions, number=st.integers(0, 9), tags=TAGS)
    def update(self, handle, agent, session, number, tags):
        view, given = self._view(handle, agent), self._existing(session, number)
        if not self._may_enter(session, agent):
            with pytest.raises(SessionNotFoundError):
                view.update_memory(session, given, tags=tags)
            return
        facts = self.model[session]
        seen = [log[given] for log in self._shown(session) if given in log]
        entry = next((one for one in seen if self._may_see(one, agent)), None)
        if entry is None or not self._may_change(entry, agent):
            with pytest.raises(EntryNotFoundError):
                view.update_memory(session, given, tags=tags)
            return
        view.update_memory(session, given, tags=tags)
        entry["tags"] = tags
        if entry["scope"] in ("session", "agent"):
            facts["state"] = "active"

    # --- deleting

    @rule(handle=HANDLES, session=sessions, number=st.integers(0, 9))
    def hide(self, handle, session, number):
        given, memory = self._existing(session, number), self._open[handle]
        if session not in self.model:
            with pytest.raises(SessionNotFoundError):
                memory.delete_memory(session, given)
            return
        meant = [log for log in self._logs(session) if given in log.shown()]
        assert memory.delete_memory(session, given) == bool(meant)
        self._marked(session, meant)
        for log in meant:
            log.hidden.add(given)

    @rule(handle=HANDLES, session=sessions)
    def bring_back(self, handle, session):
        if session not in self.model:
            return
        ids = sorted({given for log in self._logs(session) for given in log})
        meant = [log for log in self._logs(session) if log.hidden]
        done = self._open[handle].undelete(session, ids)
        assert set(done.ids) == {given for log in meant for given in log.hidden}
        self._marked(session, meant)
        for log in meant:
            log.hidden.clear()

    @rule(handle=HANDLES, session=sessions, number=st.integers(0, 9))
    def erase(self, handle, session, number):
        known = sorted({given for log in self._logs(session) for given in log})
        if session not in self.model or not known:
            return
        given = known[number % len(known)]
        meant = [log for log in self._logs(session) if given in log]
        done = self._open[handle].erase(session, ids=[given], verify=False)
        assert done.erased_count == len(meant)
        for log in meant:
            del log[given]
            log.hidden.discard(given)

    def _marked(self, session: str, logs: list[Log]) -> None:
        """A line in its own log is a write to a session."""
        if any(log is self.model[session]["entries"] for log in logs):
            self.model[session]["state"] = "active"

    # --- reading

    @rule(handle=HANDLES, agent=WRITERS, session=sessions)
    def read(self, handle, agent, session):
        view = self._view(handle, agent)
        if not self._may_enter(session, agent):
            for verb in (view.load_session, view.get_entries, view.get_statistics):
                with pytest.raises(SessionNotFoundError):
                    verb(session)
            return
        facts = self.model[session]
        own = facts["entries"].shown()
        seen = {given: one for given, one in own.items() if self._may_see(one, agent)}
        found = view.get_entries(session)
        assert found.warnings == ()
        assert [_plain(one) for one in found] == list(seen.items())
        loaded = view.load_session(session)
        assert (loaded.user_id, loaded.metadata) == (facts["user"], facts["metadata"])
        assert loaded.state == facts["state"]
        assert view.get_statistics(session).total_entries == len(seen)

    @rule(handle=HANDLES, agent=WRITERS, session=sessions, number=st.integers(0, 9))
    def read_one(self, handle, agent, session, number):
        if not self._may_enter(session, agent):
            return
        given = self._existing(session, number)
        there = [log[given] for log in self._shown(session) if given in log]
        wanted = [one for one in there if self._may_see(one, agent)]
        found = self._view(handle, agent).get_memory(session, given)
        assert (None if found is None else _plain(found)[1]) == (wanted[0] if wanted else None)

    @rule(handle=HANDLES, agent=WRITERS)
    def list_all(self, handle, agent):
        found = self._view(handle, agent).list_sessions()
        wanted = {session for session in self.model if self._may_enter(session, agent)}
        assert {one.id for one in found} == wanted
        assert len(found) == len(wanted)

    @invariant()
    def both_memories_agree_on_the_numbers(self):
        one, two = (memory.get_global_statistics() for memory in self._open.values())
        assert one == two
        assert one.sessions == len(self.model)
        assert one.total_entries == sum(
            len(facts["entries"].shown()) for facts in self.model.values()
        )
        assert one.corrupted_lines == 0


def _plain(entry: Any) -> tuple[str, dict[str, Any]]:
    names = ("type", "content", "scope")
    fields = {name: getattr(entry, name) for name in names}
    return entry.id, {**fields, "tags": list(entry.tags), "agent": entry.agent_id}
