"""A block of memory for a prompt: text, what it is made of, and what did not fit."""

import msgspec


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """What `memory.context` assembled."""

    text: str
    tokens: int
    sources: tuple[str, ...]
    """The ids of the entries in it, in order."""
    omitted: int
    """How many entries did not fit."""
    weights: tuple[int, ...] = ()
    """How many tokens each of the sources takes, about."""
    homes: tuple[str, ...] = ()
    """The session of each of them, or the user of a node; empty where it is in neither."""
