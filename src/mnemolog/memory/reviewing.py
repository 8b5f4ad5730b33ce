"""Reviewing: proposals that wait for a person's yes."""

from mnemolog.errors import NodeNotFoundError, shown
from mnemolog.memory.consolidating import Consolidating
from mnemolog.model.lesson import Waiting
from mnemolog.model.node import Hunk, Node, NodeReceipt
from mnemolog.policy import front_matter
from mnemolog.policy.access import OWNER
from mnemolog.policy.composing import composed, expect, fields_of, text_of
from mnemolog.policy.hunks import hunks


class Reviewing(Consolidating):
    """The verbs of the review; for people, never for an agent."""

    def proposals(self, user_id: str | None = None) -> list[Waiting]:
        """What waits: for one user, or for all whose nodes this handle may write."""
        self._not_for_agents("review proposals")
        user = self._viewer.user if user_id is None else self._writes(user_id)
        return self._shelf.waiting(user)

    def proposal_diff(self, proposal_id: str) -> list[Hunk]:
        """What a proposal changes in the text it was made from; not what came since."""
        waiting = self._proposal(proposal_id)
        return hunks(self._made_from(waiting), waiting.edit.body)

    def _made_from(self, waiting: Waiting) -> str:
        """The text that a proposal was made from; that of now if it is not kept any more."""
        user, address, seen = waiting.user_id, waiting.edit.address, waiting.edit.expected
        node = self._there_now(user, address)
        if node is None or not seen:
            return ""
        kept = self._shelf.versions(user, address) if node.hash != seen else []
        text = next((one.text for one in kept if one.hash == seen), None)
        return node.body if text is None else front_matter.split(text).body

    def accept_proposal(
        self, proposal_id: str, text: str | None = None, *, expected: str | None = None
    ) -> NodeReceipt:
        """Write what was proposed, or another text instead, and take it out of the review.

        If the node changed since the proposal was made, `NodeConflictError` says so; give a `text`
        that is made of both. `expected` is the hash of the node that the person saw; without it, a
        text of one's own takes the place of whatever is there.
        """
        waiting = self._proposal(proposal_id)
        edit = waiting.edit
        said = text_of(edit.body if text is None else text, "text")
        fields = fields_of(edit.title, edit.description, None)
        by = waiting.distiller if self._viewer == OWNER else None
        seen = edit.expected if expected is None else expected
        if text is not None and expected is None:
            node = self._there_now(waiting.user_id, edit.address)
            seen = node.hash if node else ""

        def change(node: Node | None) -> str:
            # Under the lock once more: an erasure takes out what rests on what is gone.
            if waiting not in self._shelf.waiting(waiting.user_id):
                raise _not_waiting(proposal_id)
            whole = composed(node, said, fields)
            expect(node, edit.address, seen, whole)
            return whole

        names = [one.name for one in edit.sources]
        receipt = self._written(
            edit.address, change, waiting.user_id, edit.reason, names, by, waiting.plan
        )
        self._shelf.settle(waiting.user_id, waiting.id)
        return receipt

    def reject_proposal(self, proposal_id: str, reason: str = "") -> None:
        """Take a proposal out of the review; that it was rejected stands in the audit."""
        waiting = self._proposal(proposal_id)
        self._keeper.record(self._audited("reject proposal", None, 1, reason, {}))
        self._shelf.settle(waiting.user_id, waiting.id)

    def _proposal(self, proposal_id: str) -> Waiting:
        for one in self.proposals():
            if one.id == proposal_id:
                return one
        raise _not_waiting(proposal_id)


def _not_waiting(proposal_id: object) -> NodeNotFoundError:
    return NodeNotFoundError(
        f"No proposal {shown(proposal_id, 80)} waits.",
        advice="`mnemolog review list` shows what does.",
    )
