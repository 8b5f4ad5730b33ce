"""Decay of many rows at once; a session may have half-lives of its own."""

import sqlite3
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from mnemolog.errors import MnemologError
from mnemolog.policy import decay as decaying
from mnemolog.settings import Decay, Settings

Values = NDArray[np.float64]


Types = tuple[tuple[int, str], ...]
"""The types of entries that an index knows, by their numbers, in order."""


def factors(
    types: Types, kinds: NDArray[np.uint32], age: Values, boost: Values, by: Decay
) -> Values:
    """What age has left of rows of these kinds, ages in hours and boosts."""
    rate = _rates(types, by)[kinds]
    factor = np.maximum(np.minimum(np.exp(-rate * age) * boost, 1.0), by.minimum)
    return np.where(rate == 0, 1.0, factor)


@lru_cache(maxsize=64)
def _rates(types: Types, by: Decay) -> Values:
    """How fast each type decays, by its number."""
    rates = np.zeros(types[-1][0] + 1 if types else 1)
    for number, name in types:
        rates[number] = decaying.rate(name, by)
    return rates


def with_settings(db: sqlite3.Connection) -> list[tuple[int, bytes]]:
    """The logs of the sessions that have settings of their own, and these."""
    return db.execute("SELECT id, settings FROM log WHERE settings IS NOT NULL").fetchall()


def of_sessions(logs: list[tuple[int, bytes]], usual: Decay) -> dict[Decay, list[int]]:
    """Those of these logs whose decay is another one than usual, by that decay."""
    found: dict[Decay, list[int]] = {}
    for number, settings in logs:
        own = _own(settings, usual)
        if own != usual:
            found.setdefault(own, []).append(number)
    return found


@lru_cache(maxsize=256)
def _own(settings: bytes, usual: Decay) -> Decay:
    """The decay that a session's settings ask for; the usual one if they cannot be used."""
    try:
        return Settings(decay=usual).with_overrides(msgspec.json.decode(settings)).decay
    except MnemologError:
        return usual
