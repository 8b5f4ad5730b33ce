"""Scope: which rows a viewer may see and a query's filters let through."""

import sqlite3
from collections.abc import Iterable

import numpy as np

from mnemolog import paths
from mnemolog.index.snapshot import Mask, Snapshot
from mnemolog.model.entry import SCOPES
from mnemolog.model.query import KINDS, Query
from mnemolog.model.times import to_moment
from mnemolog.policy.access import Viewer

_ENTRIES = Query()
_PRIVATE = [SCOPES.index("agent"), SCOPES.index("run")]


def mask_of(
    db: sqlite3.Connection,
    snapshot: Snapshot,
    viewer: Viewer,
    log: str | None,
    asked: Query = _ENTRIES,
) -> Mask:
    """The rows that exist for a viewer, in one log or in all; the statistics are theirs alone."""
    mask = snapshot.living.copy()
    if log is not None or viewer.agent is not None or viewer.user is not None:
        mask &= _logs_mask(snapshot, _visible_logs(db, viewer, log, asked))
    else:
        mask &= _kinds_mask(db, snapshot, asked)
    if viewer.agent is not None:
        own = _number(db, "agent", viewer.agent)
        is_private = np.isin(snapshot.column("scope"), _PRIVATE)
        mask &= ~is_private | (snapshot.column("agent") == own)
    return mask


def _kinds_mask(db: sqlite3.Connection, snapshot: Snapshot, asked: Query) -> Mask | np.bool_:
    """The rows of the kinds that are asked for; where there are no nodes, nothing is looked at."""
    query = "SELECT id FROM log WHERE name >= ? AND name < ?"
    nodes = [one for (one,) in db.execute(query, (f"{paths.NODES}/", f"{paths.NODES}0"))]
    if asked.kinds == KINDS or not nodes:
        return np.bool_("entry" in asked.kinds)
    are_nodes = _logs_mask(snapshot, nodes)
    return are_nodes if "node" in asked.kinds else ~are_nodes


def _logs_mask(snapshot: Snapshot, logs: list[int]) -> Mask:
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
    where, values = ["session IS NOT NULL"], []
    if viewer.agent is not None:
        where.append("id IN (SELECT log FROM log_agent WHERE agent = ?)")
        values.append(viewer.agent)
    if viewer.user is not None:
        where.append("user = ?")
        values.append(viewer.user)
    if log is not None:
        where.append("name = ?")
        values.append(log)
    found = db.execute(f"SELECT id, user FROM log WHERE {' AND '.join(where)}", values).fetchall()
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


def nodes_log(user_id: str) -> str:
    """The name under which a user's nodes are known here."""
    return f"{paths.NODES}/{paths.file_name(user_id)}"


def narrow(db: sqlite3.Connection, snapshot: Snapshot, mask: Mask, query: Query) -> Mask:
    """The rows of a mask that pass a query's filters."""
    mask = mask.copy()
    if query.types:
        mask &= np.isin(snapshot.column("kind"), _numbers(db, "type", query.types))
    if query.agents:
        mask &= np.isin(snapshot.column("agent"), _numbers(db, "agent", query.agents))
    if query.users:
        where = "SELECT id FROM log WHERE user = ? OR name = ?"
        found = (db.execute(where, (one, nodes_log(one))) for one in query.users)
        mask &= _logs_mask(snapshot, [number for rows in found for (number,) in rows])
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
    """The rows that references join to the given ids, in either direction, up to `max_depth`."""
    reached: set[int] = set()
    seen_ids: set[str] = set()
    frontier = set(query.references)
    for _ in range(query.max_depth + 1):
        frontier -= seen_ids
        seen_ids |= frontier
        found = (row for one in frontier for row in _rows_of(db, one))
        rows = {row for row in found if row < len(mask) and mask[row]}
        reached |= rows
        frontier = {other for row in rows for other in _neighbours(db, row)}
    start = {row for one in query.references for row in _rows_of(db, one)}
    chosen = np.zeros(len(mask), bool)
    chosen[sorted(reached - start)] = True
    return chosen


def _rows_of(db: sqlite3.Connection, identifier: str) -> list[int]:
    return [row for (row,) in db.execute("SELECT row FROM entry WHERE id = ?", (identifier,))]


def _neighbours(db: sqlite3.Connection, row: int) -> set[str]:
    """The ids that a row refers to, and those that refer to it."""
    outward = db.execute("SELECT target FROM link WHERE source = ?", (row,)).fetchall()
    inward = db.execute(
        "SELECT other.id FROM entry AS own JOIN link ON link.target = own.id"
        " JOIN entry AS other ON other.row = link.source WHERE own.row = ?",
        (row,),
    ).fetchall()
    return {identifier for (identifier,) in outward + inward}


def _numbers(db: sqlite3.Connection, kind: str, texts: Iterable[str]) -> list[int]:
    return [_number(db, kind, text) for text in texts]


def _number(db: sqlite3.Connection, kind: str, text: str) -> int:
    query = "SELECT id FROM word WHERE kind = ? AND text = ?"
    found = db.execute(query, (kind, text)).fetchone()
    return -1 if found is None else int(found[0])


def _milliseconds(stamp: str) -> int:
    return round(to_moment(stamp).timestamp() * 1000)
