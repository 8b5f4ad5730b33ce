"""The catalogue: sessions listed from the index, at the cost of those that are shown."""

import sqlite3

import msgspec

from mnemolog.model.session import Manifest
from mnemolog.policy.access import Viewer
from mnemolog.ports import Listed, Wanted

_decode = msgspec.json.Decoder(Manifest).decode

_IDLE = "closed IS NOT NULL AND seq <= closed"
_STATES = {
    "idle": f"NOT archived AND ({_IDLE})",
    "active": f"NOT archived AND NOT ({_IDLE})",
    "archived": "archived",
}
_OF_AGENT = "id IN (SELECT log FROM log_agent WHERE agent = ?)"


def sessions(db: sqlite3.Connection, wanted: Wanted, viewer: Viewer) -> list[Listed]:
    """The sessions that the viewer may see and the caller wants, last changed first."""
    conditions = ["session IS NOT NULL"]
    values: list[object] = []
    for agent in (viewer.agent, wanted.agent_id):
        if agent is not None:
            conditions.append(_OF_AGENT)
            values.append(agent)
    for user in (viewer.user, wanted.user_id):
        if user is not None:
            conditions.append("user = ?")
            values.append(user)
    if wanted.state is not None:
        conditions.append(_STATES.get(wanted.state, "FALSE"))
    rows = db.execute(
        f"SELECT facts, seq, written FROM log WHERE {' AND '.join(conditions)}"
        " ORDER BY updated DESC, session DESC LIMIT ?",
        (*values, -1 if wanted.limit is None else wanted.limit),
    )
    return [Listed(_decode(facts), seq, written) for facts, seq, written in rows]
