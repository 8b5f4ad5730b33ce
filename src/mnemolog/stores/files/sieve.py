"""Looking for very many needles at once, in one pass over the bytes, however many they are."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from mnemolog.stores.files.scanning import SIEVED

# A needle is known by its last bytes: times and ids begin alike and end differently.
_KEY = SIEVED
_TABLE_BITS = 22
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(64 - _TABLE_BITS)

Numbers = NDArray[np.uint64]


class Sieve:
    """Needles of at least eight bytes, named by their form."""

    def __init__(self, needles: Mapping[str, bytes]) -> None:
        self._known: dict[int, dict[int, dict[bytes, list[str]]]] = {}
        for form, needle in needles.items():
            key = int.from_bytes(needle[-_KEY:], "little")
            lengths = self._known.setdefault(key, {})
            lengths.setdefault(len(needle), {}).setdefault(needle, []).append(form)
        self._keys = np.array(sorted(self._known), np.uint64)
        self._table = np.zeros(1 << _TABLE_BITS, np.bool_)
        self._table[_spread(self._keys)] = True

    def find(self, window: bytes, known: int) -> Iterator[tuple[int, str]]:
        """Where needles begin, and their forms; of those that end after the first `known` bytes."""
        for at in self._ends(window, max(0, known - _KEY + 1)):
            end = at + _KEY
            key = int.from_bytes(window[at:end], "little")
            for length, needles in self._known[key].items():
                for form in needles.get(window[end - length : end], ()) if length <= end else ():
                    yield end - length, form

    def _ends(self, window: bytes, start: int) -> list[int]:
        """Where the last bytes of any needle stand, in order."""
        found: list[int] = []
        for first in range(start, start + _KEY):
            count = (len(window) - first) // _KEY
            if count > 0:
                numbers = np.frombuffer(window, "<u8", count, first)
                maybe = np.flatnonzero(self._table[_spread(numbers)])
                sure = maybe[np.isin(numbers[maybe], self._keys)]
                found += (sure * _KEY + first).tolist()
        return sorted(found)


def _spread(numbers: Numbers) -> Numbers:
    """A place in the table for each number."""
    return (numbers * _SPREAD) >> _SHIFT
