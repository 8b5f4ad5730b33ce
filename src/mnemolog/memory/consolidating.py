"""Consolidating: nodes that are perhaps the same, found and made one."""

from mnemolog.memory.knowing import Knowing
from mnemolog.model.node import NodeReceipt, SimilarNodes
from mnemolog.policy.similarity import Sketch, similar


class Consolidating(Knowing):
    """The verbs that keep a graph from saying the same twice."""

    def similar_nodes(self, user_id: str | None = None) -> list[SimilarNodes]:
        """Pairs of a user's nodes that are perhaps the same, the surest first."""
        user = self._reads(user_id)
        nodes = self._shelf.nodes(user)
        return similar(Sketch(node.address, node.title, node.body) for node in nodes)

    def merge_nodes(
        self, address: str, into: str, *, user_id: str | None = None, reason: str = ""
    ) -> NodeReceipt:
        """Add all that a node says to another one, remove it, and mend the links to it.

        The versions of both stay: `revert_node` of each brings back what was there.
        """
        user = self._writes(user_id)
        return self._shelf.merge(user, address, into, self._version(reason, (), None))
