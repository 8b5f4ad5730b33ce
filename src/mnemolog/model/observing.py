"""Observing: names and numbers of what the core does, never content.

Whoever wants to know registers; as long as nobody does, telling costs a glance at an empty list.
What comes with every write takes that glance itself, before it tells.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

observers: list["Observe"] = []


class Fact(NamedTuple):
    """Something that happened: what, to which session, and its numbers."""

    name: str
    session_id: str | None
    numbers: dict[str, float]


Observe = Callable[[Fact], None]


def observe(observer: Observe) -> Callable[[], None]:
    """Tell an observer of everything from now on; the answer ends that."""
    observers.append(observer)
    return lambda: observers.remove(observer)


def is_observed() -> bool:
    """Whether anybody wants to know; numbers that cost something are gathered only then."""
    return bool(observers)


def tell(name: str, session_id: str | None = None, **numbers: float) -> None:
    """Say that something happened."""
    for observer in tuple(observers):
        observer(Fact(name, session_id, numbers))


def tell_took(name: str, session_id: str | None, began: float, **numbers: float) -> None:
    """Say that something has succeeded, and how long it took since `began` (perf_counter)."""
    tell(name, session_id, duration_ms=(time.perf_counter() - began) * 1000, **numbers)


@contextmanager
def timed(name: str, session_id: str | None = None) -> Iterator[dict[str, float]]:
    """Say how long something took, once it has succeeded; more numbers may be put in."""
    numbers: dict[str, float] = {}
    began = time.perf_counter()
    yield numbers
    tell_took(name, session_id, began, **numbers)
