"""Queries over a small world: every field alone and together, against plain Python."""

import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.model.query import Query
from mnemolog.testing.clock import FixedClock
from tests.index.searching import PARTS, few, ids, scored, some, steady
from tests.index.world import NOW, USERS, WORLD, Told, by_id, write
from tests.memory.machine import QUICK


@pytest.fixture(scope="module")
def world() -> Iterator[Memory]:
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(NOW)) as memory,
    ):
        write(memory)
        yield memory


def has_tag(told: Told, wanted: str) -> bool:
    return any(tag == wanted or tag.startswith(f"{wanted}.") for tag in told.tags)


def passes(told: Told, query: dict[str, Any]) -> bool:
    """What the page on search says of every filter, said once more."""
    tags = query.get("tags") or {}
    tags = tags if isinstance(tags, dict) else {"include": tags}
    start, end = (query.get("time_range", {}).get(side) for side in ("start", "end"))
    return all(
        (
            not query.get("types") or told.type in query["types"],
            not query.get("agents") or told.agent in query["agents"],
            not query.get("users") or USERS[told.session] in query["users"],
            not tags.get("include") or any(has_tag(told, tag) for tag in tags["include"]),
            all(has_tag(told, tag) for tag in tags.get("all", ())),
            not any(has_tag(told, tag) for tag in tags.get("exclude", ())),
            start is None or start <= told.moment,
            end is None or told.moment <= end,
            told.importance >= query.get("min_importance", 0),
        )
    )


def expected(session: str | None, query: dict[str, Any]) -> set[str]:
    return {told.id for told in WORLD if session in (None, told.session) and passes(told, query)}


MOMENTS = st.sampled_from([told.moment for told in WORLD]) | st.integers(0, 10_000).map(
    lambda hours: NOW - timedelta(hours=hours)
)
TAGS = st.lists(
    st.sampled_from(["database", "security", "security.login", "deprecated", "data", "x"]),
    max_size=2,
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "types": st.lists(
            st.sampled_from(["conversation", "decision", "finding", "note", "stand-up"]),
            max_size=3,
        ),
        "agents": st.lists(st.sampled_from(["architect", "analyst", "nobody"]), max_size=2),
        "users": st.lists(st.sampled_from(["u1", "u2", "u3"]), max_size=2),
        "tags": TAGS | st.fixed_dictionaries({}, optional=dict.fromkeys(
            ("include", "all", "exclude"), TAGS)),
        "time_range": st.fixed_dictionaries({}, optional=dict.fromkeys(("start", "end"), MOMENTS)),
        "min_importance": st.sampled_from([0, 0.2, 0.5, 0.7, 0.75, 1]),
        "sort": st.sampled_from(["relevance_desc", "time_desc", "time_asc"]),
        "limit": st.integers(0, 12),
        "scorer": st.sampled_from(["recall", "weighted", "product"]),
    },
)  # fmt: skip
SPELLINGS = {"time_range": "timeRange", "min_importance": "minImportance", "sort": "sortBy"}


@pytest.mark.req(
    "S001-063", "S001-064", "S001-065", "S001-066", "S001-067", "S001-069", "S001-070",
    "S001-124", "S002-002", "S002-046", "S002-068", "S002-070", "S002-073", "S002-115", "S002-131",
)  # fmt: skip
@some
@given(query=FILTERS, session=st.sampled_from([None, "talk", "other"]))
def test_filters_alone_and_together_let_through_exactly_what_they_say(world, query, session):
    hits = world.query(session, query)
    wanted = expected(session, query)
    limit = query.get("limit", 20)
    assert set(ids(hits)) <= wanted
    assert len(hits) == min(len(wanted), limit)
    assert_in_order(hits, query.get("sort", "relevance_desc"))
    if query.get("sort", "").startswith("time"):
        in_time = sorted(wanted, key=lambda one: by_id(one).moment)
        in_time = in_time if query["sort"] == "time_asc" else in_time[::-1]
        assert ids(hits) == in_time[:limit]


def assert_in_order(hits, sort):
    if sort == "relevance_desc":
        found = [hit.relevance for hit in hits]
        assert found == sorted(found, reverse=True)


