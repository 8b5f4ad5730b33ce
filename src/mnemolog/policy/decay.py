"""Decay: how much of an entry's weight is left, from its age alone; never stored.

decay = clamp(exp(-rate * age_hours) * boost, minimum, 1)
rate  = ln 2 / half-life
boost = 1 + 0.1 * accesses + 0.2 * importance
"""

from math import exp, log
from typing import TypeVar

from mnemolog.settings import Decay

# A number, or an array of numbers.
Amount = TypeVar("Amount")


def rate(kind: str, decay: Decay) -> float:
    """How fast a type decays, per hour; 0 means never."""
    if not decay.enabled:
        return 0.0
    if decay.model == "rate":
        return decay.rates.for_type(kind)
    half_life = decay.half_life_hours.for_type(kind)
    return log(2) / half_life if half_life else 0.0


def boost(accesses: Amount, importance: Amount) -> Amount:
    """What use and weight add against forgetting."""
    return 1 + 0.1 * accesses + 0.2 * importance  # type: ignore[operator, return-value]


def factor(kind: str, age_hours: float, decay: Decay, boost: float = 1.0) -> float:
    """The decay factor, from the configured minimum to 1; an age in the future counts as none."""
    per_hour = rate(kind, decay)
    if per_hour == 0.0:
        return 1.0
    return min(1.0, max(decay.minimum, exp(-per_hour * max(0.0, age_hours)) * boost))
