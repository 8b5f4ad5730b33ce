"""Schedules in cron's five fields: minute, hour, day of the month, month, day of the week.

A field is `*` or a list of numbers and ranges; `*` and ranges may have a step: `*/15`, `1-5/2`. The
week begins with Sunday, which is 0 or 7. As in cron, when both the day of the month and the day of
the week are restricted, either of them will do; a field that begins with `*` restricts nothing in
this sense. Pure: no clock; the time zone is that of the moment which is asked about.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import product
from typing import NamedTuple

from mnemolog.errors import SettingsError, shown

# 29 February meets a given day of the week at least once in so many days.
_LONGEST = 41 * 366

_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7))


class Schedule(NamedTuple):
    """When something is to be done."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    is_either: bool
    """Whether the day of the month or that of the week suffices."""

    def matches(self, wall: datetime) -> bool:
        """Whether the minute that a clock on the wall shows is one of the scheduled ones."""
        at_time = wall.minute in self.minutes and wall.hour in self.hours
        return at_time and self._is_on(wall.date())

    def last(self, moment: datetime) -> datetime | None:
        """The last scheduled minute that began at or before a moment; None if there never is one.

        An hour that a change of the clocks skips is skipped, and one that it repeats counts twice.
        """
        day, limit = moment.date(), moment.astimezone(UTC)
        for _ in range(_LONGEST):
            if self._is_on(day):
                found = [one for one in self._moments(day, moment.tzinfo) if one <= limit]
                if found:
                    return max(found).astimezone(moment.tzinfo)
            if day == date.min:
                return None
            day -= timedelta(days=1)
        return None

    def _is_on(self, day: date) -> bool:
        on_day = day.day in self.days
        on_weekday = day.isoweekday() % 7 in self.weekdays
        is_right = (on_day or on_weekday) if self.is_either else (on_day and on_weekday)
        return is_right and day.month in self.months

    def _moments(self, day: date, zone: tzinfo | None) -> Iterator[datetime]:
        """The scheduled minutes of a day in UTC: times of one zone compare as the wall shows."""
        for hour, minute, fold in product(self.hours, self.minutes, (0, 1)):
            wall = datetime.combine(day, time(hour, minute, fold=fold), zone)
            with suppress(OverflowError):  # the first and the last day of the calendar
                found = wall.astimezone(UTC)
                if found.astimezone(zone) == wall:
                    yield found


def parse(text: str) -> Schedule:
    """Read five fields; raises `SettingsError` that says which one makes no sense."""
    parts = text.split()
    if len(parts) != len(_FIELDS):
        raise _refused(text, f"it has {len(parts)} fields")
    pairs = zip(parts, _FIELDS, strict=True)
    minutes, hours, days, months, weekdays = (_numbers(text, part, *field) for part, field in pairs)
    is_either = not (parts[2].startswith("*") or parts[4].startswith("*"))
    on = frozenset(number % 7 for number in weekdays)
    return Schedule(minutes, hours, days, months, on, is_either)


def _numbers(text: str, field: str, name: str, low: int, high: int) -> frozenset[int]:
    found: set[int] = set()
    for item in field.split(","):
        span, slash, step = item.partition("/")
        first, dash, last = span.partition("-")
        numbers = (low, high) if span == "*" else (_number(first), _number(last if dash else first))
        begin, end = numbers
        width = _number(step) if slash else 1
        is_range = span == "*" or bool(dash)
        if not (low <= begin <= end <= high) or width < 1 or (slash and not is_range):
            raise _refused(text, f"{shown(item, 20)} is no {name}")
        found.update(range(begin, end + 1, width))
    return frozenset(found)


def _number(text: str) -> int:
    """A plain number; -1 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1


def _refused(text: str, why: str) -> SettingsError:
    return SettingsError(
        f"The schedule {shown(text)} cannot be used: {why}.",
        advice="Give minute (0-59), hour (0-23), day (1-31), month (1-12) and weekday (0-7), each "
        'a number, `*`, a list, a range or a step: "0 2 * * 0" is every Sunday at 02:00.',
        key="privacy.purge_schedule",
        value=text,
    )
