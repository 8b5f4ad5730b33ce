"""The catalogue: sessions listed from the index, at the cost of those that are shown."""

import sqlite3
from collections.abc import Mapping

import msgspec

from mnemolog.index.scope import of_agents
from mnemolog.model.session import Manifest
from mnemolog.policy.access import Viewer, may_see_session
from mnemolog.ports import Listed, Wanted

_decode = msgspec.json.Decoder(Manifest).decode

_IDLE = "closed IS NOT NULL AND seq <= closed"
_STATES = {
    "idle": f"NOT archived AND ({_IDLE})",
    "active": f"NOT archived AND NOT ({_IDLE})",
    "archived": "archived",
}


def sessions(
    db: sqlite3.Connection,
    wanted: Wanted,
    viewer: Viewer,
    behind: Mapping[str, Listed | None] | None = None,
) -> list[Listed]:
    """The sessions that the viewer may see and the caller wants, last changed first.

    `behind` are logs of which the index does not know the last lines, as they are now.
    """
    behind = behind or {}
    known = _known(db, wanted, viewer, len(behind))
    found = [one for name, one in known if name not in behind]
    if behind:
        found += [one for one in behind.values() if one and _is_wanted(one, wanted, viewer)]
        found.sort(key=lambda one: (_updated(one), one.manifest.session_id), reverse=True)
    return found[: wanted.limit]


def _updated(one: Listed) -> str:
    return max(one.last_written or "", one.manifest.created_at)


def _state(one: Listed) -> str:
    if one.manifest.archived_at is not None:
        return "archived"
    closed = one.manifest.markers.get("closed_seq")
    return "active" if closed is None or one.last_seq > closed else "idle"


def _is_wanted(one: Listed, wanted: Wanted, viewer: Viewer) -> bool:
    """The same as the database is asked for."""
    facts = one.manifest
    users = {viewer.user, wanted.user_id} - {None}
    return (
        may_see_session(viewer, facts.agent_ids, facts.user_id)
        and wanted.agent_id in (None, *facts.agent_ids)
        and users <= {facts.user_id}
        and wanted.state in (None, _state(one))
    )


def _known(
    db: sqlite3.Connection, wanted: Wanted, viewer: Viewer, more: int
) -> list[tuple[str, Listed]]:
    """What the index knows, with so many more than are wanted."""
    conditions = ["session IS NOT NULL"]
    values: list[object] = []
    for asking in (viewer, Viewer(wanted.agent_id)):
        if asking.agent is not None:
            conditions.append(of_agents(asking))
            values += asking.agents
    for user in (viewer.user, wanted.user_id):
        if user is not None:
            conditions.append("user = ?")
            values.append(user)
    if wanted.state is not None:
        conditions.append(_STATES.get(wanted.state, "FALSE"))
    rows = db.execute(
        f"SELECT name, facts, seq, written FROM log WHERE {' AND '.join(conditions)}"
        " ORDER BY updated DESC, session DESC LIMIT ?",
        (*values, -1 if wanted.limit is None else wanted.limit + more),
    )
    return [(name, Listed(_decode(facts), seq, written)) for name, facts, seq, written in rows]
