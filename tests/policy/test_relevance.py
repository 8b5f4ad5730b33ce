"""Relevance against the documented formulas, written out here once more."""

import json
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import exp, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.model.times import to_text
from mnemolog.policy import relevance
from mnemolog.testing.clock import FixedClock
from tests.index.searching import (
    MATCH_PARTS,
    few,
    ids,
    scored,
    some,
    steady,
    weight_of,
)  # fmt: skip
from tests.memory.machine import QUICK

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
HALF_LIVES = {"conversation": 168, "decision": 720, "finding": 336}
BASE = {"conversation": 0.5, "decision": 1.0, "finding": 0.8, "preference": 0.7, "stand-up": 0.5}
SCORERS = ("recall", "weighted", "product")
UNIT = st.floats(0, 1)


def recall(match: float, decay: float, importance: float, access: float, idle: float) -> float:
    return match * (0.9 + 0.1 * (decay + importance + access) / 3)


def weighted(match: float, decay: float, importance: float, access: float, idle: float) -> float:
    return 0.4 * match + 0.3 * decay + 0.2 * importance + 0.1 * access


def product(match: float, decay: float, importance: float, access: float, idle: float) -> float:
    return min(1.0, importance * decay * (1.5 if idle < 24 else 1.0) * match)


FORMULAS = {"recall": recall, "weighted": weighted, "product": product}


@pytest.mark.req("S001-072", "S002-074", "S002-075")
@some
@given(match=UNIT, decay=st.floats(0.1, 1), importance=UNIT, access=UNIT, idle=st.floats(0, 1e5))
def test_every_scorer_is_its_documented_formula_and_stays_from_0_to_1(
    match, decay, importance, access, idle
):
    values = (match, decay, importance, access, idle)
    parts = relevance.Parts(*(np.array([value]) for value in values))
    assert set(relevance.SCORERS) == set(SCORERS)
    for name, scorer in relevance.SCORERS.items():
        (found,) = scorer(parts)
        assert found == pytest.approx(FORMULAS[name](*values), abs=1e-12)
        assert 0 <= found <= 1


@pytest.mark.req("S002-075")
def test_the_boost_of_what_was_used_within_a_day_is_a_half():
    def score(idle: float) -> float:
        parts = relevance.Parts(*(np.array([value]) for value in (0.5, 0.5, 0.5, 0.5, idle)))
        return float(relevance.product(parts)[0])

    assert score(23.99) == pytest.approx(1.5 * score(24.0))
    assert score(1e6) == score(24.0)


@pytest.mark.req("S001-075")
@some
@given(hours=st.floats(0, 1e4))
def test_access_falls_by_5_percent_an_hour_and_is_a_half_without_one(hours):
    used, never = relevance.access_score(np.array([hours, hours]), np.array([True, False]))
    assert used == pytest.approx(exp(-0.05 * hours))
    assert never == 0.5


@pytest.fixture(scope="module")
def aged() -> Iterator[Memory]:
    """A memory in which each test makes sessions of its own."""
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(NOW)) as memory,
    ):
        yield memory


def ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


def decay_of(kind: str, hours: float, importance: float) -> float:
    """The decay of an entry that was never used, as the page on search gives it."""
    if kind == "preference":
        return 1.0
    left = exp(-log(2) * hours / HALF_LIVES.get(kind, 168)) * (1 + 0.2 * importance)
    return min(1.0, max(0.1, left))


