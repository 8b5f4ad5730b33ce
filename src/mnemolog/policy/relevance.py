"""Relevance: how an entry's match, age, weight and use become one number from 0 to 1.

    recall    match * (0.9 + 0.1 * prior); prior = mean of decay, importance and access
    weighted  0.4 match + 0.3 decay + 0.2 importance + 0.1 access
    product   importance * decay * recency * match; recency is 1.5 within a day of use, else 1

`recall` is ours and the default: what matches best comes first; age, weight and use only settle
near-ties and never bury the one right answer.

All take numbers or arrays of them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

_PRIOR = 0.1
_ROUNDING = 1e-6
_DAY = 24.0
NEVER_ACCESSED = 0.5


class Parts(NamedTuple):
    """What relevance is made of, for each entry; hours since the last use, or since creation."""

    match: Values
    decay: Values
    importance: Values
    access: Values
    idle_hours: Values


def access_score(hours: Values, is_accessed: NDArray[np.bool_]) -> Values:
    """How fresh the last use is: 1 now, falling by 5 % an hour; a half if there was none."""
    return np.where(is_accessed, np.exp(-0.05 * np.maximum(hours, 0.0)), NEVER_ACCESSED)


def recall(parts: Parts) -> Values:
    """Our own: the match decides, the rest settles near-ties."""
    prior = (parts.decay + parts.importance + parts.access) / 3
    return _unit(parts.match * (1 - _PRIOR + _PRIOR * prior))


def least_match(scorer: str, match: NDArray[np.floating[Any]], limit: int) -> float:
    """What matches less is not among the first so many, whatever else speaks for it; 0 if that
    cannot be said."""
    if scorer != "recall" or not 0 < limit < len(match):
        return 0.0
    return (1 - _PRIOR - _ROUNDING) * float(np.partition(match, -limit)[-limit])


def weighted(parts: Parts) -> Values:
    """A weighted sum of all four."""
    total = 0.4 * parts.match + 0.3 * parts.decay + 0.2 * parts.importance + 0.1 * parts.access
    return _unit(total)


def product(parts: Parts) -> Values:
    """A product, lifted by half for what was used within a day."""
    recency = np.where(parts.idle_hours < _DAY, 1.5, 1.0)
    return _unit(parts.importance * parts.decay * recency * parts.match)


def _unit(values: Values) -> Values:
    """The same, from 0 to 1; `np.clip` takes several times as long for a few."""
    return np.minimum(np.maximum(values, 0.0), 1.0)


SCORERS = {"recall": recall, "weighted": weighted, "product": product}
