"""Importance: given, or derived by the first document's table and boosts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.model.entry import Entry
from mnemolog.policy.importance import importance

BASE = {"decision": 1.0, "finding": 0.8, "preference": 0.7, "conversation": 0.5, "stand-up": 0.5}


def entry(kind: str, content: Any = "x", given: float | None = None) -> Entry:
    moment = "2026-11-15T09:00:00.000Z"
    return Entry(
        v=1, id="m", timestamp=moment, type=kind, origin="agent", content=content, importance=given
    )


@pytest.mark.parametrize(("kind", "base"), BASE.items())
def test_every_type_has_its_base(kind, base):
    assert importance(entry(kind)) == base


@given(st.floats(0, 1), st.sampled_from(list(BASE)))
def test_a_given_importance_always_counts(given, kind):
    assert importance(entry(kind, {"severity": "critical", "approved_by": ["u"]}, given)) == given


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        ({"severity": "critical"}, 1.0),
        ({"severity": "high"}, 0.8),
        ({"impact": "high"}, 1.0),
        ({"approved_by": ["u1"]}, 0.96),
        ({"approved_by": []}, 0.8),
    ],
)
def test_severity_impact_and_approval_boost_a_finding(content, wanted):
    assert importance(entry("finding", {"description": "x", **content})) == pytest.approx(wanted)


def test_boosts_multiply():
    both = {"impact": "high", "approved_by": ["u1"]}
    assert importance(entry("note", {"impact": "high"})) == pytest.approx(0.65)
    assert importance(entry("note", both)) == pytest.approx(0.78)


@pytest.mark.parametrize("content", [{"impact": "high"}, {"approved_by": ["u1"]}, {}])
def test_no_boost_changes_a_decision(content):
    assert importance(entry("decision", {"decision": "x", **content})) == 1.0


@given(
    kind=st.sampled_from(list(BASE)),
    content=st.dictionaries(
        st.sampled_from(["severity", "impact", "approved_by", "x"]),
        st.sampled_from(["critical", "high", "low", ["u1"], [], None, 5]),
        min_size=1,
    ),
)
def test_it_is_always_from_0_to_1_and_never_below_the_base(kind, content):
    assert BASE[kind] <= importance(entry(kind, content)) <= 1.0