@pytest.mark.req("S002-115")
@some
@given(query=FILTERS, text=st.sampled_from([None, "login", "compare engines"]))
def test_both_documents_spellings_keywords_and_a_query_object_ask_the_same(world, query, text):
    query = query if text is None else {**query, "text": text}
    camel = {SPELLINGS.get(name, name): value for name, value in query.items()}
    wanted = scored(world.query("talk", query))
    assert scored(world.query("talk", camel)) == wanted
    assert scored(world.query("talk", **query)) == wanted
    assert scored(world.query_memories("talk", {}, **camel)) == wanted
    if set(query) == {"text"}:
        assert scored(world.query("talk", query["text"])) == wanted, "a text alone is a query"
    split = {"limit": 9, **query}
    assert scored(world.query("talk", {"limit": 1}, **split)) == scored(world.query("talk", split))


def test_a_query_object_asks_what_its_fields_say_and_keywords_go_above_it(world):
    asked = Query(text="login", types=("finding",), limit=3, sort="time_asc")
    fields = {"text": "login", "types": ["finding"], "limit": 3, "sort": "time_asc"}
    assert scored(world.query("talk", asked)) == scored(world.query("talk", fields))
    fields |= {"limit": 1, "types": ["note"]}
    assert scored(world.query("talk", asked, limit=1, types="notes")) == scored(
        world.query("talk", fields)
    )


@pytest.mark.req("S001-063", "S001-071", "S002-065")
@some
@given(query=FILTERS, text=st.sampled_from(["login", "compare engines", "old login database"]))
def test_a_text_ranks_and_the_filters_still_narrow(world, query, text):
    hits = world.query(None, {**query, "text": text})
    assert_in_order(hits, query.get("sort", "relevance_desc"))
    plain = {"text": text, "scorer": query.get("scorer"), "sort": query.get("sort"), "limit": 100}
    everything = scored(world.query(None, plain))
    spoken = {told.id for told in WORLD if set(text.split()) & set(told.text.split())}
    assert spoken <= {one[0] for one in everything}
    passing = [one for one in everything if one[0] in expected(None, query)]
    assert scored(hits) == passing[: query.get("limit", 20)], "a filter changes no score"


@pytest.mark.req("S001-064", "S002-048")
@pytest.mark.parametrize("kind", ["conversation", "decision", "finding", "preference", "event"])
def test_types_are_taken_in_the_singular_and_in_the_plural(world, kind):
    one = ids(world.query(None, types=[kind]))
    assert one
    assert ids(world.query(None, types=f"{kind}s")) == one
    assert ids(world.query(None, type=kind)) == one
    assert ids(world.search_by_type(None, f"{kind}s")) == one


@pytest.mark.req("S002-067", "S002-069")
@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        (["security"], {"d1", "f1", "n1"}),
        (["security.login"], {"f1"}),
        (["security.log"], set()),
        (["secur"], set()),
        (["Security"], set()),
        (["deprecated", "security.login"], {"f1", "n1", "d2"}),
        ({"include": ["security"], "exclude": ["deprecated"]}, {"d1", "f1"}),
        ({"any": ["security"]}, {"d1", "f1", "n1"}),
        ({"all": ["database", "security"]}, {"d1"}),
        ({"exclude": ["security", "database"]}, {"p1", "e1", "d2"}),
        ({"include": ["database"], "all": ["security"], "exclude": ["deprecated"]}, {"d1"}),
        ("deprecated", {"n1", "d2"}),
    ],
)
def test_a_tag_finds_itself_and_its_children(world, tags, wanted):
    assert set(ids(world.query(None, tags=tags))) == wanted


@pytest.mark.req("S002-047")
def test_a_topic_is_a_tag_its_children_or_the_topic_of_a_message(memory, sid):
    memory.add_conversation(sid, id="c", role="user", content="x", context={"topic": "billing"})
    memory.add_memory(sid, id="t", content="y", tags=["billing.tax"])
    memory.add_memory(sid, id="n", content="billing is only mentioned")
    memory.add_conversation(sid, id="o", role="user", content="z", context={"topic": "bill"})
    assert set(ids(memory.search_by_topic(sid, "billing"))) == {"c", "t"}
    assert set(ids(memory.query(sid, tags=["billing"]))) == {"c", "t"}
    assert set(ids(memory.search_by_topic(sid, "billing", types=["conversation"], limit=9))) == {
        "c", "t",
    }  # fmt: skip
    assert ids(memory.search_by_topic(sid, "nothing")) == []


