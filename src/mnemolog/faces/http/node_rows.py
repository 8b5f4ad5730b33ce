"""What the routes of nodes share: differences and receipts."""

from mnemolog.faces.http.house import Caller
from mnemolog.faces.http.node_shapes import HunkRow, LineRow, Written
from mnemolog.model.node import Hunk, NodeReceipt


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
