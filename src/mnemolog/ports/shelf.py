"""The port of the graph: where nodes lie."""

from collections.abc import Callable, Collection, Iterator
from typing import Protocol

from mnemolog.model.lesson import EditPlan, Prompt, Waiting
from mnemolog.model.node import Folder, Leaf, Links, Node, NodeEdge, NodeReceipt, NodeVersion
from mnemolog.policy.drafting import Redact
from mnemolog.ports import Unread


class Nodes(Protocol):
    """Reads nodes."""

    def users(self) -> list[str]:
        """The users who have nodes."""

    def read(self, user_id: str, address: str) -> Node:
        """A node as it is now; raises `NodeNotFoundError`."""

    def spelled(self, user_id: str, address: str) -> str:
        """The address of the node that is there, however it writes its name; else the one given."""

    def tree(self, user_id: str, path: str = "") -> list[Leaf]:
        """All nodes of a user, the four files first, then by address; or those below a folder."""

    def folder(self, user_id: str, path: str, after: str, limit: int) -> Folder:
        """One level of the tree, at most so many names of it, from where `next` said."""

    def nodes(self, user_id: str, left_out: Unread | None = None) -> Iterator[Node]:
        """Every node of a user, one at a time; `left_out` is told of each that could not be read,
        and why."""

    def versions(self, user_id: str, address: str) -> list[NodeVersion]:
        """All versions, oldest first; a hand edit not yet seen becomes one."""


class Joints(Protocol):
    """What nodes rest on, and how they hang together."""

    def citing(self, user_id: str, source: str) -> list[str]:
        """The addresses of the nodes that rest on a source; `/<entry>` means any session's."""

    def links(self, user_id: str, address: str) -> Links:
        """What a node links to and what links to it."""

    def edges(self, user_id: str) -> list[NodeEdge]:
        """Every link between two nodes of a user, and from each node to its parents."""


class Pen(Protocol):
    """Writes nodes. Every write is durable when it returns and survives a crash."""

    def write(
        self,
        user_id: str,
        address: str,
        change: Callable[[Node | None], str | None],
        version: NodeVersion,
        redact: Redact | None = None,
    ) -> NodeReceipt:
        """Replace a node's text by what `change` makes of it; None removes it.

        `change` runs under the graph's lock and raises to refuse. A text that somebody put there
        between reading and replacing is never overwritten: `NodeConflictError`. With a `plan` in
        `version` that the node has taken already, nothing happens.
        """

    def move(self, user_id: str, address: str, to: str, version: NodeVersion) -> NodeReceipt:
        """Give a node another address, with its versions, and mend the links to it."""

    def merge(self, user_id: str, address: str, into: str, version: NodeVersion) -> NodeReceipt:
        """Add all that a node says to another one, remove it, and mend the links to it."""

    def cut(self, user_ids: Collection[str] | None, sources: Collection[str]) -> dict[str, int]:
        """Take out, for good, every line, version, proposal and plan that rests on these sources
        (`<session>/<entry>`, or `<session>/` for all of a session): how many in each kind of
        place. A node that cites one without saying where is marked `source-erased`."""


class EditPlans(Protocol):
    """The edit plans that were made and not yet applied."""

    def keep_plan(self, plan: EditPlan) -> None:
        """Note an edit plan durably."""

    def plan(self, plan_id: str) -> EditPlan | None:
        """A plan that was noted and not yet struck out."""

    def plans(self) -> list[EditPlan]:
        """All of them."""

    def strike_plan(self, plan_id: str) -> None:
        """It has been applied, or will never be."""


class Review(Protocol):
    """What waits for a person's yes."""

    def wait(self, waiting: Waiting) -> None:
        """Put a proposal into the review; one with the same id is there once."""

    def waiting(self, user_id: str | None = None) -> list[Waiting]:
        """The proposals in review, oldest first."""

    def settle(self, user_id: str, waiting_id: str) -> None:
        """Take a proposal out of the review for good."""


class Guidance(Protocol):
    """What memory-agents are told."""

    def prompt(self) -> Prompt | None:
        """What memory-agents are told here; None where that is left to the package. Raises
        `SettingsError` for one that cannot be used."""

    def begin_prompt(self, text: str) -> bool:
        """Put such a text there for people to edit; False if there is one."""


class Shelf(Nodes, Joints, Pen, EditPlans, Review, Guidance, Protocol):
    """The graphs of all users."""