def test_a_topic_may_be_any_text(memory, sid):
    memory.add_conversation(sid, id="c", role="user", content="x", context={"topic": "Wer zahlt?"})
    memory.add_conversation(sid, id="d", role="user", content="x", context={"topic": 5})
    assert ids(memory.search_by_topic(sid, "Wer zahlt?")) == ["c"]


@pytest.mark.req("S001-067")
def test_made_by_and_discovered_by_are_the_agent(memory, sid):
    memory.add_decision(sid, id="d", made_by="architect", decision="x")
    memory.add_finding(sid, id="f", discovered_by="analyst", description="y")
    memory.add_conversation(sid, id="c", role="user", agent_id="analyst", content="z")
    assert ids(memory.query(sid, agents=["architect"])) == ["d"]
    assert set(ids(memory.query(sid, agent_id="analyst"))) == {"f", "c"}
    for name in ("made_by", "madeBy", "discovered_by"):
        assert set(ids(memory.query(sid, {name: "analyst"}))) == {"f", "c"}


@pytest.mark.req("S001-068")
@some
@given(bound=st.floats(0, 1), scorer=st.sampled_from(["recall", "weighted", "product"]))
def test_what_is_less_relevant_than_asked_for_is_left_out(world, bound, scorer):
    asked = {"text": "old login", "limit": 100, "scorer": scorer}
    every = world.query(None, asked)
    kept = world.query(None, asked, min_relevance=bound)
    assert scored(kept) == [one for one in scored(every) if one[1] >= bound]


@pytest.mark.req("S001-069")
def test_20_hits_come_unless_a_limit_is_given(memory, sid):
    memory.add_many(sid, [{"content": f"entry {number}"} for number in range(30)])
    assert len(memory.query(sid, text="entry")) == 20
    assert len(memory.query(sid)) == 20
    assert len(memory.query(sid, limit=25)) == 25
    assert len(memory.query(sid, limit=1000)) == 30
    assert memory.query(sid, limit=0) == []
    assert scored(memory.query(sid, limit=5)) == scored(memory.query(sid, limit=30))[:5]


@pytest.mark.req("S001-070")
@few
@given(
    text=st.sampled_from(["", "login", "compare engines"]),
    scorer=st.sampled_from(["recall", "weighted", "product"]),
)
def test_the_three_sorts_order_the_same_hits(world, text, scorer):
    asked = {"text": text, "scorer": scorer, "limit": 100}
    best, newest, oldest = (
        world.query(None, asked, sort=sort) for sort in ("relevance_desc", "time_desc", "time_asc")
    )
    assert set(ids(best)) == set(ids(newest))
    assert ids(newest) == ids(oldest)[::-1]
    assert [hit.entry.timestamp for hit in oldest] == sorted(hit.entry.timestamp for hit in best)
    assert scored(best) == sorted(scored(newest), key=lambda one: -one[1])
    assert ids(world.query(None, asked)) == ids(best), "relevance comes first by default"


@pytest.mark.parametrize(
    ("other", "sort"),
    [("relevance", "relevance_desc"), ("time", "time_desc"), ("newest", "time_desc"),
     ("oldest", "time_asc")],
)  # fmt: skip
def test_sorts_have_shorter_names(world, other, sort):
    asked = world.query(None, {"text": "login", "sortBy": other})
    assert scored(asked) == scored(world.query(None, text="login", sort=sort))


def test_the_second_documents_example_is_understood_word_for_word(world):
    found = world.query_memories(
        None,
        {
            "types": ["decision", "finding"],
            "tags": {"include": ["security"], "exclude": ["deprecated"]},
            "timeRange": {"start": NOW - timedelta(days=30), "end": NOW},
            "minImportance": 0.7,
            "sortBy": "relevance",
            "limit": 10,
        },
    )
    assert set(ids(found)) == {"d1", "f1"}


