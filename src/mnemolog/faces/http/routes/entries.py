"""Entries: read in windows, written, looked at closely."""

from typing import Annotated, Any

from litestar import get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.queries import Limit, Names, Seq, names
from mnemolog.faces.http.rows import entry_row, excerpt, raw_row, receipt_row
from mnemolog.faces.http.shapes import (
    EntryList,
    EntryRow,
    LinkRow,
    Links,
    NewEntries,
    Raw,
    ReceiptRow,
    Receipts,
    RevisionRow,
    Revisions,
)
from mnemolog.memory import Memory
from mnemolog.model.entry import Entry

_ENTRY = "/sessions/{session_id:str}/entries/{entry_id:str}"
_MOST_LINKS = 100
# What the path says already.
_FIXED = {"self", "session_id", "memory_id"}


@get("/sessions/{session_id:str}/entries", sync_to_thread=True)
def list_entries(
    caller: Asking,
    session_id: FromPath[str],
    after_seq: Seq = None,
    before_seq: Seq = None,
    around: Annotated[
        str | None, QueryParameter(description="A place, or the id of an entry.")
    ] = None,
    types: Names = None,
    agents: Names = None,
    tags: Names = None,
    q: Annotated[str, QueryParameter(max_length=500)] = "",
    hidden: FromQuery[bool] = False,
    limit: Limit = 100,
) -> EntryList:
    """A part of a session, oldest first: after a place, before one, around one, or the end."""
    memory = caller.memory
    found = memory.timeline(
        session_id,
        after=after_seq,
        before=before_seq,
        around=None if around is None else _place(memory, session_id, around),
        limit=limit,
        types=names(types),
        agents=names(agents),
        tags=names(tags),
        text=q,
        with_hidden=hidden,
    )
    places = [one.place for one in found.entries]
    return EntryList(
        items=[entry_row(one) for one in found.entries],
        next_cursor=str(places[-1]) if found.more_after and places else None,
        previous_cursor=str(places[0]) if found.more_before and places else None,
        total=found.total,
        total_exact=not (tags or q),
    )


def _place(memory: Memory, session_id: str, around: str) -> int:
    is_place = around.isascii() and around.isdigit() and len(around) < 16
    return int(around) if is_place else memory.told(session_id, around).place


@post("/sessions/{session_id:str}/entries", sync_to_thread=True)
def add_entry(
    caller: Asking, session_id: FromPath[str], data: JSONBody[dict[str, Any]]
) -> ReceiptRow:
    """Store one entry, given by the fields of its envelope."""
    return receipt_row(caller.memory.add_memory(session_id, data))


@post("/sessions/{session_id:str}/batch", sync_to_thread=True)
def add_entries(caller: Asking, session_id: FromPath[str], data: JSONBody[NewEntries]) -> Receipts:
    """Store several entries with one write and one sync."""
    done = caller.memory.add_many(session_id, data.entries)
    return Receipts(receipts=[receipt_row(one) for one in done])


@get(_ENTRY, sync_to_thread=True)
def get_entry(caller: Asking, session_id: FromPath[str], entry_id: FromPath[str]) -> EntryRow:
    """One entry with what is known about it."""
    return entry_row(caller.memory.told(session_id, entry_id))


@patch(_ENTRY, sync_to_thread=True)
def revise_entry(
    caller: Asking,
    session_id: FromPath[str],
    entry_id: FromPath[str],
    data: JSONBody[dict[str, Any]],
) -> ReceiptRow:
    """Store a new revision; with `expected_seq` only if that one is still the current."""
    changes = {name: value for name, value in data.items() if name != "expected_seq"}
    for name in _FIXED & changes.keys():
        raise _refused(name, f"{name} cannot be changed.", "Leave it out.")
    expected = _whole(data.get("expected_seq"))
    return receipt_row(
        caller.memory.update_memory(session_id, entry_id, expected_seq=expected, **changes)
    )


def _whole(expected: object) -> int | None:
    """The revision that must be the current one; what is no number must not mean any."""
    if expected is None or (isinstance(expected, int) and not isinstance(expected, bool)):
        return expected
    raise _refused("expected_seq", "expected_seq is a whole number.", "Send `seq` as it was read.")


def _refused(field: str, message: str, advice: str) -> RefusedError:
    return RefusedError(400, "E_SCHEMA_INVALID", message, advice=advice, field=field)


@get(f"{_ENTRY}/raw", sync_to_thread=True)
def raw(caller: Asking, session_id: FromPath[str], entry_id: FromPath[str]) -> Raw:
    """The exact line, where it stands, and whether its checksum holds."""
    return raw_row(caller.memory.raw_line(session_id, entry_id))


@get(f"{_ENTRY}/revisions", sync_to_thread=True)
def revisions(caller: Asking, session_id: FromPath[str], entry_id: FromPath[str]) -> Revisions:
    """Every line about an entry, oldest first."""
    found = caller.memory.revisions(session_id, entry_id)
    return Revisions(
        items=[RevisionRow(kind=one.kind, at=one.at, entry=one.entry) for one in found]
    )


@get(f"{_ENTRY}/links", sync_to_thread=True)
def links(
    caller: Asking,
    session_id: FromPath[str],
    entry_id: FromPath[str],
    depth: Annotated[int, QueryParameter(ge=1, le=3)] = 1,
) -> Links:
    """What an entry refers to and what refers to it, up to three steps away."""
    memory = caller.memory
    entry = memory.told(session_id, entry_id).entry
    near = memory.query(
        None, references=[entry_id], max_depth=depth, limit=_MOST_LINKS, sort="time_desc"
    )
    found = {hit.entry.id: hit.entry for hit in near}
    outgoing = [_link(one, found.get(one)) for one in entry.references]
    incoming = [_link(one.id, one) for one in found.values() if entry_id in one.references]
    direct = {*entry.references, *(one.id for one in incoming)}
    user = memory.load_session(session_id).user_id or memory.settings.knowledge.default_user
    return Links(
        outgoing=outgoing,
        incoming=incoming,
        near=[_link(one.id, one) for one in found.values() if one.id not in direct],
        user=user,
        nodes=memory.nodes_citing(session_id, entry_id, user_id=user),
    )


def _link(identifier: str, entry: Entry | None) -> LinkRow:
    return LinkRow(
        session_id=entry.session_id if entry else None,
        id=identifier,
        type=entry.type if entry else "",
        text=excerpt(entry) if entry else "",
        exists=entry is not None,
    )


ROUTES = [
    list_entries,
    add_entry,
    add_entries,
    get_entry,
    revise_entry,
    raw,
    revisions,
    links,
]
