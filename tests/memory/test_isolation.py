"""Isolation: what a view may see and change, in every verb, over generated worlds."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from inspect import signature
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.errors import (
    ConcurrentModificationError,
    EntryNotFoundError,
    MnemologError,
    NotAllowedError,
    SchemaInvalidError,
    SessionNotFoundError,
)
from mnemolog.model.lesson import Due, EditPlan, Lesson, Proposal
from tests.memory.machine import QUICK

AGENTS = ("a", "b", "c")
SECRET = "for u2 alone"


class Told(NamedTuple):
    """One entry of a generated world."""

    session: int
    writer: str | None
    scope: str


class World(NamedTuple):
    """Sessions by the agents they name, and who told what in them."""

    sessions: list[tuple[str, ...]]
    entries: list[Told]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    names = st.lists(st.sampled_from(AGENTS), unique=True, max_size=3).map(tuple)
    sessions = draw(st.lists(names, min_size=1, max_size=3))
    told = st.builds(
        Told,
        st.integers(0, len(sessions) - 1),
        st.sampled_from((*AGENTS, None)),
        st.sampled_from(("session", "agent", "session")),
    )
    return World(sessions, draw(st.lists(told, max_size=8)))


def build(memory: Memory, world: World) -> Iterator[tuple[str, str, Told]]:
    """Write a world as its owner; gives the session and the id of every entry."""
    for number, agents in enumerate(world.sessions):
        memory.create_session("u1", agent_ids=agents, session_id=f"s{number}")
    for number, told in enumerate(world.entries):
        scope = "session" if told.writer is None else told.scope
        fields: dict[str, Any] = {"agent_id": told.writer} if told.writer else {}
        kind = ("conversation", "decision", "preference")[number % 3]
        content = {"decision": "x", "key": f"k{number}", "value": number}
        memory.add_memory(
            f"s{told.session}",
            {"id": f"e{number}", "type": kind, "scope": scope, "content": content, **fields},
        )
        yield f"s{told.session}", f"e{number}", told._replace(scope=scope)


def may_see(agent: str, told: Told, world: World) -> bool:
    """The rule, said once more: the session names the agent, and the entry is not another's own."""
    named = agent in world.sessions[told.session]
    return named and (told.scope == "session" or told.writer == agent)


def numbers(statistics: Any) -> tuple[Any, ...]:
    return (
        statistics.total_entries,
        statistics.by_type,
        statistics.by_agent,
        statistics.revisions,
    )


@settings(max_examples=40, deadline=None)
@given(world=worlds(), agent=st.sampled_from(AGENTS))
def test_an_agent_reads_exactly_what_it_may(world, agent):
    with tempfile.TemporaryDirectory(dir=QUICK) as root, Memory.open(root, environ={}) as memory:
        written = list(build(memory, world))
        view = memory.for_agent(agent)
        named = [f"s{n}" for n, agents in enumerate(world.sessions) if agent in agents]
        assert sorted(one.id for one in view.list_sessions()) == named
        for number in range(len(world.sessions)):
            session = f"s{number}"
            if session not in named:
                continue
            allowed = [i for s, i, told in written if s == session and may_see(agent, told, world)]
            seen = view.get_entries(session)
            assert [one.id for one in seen] == allowed
            decisions = [one.id for one in seen if one.type == "decision"]
            assert [one.id for one in view.get_decisions(session)] == decisions
            assert set(allowed) >= {one.id for one in view.get_preferences(session)}
            statistics = view.get_statistics(session)
            assert statistics.total_entries == len(allowed)
            assert sum(statistics.by_type.values()) == len(allowed)
        for session, entry_id, told in written:
            if session in named:
                found = view.get_memory(session, entry_id)
                assert (found is not None) == may_see(agent, told, world)
        total = view.get_global_statistics()
        assert total.sessions == len(named)
        assert total.total_entries == sum(may_see(agent, told, world) for _, _, told in written)


@settings(max_examples=25, deadline=None)
@given(world=worlds(), agent=st.sampled_from(AGENTS))
def test_an_agent_changes_nothing_but_its_own(world, agent):
    with tempfile.TemporaryDirectory(dir=QUICK) as root, Memory.open(root, environ={}) as memory:
        written = list(build(memory, world))
        view = memory.for_agent(agent)
        for session, entry_id, told in written:
            before = memory.get_memory(session, entry_id)
            if agent not in world.sessions[told.session]:
                expected: type[Exception] = SessionNotFoundError
            elif told.writer == agent:
                continue
            else:
                expected = EntryNotFoundError
            with pytest.raises(expected):
                view.update_memory(session, entry_id, tags=["mine"])
            with pytest.raises((SessionNotFoundError, ConcurrentModificationError)):
                view.add_memory(session, id=entry_id, content="mine")
            assert memory.get_memory(session, entry_id) == before