AGES = st.sampled_from([0.0, 0.5, 23.0, 24.0, 25.0, 168.0, 336.0, 720.0, 5000.0, 30000.0])
ENTRIES = st.lists(
    st.tuples(
        st.sampled_from(list(BASE)), AGES, st.none() | UNIT, st.sampled_from(["tea", "ship"])
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.req(
    "S001-072", "S001-074", "S001-076", "S001-080", "S001-081", "S002-028", "S002-072", "S002-073",
    "S002-074", "S002-075", "S002-076", "S002-077", "S002-079", "S002-080", "S002-081", "S002-084",
)  # fmt: skip
@few
@given(entries=ENTRIES, text=st.sampled_from(["", "tea", "ship tea"]))
def test_a_hits_relevance_is_the_formula_of_its_own_parts(aged, entries, text):
    sid = aged.create_session().id
    batch = [
        {"id": f"m{n}", "type": kind, "content": said, "timestamp": ago(hours)}
        | ({} if weight is None else {"importance": weight})
        for n, (kind, hours, weight, said) in enumerate(entries)
    ]
    aged.add_many(sid, batch)
    try:
        for scorer in SCORERS:
            hits = aged.query(sid, text=text, scorer=scorer, limit=100)
            found = [hit.relevance for hit in hits]
            assert found == sorted(found, reverse=True)
            for hit in hits:
                kind, hours, weight, _ = entries[int(hit.entry.id[1:])]
                assert_explained(hit, scorer, kind, hours, BASE[kind] if weight is None else weight)
    finally:
        aged.delete_session(sid)


def assert_explained(hit, scorer, kind, hours, importance):
    why = hit.why
    assert why["importance"] == pytest.approx(importance, abs=1e-6)
    assert why["decay"] == pytest.approx(decay_of(kind, hours, importance), abs=2e-6)
    assert why["access"] == 0.5, "nobody used it yet"
    parts = (why["match"], why["decay"], why["importance"], why["access"], hours)
    assert hit.relevance == pytest.approx(FORMULAS[scorer](*parts), abs=5e-6)
    assert why["final"] == pytest.approx(hit.relevance, abs=1e-6)
    assert 0 <= hit.relevance <= 1
    assert all(0 <= why[name] <= 1 for name in ("lexical", "match", "decay", "importance"))


def test_without_a_text_everything_matches_alike(aged):
    sid = aged.create_session().id
    aged.add_many(sid, [{"content": f"x {number}"} for number in range(5)])
    for hit in aged.query(sid):
        assert [hit.why[name] for name in MATCH_PARTS] == [0.0] * len(MATCH_PARTS)
        assert hit.why["match"] == 1.0


def test_the_parts_of_a_match_add_up_to_it(aged):
    """The sum of all parts, divided by the most that it can be, is the match."""
    sid = aged.create_session(agent_ids=["ann", "bob"]).id
    lines = ["the tea was hot", "and green", "the ship sails", "tea on the ship", "goodbye"]
    aged.add_many(
        sid,
        [{"content": line, "agent_id": ("ann", "bob")[n % 2]} for n, line in enumerate(lines)],
    )
    words, meaning = weight_of("lexical"), weight_of("semantic")
    beside = 2 * (words * weight_of("beside by words") + meaning * weight_of("beside by meaning"))
    most = (words + meaning) * (1 + weight_of("session")) + beside
    most += weight_of("speaker") + weight_of("lasting")
    hits = aged.query(sid, text="what did bob say of tea")
    assert len(hits) >= 3
    for hit in hits:
        total = sum(hit.why[name] for name in MATCH_PARTS)
        assert hit.why["match"] == pytest.approx(total / most, abs=1e-5), hit.why


def test_each_part_of_a_match_is_what_the_page_says(aged):
    sid = aged.create_session(agent_ids=["ann", "bob"]).id
    for identifier, agent, content in (
        ("before", "ann", "good morning"), ("match", "bob", "zanzibar"),
        ("after", "ann", "good night"), ("far", "ann", "something else"),
    ):  # fmt: skip
        aged.add_memory(sid, id=identifier, agent_id=agent, content=content)
    why = {hit.entry.id: hit.why for hit in aged.query(sid, text="bob zanzibar")}
    worth = why["match"]["lexical"] + why["match"]["semantic"]
    assert why["match"]["lexical"] == 1.0, "the best by words"
    assert why["match"]["semantic"] == pytest.approx(weight_of("semantic"), abs=1e-6), (
        "the best by meaning"
    )
    beside = weight_of("beside by words") * why["match"]["lexical"]
    beside += weight_of("beside by meaning") * why["match"]["semantic"]
    for name in ("before", "after"):
        assert why[name]["neighbours"] >= beside - 1e-5
        assert why[name]["session"] == pytest.approx(weight_of("session") * worth, abs=1e-5)
        assert why[name]["speaker"] == 0
    assert why["match"]["speaker"] == pytest.approx(weight_of("speaker"), abs=1e-6)


@pytest.mark.req("S001-005", "S001-021")
def test_recall_never_buries_the_one_right_answer_because_it_is_old(aged):
    sid = aged.create_session().id
    aged.add_conversation(
        sid, id="right", role="user", importance=0.0, timestamp=ago(3 * 365 * 24),
        content="The vault code of the harbour office is seven three one nine",
    )  # fmt: skip
    fresh = ["Lunch was late again", "The meeting moved to Tuesday", "New office chairs came",
             "The code review is done", "Harbour traffic is heavy today"]  # fmt: skip
    for number, line in enumerate(fresh):
        aged.add_decision(
            sid, id=f"fresh{number}", decision=line, importance=1.0, timestamp=ago(number)
        )
    found = aged.query(sid, text="what is the vault code of the harbour office")
    assert ids(found)[0] == "right"
    assert found[0].why["decay"] == 0.1


@some
@given(match=st.floats(0.01, 1), other=st.floats(0, 1), parts=st.tuples(*[UNIT] * 6))
def test_recall_lets_age_weight_and_use_settle_near_ties_only(match, other, parts):
    """Whatever else speaks for the other: a match that is better by a ninth wins."""
    decay, importance, access, *best = parts
    ours = recall(match, max(0.1, decay), importance, access, 0)
    theirs = recall(other, best[0], best[1], best[2], 0)
    assert ours > theirs or match < other * 10 / 9 + 1e-9


@some
@given(
    rows=st.lists(st.tuples(UNIT, UNIT, UNIT, UNIT), min_size=1, max_size=60),
    limit=st.integers(1, 70),
    scorer=st.sampled_from(sorted(relevance.SCORERS)),
)
def test_what_matches_too_little_to_be_shown_is_left_out_and_nothing_else(rows, limit, scorer):
    given, decay, importance, access = np.array(rows).T
    match = given.astype(np.float32)
    idle = np.zeros(len(rows))
    parts = relevance.Parts(match.astype(np.float64), decay, importance, access, idle)
    scores = relevance.SCORERS[scorer](parts)
    first = np.sort(scores)[::-1][:limit]
    least = relevance.least_match(scorer, match, limit)
    assert np.array_equal(np.sort(scores[match >= least])[::-1][:limit], first)


@pytest.mark.req("S001-006", "S002-006")
@pytest.mark.parametrize(
    ("worse", "better"),
    [({"timestamp": ago(500)}, {"timestamp": ago(1)}), ({"importance": 0.1}, {"importance": 0.9})],
    ids=["age", "weight"],
)
def test_of_two_that_match_alike_the_newer_and_the_weightier_comes_first(aged, worse, better):
    sid = aged.create_session().id
    aged.add_memory(sid, id="better", content="alike", **better)
    aged.add_memory(sid, id="worse", content="alike", **worse)
    for scorer in SCORERS:
        assert ids(aged.query(sid, scorer=scorer)) == ["better", "worse"]
        assert ids(aged.query(sid, scorer=scorer, text="alike")) == ["better", "worse"]


@pytest.mark.req("S001-075", "S001-081", "S002-072")
def test_use_raises_an_entry_above_its_like(root):
    with steady(root, FixedClock(NOW)) as memory:
        sid = memory.create_session(session_id="talk").id
        alike = {"content": "alike", "timestamp": ago(200)}
        memory.add_many(sid, [{"id": name, **alike} for name in ("used", "unused")])
        assert ids(memory.query(sid)) == ["unused", "used"], "the later one comes first"
        uses = [{"v": 1, "id": "used", "at": to_text(ago(hours))} for hours in (50, 2)]
        lines = "".join(json.dumps(use) + "\n" for use in uses)
        (root / "sessions" / sid / "access.jsonl").write_text(lines)
        memory.rebuild_index()
        for scorer in SCORERS:
            used, unused = memory.query(sid, scorer=scorer)
            assert (used.entry.id, unused.entry.id) == ("used", "unused")
            assert used.relevance > unused.relevance
        left = exp(-log(2) * 200 / 168)
        assert used.why["access"] == pytest.approx(exp(-0.05 * 2), abs=1e-6)
        assert used.why["decay"] == pytest.approx(left * (1 + 0.1 * 2 + 0.2 * 0.5), abs=1e-6)
        assert unused.why["decay"] == pytest.approx(left * (1 + 0.2 * 0.5), abs=1e-6)
        assert used.relevance == pytest.approx(product(1, used.why["decay"], 0.5, 0, 2), abs=1e-6)


@few
@given(texts=st.lists(st.sampled_from(["tea", "ship tea", "the sea", "tea"]), min_size=1),
       scorer=st.sampled_from(SCORERS))  # fmt: skip
def test_a_ranking_is_the_same_every_time_for_a_fixed_clock(aged, texts, scorer):
    sid = aged.create_session().id
    aged.add_many(sid, [{"content": text} for text in texts])
    first = scored(aged.query(sid, text="tea at sea", scorer=scorer))
    again = scored(aged.query(sid, text="tea at sea", scorer=scorer))
    aged.delete_session(sid)
    assert first == again


@few
@given(
    entries=st.lists(
        st.tuples(st.sampled_from(list(BASE)), AGES, UNIT), min_size=1, max_size=8
    ),
    more=st.lists(st.tuples(st.sampled_from(list(BASE)), AGES, UNIT), min_size=1, max_size=4),
    scorer=st.sampled_from(SCORERS),
)  # fmt: skip
def test_without_a_text_more_entries_only_insert_themselves(aged, entries, more, scorer):
    """No statistic counts without a text: nothing else moves, whatever is added."""
    sid = aged.create_session().id

    def add(kind: str, hours: float, weight: float) -> str:
        fields = {"type": kind, "content": "x", "timestamp": ago(hours), "importance": weight}
        return aged.add_memory(sid, fields).id

    for one in entries:
        add(*one)
    before = scored(aged.query(sid, scorer=scorer, limit=100))
    added = {add(*one) for one in more}
    after = scored(aged.query(sid, scorer=scorer, limit=100))
    aged.delete_session(sid)
    assert [one for one in after if one[0] not in added] == before
    assert {one[0] for one in after} == {one[0] for one in before} | added
