"""Nodes, their versions and links, the graph."""

from typing import Annotated, Any

import msgspec
from litestar import delete, get, post, put
from litestar.params import FromPath, FromQuery, HeaderParameter, JSONBody, QueryParameter

from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.node_rows import folder_rows, hunk_rows, leaf_row, written
from mnemolog.faces.http.node_shapes import (
    BacklinkRow,
    GraphFacts,
    GraphNode,
    NodeFacts,
    NodeMerge,
    NodeMove,
    NodeWrite,
    OutgoingRow,
    Reverting,
    Similar,
    SimilarRow,
    Tree,
    VersionFacts,
    VersionRow,
    Versions,
    Written,
)
from mnemolog.model.node import Backlink, Leaf, NodeVersion

_NODE = "/nodes/{user:str}/{path:str}"
_MOST_NODES = 2000
_MOST_PAIRS = 200

IfMatch = Annotated[
    str | None,
    HeaderParameter(name="If-Match", max_length=200, description="The hash of what was read."),
]


@get("/nodes/{user:str}", sync_to_thread=True)
def tree(
    caller: Asking,
    user: FromPath[str],
    path: FromQuery[str] = "",
    depth: Annotated[int, QueryParameter(ge=0, le=1)] = 0,
    after: Annotated[str, QueryParameter(max_length=1000)] = "",
    limit: Annotated[int, QueryParameter(ge=1, le=1000)] = 200,
) -> Tree:
    """The nodes of a user, the four files first; with `path` only those below a folder, with
    `depth=1` only what lies directly in it, at most `limit` names, and folders with their counts.
    """
    memory = caller.memory
    users = memory.node_users()
    if not depth:
        found = [leaf_row(one) for one in memory.tree(user, path)]
        return Tree(user=user, users=users, items=found, total=len(found))
    level = memory.folder(path, user_id=user, after=after, limit=limit)
    rows = folder_rows(level)
    return Tree(user=user, users=users, items=rows, total=level.nodes, next=level.next)


@get(_NODE, sync_to_thread=True)
def read_node(caller: Asking, user: FromPath[str], path: FromPath[str]) -> NodeFacts:
    """A node with its sources, links and mentions. A `/` in the path is written `%2F`."""
    memory = caller.memory
    node = memory.read_node(path, user_id=user)
    links = memory.node_links(path, user_id=user)
    return NodeFacts(
        user=node.user_id,
        path=node.address,
        title=node.title,
        description=node.description,
        body=node.body,
        text=node.text,
        front_matter=msgspec.to_builtins(node.extra),
        hash=node.hash,
        version=node.version,
        created_at=node.created_at,
        updated_at=node.updated_at,
        parents=node.parents,
        sources=node.sources,
        flags=node.flags,
        backlinks=[_backlink(one) for one in links.backlinks],
        mentions=[_backlink(one) for one in links.mentions],
        outgoing=[
            OutgoingRow(path=one.target, context=one.context, exists=one.exists)
            for one in links.outgoing
        ],
    )


def _backlink(one: Backlink) -> BacklinkRow:
    return BacklinkRow(path=one.address, title=one.title, context=one.context)


@put(_NODE, sync_to_thread=True)
def write_node(
    caller: Asking,
    user: FromPath[str],
    path: FromPath[str],
    data: JSONBody[NodeWrite],
    if_match: IfMatch = None,
) -> Written:
    """Write a node made against the text that `If-Match` names; 412 if another is there now."""
    memory = caller.memory
    done = memory.write_node(
        path,
        data.body,
        user_id=user,
        title=data.title,
        description=data.description,
        expected=_hash(if_match) or "",
        reason=data.reason,
        sources=data.sources,
    )
    return written(caller, user, done)


def _hash(if_match: str | None) -> str | None:
    return None if if_match is None else if_match.strip().strip('"')


@delete(_NODE, sync_to_thread=True, status_code=200)
def delete_node(
    caller: Asking,
    user: FromPath[str],
    path: FromPath[str],
    reason: Annotated[str, QueryParameter(max_length=500)] = "",
    if_match: IfMatch = None,
) -> Written:
    """Remove a node; its versions stay, and one can be made the text again."""
    memory = caller.memory
    done = memory.delete_node(path, user_id=user, expected=_hash(if_match), reason=reason)
    return written(caller, user, done)


@post(f"{_NODE}/move", sync_to_thread=True, status_code=200)
def move_node(
    caller: Asking, user: FromPath[str], path: FromPath[str], data: JSONBody[NodeMove]
) -> Written:
    """Give a node another address, with its versions, and mend the links to it."""
    memory = caller.memory
    return written(caller, user, memory.move_node(path, data.to, user_id=user, reason=data.reason))


