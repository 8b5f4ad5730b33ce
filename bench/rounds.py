"""Rivals that take turns, so that a noisy moment hits all of them."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

Turn = Callable[[int], Sequence[int]]
"""Does something so many times and gives the nanoseconds that each took."""


class Times:
    """What one rival took, round by round."""

    def __init__(self) -> None:
        self.rounds: list[Sequence[int]] = []

    @property
    def median_us(self) -> float:
        return median(median(one) for one in self.rounds) / 1000

    @property
    def min_us(self) -> float:
        return min(min(one) for one in self.rounds) / 1000

    def over(self, other: "Times") -> float:
        """How many times as long as the other: the median over rounds of the rounds' medians."""
        pairs = zip(self.rounds, other.rounds, strict=True)
        return median(median(mine) / median(theirs) for mine, theirs in pairs)

    def summary(self) -> dict[str, float]:
        return {"median_us": round(self.median_us, 1), "min_us": round(self.min_us, 1)}


def alternate(rivals: Mapping[str, Turn], rounds: int, batch: int) -> dict[str, Times]:
    """Let each rival have its turn in every round; who begins changes from round to round."""
    times = {name: Times() for name in rivals}
    for number in range(rounds):
        order = list(rivals)[:: 1 if number % 2 == 0 else -1]
        for name in order:
            times[name].rounds.append(rivals[name](batch))
    return times


def timed(call: Callable[[], Any], count: int) -> list[int]:
    """The nanoseconds that each of so many calls took."""
    found = []
    for _ in range(count):
        start = time.perf_counter_ns()
        call()
        found.append(time.perf_counter_ns() - start)
    return found


def ratio_beside(mine: Times, other: Times) -> str:
    """The two medians, and the ratio of the two best cases."""
    return (
        f"{mine.median_us:,.0f} µs to {other.median_us:,.0f} µs; "
        f"best cases {mine.min_us:,.0f} to {other.min_us:,.0f} ({mine.min_us / other.min_us:.2f} ×)"
    )
