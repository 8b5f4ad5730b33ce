"""Decay against both source documents' formulas, written out here once more."""

from math import exp, isclose, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.policy import decay
from mnemolog.settings import Settings

DEFAULT = Settings().decay
RATE = Settings().changed({"decay.model": "rate"}).decay
HALF_LIVES = {"conversation": 168, "decision": 720, "finding": 336}
RATES = {"conversation": 0.1, "decision": 0.02, "finding": 0.05, "preference": 0.01}
HOURS = st.floats(0, 1e6)
BOOSTS = st.floats(1, 5)
TYPES = st.sampled_from([*RATES, "note", "event", "stand-up"])


@pytest.mark.parametrize(("kind", "half_life"), HALF_LIVES.items())
def test_half_is_left_after_a_half_life_and_a_quarter_after_two(kind, half_life):
    assert isclose(decay.factor(kind, half_life, DEFAULT), 0.5)
    assert isclose(decay.factor(kind, 2 * half_life, DEFAULT), 0.25)
    assert decay.factor(kind, 0, DEFAULT) == 1.0


@given(hours=HOURS, kind=st.sampled_from(list(HALF_LIVES)))
def test_it_is_the_second_documents_formula(hours, kind):
    rate = log(2) / HALF_LIVES[kind]
    assert isclose(decay.factor(kind, hours, DEFAULT), max(0.1, exp(-rate * hours)))


@given(hours=HOURS, kind=st.sampled_from(list(RATES)), accesses=st.integers(0, 50))
def test_with_the_model_rate_it_is_the_first_documents_formula(hours, kind, accesses):
    boost = 1 + accesses * 0.1 + 0.8 * 0.2
    wanted = min(1.0, max(0.1, exp(-RATES[kind] * hours) * boost))
    assert isclose(decay.factor(kind, hours, RATE, decay.boost(accesses, 0.8)), wanted)


@given(hours=HOURS, boost=BOOSTS)
def test_preferences_do_not_decay(hours, boost):
    assert decay.factor("preference", hours, DEFAULT, boost) == 1.0


def test_a_half_life_for_preferences_can_be_set():
    chosen = Settings().changed({"decay.half_life_hours.preference": 1440}).decay
    assert isclose(decay.factor("preference", 1440, chosen), 0.5)


@given(hours=st.floats(-1e6, 1e9), boost=BOOSTS, kind=TYPES)
def test_it_never_leaves_its_bounds(hours, boost, kind):
    for chosen in (DEFAULT, RATE):
        assert 0.1 <= decay.factor(kind, hours, chosen, boost) <= 1.0


@given(hours=HOURS, more=HOURS, boost=BOOSTS, kind=TYPES)
def test_age_never_adds_weight(hours, more, boost, kind):
    older = decay.factor(kind, hours + more, DEFAULT, boost)
    assert older <= decay.factor(kind, hours, DEFAULT, boost)


@given(hours=HOURS, kind=TYPES, accesses=st.integers(0, 99), importance=st.floats(0, 1))
def test_use_and_importance_never_take_weight_away(hours, kind, accesses, importance):
    plain = decay.factor(kind, hours, DEFAULT)
    assert decay.factor(kind, hours, DEFAULT, decay.boost(accesses, importance)) >= plain


@pytest.mark.req("S002-139")
@given(hours=st.floats(-1e6, 0), kind=TYPES)
def test_an_age_in_the_future_counts_as_none(hours, kind):
    assert decay.factor(kind, hours, DEFAULT) == 1.0


def test_the_boost_is_a_sum():
    assert decay.boost(0, 0) == 1.0
    assert isclose(decay.boost(3, 0.5), 1.4)


def test_the_minimum_and_the_switch_are_settings():
    chosen = Settings().changed({"decay.minimum": 0.3}).decay
    assert decay.factor("conversation", 1e6, chosen) == 0.3
    off = Settings().changed({"decay.enabled": False}).decay
    assert decay.factor("conversation", 1e6, off) == 1.0
