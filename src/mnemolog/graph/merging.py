"""Merging: all that a node says is added to another one, and then it is removed.

Every step may be done twice: a line that is there already is not added again. The file is removed
only if its last text is part of the other node, so an edit by hand meanwhile is merged as well.
"""

from contextlib import suppress

import msgspec

from mnemolog.errors import NodeConflictError, SizeLimitError
from mnemolog.graph import document
from mnemolog.graph.move_note import Move
from mnemolog.graph.writing import Place
from mnemolog.model.node import Node
from mnemolog.model.times import to_moment
from mnemolog.policy import front_matter
from mnemolog.policy.merging import merged_body, united

_TRIES = 5


def merged_text(into: Node, other: Node) -> str:
    """The document of one node with what another one says, and with its sources and refs."""
    body = merged_body(into.body, other.body)
    text = into.text if body == into.body else front_matter.with_body(into.text, body)
    if document.UNREADABLE in into.flags:
        return text
    both = (into.address, other.address)
    fields = {
        "sources": united(into.sources, other.sources),
        "refs": united(into.refs, other.refs, both),
        "description": into.description or other.description,
    }
    now = {"sources": list(into.sources), "refs": list(into.refs), "description": into.description}
    return front_matter.with_fields(text, {k: v for k, v in fields.items() if v and v != now[k]})


def join(old: Place, new: Place, user_id: str, move: Move) -> bool:
    """Do it, or go on; whether all that the old node said is in the new one, and it is gone."""
    reason = ": ".join(filter(None, (f"merged into {move.new}", move.reason)))
    for _ in range(_TRIES):
        raw, history = old.look()
        if raw is None:  # unless somebody else removed it
            last = history.last()
            return last is not None and (last.at, last.reason) == (move.at, reason)
        with suppress(NodeConflictError):
            if not _added(new, document.parse(user_id, move.old, raw), user_id, move):
                return False
            raw_now, history = old.look()
            if raw_now is not None and raw_now.hash == raw.hash:
                old.remove(raw_now, history, move.version(reason))
    return False


def _added(place: Place, other: Node, user_id: str, move: Move) -> bool:
    """Whether the new node says what the old one does; not if it went, or got too long."""
    raw, history = place.look()
    if raw is None:
        return False
    into = document.parse(user_id, move.new, raw)
    text = merged_text(into, other)
    if text == into.text:
        return True
    now = int(to_moment(move.at).timestamp() * 1000)
    said = document.parse(user_id, move.new, document.Raw(text.encode(), now))
    sources = tuple(united(said.sources, other.sources))
    stamped = document.stamped(
        into, text, msgspec.structs.replace(said, sources=sources), history.highest() + 1, now
    )
    with suppress(SizeLimitError):
        document.check_size(move.new, len(stamped.encode()))
        reason = ": ".join(filter(None, (f"{move.old} merged into it", move.reason)))
        place.replace(raw, stamped, history, move.version(reason, other.sources))
        return True
    return False


def check(into: Node, other: Node) -> None:
    """Refuse what could not be finished."""
    for node in (into, other):
        document.check_whole(node)
    document.check_size(into.address, len(merged_text(into, other).encode()) + document.MAX_STAMP)
