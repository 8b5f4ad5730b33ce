"""Sessions: listed, made, changed, looked at."""

from collections import Counter
from contextlib import suppress
from typing import Annotated, Literal

import msgspec
from litestar import get, patch, post
from litestar.params import FromPath, FromQuery, JSONBody, QueryParameter

from mnemolog.errors import SessionNotFoundError
from mnemolog.faces.http.house import Asking, Caller
from mnemolog.faces.http.queries import Cursor, Limit, opened, sealed
from mnemolog.faces.http.rows import session_row
from mnemolog.faces.http.shapes import (
    BucketRow,
    FileRow,
    Files,
    Minimap,
    NewSession,
    SessionChange,
    SessionFacets,
    SessionFacts,
    SessionList,
    SessionRow,
)
from mnemolog.memory import Memory
from mnemolog.model.session import Session
from mnemolog.model.times import normalise

State = Literal["active", "idle", "archived"]
Sort = Literal["-updated", "updated", "-created", "created", "id", "-id"]


class Wanted(msgspec.Struct, kw_only=True):
    """Which sessions are listed."""

    agent: str | None
    user: str | None
    state: str | None
    tag: str | None
    text: str
    start: str | None
    end: str | None

    def matches(self, one: Session) -> bool:
        """Whether a session is one of them."""
        return (
            (self.agent is None or self.agent in one.agent_ids)
            and self.user in (None, one.user_id)
            and self.state in (None, one.state)
            and (self.start is None or one.updated_at >= self.start)
            and (self.end is None or one.updated_at <= self.end)
            and (self.tag is None or self.tag in _strings(one.metadata.get("tags")))
            and (not self.text or self.text in _said(one))
        )


