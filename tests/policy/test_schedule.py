"""Schedules in five fields, against a reference that looks at every minute."""

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog.errors import SettingsError
from mnemolog.policy.schedule import parse
from mnemolog.settings import Settings

RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
MINUTE = timedelta(minutes=1)
# So far the reference goes back.
MINUTES = 9 * 24 * 60
BERLIN = ZoneInfo("Europe/Berlin")


def fields(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.lists(number, min_size=2, max_size=2).map(sorted)
    steps = st.integers(1, high).map("/{}".format) | st.just("")
    ranges = st.builds(lambda ends, step: f"{ends[0]}-{ends[1]}{step}", span, steps)
    item = number.map(str) | ranges | steps.map("*{}".format)
    return st.just("*") | st.lists(item, min_size=1, max_size=3).map(",".join)


SCHEDULES = st.tuples(*(fields(*ends) for ends in RANGES)).map(" ".join)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=-30)), BERLIN])
SECONDS = st.integers(0, 5 * 365 * 24 * 3600)


def has(field: str, value: int, low: int, high: int) -> bool:
    """Whether a field names a value, tried number by number."""
    for item in field.split(","):
        span, _, step = item.partition("/")
        ends = (low, high) if span == "*" else (*map(int, span.split("-")),)
        if value in range(ends[0], ends[-1] + 1, int(step or 1)):
            return True
    return False


def is_planned(schedule: str, wall: datetime) -> bool:
    minute, hour, day, month, weekday = schedule.split()
    on_day = has(day, wall.day, 1, 31)
    number = (wall.weekday() + 1) % 7
    on_weekday = has(weekday, number, 0, 7) or (number == 0 and has(weekday, 7, 0, 7))
    is_free = day[0] == "*" or weekday[0] == "*"
    is_right = (on_day and on_weekday) if is_free else (on_day or on_weekday)
    at_time = has(minute, wall.minute, 0, 59) and has(hour, wall.hour, 0, 23)
    return at_time and is_right and has(month, wall.month, 1, 12)


def last_by_looking(schedule: str, moment: datetime) -> datetime | None:
    """Every minute before the moment, one by one, as a clock on the wall would show it."""
    start = moment.astimezone(UTC).replace(second=0, microsecond=0)
    for back in range(MINUTES):
        at = start - back * MINUTE
        if is_planned(schedule, at.astimezone(moment.tzinfo)):
            return at
    return None


def check(schedule: str, moment: datetime) -> None:
    expected = last_by_looking(schedule, moment)
    found = parse(schedule).last(moment)
    if expected is None:
        start = moment.astimezone(UTC) - MINUTES * MINUTE
        assert found is None or found.astimezone(UTC) <= start
    else:
        assert found is not None
        assert found.astimezone(UTC) == expected
        assert found.tzinfo is moment.tzinfo


@settings(max_examples=60, deadline=None)
@given(schedule=SCHEDULES, seconds=SECONDS, zone=ZONES)
def test_the_last_moment_is_the_one_that_looking_at_every_minute_finds(schedule, seconds, zone):
    moment = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    check(schedule, moment.astimezone(zone))


@pytest.mark.parametrize("schedule", ["30 2 * * *", "*/20 1-3 * * *", "0 3 * * 0"])
@pytest.mark.parametrize(
    "midnight", [datetime(2026, 3, 29, tzinfo=BERLIN), datetime(2026, 10, 25, tzinfo=BERLIN)]
)
def test_a_skipped_hour_is_skipped_and_a_repeated_one_counts_twice(schedule, midnight):
    for minutes in range(0, 8 * 60, 13):
        check(schedule, (midnight.astimezone(UTC) + minutes * MINUTE).astimezone(BERLIN))


@pytest.mark.req("S001-099")
def test_by_default_it_is_sunday_at_two():
    weekly = parse(Settings().privacy.purge_schedule)
    sunday = datetime(2026, 11, 15, 2, tzinfo=UTC)
    assert weekly.last(sunday) == sunday
    assert weekly.last(sunday + timedelta(days=6, hours=23)) == sunday
    assert weekly.last(sunday - timedelta(microseconds=1)) == sunday - timedelta(days=7)


def test_when_both_days_are_restricted_either_will_do():
    friday, another, saturday, sunday = (
        datetime(2026, month, day, tzinfo=UTC)
        for month, day in ((11, 13), (11, 20), (11, 21), (12, 13))
    )
    either = parse("0 0 13 * 5")
    assert all(map(either.matches, (friday, another, sunday)))
    assert not either.matches(saturday)
    both = parse("0 0 13 * */5")
    assert both.matches(friday)
    assert not both.matches(another), "a field that begins with * restricts nothing"


def test_sunday_is_0_and_7():
    assert parse("0 0 * * 0") == parse("0 0 * * 7")
    assert parse("0 0 * * 5-7").weekdays == {5, 6, 0}


def test_a_rare_day_is_found_and_one_that_never_comes_is_none():
    now = datetime(2103, 6, 1, tzinfo=UTC)
    assert parse("0 0 29 2 *").last(now) == datetime(2096, 2, 29, tzinfo=UTC)
    assert parse("0 0 31 2 *").last(now) is None
    assert parse("0 0 31 2 *").last(datetime(9, 6, 1, tzinfo=UTC)) is None


WRONG = [
    "", "0 2 * *", "0 2 * * * *", "60 2 * * 0", "0 24 * * 0", "0 2 0 * 0", "0 2 32 * 0",
    "0 2 * 0 0", "0 2 * 13 0", "0 2 * * 8", "*/0 2 * * 0", "5/2 2 * * 0", "0 2 * * mon",
    "-1 2 * * 0", "0 2 1- * 0", "0 2 ,1 * 0", "٣ 2 * * 0", "9999999999 2 * * 0",
]  # fmt: skip


@pytest.mark.parametrize("schedule", [*WRONG, "5-1 2 * * 0"])
def test_what_is_no_schedule_is_refused_with_what_is(schedule):
    with pytest.raises(SettingsError, match="cannot be used") as caught:
        parse(schedule)
    assert "0 2 * * 0" in caught.value.advice


@pytest.mark.parametrize("schedule", WRONG)
def test_the_settings_refuse_it_when_they_are_loaded(schedule):
    with pytest.raises(SettingsError, match="five cron fields"):
        Settings().changed({"privacy.purge_schedule": schedule})


@settings(max_examples=60, deadline=None)
@given(schedule=SCHEDULES)
def test_the_settings_take_whatever_is_a_schedule(schedule):
    chosen = Settings().changed({"privacy.purge_schedule": schedule})
    assert parse(chosen.privacy.purge_schedule)
