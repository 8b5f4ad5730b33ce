"""A forked child shares no descriptor, mutex or cache with its parent: it starts afresh."""

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something that holds files or mutexes open."""

    def forget(self) -> None:
        """Drop everything held, without touching what the parent still uses."""


_known: "weakref.WeakSet[Forkable]" = weakref.WeakSet()


def watch(thing: Forkable) -> None:
    """Have `thing.forget` called in every forked child."""
    _known.add(thing)


def _forget_all() -> None:
    for thing in list(_known):
        thing.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
