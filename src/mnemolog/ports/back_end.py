"""A back end: everything behind the ports, opened together."""

from collections.abc import Callable
from dataclasses import dataclass

from mnemolog.ports import Index, Store
from mnemolog.ports.keeping import Keeper
from mnemolog.ports.moving import Mover
from mnemolog.ports.shelf import Shelf
from mnemolog.settings import Settings


@dataclass(frozen=True)
class BackEnd:
    """A store, its index and its keeper, and the settings that they run under."""

    store: Store
    index: Index
    keeper: Keeper
    settings: Settings
    mover: Callable[[], Mover] | None = None
    """Made when something is to be moved: hardly any use of a memory needs it."""
    shelf: Shelf | None = None
