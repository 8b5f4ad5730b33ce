"""Nodes of the graph: Markdown documents that people and agents read."""

from typing import Any, Literal, NamedTuple

import msgspec

FILES = ("USER.md", "SOUL.md", "AGENTS.md", "TOOLS.md")
"""What is known without a topic; each is addressed by its name."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node as it is now."""

    user_id: str
    address: str
    """Its folders and name below `memory/` without `.md`, or one of `FILES`."""
    title: str
    description: str
    body: str
    created_at: int
    """Epoch milliseconds."""
    updated_at: int
    version: int
    hash: str
    """Of the file's exact bytes: what a write is made against."""
    text: str
    """The whole file, front matter and all."""
    parents: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """The entries it rests on, as `<session>/<entry>`."""
    flags: tuple[str, ...] = ()
    extra: dict[str, Any] = {}
    """What else stands in the front matter."""

    @property
    def path(self) -> tuple[str, ...]:
        """The folders it lies in."""
        return tuple(self.address.split("/")[:-1])


class NodeLink(NamedTuple):
    """A link from one node: where to, in which sentence, and whether anything is there."""

    target: str
    context: str
    exists: bool


class Backlink(NamedTuple):
    """A link to a node: from where, and the line that holds it."""

    address: str
    title: str
    context: str


class Links(NamedTuple):
    """What a node links to, what links to it, and who says its title without a link."""

    outgoing: tuple[NodeLink, ...]
    backlinks: tuple[Backlink, ...]
    mentions: tuple[Backlink, ...]


class Leaf(NamedTuple):
    """One line of the tree."""

    address: str
    title: str
    description: str
    updated_at: int
    flags: tuple[str, ...] = ()


class Branch(NamedTuple):
    """A folder in a level of the tree, and how many nodes lie below it at any depth."""

    path: str
    nodes: int


class Folder(NamedTuple):
    """One level of the tree, or a part of it: what lies directly in a folder."""

    path: str
    nodes: int
    """How many nodes lie below it at any depth; the four files are none of them."""
    branches: tuple[Branch, ...]
    leaves: tuple[Leaf, ...]
    next: str = ""
    """Where the rest of a long level begins; empty if this is all."""


class NodeVersion(msgspec.Struct, frozen=True, kw_only=True):
    """One version of a node; `text` is the whole file, None where the node was removed."""

    number: int
    at: str
    by: str
    """Who wrote it: a distiller's or an agent's name, `owner`, or `hand`."""
    reason: str
    hash: str
    text: str | None
    sources: tuple[str, ...] = ()
    plan: str = ""
    """The edit plan it came from; a plan writes a node once."""


class NodeReceipt(NamedTuple):
    """What became of a write."""

    address: str
    status: Literal["created", "updated", "unchanged", "moved", "merged", "deleted", "waiting"]
    version: int
    hash: str
    redactions: tuple[str, ...] = ()
    reason: str = ""


class NodeHit(NamedTuple):
    """A node that a search found."""

    node: Node
    relevance: float
    why: dict[str, float]


class SimilarNodes(NamedTuple):
    """Two nodes that are perhaps the same, and what says so.

    `why` is `title` (the same words), `text` (`share` of both) or, of people, `name` (one's is a
    part of the other's).
    """

    address: str
    other: str
    why: str
    share: float


class NodeEdge(NamedTuple):
    """A link between two nodes, or from a node to its parent."""

    source: str
    target: str
    kind: Literal["link", "parent"] = "link"


class Graph(NamedTuple):
    """Nodes and the links between them."""

    nodes: tuple[Leaf, ...]
    edges: tuple[NodeEdge, ...]


class Hunk(NamedTuple):
    """A place where two texts differ: where it begins in each, and lines marked ` `, `-` or `+`."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]
