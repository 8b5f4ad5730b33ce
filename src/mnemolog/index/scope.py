"""Scope: which rows a viewer may see and a query's filters let through."""

import sqlite3
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mnemolog import paths
from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.model.entry import SCOPES
from mnemolog.model.query import KINDS, Query
from mnemolog.model.times import to_moment
from mnemolog.policy.access import Viewer

_ENTRIES = Query()
_PRIVATE = [SCOPES.index("agent"), SCOPES.index("run")]
_ALL = slice(None)

Rows = NDArray[np.int64]


def mask_of(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    viewer: Viewer,
    log: str | None,
    asked: Query = _ENTRIES,
) -> Mask:
    """The rows that exist for a viewer, in one log or in all; the statistics are theirs alone."""
    if log is None and viewer.agent is None and viewer.user is None:
        return _of_kinds(snapshot, asked)
    mask = snapshot.living & logs_mask(snapshot, _visible_logs(db, viewer, log, asked))
    if viewer.agent is not None:
        mask &= may_see(db, snapshot, viewer)
    return mask


def may_see(
    db: sqlite3.Connection, snapshot: Snapshot, viewer: Viewer, rows: Rows | slice = _ALL
) -> Mask:
    """Which rows of logs in sight are not another agent's own affair."""
    is_private = np.isin(snapshot.column("scope")[rows], _PRIVATE)
    if viewer.agent is None:
        return np.ones(len(is_private), bool)
    return ~is_private | are_own(db, snapshot, viewer, rows)


def are_own(
    db: sqlite3.Connection, snapshot: Snapshot, viewer: Viewer, rows: Rows | slice = _ALL
) -> Mask:
    """Which rows the agents that are asking wrote themselves."""
    own = numbers_of(db, "agent", viewer.agents)
    column = snapshot.column("agent")[rows]
    return np.asarray(column == own[0] if len(own) == 1 else np.isin(column, own))


def _of_kinds(snapshot: Snapshot, asked: Query) -> Mask:
    """The rows of the kinds that are asked for; where there are no nodes, nothing is looked at."""
    nodes = snapshot.once(_node_logs)
    if asked.kinds == KINDS or not nodes:
        return snapshot.living if "entry" in asked.kinds else np.zeros(snapshot.rows, bool)
    are_nodes = logs_mask(snapshot, nodes)
    return snapshot.living & (are_nodes if "node" in asked.kinds else ~are_nodes)


def _node_logs(db: sqlite3.Connection) -> list[int]:
    query = "SELECT id FROM log WHERE name >= ? AND name < ?"
    return [one for (one,) in db.execute(query, (f"{paths.NODES}/", f"{paths.NODES}0"))]


def logs_mask(snapshot: Snapshot, logs: list[int]) -> Mask:
    """The rows of these logs."""
    column = snapshot.column("log")
    if len(logs) == 1:
        return np.asarray(column == logs[0])
    chosen = np.zeros(max([*logs, int(column.max(initial=0))]) + 1, bool)
    chosen[logs] = True
    return np.asarray(chosen[column])


def _visible_logs(
    db: sqlite3.Connection, viewer: Viewer, log: str | None, asked: Query
) -> list[int]:
    """The logs in sight: sessions that name the agent, their users' own logs, the shared one.

    And the nodes of these users, or them alone, if they are asked for.
    """
    found = _sessions(db, viewer, log)
    logs = [number for number, _ in found]
    if log is not None:
        return logs if "entry" in asked.kinds else []
    users = {user for _, user in found if user is not None} | {viewer.user} - {None}
    names = [paths.SHARED, *(paths.user_folder(user) for user in users if user is not None)]
    if "entry" not in asked.kinds:
        logs, names = [], []
    if "node" in asked.kinds:
        users |= {asked.unowned} if any(user is None for _, user in found) else set()
        names += [nodes_log(user) for user in users if user]
    beside = (db.execute("SELECT id FROM log WHERE name = ?", (name,)).fetchone() for name in names)
    return logs + [row[0] for row in beside if row is not None]


def session_logs(db: sqlite3.Connection, viewer: Viewer, log: str | None) -> list[int]:
    """The logs of the sessions in sight, or of one of them."""
    return [number for number, _ in _sessions(db, viewer, log)]


def _sessions(
    db: sqlite3.Connection, viewer: Viewer, log: str | None
) -> list[tuple[int, str | None]]:
    where = ["session IS NOT NULL"]
    values: list[str] = []
    if viewer.agent is not None:
        where.append(of_agents(viewer))
        values += viewer.agents
    if viewer.user is not None:
        where.append("user = ?")
        values.append(viewer.user)
    if log is not None:
        where.append("name = ?")
        values.append(log)
    return db.execute(f"SELECT id, user FROM log WHERE {' AND '.join(where)}", values).fetchall()


