"""Timestamps in, one form out."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.model.times import hours_between, is_later, normalise, of_file, to_moment, to_text

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
FIRST, LAST = datetime(1, 1, 2), datetime(9999, 12, 30)  # noqa: DTZ001
MOMENTS = st.datetimes(FIRST, LAST) | st.datetimes(FIRST, LAST, timezones=st.timezones())


@pytest.mark.req("S002-024")
@given(MOMENTS)
def test_every_time_has_one_form_that_is_read_back(moment):
    text = normalise(moment)
    assert text.endswith("Z")
    assert len(text) == len("2026-11-15T09:00:00.000Z")
    assert normalise(text) == text
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    assert abs(to_moment(text) - aware) < timedelta(milliseconds=1)


@given(MOMENTS, MOMENTS)
def test_texts_sort_like_times(one, other):
    first, second = normalise(one), normalise(other)
    assert (first < second) == (to_moment(first) < to_moment(second))


def test_other_time_zones_become_utc():
    there = datetime(2026, 11, 15, 9, 30, tzinfo=timezone(timedelta(hours=-3)))
    assert to_text(there) == "2026-11-15T12:30:00.000Z"


@pytest.mark.parametrize("year", [1969, 1970, 2026, 2105, 2106, 9998])
def test_the_last_microsecond_of_a_year_stays_in_it(year):
    last = datetime(year, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert to_text(last) == f"{year}-12-31T23:59:59.999Z"
    assert to_text(last + timedelta(microseconds=1)) == f"{year + 1}-01-01T00:00:00.000Z"


@pytest.mark.req("S002-139")
def test_the_future_counts_as_now():
    assert hours_between("2026-11-15T10:30:00.000Z", NOON) == 1.5
    assert hours_between("2027-01-01T00:00:00.000Z", NOON) == 0.0


@pytest.mark.req("S002-139")
def test_clocks_may_disagree_by_five_minutes():
    assert not is_later("2026-11-15T12:05:00.000Z", to_text(NOON))
    assert is_later("2026-11-15T12:05:00.001Z", to_text(NOON))
    assert not is_later("2026-11-15T11:00:00.000Z", to_text(NOON))


def test_a_file_may_be_from_a_year_that_no_calendar_has():
    assert of_file(1_794_733_200_000_000_000) == "2026-11-15T09:00:00.000Z"
    assert of_file(10**21).startswith("9999-")
    assert of_file(-(10**21)).startswith("0001-")
