"""Using: how often the notes of a run were got, told in few lines.

A line for each look would fill the file of the run by reading alone. A note is told about when it
was got once, twice, four times and so on; what came since is kept in memory, and may be lost.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from threading import Lock as Mutex

# Whoever only reads has to leave a sign of life: see `compartments.LEFT_DAYS`.
_SILENCE = timedelta(days=1)


class Got:
    """How often each note was got by one handle on a run, and how much of that was told."""

    def __init__(self) -> None:
        self._all: Counter[str] = Counter()
        self._told: Counter[str] = Counter()
        self._last: datetime | None = None
        self._mutex = Mutex()

    def take(self, ids: Iterable[str], now: datetime) -> Counter[str]:
        """Count notes that were got; says which to tell about now, and how many times each."""
        with self._mutex:
            self._all.update(given := list(ids))
            is_silent = self._last is None or now - self._last > _SILENCE
            due = Counter(
                {id: self._all[id] - self._told[id]
                 for id in given if is_silent or _is_power_of_two(self._all[id])}
            )  # fmt: skip
            self._told += due
            self._last = now if due else self._last
            return due

    def unnoted(self) -> Counter[str]:
        """What was not told yet."""
        with self._mutex:
            return self._all - self._told


def _is_power_of_two(number: int) -> bool:
    return number & (number - 1) == 0


def noted(contents: Iterable[object]) -> Counter[str]:
    """How often each note was got, as the lines tell; a line without `times` tells of one each."""
    found: Counter[str] = Counter()
    for one in contents:
        if isinstance(one, dict) and isinstance(one.get("ids"), list):
            ids = [str(id) for id in one["ids"]]
            times = one.get("times")
            found.update(dict(zip(ids, times or [1] * len(ids), strict=False)))
    return found
