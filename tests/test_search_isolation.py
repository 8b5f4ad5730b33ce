"""What a view finds is its own affair: what it may not see moves no hit, no order and no score."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.errors import NotAllowedError, SessionNotFoundError
from mnemolog.index import fusion
from mnemolog.testing.clock import FixedClock
from tests.index.searching import WORDS_ONLY, Ranking, assert_alike, ids, lexical, scored, steady
from tests.memory.machine import QUICK

AGENTS = ("a", "b")
USERS = ("u1", "u2")
TEXTS = ("alpha", "alpha beta", "beta gamma delta", "the alphabet of gamma", "delta", "b said so")
QUERIES: list[dict[str, Any]] = [
    {},
    {"text": "alpha"},
    {"text": "beta gamma", "scorer": "weighted"},
    {"text": "alp*", "scorer": "product"},
    {"text": "*a", "sort": "time_desc"},
    {"text": "what did b say of delta"},
    {"text": "letters", "min_relevance": 0.2},
    {"agents": ["b"]},
    {"users": ["u1", "u2"], "types": ["decision", "conversation"]},
    {"tags": ["t"], "sort": "time_asc"},
    {"references": ["e0", "e1"], "max_depth": 4},
    {"limit": 2},
]


# Each example builds two roots, so none is made smaller once it has failed: it is small already.
# The examples are the same in every run.
sought = settings(deadline=None, max_examples=12, phases=[Phase.generate], derandomize=True)
EMBEDDERS = pytest.mark.parametrize("embedder", ["none", "static"])


class Told(NamedTuple):
    """One entry of a world."""

    number: int
    session: int
    writer: str | None
    scope: str
    text: str
    kind: str
    refers: int


class Room(NamedTuple):
    """One session of a world: whose it is and which agents it names."""

    user: str
    agents: tuple[str, ...]


class World(NamedTuple):
    rooms: list[Room]
    entries: list[Told]


@st.composite
def worlds(draw: st.DrawFn, scopes: tuple[str, ...]) -> World:
    names = st.lists(st.sampled_from(AGENTS), unique=True, max_size=2).map(tuple)
    rooms = draw(st.lists(st.builds(Room, st.sampled_from(USERS), names), min_size=1, max_size=4))
    told = st.tuples(
        st.integers(0, len(rooms) - 1), st.sampled_from((*AGENTS, None)), st.sampled_from(scopes),
        st.sampled_from(TEXTS), st.sampled_from(["conversation", "decision"]), st.integers(0, 9),
    )  # fmt: skip
    entries = draw(st.lists(told, min_size=1, max_size=10))
    return World(rooms, [Told(number, *fields) for number, fields in enumerate(entries)])


Sees = Callable[[Room], bool]
Keeps = Callable[[Told], bool]


def every(_: object) -> bool:
    return True


@contextmanager
def built(
    world: World, embedder: str, sees: Sees = every, keeps: Keeps = every
) -> Iterator[Memory]:
    """A world in files: the rooms that are seen, the entries that are kept."""
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(), **{"search.embedder": embedder}) as memory,
    ):
        for number, room in enumerate(world.rooms):
            if sees(room):
                memory.create_session(room.user, agent_ids=room.agents, session_id=f"s{number}")
        for told in world.entries:
            through = way_to(world, told, sees)
            if through is not None and keeps(told):
                add(memory, through, told)
                if told.number % 4 == 3:
                    memory.query(None, text="alpha")
        yield memory


def way_to(world: World, told: Told, sees: Sees) -> int | None:
    """Through which room an entry is reached; a user's own ones through any of the user's."""
    user = world.rooms[told.session].user
    for number, room in enumerate(world.rooms):
        is_there = number == told.session or (scope_of(told) == "user" and room.user == user)
        if is_there and sees(room):
            return number
    return None


def add(memory: Memory, through: int, told: Told) -> None:
    fields: dict[str, Any] = {"agent_id": told.writer} if told.writer else {}
    memory.add_memory(
        f"s{through}",
        {
            "id": f"e{told.number}",
            "type": told.kind,
            "scope": scope_of(told),
            "content": told.text,
            "tags": ["t.u"] if told.number % 3 == 0 else [],
            "references": [f"e{told.refers}"],
            "timestamp": f"2026-11-14T0{told.number % 10}:00:00Z",
            **fields,
        },
    )


def scope_of(told: Told) -> str:
    return "session" if told.scope == "agent" and told.writer is None else told.scope


def everything(view: Memory, world: World) -> list[Ranking]:
    found = [scored(view.query(None, query)) for query in QUERIES]
    for number in range(len(world.rooms)):
        try:
            found += [scored(view.query(f"s{number}", query)) for query in QUERIES[:4]]
        except SessionNotFoundError:
            found.append([])
    return found


def assert_the_same(among_others: list[Ranking], alone: list[Ranking], embedder: str) -> None:
    """Words are counted exactly; vectors are compared in rough numbers."""
    for ours, theirs in zip(among_others, alone, strict=True):
        if embedder == "none":
            assert ours == theirs
        else:
            assert_alike(ours, theirs, rough=1e-3)


def assert_foreign_entries_change_nothing(
    world: World, embedder: str, look: Callable[[Memory], Memory], sees: Sees, keeps: Keeps = every
) -> None:
    with built(world, embedder) as memory:
        among_others = everything(look(memory), world)
    with built(world, embedder, sees, keeps) as memory:
        alone = everything(look(memory), world)
    assert_the_same(among_others, alone, embedder)


@EMBEDDERS
@sought
@given(world=worlds(scopes=("session", "session", "user")))
def test_sessions_that_do_not_name_an_agent_change_nothing_it_finds(world, embedder):
    assert_foreign_entries_change_nothing(
        world, embedder, lambda memory: memory.for_agent("a"), lambda room: "a" in room.agents
    )


@EMBEDDERS
@sought
@given(world=worlds(scopes=("session", "agent")))
def test_other_agents_own_entries_in_the_same_session_change_nothing_an_agent_finds(
    world, embedder
):
    assert_foreign_entries_change_nothing(
        world,
        embedder,
        lambda memory: memory.for_agent("a"),
        lambda room: "a" in room.agents,
        lambda told: scope_of(told) != "agent" or told.writer == "a",
    )


@EMBEDDERS
@sought
@given(world=worlds(scopes=("session", "session", "user")))
def test_other_users_sessions_change_nothing_a_users_view_finds(world, embedder):
    assert_foreign_entries_change_nothing(
        world, embedder, lambda memory: memory.for_user("u1"), lambda room: room.user == "u1"
    )


@EMBEDDERS
@sought
@given(world=worlds(scopes=("session",)))
def test_one_session_is_searched_as_if_it_were_alone(world, embedder):
    with built(world, embedder) as memory:
        among_others = [scored(memory.query("s0", query)) for query in QUERIES]
    first = world.rooms[0]
    with built(
        world, embedder, lambda room: room is first, lambda told: not told.session
    ) as memory:
        alone = [scored(memory.query("s0", query)) for query in QUERIES]
    assert_the_same(among_others, alone, embedder)


@pytest.fixture
def two(memory):
    """A session for `a` of user u1, one for `b` of u2, and one for both."""
    memory.create_session("u1", agent_ids=["a"], session_id="mine")
    memory.create_session("u2", agent_ids=["b"], session_id="theirs")
    memory.create_session("u1", agent_ids=["a", "b"], session_id="ours")
    return memory


def test_another_agents_own_entries_are_found_by_nothing(two):
    two.add_memory("ours", id="secret", content="hidden word", agent_id="b", scope="agent",
                   tags=["secret"], references=["plain"])  # fmt: skip
    two.add_memory("ours", id="plain", content="plain word", agent_id="b")
    two.add_memory("theirs", id="far", content="far word", agent_id="b", tags=["secret"])
    view = two.for_agent("a")
    for query in ({}, {"text": "hidden word"}, {"text": "hid*"}, {"tags": ["secret"]},
                  {"agents": ["b"]}, {"references": ["plain"]}, {"text": "b"},
                  {"users": ["u2"]}, {"sort": "time_asc", "limit": 1000}):  # fmt: skip
        for session in (None, "ours"):
            assert set(ids(view.query(session, query))) <= {"plain"}, query
    assert ids(two.for_agent("b").query("ours", text="hidden"))[0] == "secret"


def test_a_session_of_others_is_not_there(two):
    for view in (two.for_agent("a"), two.for_user("u1")):
        with pytest.raises(SessionNotFoundError):
            view.query("theirs", text="x")


@pytest.mark.parametrize("who", ["agent", "user"])
def test_a_view_finds_its_users_entries_and_the_shared_ones(two, who):
    two.add_memory("mine", id="tea", content="likes tea", scope="user", agent_id="a")
    two.add_memory("theirs", id="rum", content="likes tea with rum", scope="user", agent_id="b")
    two.add_memory("theirs", id="all", content="tea is a drink", scope="shared", agent_id="b")
    two.add_memory("mine", id="here", content="more tea", agent_id="a")
    assert set(ids(two.query(None, text="tea"))) == {"tea", "rum", "all", "here"}
    view = two.for_agent("a") if who == "agent" else two.for_user("u1")
    assert set(ids(view.query(None, text="tea"))) == {"tea", "all", "here"}


def test_an_agent_taken_off_a_session_finds_it_no_longer(two):
    two.add_memory("ours", id="m1", content="word", agent_id="b")
    assert ids(two.for_agent("a").query(None)) == ["m1"]
    two.update_session("ours", agent_ids=["b"])
    assert two.for_agent("a").query(None) == []
    assert ids(two.for_agent("b").query(None)) == ["m1"]


def test_a_session_without_agents_belongs_to_the_owner_alone(two):
    two.create_session("u1", session_id="nobody")
    two.add_memory("nobody", id="m1", content="word", agent_id="a")
    assert two.for_agent("a").query(None, text="word") == []
    assert ids(two.query(None, text="word")) == ["m1"]


def test_very_many_foreign_words_push_no_own_word_out_of_a_wildcard(root, clock):
    with steady(root, clock, **WORDS_ONLY) as memory:
        memory.create_session(agent_ids=["a"], session_id="mine")
        memory.create_session(agent_ids=["b"], session_id="theirs")
        memory.add_memory("mine", id="m1", content="the word azimuth", agent_id="a")
        memory.add_memory("mine", id="m2", content="nothing", agent_id="a")
        before = scored(memory.for_agent("a").query(None, text="a*h"))
        assert before[0][0] == "m1"
        for part in range(16):
            flood = " ".join(f"a{part * 2000 + number}h" for number in range(2000))
            memory.add_memory("theirs", content=flood, agent_id="b")
        assert scored(memory.for_agent("a").query(None, text="a*h")) == before
        assert "m1" in lexical(memory.query("mine", text="a*h"))


def test_foreign_entries_do_not_choose_among_the_words_of_a_long_question(root, clock):
    words = [f"w{number}" for number in range(600)]
    with steady(root, clock, **WORDS_ONLY) as memory:
        memory.create_session(agent_ids=["a"], session_id="mine")
        memory.create_session(agent_ids=["b"], session_id="theirs")
        memory.add_many("mine", [{"content": f"{word} said", "agent_id": "a"} for word in words])
        asked = {"text": " ".join(words), "limit": 1000}
        before = scored(memory.for_agent("a").query(None, asked))
        assert len(lexical(memory.for_agent("a").query(None, asked))) == 512
        memory.add_many("theirs", [{"content": " ".join(words[:100])}] * 3)
        assert scored(memory.for_agent("a").query(None, asked)) == before


def test_very_many_foreign_entries_change_no_count(root, clock):
    """More than 20,000 in all, which is where a large index could begin to look differently."""
    fast = {"storage.durability": "os", "storage.max_session_size_mb": 100}
    with steady(root, clock, **WORDS_ONLY, **fast) as memory:
        memory.create_session(agent_ids=["a"], session_id="mine")
        memory.create_session(agent_ids=["b"], session_id="theirs")
        batch = [{"content": "alpha"}, {"content": "something else"}, {"content": "and that"}]
        memory.add_many("mine", batch * 500)
        asked = {"text": "alpha", "limit": 1000}
        before = scored(memory.for_agent("a").query(None, asked))
        memory.add_many("theirs", [{"content": "alpha"}] * 20_000)
        assert_alike(scored(memory.for_agent("a").query(None, asked)), before)


@pytest.mark.parametrize("scorer", ["recall", "weighted", "product"])
def test_foreign_entries_beside_as_many_as_may_be_chosen_change_no_order(root, clock, scorer):
    """With so many in sight all that match are looked at; whatever is out of sight, still all."""
    with steady(root, clock, **WORDS_ONLY) as memory:
        for session, user in (("short", "u1"), ("long", "u1"), ("theirs", "u2")):
            memory.create_session(user, session_id=session)
        short = [{"content": f"deploy {n}", "importance": 0.1} for n in range(900)]
        kettle = "while the kettle boiled and the violin was out of tune " * 6
        memory.add_many("short", short)
        memory.add_many(
            "long",
            [{"content": f"we had to deploy {n} {kettle}", "type": "decision"} for n in range(20)],
        )
        asked = {"text": "deploy", "limit": 5, "scorer": scorer}
        before = scored(memory.for_user("u1").query(None, asked))
        memory.add_many("theirs", [{"content": f"other words {n}"} for n in range(300)])
        assert_alike(scored(memory.for_user("u1").query(None, asked)), before)


def test_how_many_of_the_best_are_looked_at_depends_on_what_is_in_sight(root, clock, monkeypatch):
    sizes, plain = [], fusion.pool_size

    def noted(rows: int, limit: int) -> int:
        sizes.append(rows)
        return plain(rows, limit)

    monkeypatch.setattr(fusion, "pool_size", noted)
    with steady(root, clock, **WORDS_ONLY) as memory:
        memory.create_session(agent_ids=["a"], session_id="mine")
        memory.create_session(agent_ids=["b"], session_id="theirs")
        memory.add_many("mine", [{"content": "alpha"}] * 3)
        memory.add_many("theirs", [{"content": "alpha"}] * 50)
        memory.for_agent("a").query(None, text="alpha")
        memory.query("mine", text="alpha")
        memory.query(None, text="alpha")
    assert sizes == [3, 3, 53]


def test_a_view_cannot_rebuild_the_index_which_would_tell_it_how_much_there_is(two):
    for view in (two.for_agent("a"), two.for_user("u1")):
        with pytest.raises(NotAllowedError) as caught:
            view.rebuild_index()
        assert caught.value.advice
