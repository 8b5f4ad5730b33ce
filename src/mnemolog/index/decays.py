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

    def __init__(self, db: sqlite3.Connection) -> None:
        query = "SELECT id, text FROM word WHERE kind = 'type' ORDER BY id"
        self._known = db.execute(query).fetchall()

    def factors(self, kinds: NDArray[np.uint32], age: Values, boost: Values, by: Decay) -> Values:
        """What age has left of rows of these types, ages in hours and boosts."""
        numbers = np.array([number for number, _ in self._known], np.int64)
        rates = np.array([decaying.rate(name, by) for _, name in self._known], np.float64)
        rate = rates[np.searchsorted(numbers, kinds)] if len(kinds) else np.zeros(0)
        factor = np.exp(-rate * age) * boost
        return np.where(rate == 0, 1.0, np.clip(factor, by.minimum, 1.0))


def of_sessions(db: sqlite3.Connection, usual: Decay) -> dict[Decay, list[int]]:
    """The logs of the sessions whose decay is another one than usual, by that decay."""
    found: dict[Decay, list[int]] = {}
    for number, settings in db.execute("SELECT id, settings FROM log WHERE settings IS NOT NULL"):
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
