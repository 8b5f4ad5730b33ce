"""A forked child shares no descriptor, mutex or cache with its parent: it starts afresh."""

import os
import weakref
from typing import Protocol


class Forkable(Protocol):
    """Something that holds files or mutexes open."""

    def forget(self) -> None:
        """Drop everything held, without touching what the parent still uses."""


class Settled(Forkable, Protocol):
    """Something of which a child must not inherit what is under way."""

    def settle(self) -> None:
        """Before a fork: let go of what a child could not take over, and begin nothing more."""

    def go_on(self) -> None:
        """After a fork, in the parent: whoever forked lets it go on."""


_known: "weakref.WeakSet[Forkable]" = weakref.WeakSet()
_settled: "weakref.WeakSet[Settled]" = weakref.WeakSet()


def watch(thing: Forkable) -> None:
    """Have `thing.forget` called in every forked child."""
    _known.add(thing)


def settle(thing: Settled) -> None:
    """Have a thing forget in every child, and settle before it is forked."""
    watch(thing)
    _settled.add(thing)


def _settle_all() -> None:
    for thing in list(_settled):
        thing.settle()


def _go_on_all() -> None:
    for thing in list(_settled):
        thing.go_on()


def _forget_all() -> None:
    for thing in list(_known):
        thing.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_settle_all, after_in_parent=_go_on_all, after_in_child=_forget_all)