def _strings(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _said(one: Session) -> str:
    facts = msgspec.json.encode(one.metadata).decode()
    return " ".join((one.id, one.user_id or "", *one.agent_ids, facts)).casefold()


def _key(sort: str) -> tuple[str, bool]:
    field = {"updated": "updated_at", "created": "created_at", "id": "id"}[sort.lstrip("-")]
    return field, sort.startswith("-")


@get("/sessions", sync_to_thread=True)
def list_sessions(
    caller: Asking,
    agent: Annotated[str | None, QueryParameter(max_length=1024)] = None,
    user: Annotated[str | None, QueryParameter(max_length=1024)] = None,
    in_state: Annotated[State | None, QueryParameter(name="state")] = None,
    tag: Annotated[str | None, QueryParameter(max_length=200)] = None,
    q: Annotated[str, QueryParameter(max_length=500)] = "",
    start: Annotated[str | None, QueryParameter(name="from")] = None,
    end: Annotated[str | None, QueryParameter(name="to")] = None,
    sort: FromQuery[Sort] = "-updated",
    limit: Limit = 50,
    cursor: Cursor = None,
) -> SessionList:
    """The sessions in sight, with counts of each agent, user and state."""
    wanted = Wanted(
        agent=agent,
        user=user,
        state=in_state,
        tag=tag,
        text=q.casefold(),
        start=None if start is None else normalise(start, "from"),
        end=None if end is None else normalise(end, "to"),
    )
    memory = caller.memory
    everything = memory.list_sessions()
    found = [one for one in everything if wanted.matches(one)]
    field, is_down = _key(sort)
    found.sort(key=lambda one: (getattr(one, field), one.id), reverse=is_down)
    rest = _after(found, opened(cursor, tuple[str, str]), field, is_down)
    shown = rest[:limit]
    last = shown[-1] if len(rest) > limit else None
    return SessionList(
        items=_rows(memory, shown),
        next_cursor=sealed(getattr(last, field), last.id) if last else None,
        total=len(found),
        total_exact=True,
        facets=_facets(everything, wanted),
    )


def _after(
    found: list[Session], place: tuple[str, str] | None, field: str, is_down: bool
) -> list[Session]:
    if place is None:
        return found
    if is_down:
        return [one for one in found if (getattr(one, field), one.id) < place]
    return [one for one in found if (getattr(one, field), one.id) > place]


def _facets(everything: list[Session], wanted: Wanted) -> SessionFacets:
    """Each counted under the other filters, so that a choice can be changed."""
    agents, users, states = Counter[str](), Counter[str](), Counter[str]()
    without = {
        name: msgspec.structs.replace(wanted, **{name: None}) for name in ("agent", "user", "state")
    }
    for one in everything:
        if without["agent"].matches(one):
            agents.update(one.agent_ids)
        if without["user"].matches(one) and one.user_id is not None:
            users[one.user_id] += 1
        if without["state"].matches(one):
            states[one.state] += 1
    return SessionFacets(
        agents=dict(agents.most_common(200)),
        users=dict(users.most_common(200)),
        states=dict(states),
    )


def _rows(memory: Memory, shown: list[Session]) -> list[SessionRow]:
    rows = []
    for one in shown:
        with suppress(SessionNotFoundError):  # removed since it was listed
            rows.append(_row(memory, one))
    return rows


def _row(memory: Memory, one: Session) -> SessionRow:
    return session_row(
        one, memory.numbers(one.id), memory.quarantined(one.id), memory.session_markers(one.id)
    )


def _facts(caller: Caller, one: Session) -> SessionFacts:
    memory = caller.memory
    numbers = memory.numbers(one.id)
    markers = memory.session_markers(one.id)
    row = session_row(one, numbers, memory.quarantined(one.id), markers)
    return SessionFacts(
        **msgspec.structs.asdict(row),
        preferences=one.preferences,
        markers=markers,
        overrides=one.settings,
        by_agent=numbers.summary.agents,
        revisions=numbers.summary.revisions,
        redactions=numbers.summary.redactions,
    )


@post("/sessions", sync_to_thread=True)
def create_session(caller: Asking, data: JSONBody[NewSession]) -> SessionFacts:
    """Make a session."""
    made = caller.memory.create_session(
        data.user_id,
        agent_ids=data.agent_ids,
        metadata=data.metadata,
        preferences=data.preferences,
        settings=data.settings,
        session_id=data.session_id,
    )
    caller.publish("session", session_id=made.id, state=made.state)
    return _facts(caller, made)


@get("/sessions/{session_id:str}", sync_to_thread=True)
def get_session(caller: Asking, session_id: FromPath[str]) -> SessionFacts:
    """One session with everything that is known of it."""
    return _facts(caller, caller.memory.load_session(session_id))


@patch("/sessions/{session_id:str}", sync_to_thread=True)
def change_session(
    caller: Asking, session_id: FromPath[str], data: JSONBody[SessionChange]
) -> SessionFacts:
    """Change a session's own facts, or say that it is finished."""
    memory = caller.memory
    changed = memory.update_session(
        session_id,
        agent_ids=data.agent_ids,
        metadata=data.metadata,
        preferences=data.preferences,
        settings=data.settings,
    )
    if data.closed:
        changed = memory.close_session(session_id)
    caller.publish("session", session_id=changed.id, state=changed.state)
    return _facts(caller, changed)


@get("/sessions/{session_id:str}/minimap", sync_to_thread=True)
def minimap(
    caller: Asking,
    session_id: FromPath[str],
    buckets: Annotated[int, QueryParameter(ge=1, le=400)] = 400,
    ahead: Annotated[
        int, QueryParameter(ge=-1440, le=1440, description="Minutes that days begin before UTC's.")
    ] = 0,
) -> Minimap:
    """A session at a glance: what there is in each part of it, and where its days begin."""
    found = caller.memory.minimap(session_id, buckets, ahead)
    return Minimap(buckets=msgspec.convert(msgspec.to_builtins(found), list[BucketRow]))


@get("/sessions/{session_id:str}/files", sync_to_thread=True)
def files(caller: Asking, session_id: FromPath[str]) -> Files:
    """The files that make up a session, exactly as on disk."""
    found = caller.memory.session_files(session_id)
    return Files(files=msgspec.convert(msgspec.to_builtins(found), list[FileRow]))


ROUTES = [list_sessions, create_session, get_session, change_session, minimap, files]