def of_agents(viewer: Viewer) -> str:
    """The condition that a log names one of the agents that are asking."""
    marks = ",".join("?" * len(viewer.agents))
    return f"id IN (SELECT log FROM log_agent WHERE agent IN ({marks}))"


def nodes_log(user_id: str) -> str:
    """The name under which a user's nodes are known here."""
    return f"{paths.NODES}/{paths.file_name(user_id)}"


def narrow(db: sqlite3.Connection, snapshot: Snapshot, mask: Mask, query: Query) -> Mask:
    """The rows of a mask that pass a query's filters; the mask itself if there are none."""
    if not query.is_filtered:
        return mask
    mask = mask.copy()
    if query.types:
        mask &= np.isin(snapshot.column("kind"), numbers_of(db, "type", query.types))
    if query.agents:
        mask &= np.isin(snapshot.column("agent"), numbers_of(db, "agent", query.agents))
    if query.users:
        where = "SELECT id FROM log WHERE user = ? OR name = ?"
        found = (db.execute(where, (one, nodes_log(one))) for one in query.users)
        mask &= logs_mask(snapshot, [number for rows in found for (number,) in rows])
    if query.start is not None:
        mask &= snapshot.column("time") >= _milliseconds(query.start)
    if query.end is not None:
        mask &= snapshot.column("time") <= _milliseconds(query.end)
    if query.min_importance > 0:
        mask &= snapshot.column("importance") >= np.float32(query.min_importance)
    return _by_tags(db, mask, query)


def _by_tags(db: sqlite3.Connection, mask: Mask, query: Query) -> Mask:
    if query.tags:
        mask &= _tagged(db, len(mask), query.tags)
    for tag in query.all_tags:
        mask &= _tagged(db, len(mask), (tag,))
    if query.exclude_tags:
        mask &= ~_tagged(db, len(mask), query.exclude_tags)
    return mask


def _tagged(db: sqlite3.Connection, size: int, tags: Iterable[str]) -> Mask:
    """The rows with any of these tags or of their children: `a` finds `a.b`."""
    found = np.zeros(size, bool)
    for tag in tags:
        rows = db.execute(
            "SELECT row FROM tag WHERE tag = ? OR (tag >= ? AND tag < ?)",
            (tag, f"{tag}.", f"{tag}/"),
        )
        numbers = np.fromiter((row for (row,) in rows), np.int64)
        found[numbers[numbers < size]] = True
    return found


def linked(db: sqlite3.Connection, snapshot: Snapshot, mask: Mask, query: Query) -> Mask:
    """The rows that references join to the given ids, in either direction, up to `max_depth`.

    What refers to one of these does so too where that one is out of sight: hidden, moved to the
    archive, or in another session. From there on only what is in sight is gone through.
    """
    start = {row for one in query.references for row in _rows_of(db, one)}
    names = set(query.references)
    reached: set[int] = set()
    frontier = {row for row in start if row < len(mask) and mask[row]}
    for _ in range(query.max_depth):
        beside = {row for one in names for row in _referring(db, one)}
        beside |= {other for row in frontier for other in _referred_to(db, row)}
        frontier = {row for row in beside - start - reached if row < len(mask) and mask[row]}
        reached |= frontier
        names = {_id_of(db, row) for row in frontier}
    chosen = np.zeros(len(mask), bool)
    chosen[sorted(reached)] = True
    return chosen


def _rows_of(db: sqlite3.Connection, identifier: str) -> list[int]:
    return [row for (row,) in db.execute("SELECT row FROM entry WHERE id = ?", (identifier,))]


def _id_of(db: sqlite3.Connection, row: int) -> str:
    (identifier,) = db.execute("SELECT id FROM entry WHERE row = ?", (row,)).fetchone()
    return str(identifier)


def _referring(db: sqlite3.Connection, identifier: str) -> list[int]:
    """The rows that refer to an id; those of earlier revisions too, which are dead."""
    return [row for (row,) in db.execute("SELECT source FROM link WHERE target = ?", (identifier,))]


def _referred_to(db: sqlite3.Connection, row: int) -> list[int]:
    """The rows of the ids that a row refers to."""
    query = "SELECT entry.row FROM link JOIN entry ON entry.id = link.target WHERE source = ?"
    return [other for (other,) in db.execute(query, (row,))]


def numbers_of(db: sqlite3.Connection, kind: str, texts: Iterable[str]) -> list[int]:
    """The numbers of names; -1 for one that no row has."""
    return [_number(db, kind, text) for text in texts]


def _number(db: sqlite3.Connection, kind: str, text: str) -> int:
    query = "SELECT id FROM word WHERE kind = ? AND text = ?"
    found = db.execute(query, (kind, text)).fetchone()
    return -1 if found is None else int(found[0])


def _milliseconds(stamp: str) -> int:
    return round(to_moment(stamp).timestamp() * 1000)