VERBS: dict[str, Callable[[Memory, str], object]] = {
    "load_session": lambda view, sid: view.load_session(sid),
    "update_session": lambda view, sid: view.update_session(sid, metadata={"x": 1}),
    "close_session": lambda view, sid: view.close_session(sid),
    "delete_session": lambda view, sid: view.delete_session(sid),
    "archive_session": lambda view, sid: view.archive_session(sid),
    "restore_session": lambda view, sid: view.restore_session(sid),
    "delete": lambda view, sid: view.delete(sid, ids=["m1"]),
    "delete_memory": lambda view, sid: view.delete_memory(sid, "m1"),
    "delete_memories_by_topic": lambda view, sid: view.delete_memories_by_topic(sid, "x"),
    "delete_memories_by_time_range": lambda view, sid: view.delete_memories_by_time_range(sid, 0),
    "clear_session": lambda view, sid: view.clear_session(sid),
    "undelete": lambda view, sid: view.undelete(sid, ["m1"]),
    "compact_session": lambda view, sid: view.compact_session(sid),
    "redact": lambda view, sid: view.redact(sid),
    "run": lambda view, sid: view.run(sid),
    "left_runs": lambda view, sid: view.left_runs(sid),
    "end_run": lambda view, sid: view.end_run(sid, "r1"),
    "context": lambda view, sid: view.context(sid, "x"),
    "export_session": lambda view, sid: view.export_session(sid, "json"),
    "export_subject": lambda view, sid: view.export_subject(session_id=sid),
    "export_files": lambda view, sid: list(view.export_files("jsonl", session_id=sid)),
    "erase": lambda view, sid: view.erase(sid, ids=["m1"]),
    "add_memory": lambda view, sid: view.add_memory(sid, content="x"),
    "add_many": lambda view, sid: view.add_many(sid, [{"content": "x"}]),
    "add_conversation": lambda view, sid: view.add_conversation(sid, content="x"),
    "add_decision": lambda view, sid: view.add_decision(sid, decision="x"),
    "add_finding": lambda view, sid: view.add_finding(sid, description="x"),
    "update_preference": lambda view, sid: view.update_preference(sid, key="k", value="v"),
    "update_memory": lambda view, sid: view.update_memory(sid, "m1", tags=["x"]),
    "get_memory": lambda view, sid: view.get_memory(sid, "m1"),
    "get_entries": lambda view, sid: view.get_entries(sid),
    "get_decisions": lambda view, sid: view.get_decisions(sid),
    "get_findings": lambda view, sid: view.get_findings(sid),
    "get_preferences": lambda view, sid: view.get_preferences(sid),
    "get_statistics": lambda view, sid: view.get_statistics(sid),
    "get_session_stats": lambda view, sid: view.get_session_stats(sid),
    "query": lambda view, sid: view.query(sid, text="x"),
    "query_memories": lambda view, sid: view.query_memories(sid, text="x"),
    "search_by_topic": lambda view, sid: view.search_by_topic(sid, "x"),
    "search_by_type": lambda view, sid: view.search_by_type(sid, "note"),
    "search_by_time_range": lambda view, sid: view.search_by_time_range(sid, 0, 1),
    "watch": lambda view, sid: view.watch(session_id=sid),
    "export_index": lambda view, sid: view.export_index(sid),
    "update_decay_factors": lambda view, sid: view.update_decay_factors(sid),
    "rebuild_index": lambda view, sid: view.rebuild_index(sid),
    "timeline": lambda view, sid: view.timeline(sid),
    "told": lambda view, sid: view.told(sid, "m1"),
    "raw_line": lambda view, sid: view.raw_line(sid, "m1"),
    "revisions": lambda view, sid: view.revisions(sid, "m1"),
    "hidden_entries": lambda view, sid: view.hidden_entries(sid),
    "minimap": lambda view, sid: view.minimap(sid),
    "numbers": lambda view, sid: view.numbers(sid),
    "session_files": lambda view, sid: view.session_files(sid),
    "session_markers": lambda view, sid: view.session_markers(sid),
    "quarantined": lambda view, sid: view.quarantined(sid),
    "would_forget": lambda view, sid: view.would_forget(sid),
    "end_turn": lambda view, sid: view.end_turn(sid),
    "reset_session": lambda view, sid: view.reset_session(sid),
    "context_compacted": lambda view, sid: view.context_compacted(sid),
    "sleep_session": lambda view, sid: view.sleep_session(sid),
    "nodes_citing": lambda view, sid: view.nodes_citing(sid, "m1"),
}
# The worker's: for the owner alone, whoever the session belongs to.
WORKERS = (
    "due_session due_sessions parked_sessions lesson_of keep_plan kept_plans apply_plan strike_plan"
    " mark_processed note_failure retry_session lease_session lease_user brought_back node_reader"
    " due_again memory_prompt begin_memory_prompt"
).split()
# Nodes belong to users, not to sessions: tests/memory/test_knowing.py shows who may see them.
OF_NODES = (
    "read_node write_node append_node patch_node move_node delete_node revert_node tree graph"
    " folder node_users node_links node_versions node_diff search_nodes proposals proposal_diff"
    " accept_proposal reject_proposal similar_nodes merge_nodes citing"
).split()