def test_the_first_documents_example_is_understood_word_for_word(world):
    found = world.query(
        "talk",
        {
            "text": "database scalability",
            "types": ["decisions", "findings"],
            "time_range": {"start": "2026-11-01T00:00:00Z", "end": "2026-11-15T23:59:59Z"},
            "tags": ["database", "architecture"],
            "agents": ["architect", "analyst"],
            "min_relevance": 0,
            "limit": 20,
            "sort": "relevance_desc",
        },
    )
    assert ids(found) == ["d1"]


MESSAGE = {
    "id": "msg-001", "agent_id": "analyst", "role": "assistant", "content": "use caching",
    "context": {"task": "design", "topic": "performance"}, "metadata": {"tokens": 12},
}  # fmt: skip
DECISION = {
    "id": "dec-001", "made_by": "architect", "approved_by": ["u1"], "decision": "use Redis",
    "rationale": "speed", "impact": "high", "tags": ["caching"],
}  # fmt: skip
FINDING = {
    "id": "finding-001", "discovered_by": "analyst", "severity": "high", "category": "memory",
    "description": "a leak", "status": "open", "tags": ["caching.memory"],
}  # fmt: skip
PREFERENCE = {
    "id": "pref-001", "category": "style", "key": "length", "value": "short",
    "context": {"of": "answers"}, "confidence": 0.9, "learned_from": ["talk"],
}  # fmt: skip


@pytest.mark.req("S001-028", "S001-031", "S001-035", "S001-036", "S002-012", "S002-029")
def test_every_field_of_the_documents_entries_comes_with_a_hit_and_decay_beside_it(memory, sid):
    """What changes with time is no field of an entry: it stands in `why`."""
    memory.add_conversation(sid, MESSAGE)
    memory.add_decision(sid, DECISION)
    memory.add_finding(sid, FINDING)
    memory.update_preference(sid, PREFERENCE)
    hits = {hit.entry.id: hit for hit in memory.query(sid)}
    for record in (MESSAGE, DECISION, FINDING, PREFERENCE):
        hit = hits[str(record["id"])]
        content = hit.entry.content if isinstance(hit.entry.content, dict) else {}
        for name, value in record.items():
            own = "agent_id" if name in ("made_by", "discovered_by") else name
            there = getattr(hit.entry, own, None)
            assert (list(there) if isinstance(there, tuple) else there) == value or (
                content.get(name) == value
            ), name
        assert hit.entry.timestamp == "2026-11-15T09:00:00.000Z"
        assert hit.why["decay"] == 1.0
    assert set(ids(memory.query(sid, tags=["caching"]))) == {"dec-001", "finding-001"}


@pytest.mark.req("S001-161")
def test_what_was_written_is_found_by_its_words_exactly_once(memory, sid):
    memory.add_conversation(sid, role="user", agent_id="test", content="test message")
    found = memory.query(sid, {"text": "test message"})
    assert [hit.entry.content for hit in found] == ["test message"]


@pytest.mark.req("S002-144")
def test_a_query_without_results_is_an_empty_list(memory, sid):
    assert memory.query(sid, text="anything") == []
    assert memory.query(None) == []
    memory.add_memory(sid, content="something")
    for query in ({"types": ["finding"]}, {"tags": ["none"]}, {"agents": ["nobody"]},
                  {"users": ["nobody"]}, {"references": ["nothing"]}, {"min_importance": 0.9},
                  {"time_range": {"end": "2000-01-01"}}, {"types": ["never-used"]}):  # fmt: skip
        assert memory.query(sid, query) == []
        assert memory.query(sid, query, text="something") == []


def test_everything_in_a_session_that_matches_is_there_once(world):
    assert sorted(ids(world.query(None))) == sorted(told.id for told in WORLD)
    assert sorted(ids(world.query("other"))) == ["c2", "d2"]


def test_a_hit_is_the_entry_as_a_getter_gives_it(world):
    for hit in world.query(None, limit=100):
        assert hit.entry == world.get_memory(by_id(hit.entry.id).session, hit.entry.id)


def test_a_hit_says_every_part_of_its_relevance(world):
    for query in ({}, {"text": "login"}):
        for hit in world.query(None, query):
            assert tuple(hit.why) == PARTS
            assert hit.why["final"] == pytest.approx(hit.relevance, abs=1e-6)
