"""The port of what turns texts into vectors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Embedder(Protocol):
    """Turns texts into vectors; always the same for the same text, from any thread, offline.

    One that takes long may have a number `at_once`: no search waits for more texts than that. It is
    asked while nothing is locked, however long it takes.
    """

    @property
    def name(self) -> str:
        """What it is; another name means that everything is embedded anew."""

    @property
    def size(self) -> int:
        """How many dimensions a vector has."""

    def embed(self, texts: Sequence[str]) -> "npt.NDArray[np.float32]":
        """One row of length 1 for each text; zeros for a text in which nothing is known. Any string
        is accepted."""
