"""What makes no sense as a query is refused with E_INVALID_QUERY and with advice."""

import math
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.errors import InvalidQueryError, QueryTimeoutError, SessionNotFoundError
from mnemolog.model.query import Query
from tests.index.searching import few, ids

BAD_FIELDS: list[dict[str, Any]] = [
    {"nonsense": 1},
    {"limits": 5},
    {"type": "decision", "types": ["finding"]},
    {"minImportance": 1, "min_importance": 0},
    {"start": "2026-01-01"},
    {"text": 5},
    {"text": b"bytes"},
    {"text": ["a", "b"]},
    {"types": 5},
    {"types": [5]},
    {"types": ["Not A Type"]},
    {"types": ["tombstone"]},
    {"agents": 5},
    {"agents": [None]},
    {"users": {"a": 1}},
    {"tags": 5},
    {"tags": [5]},
    {"tags": {"includes": ["a"]}},
    {"tags": {"include": 5}},
    {"tags": {"include": ["a"], "any": ["b"]}},
    {"tags": {"exclude": ["a"]}, "exclude_tags": ["b"]},
    {"all_tags": ["a"], "tags": {"all": ["b"]}},
    {"references": 5},
    {"references": [5]},
    {"max_depth": -1},
    {"max_depth": 17},
    {"max_depth": "2"},
    {"max_depth": 1.5},
    {"limit": -1},
    {"limit": 1001},
    {"limit": "20"},
    {"limit": True},
    {"limit": 2.5},
    {"min_relevance": -0.1},
    {"min_relevance": 1.1},
    {"min_relevance": "0.5"},
    {"min_relevance": math.nan},
    {"min_relevance": True},
    {"min_importance": 2},
    {"min_importance": math.inf},
    {"sort": "best"},
    {"sort": 5},
    {"sort": ["time_asc"]},
    {"scorer": "magic"},
    {"scorer": None, "sort": "x"},
    {"time_range": "last blue moon"},
    {"time_range": "next week"},
    {"time_range": "last 999999 days"},
    {"time_range": "last 99999 years"},
    {"time_range": 5},
    {"time_range": ["2026-01-01", "2026-01-02"]},
    {"time_range": {"from": "2026-01-01"}},
    {"time_range": {"start": "yesterday"}},
    {"time_range": {"start": ""}},
    {"time_range": {"end": []}},
    {"time_range": {"end": True}},
    {"time_range": {"end": "last 99999 years"}},
    {"time_range": {"start": 10**30}},
]


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    with Memory.open(tmp_path_factory.mktemp("wide"), environ={}) as opened:
        sid = opened.create_session("u1", session_id="talk").id
        opened.add_memory(sid, id="only", content="something", tags=["t"], agent_id="a")
        yield opened


def refused(memory, *asked, **more) -> InvalidQueryError:
    with pytest.raises(InvalidQueryError) as caught:
        memory.query(*asked, **more)
    assert caught.value.code == "E_INVALID_QUERY"
    assert len(str(caught.value)) < 1000
    return caught.value


@pytest.mark.req("S001-154")
@pytest.mark.parametrize("bad", BAD_FIELDS, ids=lambda bad: str(bad)[:60])
def test_a_field_that_makes_no_sense_is_refused(wide, bad):
    refused(wide, "talk", bad)
    refused(wide, None, {"text": "fine", **bad})


@pytest.mark.req("S001-154")
def test_every_refusal_says_what_to_do_instead(wide):
    silent, wrong = [], []
    for bad in BAD_FIELDS:
        with suppress(OverflowError):
            try:
                wide.query(None, bad)
            except InvalidQueryError as error:
                silent += [] if error.advice else [error.message]
                wrong += [error.message] if "stored" in error.advice else []
    assert silent == []
    assert wrong == [], "a search stores nothing that could be corrected"


@pytest.mark.req("S001-154")
@pytest.mark.parametrize("bad", [["text"], 5, ("text", "x"), b"x", True])
def test_a_query_that_is_no_object_is_refused(wide, bad):
    refused(wide, "talk", bad)


@pytest.mark.req("S001-154")
@pytest.mark.parametrize(
    "bad",
    [
        {"sort": "best"}, {"scorer": "magic"}, {"limit": -1}, {"limit": 5000}, {"max_depth": -1},
        {"start": "not a time"}, {"min_relevance": 7.0}, {"types": ("Not A Type",)},
    ],
    ids=str,
)  # fmt: skip
def test_a_query_object_is_checked_like_any_other_query(wide, bad):
    refused(wide, "talk", Query(**bad))


