"""Decay and importance as a search shows them, against both source documents."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import exp
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.testing.clock import FixedClock
from tests.index.searching import few, steady
from tests.memory.machine import QUICK

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
HALF_LIVES = {"conversation": 168, "decision": 720, "finding": 336}


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


@pytest.mark.req(
    "S001-006", "S001-023", "S001-080", "S002-006", "S002-077", "S002-079", "S002-131",
)  # fmt: skip
@pytest.mark.parametrize(("kind", "half_life"), HALF_LIVES.items())
def test_decay_at_the_half_lives_is_both_documents_formula(aged, kind, half_life):
    sid = aged.create_session().id
    for number in range(5):
        fields = {"type": kind, "content": "x", "timestamp": ago(number * half_life)}
        aged.add_memory(sid, id=f"plain{number}", importance=0.0, **fields)
        aged.add_memory(sid, id=f"heavy{number}", importance=1.0, **fields)
    found = {hit.entry.id: hit.why["decay"] for hit in aged.query(sid)}
    for number in range(5):
        assert found[f"plain{number}"] == pytest.approx(max(0.1, 0.5**number)), "second document"
        boosted = min(1.0, max(0.1, 0.5**number * 1.2))
        assert found[f"heavy{number}"] == pytest.approx(boosted, abs=1e-6), "first document"


@pytest.mark.req("S002-077", "S002-078")
@few
@given(hours=st.lists(st.integers(0, 40_000), min_size=2, max_size=15), kind=st.sampled_from(
    ["conversation", "decision", "finding", "note"]))  # fmt: skip
def test_decay_never_grows_with_age_and_never_falls_below_the_minimum(aged, hours, kind):
    sid = aged.create_session().id
    aged.add_many(sid, [{"type": kind, "content": "x", "timestamp": ago(h)} for h in hours])
    decays = [hit.why["decay"] for hit in aged.query(sid, sort="time_desc", limit=100)]
    aged.delete_session(sid)
    assert decays == sorted(decays, reverse=True)
    assert all(0.1 <= decay <= 1 for decay in decays)


@pytest.mark.req("S002-080", "S002-121")
def test_preferences_do_not_decay(aged):
    sid = aged.create_session().id
    aged.update_preference(sid, key="style", value="short", timestamp=ago(100_000))
    assert [hit.why["decay"] for hit in aged.query(sid)] == [1.0]


@pytest.mark.req("S002-139")
def test_the_future_counts_as_now(aged):
    sid = aged.create_session().id
    aged.add_memory(sid, content="x", timestamp=ago(-1000))
    (hit,) = aged.query(sid, scorer="product")
    assert hit.why["decay"] == 1.0
    assert hit.relevance == pytest.approx(0.75)


@pytest.mark.req("S002-081")
def test_decay_is_computed_when_it_is_asked_for_and_stored_nowhere(memory, sid, clock, folder):
    memory.add_memory(sid, content="x", importance=0.0)
    before = (folder / "memory.jsonl").read_bytes()
    assert memory.query(sid)[0].why["decay"] == 1.0
    for passed in range(1, 4):
        clock.advance(hours=168)
        assert memory.query(sid)[0].why["decay"] == pytest.approx(0.5**passed, abs=1e-6)
    assert (folder / "memory.jsonl").read_bytes() == before
    assert b"decay" not in before


@pytest.mark.req("S001-131", "S002-012")
def test_the_decay_of_every_entry_can_be_asked_for(memory, sid, folder, clock, root):
    for number, kind in enumerate(("conversation", "decision", "finding", "preference")):
        memory.add_memory(sid, id=kind, type=kind, content="x", timestamp=ago(200 * number + 50))
    before = (folder / "memory.jsonl").read_bytes()
    shown = {hit.entry.id: hit.why["decay"] for hit in memory.query(sid)}
    assert memory.update_decay_factors(sid) == pytest.approx(shown, abs=1e-6)
    memory.close()
    with steady(root, clock) as later:
        used = {hit.entry.id: hit.why["decay"] for hit in later.query(sid)}
        assert used["conversation"] > shown["conversation"], "it was found once by now"
        assert later.update_decay_factors(sid) == pytest.approx(used, abs=1e-6)
    assert (folder / "memory.jsonl").read_bytes() == before


SETTINGS = [
    ({"decay.enabled": False}, 1.0),
    ({"decay.half_life_hours.conversation": 336}, 0.5),
    ({"decay.model": "rate"}, 0.1),
    ({"decay.minimum": 0.3}, 0.3),
    ({"decay_config": {"enabled": True, "half_life_hours": 168, "min_decay_factor": 0.2}}, 0.25),
    ({"decay": {"type_specific": {"conversation": {"half_life_hours": 672}}}}, 0.5**0.5),
    ({}, 0.25),
]


@pytest.mark.req(
    "S001-082", "S001-087", "S001-115", "S002-033", "S002-078", "S002-084", "S002-120",
)  # fmt: skip
@pytest.mark.parametrize(("chosen", "wanted"), SETTINGS, ids=str)
def test_a_session_may_have_a_decay_of_its_own(memory, clock, chosen, wanted):
    sid = memory.create_session(settings=chosen).id
    plain = memory.create_session().id
    for one in (sid, plain):
        memory.add_memory(one, id=one, content="x", importance=0.0, timestamp=ago(336))
    assert memory.query(sid)[0].why["decay"] == pytest.approx(wanted, abs=1e-6)
    assert memory.query(plain)[0].why["decay"] == pytest.approx(0.25)


def test_a_sessions_decay_also_counts_when_all_sessions_are_searched(memory):
    sid = memory.create_session(settings={"decay.enabled": False}).id
    memory.add_memory(sid, content="x", timestamp=ago(5000))
    plain = memory.create_session().id
    memory.add_memory(plain, content="x", timestamp=ago(5000))
    found = {hit.entry.session_id: hit.why["decay"] for hit in memory.query(None)}
    assert found == {sid: 1.0, plain: 0.1}


@pytest.mark.req("S001-083", "S001-084", "S001-085", "S002-114")
@pytest.mark.parametrize(
    ("kind", "key", "hours"),
    [("decision", "decision", 720), ("finding", "finding", 336), ("preference", "preference", 1440),
     ("conversation", "conversation", 168), ("stand-up", "default", 168)],
)  # fmt: skip
def test_half_lives_are_settings_of_the_root(root, clock, kind, key, hours):
    chosen = {f"decay.half_life_hours.{key}": 2 * hours}
    with Memory.open(root, clock=clock, settings=chosen, environ={}) as memory:
        sid = memory.create_session().id
        fields = {"type": kind, "content": "x", "importance": 0.0, "timestamp": ago(2 * hours)}
        memory.add_memory(sid, fields)
        assert memory.query(sid)[0].why["decay"] == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("kind", "rate"), {"conversation": 0.1, "decision": 0.02, "finding": 0.05}.items()
)
@pytest.mark.req("S001-074", "S001-082", "S001-083", "S001-084")
def test_the_first_documents_rates_are_a_model_of_their_own(root, clock, kind, rate):
    with Memory.open(root, clock=clock, settings={"decay.model": "rate"}, environ={}) as memory:
        sid = memory.create_session().id
        fields = {"type": kind, "content": "x", "importance": 0.0, "timestamp": ago(10)}
        memory.add_memory(sid, fields)
        assert memory.query(sid)[0].why["decay"] == pytest.approx(exp(-rate * 10), abs=1e-6)


@pytest.mark.req("S001-076", "S001-077", "S001-078", "S001-079")
@pytest.mark.parametrize(
    ("kind", "content", "wanted"),
    [
        ("decision", {"decision": "x", "impact": "high", "approved_by": ["u"]}, 1.0),
        ("finding", {"description": "x"}, 0.8),
        ("finding", {"description": "x", "severity": "critical"}, 1.0),
        ("finding", {"description": "x", "approved_by": ["u"]}, 0.96),
        ("preference", {"key": "k", "value": "v"}, 0.7),
        ("conversation", "x", 0.5),
        ("note", {"impact": "high"}, 0.65),
        ("stand-up", "x", 0.5),
    ],
)  # fmt: skip
def test_importance_is_the_first_documents_table_with_its_boosts(aged, kind, content, wanted):
    sid = aged.create_session().id
    aged.add_memory(sid, type=kind, content=content)
    assert aged.query(sid)[0].why["importance"] == pytest.approx(wanted, abs=1e-6)
    assert len(aged.query(sid, min_importance=wanted)) == 1
    assert len(aged.query(sid, min_importance=min(1.0, wanted + 0.01))) == (wanted == 1.0)
