"""Every moment of a scenario at which the power may fail, and the states that it may leave.

A `Recorder` takes the disk before each operation, together with what the program had promised by
then. `sampled` draws states from all these moments; each is to be opened and held against the
promises. Everything follows from the seed, so a failure can be replayed.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from random import Random
from typing import Generic, NamedTuple, TypeVar

from mnemolog.testing.disk import SimulatedDisk

Promises = TypeVar("Promises")

# A moment that gave no new state so many times in a row is left alone.
_PATIENCE = 100


class Moment(NamedTuple, Generic[Promises]):
    """The disk just before an operation, and what had been promised until then."""

    before: str
    disk: SimulatedDisk
    promises: Promises


class Sample(NamedTuple, Generic[Promises]):
    """One possible state after a power loss; `name` tells where it comes from."""

    name: str
    disk: SimulatedDisk
    fingerprint: int
    promises: Promises


class Recorder(Generic[Promises]):
    """Takes a moment before every operation on a disk that changes something.

    `promises` tells what holds now; it gives the same object again as long as nothing changed.
    """

    def __init__(self, disk: SimulatedDisk, promises: Callable[[], Promises]) -> None:
        self.moments: list[Moment[Promises]] = []
        self._disk = disk
        self._promises = promises
        disk.before_operation = self._take

    def stop(self) -> list[Moment[Promises]]:
        """Take the last moment, after everything, and all of them."""
        self._take("the end", "")
        self._disk.before_operation = None
        return self.moments

    def _take(self, operation: str, path: str) -> None:
        before = f"{operation} {path}".strip()
        self.moments.append(Moment(before, self._disk.kill(), self._promises()))


def sampled(
    moments: Sequence[Moment[Promises]], seed: str, wanted: int
) -> Iterator[Sample[Promises]]:
    """At least `wanted` different states, from all moments in turn; raises if there are fewer."""
    seen: set[tuple[int, int]] = set()
    states: set[int] = set()
    fruitless = dict.fromkeys(range(len(moments)), 0)
    for number in count():
        if len(states) >= wanted:
            return
        if not fruitless:
            raise ValueError(f"{seed}: there are only {len(states)} states, not {wanted}.")
        for position in list(fruitless):
            sample = _draw(moments[position], f"{seed}/{position}/{number}")
            key = (sample.fingerprint, id(sample.promises))
            fruitless[position] = fruitless[position] + 1 if key in seen else 0
            if fruitless[position] == _PATIENCE:
                del fruitless[position]
            if key not in seen:
                seen.add(key)
                states.add(sample.fingerprint)
                yield sample


def _draw(moment: Moment[Promises], seed: str) -> Sample[Promises]:
    state = moment.disk.crash(Random(seed))
    name = f"{seed}, before {moment.before}"
    return Sample(name, state, state.fingerprint(), moment.promises)