def test_a_query_object_may_say_things_as_loosely_as_a_dictionary(memory, sid):
    memory.add_decision(sid, id="d", decision="x")
    assert [hit.entry.id for hit in memory.query(sid, Query(types=("decisions",)))] == ["d"]
    assert len(memory.query(sid, Query(start="2026-11-15T08:00:00+00:00"))) == 1
    assert len(memory.query(sid, Query(start="2026-11-15T10:00:00+02:00"))) == 1


@pytest.mark.req("S001-154")
@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("limits", "limit"), ("txt", "text"), ("minRelevence", "min_relevance"), ("tag_s", "tags"),
     ("time_rnge", "time_range"), ("query", "'text'"), ("start", "'time_range'"),
     ("since", "'time_range'"), ("topic", "'tags'")],
)  # fmt: skip
def test_the_field_that_was_probably_meant_is_named(wide, wrong, meant):
    with pytest.raises(InvalidQueryError, match="no field") as caught:
        wide.query(None, {wrong: "x"})
    assert meant in caught.value.advice


@pytest.mark.parametrize("name", ["strat", "start", "ends", "all_tag", "unownd"])
def test_advice_names_only_fields_that_a_query_takes(wide, name):
    with pytest.raises(InvalidQueryError) as caught:
        wide.query(None, {name: "2026-01-01"})
    for given_name in ("'start'", "'end'", "unowned"):
        assert given_name not in caught.value.advice


def test_a_query_as_an_object_may_hold_what_only_we_fill_in(wide):
    assert ids(wide.query(None, Query(unowned="ann"))) == ids(wide.query())


def test_what_counts_as_recalled_is_a_number_for_a_query_and_yes_or_no_for_a_context(wide):
    for value in (-1, 1001, True, "3"):
        with pytest.raises(InvalidQueryError, match="recalls must be a whole number"):
            wide.query(recalls=value)
    for other in ("yes", 1, None):
        with pytest.raises(InvalidQueryError, match="quiet must be true or false"):
            wide.context(query="x", quiet=other)


@few
@given(
    name=st.sampled_from(["types", "agents", "users", "tags", "references"]),
    value=st.lists(st.text(st.characters(), max_size=5), min_size=1, max_size=3),
)
def test_any_name_is_refused_or_not_found_and_never_another_error(wide, name, value):
    with suppress(InvalidQueryError):
        assert ids(wide.query(None, {name: value})) in ([], ["only"])


@pytest.mark.parametrize("name", ["agents", "users", "tags", "references"])
@pytest.mark.parametrize("value", ["\ud800", "\0", "", "x" * 100_000, "'; DROP TABLE log; --"])
def test_hostile_names_are_refused_or_not_found(wide, name, value):
    with suppress(InvalidQueryError):
        assert wide.query("talk", {name: [value]}) == []
    assert len(wide.query("talk")) == 1


def test_a_session_that_is_not_there_is_not_found(memory, sid):
    with pytest.raises(SessionNotFoundError):
        memory.query("never-there", text="x")
    memory.delete_session(sid)
    with pytest.raises(SessionNotFoundError):
        memory.query(sid, text="x")
    assert memory.query(None, text="x") == []


@pytest.mark.parametrize("name", ["users", "agents", "tags", "types", "references"])
def test_a_filter_may_name_very_many(wide, name):
    many = [f"n{number}" for number in range(300_000 if name == "users" else 2000)]
    assert wide.query("talk", {name: many}) == []


@pytest.mark.req("S001-153")
def test_a_search_that_takes_too_long_says_so_if_it_was_told_how_long(tmp_path):
    words = " ".join(f"w{number}" for number in range(16_000))
    with Memory.open(tmp_path, settings={"search.timeout_ms": 1}, environ={}) as hasty:
        sid = hasty.create_session().id
        hasty.add_many(sid, [{"content": f"w{number}"} for number in range(1100)])
        with pytest.raises(QueryTimeoutError, match="1 ms") as caught:
            hasty.query(sid, text=words)
    assert caught.value.code == "E_QUERY_TIMEOUT"
    assert caught.value.advice
    assert isinstance(caught.value, TimeoutError)
    with Memory.open(tmp_path, environ={}) as patient:
        assert patient.query(sid, text=words, limit=1)
