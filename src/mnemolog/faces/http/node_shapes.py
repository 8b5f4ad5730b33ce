"""The bodies of answers and requests about nodes, the review and the worker."""

from typing import Any, Literal

import msgspec

from mnemolog.faces.http.shapes import Body


class LeafRow(msgspec.Struct, kw_only=True):
    """One line of the tree; of a folder, `children` says how many nodes lie below it."""

    path: str
    title: str
    description: str
    kind: Literal["file", "node", "folder"]
    updated_at: int
    flags: tuple[str, ...]
    children: int = 0


class Tree(msgspec.Struct, kw_only=True):
    """Nodes of a user, and who else has some; `next` says where the rest of a long level begins."""

    user: str
    users: list[str]
    items: list[LeafRow]
    total: int
    next: str = ""


class BacklinkRow(msgspec.Struct, kw_only=True):
    """Where a node is spoken of."""

    path: str
    title: str
    context: str


class OutgoingRow(msgspec.Struct, kw_only=True):
    """Where a node links to."""

    path: str
    context: str
    exists: bool


class NodeFacts(msgspec.Struct, kw_only=True):
    """A node with what is known about it."""

    user: str
    path: str
    title: str
    description: str
    body: str
    text: str
    front_matter: dict[str, Any]
    hash: str
    version: int
    created_at: int
    updated_at: int
    parents: tuple[str, ...]
    sources: tuple[str, ...]
    flags: tuple[str, ...]
    backlinks: list[BacklinkRow]
    mentions: list[BacklinkRow]
    outgoing: list[OutgoingRow]


class NodeWrite(Body):
    """A node as it should be: its body, or a whole document with its front matter."""

    body: str
    title: str | None = None
    description: str | None = None
    reason: str = ""
    sources: tuple[str, ...] = ()


class NodeMove(Body):
    """Where a node is to lie."""

    to: str
    reason: str = ""


class NodeMerge(Body):
    """Which node takes in what this one says."""

    into: str
    reason: str = ""


class SimilarRow(msgspec.Struct, kw_only=True):
    """Two nodes that are perhaps the same: by their `title`, their `text`, or a person's `name`."""

    path: str
    other: str
    why: str
    share: float


class Similar(msgspec.Struct, kw_only=True):
    """The surest pairs, and how many there are."""

    items: list[SimilarRow]
    total: int


class Reverting(Body):
    """Why an earlier version is wanted again."""

    reason: str = ""


class Written(msgspec.Struct, kw_only=True):
    """What became of a write."""

    path: str
    status: str
    version: int
    hash: str
    redactions: tuple[str, ...]
    reason: str


class VersionRow(msgspec.Struct, kw_only=True):
    """One version of a node."""

    n: int
    at: str
    by: str
    reason: str
    hash: str
    sources: tuple[str, ...]
    removed: bool


class Versions(msgspec.Struct, kw_only=True):
    """All versions, oldest first."""

    items: list[VersionRow]


class LineRow(msgspec.Struct, kw_only=True):
    """A line of a difference: ` `, `-` or `+`."""

    op: str
    text: str


class HunkRow(msgspec.Struct, kw_only=True):
    """A part in which two texts differ."""

    old_start: int
    new_start: int
    lines: list[LineRow]


class VersionFacts(VersionRow, kw_only=True):
    """One version with its text, and how it differs from another."""

    text: str | None
    hunks: list[HunkRow]


class GraphNode(msgspec.Struct, kw_only=True):
    """A node in the picture."""

    id: str
    path: str
    title: str
    degree: int
    folder: str
    updated_at: int
    flags: tuple[str, ...]


class GraphFacts(msgspec.Struct, kw_only=True):
    """Nodes and links; above 2,000 nodes the folders stand for what was cut off."""

    nodes: list[GraphNode]
    edges: list[tuple[str, str, str]]
    clusters: dict[str, int]
    cut: int


class ProposalRow(msgspec.Struct, kw_only=True):
    """Something that waits for a person's yes."""

    id: str
    user: str
    target: str
    title: str | None
    body: str
    why: str
    reason: str
    diff: list[HunkRow]
    sources: list[dict[str, Any]]
    distiller: str
    created_at: str
    base_hash: str
    is_overtaken: bool
    """Whether the node is another one now than the proposal was made from."""


class Proposals(msgspec.Struct, kw_only=True):
    """What waits, oldest first."""

    items: list[ProposalRow]
    next_cursor: str | None
    total: int
    total_exact: bool


class Judged(Body):
    """A person's word about a proposal; with `body` that text is written instead.

    `expected` is the hash of the node that the person saw.
    """

    verdict: Literal["accept", "reject"]
    body: str | None = None
    expected: str | None = None
    reason: str = ""


class Moment(Body):
    """What happened in a session: a turn ended, an agent began anew, its context was cut short, or
    everybody left."""

    what: Literal["turn", "reset", "compacted", "sleep"]


class DueFacts(msgspec.Struct, kw_only=True):
    """Whether a session is due to be learned from."""

    is_due: bool


class DueRow(msgspec.Struct, kw_only=True):
    """A session that should be learned from, or one that is parked."""

    session_id: str
    user_id: str
    agent_id: str
    cause: str
    attempts: int
    error: str
    since: str


class WorkerFacts(msgspec.Struct, kw_only=True):
    """What the worker does and has before it."""

    state: str
    last_tick: str | None
    tick_seconds: float
    busy: list[str]
    queue: list[DueRow]
    parked: list[DueRow]


class Ticked(msgspec.Struct, kw_only=True):
    """How many sessions the worker is done with."""

    done: int
