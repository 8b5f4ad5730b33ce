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


class Types:
    """The types of entries that an index knows, by their numbers."""

    def __init__(self, known: list[tuple[int, str]]) -> None:
        self._known = known

    def factors(self, kinds: NDArray[np.uint32], age: Values, boost: Values, by: Decay) -> Values:
        """What age has left of rows of these types, ages in hours and boosts."""
        rates = np.zeros(self._known[-1][0] + 1 if self._known else 1)
        for number, name in self._known:
            rates[number] = decaying.rate(name, by)
        rate = rates[kinds]
        factor = np.maximum(np.minimum(np.exp(-rate * age) * boost, 1.0), by.minimum)
        return np.where(rate == 0, 1.0, factor)


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