def refusal(verb: Callable[[Memory, str], object], view: Memory, sid: str) -> Any:
    with pytest.raises(SessionNotFoundError) as caught:
        verb(view, sid)
    error = caught.value
    text = str(error).replace(sid, "…")
    return type(error), error.code, text, error.advice, set(error.details), error.__cause__


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize("kind", ["agent", "user"])
def test_a_session_that_is_not_for_the_view_looks_exactly_like_a_missing_one(
    memory, sid, name, kind
):
    memory.add_memory(sid, id="m1", content="x")
    view = memory.for_agent("stranger") if kind == "agent" else memory.for_user("u2")
    assert refusal(VERBS[name], view, sid) == refusal(VERBS[name], view, "none")
    assert len(memory.get_entries(sid)) == 1
    assert memory.load_session(sid).state == "active"


def test_every_verb_that_takes_a_session_is_in_the_table():
    taking = {
        name for name in dir(Memory) if not name.startswith("_") and callable(getattr(Memory, name))
    }
    without = {
        "open", "close", "for_agent", "for_agents", "for_user", "create_session", "list_sessions",
        "get_global_statistics", "verify_erasure", "known_backups", "audit", "archive_idle",
        "purge", "maintain", "backup", "import_from", "import_native", "export_native", "migrate",
        "decay_curves", "purge_runs", "readable_audit", "growth",
        "use_settings", "check_allowed",
        "export_to",  # writes what export_files gives
        *WORKERS, *OF_NODES,
    }  # fmt: skip
    assert taking - without == set(VERBS)


def test_a_view_of_several_agents_takes_names_and_not_their_letters(memory):
    memory.create_session(session_id="p", agent_ids=["ann"])
    assert [one.id for one in memory.for_agents("ann").list_sessions()] == ["p"]
    assert [one.id for one in memory.for_agents(iter(["bob", "ann"])).list_sessions()] == ["p"]


@pytest.mark.parametrize("agents", [[], (), None, 5, b"ann", {"ann": 1}])
def test_a_view_of_no_agents_is_refused_in_words(memory, agents):
    with pytest.raises(SchemaInvalidError, match="agent"):
        memory.for_agents(agents)


@pytest.mark.parametrize("name", WORKERS)
def test_what_a_worker_does_is_refused_to_every_view(memory, sid, name):
    verb = getattr(memory.for_agent("architect"), name)
    needed = [one for one in signature(verb).parameters.values() if one.default is one.empty]

    def use() -> None:
        with ExitStack() as stack:
            stack.enter_context(verb(*[_given(one.name, sid) for one in needed]))

    with pytest.raises(NotAllowedError):
        use()


def _given(name: str, sid: str) -> object:
    due = Due(session_id=sid, user_id="u1", agent_id="architect", cause="idle", invalidated=1,
              processed_until=0, since="")  # fmt: skip
    plan = EditPlan(v=1, id="p", session_id=sid, user_id="u1", until=1, until_sum="",
                    distiller="rules", edits=())  # fmt: skip
    lesson = Lesson(session_id=sid, user_id="u1", agent_id="architect", entries=(), transcript="",
                    until=1, until_sum="", now="")  # fmt: skip
    known = {"due": due, "plan": plan, "lesson": lesson, "proposal": Proposal(), "until": 1,
             "session_id": sid, "user_id": "u1", "error": ValueError()}  # fmt: skip
    return known.get(name, "x")


