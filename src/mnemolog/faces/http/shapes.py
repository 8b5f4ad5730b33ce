"""The bodies of answers and requests, as the OpenAPI document tells them."""

from typing import Any

import msgspec

from mnemolog.model.entry import Entry


class Body(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What a client sends; a field that nobody knows is refused."""


class Login(Body):
    """A one-time sign-in code."""

    code: str


class Reach(msgspec.Struct, kw_only=True):
    """What a token is good for; no agents or users means all of them."""

    agents: tuple[str, ...]
    users: tuple[str, ...]
    read_only: bool


class SignedIn(msgspec.Struct, kw_only=True):
    """A page's token, told this once."""

    token: str
    expires_at: str | None
    scope: Reach


class Me(msgspec.Struct, kw_only=True):
    """Who is asking, and what there is."""

    kind: str
    scope: Reach
    agent: str | None
    user: str | None
    expires_at: str | None
    root: str
    version: str
    capabilities: list[str]


class Knowledge(msgspec.Struct, kw_only=True):
    """How far a session was learned from."""

    pending: bool
    processed_until: int


class SessionRow(msgspec.Struct, kw_only=True):
    """A session in the list."""

    id: str
    kind: str = "memory"
    user_id: str | None
    agent_ids: tuple[str, ...]
    state: str
    created_at: str
    last_entry_at: str
    mtime: str
    entries: int
    by_type: dict[str, int]
    size_bytes: int
    limit_bytes: int
    hidden: int
    quarantined: int
    knowledge: Knowledge
    metadata: dict[str, Any]


class SessionFacets(msgspec.Struct, kw_only=True):
    """How many of the listed sessions there are of each agent, user and state."""

    agents: dict[str, int]
    users: dict[str, int]
    states: dict[str, int]


class SessionList(msgspec.Struct, kw_only=True):
    """A part of the list of sessions."""

    items: list[SessionRow]
    next_cursor: str | None
    total: int
    total_exact: bool
    facets: SessionFacets


class SessionFacts(SessionRow, kw_only=True):
    """One session with everything that is known of it."""

    preferences: dict[str, Any]
    markers: dict[str, Any]
    overrides: dict[str, Any]
    by_agent: dict[str, int]
    revisions: int
    redactions: dict[str, int]


class NewSession(Body):
    """A session to be made."""

    user_id: str | None = None
    agent_ids: list[str] = []
    metadata: dict[str, Any] = {}
    preferences: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    session_id: str | None = None


class SessionChange(Body):
    """What is to be changed of a session; objects are merged key by key."""

    agent_ids: list[str] | None = None
    metadata: dict[str, Any] | None = None
    preferences: dict[str, Any] | None = None
    settings: dict[str, Any] | None = None
    closed: bool = False


class BucketRow(msgspec.Struct, kw_only=True):
    """A part of a session; `days` are those that begin in it, by the time of their first entry."""

    from_seq: int
    to_seq: int
    at: str
    by_type: dict[str, int]
    days: dict[str, int]


class Minimap(msgspec.Struct, kw_only=True):
    """A session at a glance."""

    buckets: list[BucketRow]


class FileRow(msgspec.Struct, kw_only=True):
    """One file of a session."""

    name: str
    bytes: int
    mode: str
    modified: str


class Files(msgspec.Struct, kw_only=True):
    """The files of a session."""

    files: list[FileRow]


class Provenance(msgspec.Struct, kw_only=True):
    """Who wrote an entry, and by which way it came."""

    writer: str | None
    channel: str


class EntryRow(msgspec.Struct, kw_only=True):
    """An entry with what is known about it."""

    entry: Entry
    place: int
    importance: float
    decay: float
    accesses: int
    last_access: str | None
    provenance: Provenance
    redactions: tuple[str, ...]
    flags: list[str]
    revisions: int
    hidden_at: str | None
    hidden_until: str | None


class EntryList(msgspec.Struct, kw_only=True):
    """A part of a session, oldest first; cursors are places for `after_seq` and `before_seq`."""

    items: list[EntryRow]
    next_cursor: str | None
    previous_cursor: str | None
    total: int
    total_exact: bool


class HiddenList(msgspec.Struct, kw_only=True):
    """What is hidden and can be brought back."""

    items: list[EntryRow]
    next_cursor: str | None
    total: int
    total_exact: bool


class Raw(msgspec.Struct, kw_only=True):
    """A line exactly as its file holds it; base64 where it is no UTF-8."""

    line: str
    encoding: str
    segment: str
    offset: int
    bytes: int
    sum_ok: bool


class RevisionRow(msgspec.Struct, kw_only=True):
    """One line about an entry."""

    kind: str
    at: str
    entry: Entry


class Revisions(msgspec.Struct, kw_only=True):
    """Every line about an entry, oldest first."""

    items: list[RevisionRow]


class LinkRow(msgspec.Struct, kw_only=True):
    """An entry at the other end of a reference."""

    session_id: str | None
    id: str
    type: str
    text: str
    exists: bool


class Links(msgspec.Struct, kw_only=True):
    """What an entry refers to, what refers to it, what is near; nodes of a user that rest on it."""

    outgoing: list[LinkRow]
    incoming: list[LinkRow]
    near: list[LinkRow]
    user: str
    nodes: list[str]


class ReceiptRow(msgspec.Struct, kw_only=True):
    """What became of one write."""

    id: str
    status: str
    durable: bool
    seq: int
    session_id: str | None
    redactions: tuple[str, ...]
    warnings: tuple[str, ...]
    reason: str | None


class Receipts(msgspec.Struct, kw_only=True):
    """What became of several writes."""

    receipts: list[ReceiptRow]


class NewEntries(Body):
    """Several entries, stored together or not at all."""

    entries: list[dict[str, Any]]


class NewPlan(Body):
    """What somebody wants done; nothing is done yet unless `run` is given and harmless."""

    action: str
    selector: dict[str, Any] = {}
    options: dict[str, Any] = {}
    run: bool = False


class Confirmed(Body):
    """The yes to a plan: true, or the number of entries."""

    confirm: bool | int = False


class Undone(msgspec.Struct, kw_only=True):
    """What was brought back, and what could not be."""

    ids: list[str]
    refused: dict[str, str]


class Restored(Body):
    """Entries that are to be seen again."""

    session_id: str
    ids: list[str]


class Verify(Body):
    """What should be gone; neither is ever logged."""

    ids: list[str] = []
    text: list[str] | str = []
