"""Sessions of a second kind: an agent's NDJSON files, which only know truncation and removal."""

from typing import Annotated, Any

import msgspec
from litestar import delete, get, post
from litestar.params import FromPath, QueryParameter

from mnemolog.adapters.ndjson import AgentSessions, Erasure
from mnemolog.faces.http import logs
from mnemolog.faces.http.house import Asking, Caller
from mnemolog.faces.http.problems import RefusedError

_DONE = {"clear": "cleared", "delete": "deleted"}
_SESSION = "/work-agents/{agent:str}/sessions/{session_id:str}"


class FileSession(msgspec.Struct, kw_only=True):
    """A session that is one file of NDJSON."""

    id: str
    kind: str
    agent: str
    timestamp: str | None
    mtime: str
    size_bytes: int


class FileSessions(msgspec.Struct, kw_only=True):
    """The sessions in an agent's folder, newest first, and what there is no session's file."""

    items: list[FileSession]
    warnings: list[str]


class Cleared(msgspec.Struct, kw_only=True):
    """The confirmation that a file was emptied or removed; it cannot be undone."""

    action: str
    session_id: str
    timestamp: str
    bytes: int


class Events(msgspec.Struct, kw_only=True):
    """The events of a session, in the order of saving."""

    items: list[dict[str, Any]]
    warnings: list[str]


def _sessions(caller: Caller, agent: str) -> AgentSessions:
    caller.owner("look into an agent's folder")
    if caller.house.work_agents is None:
        raise RefusedError(
            404,
            "E_NOT_SERVED",
            "No folder of NDJSON sessions is served.",
            advice="Start the server with --work-agent FOLDER.",
        )
    return AgentSessions(caller.house.work_agents, agent)


@get("/work-agents/{agent:str}/sessions", sync_to_thread=True)
def list_files(caller: Asking, agent: FromPath[str]) -> FileSessions:
    """Every `.ndjson` file in an agent's sessions folder."""
    found = _sessions(caller, agent).list()
    return FileSessions(
        items=[
            FileSession(
                id=one.id,
                kind="ndjson",
                agent=agent,
                timestamp=one.timestamp,
                mtime=one.mtime,
                size_bytes=one.size,
            )
            for one in found
        ],
        warnings=list(found.warnings),
    )


@get(_SESSION, sync_to_thread=True)
def read_file(
    caller: Asking,
    agent: FromPath[str],
    session_id: FromPath[str],
    limit: Annotated[int, QueryParameter(ge=1, le=200)] = 100,
) -> Events:
    """The last events of a session."""
    found = _sessions(caller, agent).load(session_id, limit)
    return Events(items=msgspec.to_builtins(list(found)), warnings=list(found.warnings))


@post(f"{_SESSION}/clear", sync_to_thread=True, status_code=200)
def clear_file(caller: Asking, agent: FromPath[str], session_id: FromPath[str]) -> Cleared:
    """Cut a session's file to zero bytes, for good; logged."""
    return _told(caller, agent, _sessions(caller, agent).clear(session_id))


@delete(_SESSION, sync_to_thread=True, status_code=200)
def delete_file(caller: Asking, agent: FromPath[str], session_id: FromPath[str]) -> Cleared:
    """Remove a session's file, for good; logged."""
    return _told(caller, agent, _sessions(caller, agent).delete(session_id))


def _told(caller: Caller, agent: str, done: Erasure) -> Cleared:
    logs.told(
        "work-agent", f"session {_DONE[done.action]}",
        done.session_id, agent=agent, bytes=done.bytes,
    )  # fmt: skip
    caller.publish("session", session_id=done.session_id, state=done.action)
    return Cleared(
        action=done.action,
        session_id=done.session_id,
        timestamp=done.timestamp,
        bytes=done.bytes,
    )


ROUTES = [list_files, read_file, clear_file, delete_file]