def test_a_session_without_agents_belongs_to_the_owner_alone(memory):
    alone = memory.create_session("u1").id
    assert memory.for_agent("architect").list_sessions() == []
    with pytest.raises(SessionNotFoundError):
        memory.for_agent("architect").get_entries(alone)


def test_what_others_keep_to_themselves_leaves_no_trace_in_an_agents_numbers(memory, sid):
    view = memory.for_agent("analyst")
    memory.add_memory(sid, content="for all", agent_id="architect")
    before = numbers(view.get_statistics(sid)), numbers(view.get_global_statistics())
    for number in range(3):
        memory.for_agent("architect").add_memory(sid, content=f"mine {number}", scope="agent")
    assert (numbers(view.get_statistics(sid)), numbers(view.get_global_statistics())) == before


def test_an_agents_own_preferences_are_for_it_alone(memory, sid):
    memory.for_agent("architect").update_preference(sid, key="k", value="mine", scope="agent")
    assert memory.for_agent("analyst").get_preferences(sid) == []
    (own,) = memory.for_agent("architect").get_preferences(sid)
    assert own.content["value"] == "mine"


def test_an_agent_writes_under_its_own_name_only(memory, sid):
    view = memory.for_agent("architect")
    receipt = view.add_memory(sid, content="x")
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.agent_id == "architect"
    for field in ("agent_id", "made_by", "discovered_by", "agentId"):
        with pytest.raises(NotAllowedError, match="architect") as caught:
            view.add_memory(sid, {field: "analyst", "content": "x"})
        assert caught.value.code == "E_NOT_ALLOWED"


def test_an_agent_cannot_decide_who_else_sees_a_session_nor_delete_it(memory, sid):
    view = memory.for_agent("architect")
    with pytest.raises(NotAllowedError):
        view.update_session(sid, agent_ids=["architect"])
    with pytest.raises(NotAllowedError):
        view.delete_session(sid)
    assert view.update_session(sid, metadata={"fine": 1}).metadata == {"fine": 1}
    assert memory.load_session(sid).agent_ids == ("architect", "analyst")


def test_an_agents_new_session_is_its_own(memory):
    created = memory.for_agent("architect").create_session("u1", agent_ids=["analyst"])
    assert created.agent_ids == ("analyst", "architect")
    assert memory.for_agent("architect").load_session(created.id) == created


def test_a_view_cannot_be_turned_into_somebody_elses(memory):
    with pytest.raises(NotAllowedError):
        memory.for_agent("architect").for_agent("analyst")
    with pytest.raises(NotAllowedError):
        memory.for_user("u1").for_user("u2")
    assert memory.for_agent("architect").for_agent("architect").list_sessions() == []


@pytest.fixture(params=["agent", "user", "both"])
def stranger(memory, sid, request):
    """A view that may see the session of u1, and nothing of u2."""
    memory.update_preference(None, key="k", value=SECRET, scope="user", user_id="u2")
    return {
        "agent": memory.for_agent("architect"),
        "user": memory.for_user("u1"),
        "both": memory.for_user("u1").for_agent("architect"),
    }[request.param]


@pytest.mark.parametrize("session", [None, "talk"])
def test_a_view_never_reads_another_users_preferences(stranger, session):
    try:
        found = stranger.get_preferences(session, user_id="u2")
    except MnemologError as refused:
        found = [refused]
    assert SECRET not in repr(found)


@pytest.mark.parametrize("session", [None, "talk"])
def test_a_view_never_writes_another_users_preferences(memory, stranger, session):
    with pytest.raises(MnemologError):
        stranger.update_preference(session, key="k", value="mine", scope="user", user_id="u2")
    (kept,) = memory.get_preferences(user_id="u2")
    assert kept.content["value"] == SECRET


def test_a_view_never_writes_another_users_entries(memory, stranger, sid):
    with pytest.raises(MnemologError):
        stranger.add_memory(sid, content="for you", scope="user", user_id="u2")
    theirs = memory.create_session("u2").id
    assert len(memory.get_preferences(theirs)) == 1