@post(f"{_NODE}/merge", sync_to_thread=True, status_code=200)
def merge_node(
    caller: Asking, user: FromPath[str], path: FromPath[str], data: JSONBody[NodeMerge]
) -> Written:
    """Add all that a node says to another one, remove it, and mend the links to it."""
    done = caller.memory.merge_nodes(path, data.into, user_id=user, reason=data.reason)
    return written(caller, user, done)


@get("/similar/{user:str}", sync_to_thread=True)
def similar(caller: Asking, user: FromPath[str]) -> Similar:
    """Pairs of a user's nodes that are perhaps the same, the surest first."""
    found = caller.memory.similar_nodes(user)
    return Similar(
        items=[
            SimilarRow(path=one.address, other=one.other, why=one.why, share=one.share)
            for one in found[:_MOST_PAIRS]
        ],
        total=len(found),
    )


@get(f"{_NODE}/versions", sync_to_thread=True)
def versions(caller: Asking, user: FromPath[str], path: FromPath[str]) -> Versions:
    """Every version of a node."""
    found = caller.memory.node_versions(path, user_id=user)
    return Versions(items=[VersionRow(**_version(one)) for one in found])


def _version(one: NodeVersion) -> dict[str, Any]:
    return {
        "n": one.number,
        "at": one.at,
        "by": one.by,
        "reason": one.reason,
        "hash": one.hash,
        "sources": tuple(one.sources),
        "removed": one.text is None,
    }


@get(f"{_NODE}/versions/{{n:int}}", sync_to_thread=True)
def version(
    caller: Asking,
    user: FromPath[str],
    path: FromPath[str],
    n: FromPath[int],
    diff: Annotated[int | None, QueryParameter(ge=0, le=2**31)] = None,
) -> VersionFacts:
    """One version, and how it differs from the one before it or from that of another number."""
    memory = caller.memory
    hunks = memory.node_diff(path, diff, n, user_id=user)
    found = next(one for one in memory.node_versions(path, user_id=user) if one.number == n)
    return VersionFacts(**_version(found), text=found.text, hunks=hunk_rows(hunks))


@post(f"{_NODE}/versions/{{n:int}}/revert", sync_to_thread=True, status_code=200)
def revert(
    caller: Asking,
    user: FromPath[str],
    path: FromPath[str],
    n: FromPath[int],
    data: JSONBody[Reverting],
    if_match: IfMatch = None,
) -> Written:
    """Make an earlier version the text again, as a new version."""
    done = caller.memory.revert_node(
        path, n, user_id=user, expected=_hash(if_match), reason=data.reason
    )
    return written(caller, user, done)


@get("/graph/{user:str}", sync_to_thread=True)
def graph(
    caller: Asking,
    user: FromPath[str],
    center: Annotated[str | None, QueryParameter(max_length=1000)] = None,
    depth: Annotated[int, QueryParameter(ge=1, le=3)] = 1,
    limit: Annotated[int, QueryParameter(ge=1, le=_MOST_NODES)] = _MOST_NODES,
) -> GraphFacts:
    """Nodes and their links: all, or those near one of them."""
    found = caller.memory.graph(center, depth=depth, user_id=user)
    degrees: dict[str, int] = {}
    for edge in found.edges:
        degrees[edge.source] = degrees.get(edge.source, 0) + 1
        degrees[edge.target] = degrees.get(edge.target, 0) + 1
    ordered = sorted(found.nodes, key=lambda one: -degrees.get(one.address, 0))
    kept = {one.address for one in ordered[:limit]}
    clusters: dict[str, int] = {}
    for one in found.nodes:
        folder = one.address.rpartition("/")[0]
        clusters[folder] = clusters.get(folder, 0) + 1
    return GraphFacts(
        nodes=[_graph_node(one, degrees) for one in found.nodes if one.address in kept],
        edges=[
            (edge.source, edge.target, edge.kind)
            for edge in found.edges
            if edge.source in kept and edge.target in kept
        ],
        clusters=clusters,
        cut=len(found.nodes) - len(kept),
    )


def _graph_node(one: Leaf, degrees: dict[str, int]) -> GraphNode:
    return GraphNode(
        id=one.address,
        path=one.address,
        title=one.title,
        degree=degrees.get(one.address, 0),
        folder=one.address.rpartition("/")[0],
        updated_at=one.updated_at,
        flags=tuple(one.flags),
    )


ROUTES = [
    tree, read_node, write_node, delete_node, move_node, merge_node, similar, versions, version,
    revert, graph,
]  # fmt: skip
