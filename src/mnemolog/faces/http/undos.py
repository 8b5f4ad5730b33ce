"""Undoing: what was hidden at a moment comes back. The id says which, so it outlives the server.

Whoever brings an id gets back only what they might bring back anyway; it is no secret.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mnemolog.errors import EntryNotFoundError
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.queries import opened, sealed
from mnemolog.memory import Memory

_PREFIX = "undo_"
# An id stands in the path of a request, which must stay short.
_FEW_IDS = 100
_MOST_SESSIONS = 200

Names = list[tuple[str, str, list[str]]]


class Gone(NamedTuple):
    """What was hidden in one session, and when; without ids everything that was at that moment."""

    session_id: str
    at: str
    ids: tuple[str, ...] = ()


def undo_id(gone: Sequence[Gone]) -> str | None:
    """What brings all of this back; None if there is nothing, or too much for one id."""
    meant = [one for one in gone if one.ids]
    if not 0 < len(meant) <= _MOST_SESSIONS:
        return None
    are_few = sum(len(one.ids) for one in meant) <= _FEW_IDS
    names = [(one.session_id, one.at, one.ids if are_few else ()) for one in meant]
    return _PREFIX + sealed(names)


def undone(memory: Memory, given: str) -> dict[str, Any]:
    """Bring back what an id means and is still hidden since then; raises a 404."""
    back: list[str] = []
    refused: dict[str, str] = {}
    for one in _meant(given):
        ids = list(_hidden(memory, one))
        if ids:
            done = memory.undelete(one.session_id, ids)
            back += done.ids
            refused |= done.refused
    if not back and not refused:
        raise _nothing()
    return {"ids": back, "refused": refused}


def _meant(given: str) -> list[Gone]:
    if not given.startswith(_PREFIX):
        raise _nothing()
    try:
        found = opened(given.removeprefix(_PREFIX), tuple[Names])
    except RefusedError:
        raise _nothing() from None
    return [Gone(session, at, tuple(ids)) for session, at, ids in (found or ([],))[0]]


def _hidden(memory: Memory, gone: Gone) -> Iterator[str]:
    """The entries that are hidden since that moment: not those that somebody hid again."""
    if not gone.ids:
        told = memory.hidden_entries(gone.session_id)
        yield from (one.entry.id for one in told if one.hidden_at == gone.at)
    for identifier in gone.ids:
        try:
            if memory.told(gone.session_id, identifier).hidden_at == gone.at:
                yield identifier
        except EntryNotFoundError:
            continue  # erased since


def _nothing() -> RefusedError:
    return RefusedError(
        404,
        "E_UNDO_NOT_FOUND",
        "There is nothing of that id to undo.",
        advice="GET /api/v1/hidden lists what can be brought back.",
    )
