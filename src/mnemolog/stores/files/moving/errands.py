"""Errands: what an import is to do, told before any of it is done."""

from typing import NamedTuple

from mnemolog.ports.moving import Taken


class Errand(NamedTuple):
    """What is to be done with one log or graph, and how much room it needs."""

    taken: Taken
    bytes: int = 0

    def with_room(self, more: int) -> "Errand":
        """The same with what lies beside the log."""
        return self._replace(bytes=self.bytes + more) if self.taken.status == "stored" else self
