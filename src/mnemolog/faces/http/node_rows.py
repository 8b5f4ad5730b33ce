"""What the routes of nodes share: lines of the tree, differences and receipts."""

from mnemolog.faces.http.house import Caller
from mnemolog.faces.http.node_shapes import HunkRow, LeafRow, LineRow, Written
from mnemolog.model.node import FILES, Folder, Hunk, Leaf, NodeReceipt


def leaf_row(one: Leaf) -> LeafRow:
    """A node in the tree."""
    return LeafRow(
        path=one.address,
        title=one.title,
        description=one.description,
        kind="file" if one.address in FILES else "node",
        updated_at=one.updated_at,
        flags=tuple(one.flags),
    )


def folder_rows(level: Folder) -> list[LeafRow]:
    """One level of the tree: the four files, folders, nodes."""
    leaves = [leaf_row(one) for one in level.leaves]
    branches = [
        LeafRow(path=one.path, title=one.path.rpartition("/")[2], description="", kind="folder",
                updated_at=0, flags=(), children=one.nodes)
        for one in level.branches
    ]  # fmt: skip
    files = [one for one in leaves if one.kind == "file"]
    return [*files, *branches, *(one for one in leaves if one.kind == "node")]


def hunk_rows(found: list[Hunk]) -> list[HunkRow]:
    """Where two texts differ."""
    return [
        HunkRow(
            old_start=one.old_start,
            new_start=one.new_start,
            lines=[LineRow(op=line[:1], text=line[1:]) for line in one.lines],
        )
        for one in found
    ]


def written(caller: Caller, user: str, done: NodeReceipt) -> Written:
    """What became of a write; whoever follows is told."""
    topic = "review" if done.status == "waiting" else "node"
    caller.publish(topic, user=user, path=done.address, version=done.version)
    return Written(
        path=done.address,
        status=done.status,
        version=done.version,
        hash=done.hash,
        redactions=tuple(done.redactions),
        reason=done.reason,
    )
