"""The port of distillers: a part of a session in, edits of nodes out."""

from typing import Protocol

from mnemolog.model.lesson import Lesson, Proposal
from mnemolog.model.node import Leaf, Node, NodeHit, NodeVersion


class NodeReader(Protocol):
    """What a distiller may read of one user's graph."""

    def read(self, address: str) -> Node | None:
        """A node as it is now, or None."""

    def versions(self, address: str) -> list[NodeVersion]:
        """Every version of a node, oldest first, also of one that was removed."""

    def tree(self) -> list[Leaf]:
        """All nodes."""

    def citing(self, source: str) -> list[str]:
        """The addresses of the nodes that rest on a source; `/<entry>` means any session's."""

    def search(self, text: str, limit: int = 10) -> list[NodeHit]:
        """The nodes that fit a text best."""


class Distiller(Protocol):
    """Turns what was said into what is known.

    One that cannot take any length may have a number `most_characters`: a longer session is handed
    to it in parts, one after the other.
    """

    @property
    def name(self) -> str:
        """As it stands in versions and settings."""

    def distil(self, lesson: Lesson, nodes: NodeReader) -> Proposal:
        """Propose edits; no lock is held meanwhile, and it may take its time. Raises
        `DistillerError` where it cannot."""
