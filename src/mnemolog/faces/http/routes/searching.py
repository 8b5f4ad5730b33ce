"""Searching, and what a model would be told."""

import time
from collections import Counter
from typing import Any

from litestar import post
from litestar.params import JSONBody

from mnemolog.errors import InvalidQueryError
from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.rows import entry_hit, node_hit
from mnemolog.faces.http.search_shapes import (
    Ask,
    ContextBlock,
    ContextItem,
    Found,
    HitRow,
    IndexState,
    Search,
    SearchFacets,
)
from mnemolog.memory import Memory
from mnemolog.model.node import NodeHit
from mnemolog.model.query import Hit, Hits

_DEEP = 1000
_MOST = 200
_GIVEN = (
    "text types agents users tags time_range references max_depth min_relevance min_importance "
    "sort scorer"
).split()


@post("/search", sync_to_thread=True, status_code=200)
def search(caller: Asking, data: JSONBody[Search]) -> Found:
    """The best entries and nodes for a query, and why each of them ranks where it does."""
    began = time.perf_counter()
    if not 1 <= data.limit <= _MOST:
        raise InvalidQueryError(f"limit must be from 1 to {_MOST}.", field="limit")
    asked = _asked(data)
    scorer = data.scorer or "recall"
    memory = caller.memory
    hits = Hits([])
    if "entry" in data.kinds:
        hits = _entries(memory, data, asked)
    nodes: list[NodeHit] = []
    if "node" in data.kinds and data.text.strip() and not data.session_id:
        nodes = _nodes(memory, data)
    ranked: list[Hit | NodeHit] = [*hits, *nodes]
    if data.sort in (None, "relevance", "relevance_desc"):
        ranked.sort(key=lambda one: -one.relevance)
    rows = [_row(one, data.text, scorer) for one in ranked[: data.limit]]
    return Found(
        hits=rows,
        facets=_facets(hits, len(nodes)),
        total=len(ranked),
        total_exact=data.facets and len(ranked) < _DEEP and len(nodes) < data.limit,
        took_ms=round((time.perf_counter() - began) * 1000, 3),
        notes=hits.notes,
        index=IndexState(caught_up=True, semantic=hits.semantic, missing=hits.missing),
    )


def _row(one: Hit | NodeHit, text: str, scorer: str) -> HitRow:
    if isinstance(one, Hit):
        return entry_hit(one, text, scorer)
    return node_hit(one, text, scorer)


def _asked(data: Search) -> dict[str, Any]:
    given = {name: getattr(data, name) for name in _GIVEN}
    return {name: value for name, value in given.items() if value not in (None, (), "")}


def _entries(memory: Memory, data: Search, asked: dict[str, Any]) -> Hits:
    if data.include_archived:
        asked = {**asked, "include_archived": True}
    limit = _DEEP if data.facets else data.limit
    # What is shown is recalled; what is only counted is not.
    hits = memory.query(data.session_id, asked, limit=limit, recalls=_recalls(data))
    if data.as_of is None:
        return hits
    if data.session_id is None:
        raise InvalidQueryError("as_of looks at one session.", field="as_of")
    then = {entry.id for entry in memory.get_entries(data.session_id, as_of=data.as_of)}
    left = [hit for hit in hits if hit.entry.id in then]
    return Hits(left, hits.semantic, hits.missing, hits.notes)


def _recalls(data: Search) -> int:
    return 0 if data.quiet else data.limit


def _nodes(memory: Memory, data: Search) -> list[NodeHit]:
    """The nodes that fit; a filter by what only entries have leaves none."""
    if data.types or data.tags or data.agents or data.references or data.min_importance:
        return []
    given: dict[str, Any] = {"limit": data.limit, "recalls": _recalls(data)}
    for name in ("time_range", "min_relevance"):
        if (value := getattr(data, name)) is not None:
            given[name] = value
    if not data.users:
        return memory.search_nodes(data.text, **given)
    users = [one for one in memory.node_users() if one in data.users]
    return [hit for one in users for hit in memory.search_nodes(data.text, user_id=one, **given)]


def _facets(hits: Hits, nodes: int) -> SearchFacets:
    types, agents, tags = Counter[str](), Counter[str](), Counter[str]()
    for hit in hits:
        types[hit.entry.type] += 1
        tags.update(hit.entry.tags)
        if hit.entry.agent_id is not None:
            agents[hit.entry.agent_id] += 1
    kinds = {"entry": len(hits), "node": nodes}
    return SearchFacets(
        types=dict(types),
        agents=dict(agents.most_common(50)),
        tags=dict(tags.most_common(50)),
        kinds={name: count for name, count in kinds.items() if count},
    )


@post("/context", sync_to_thread=True, status_code=200)
def context(caller: Asking, data: JSONBody[Ask]) -> ContextBlock:
    """Exactly the block that `memory.context()` gives for a question, and what it is made of."""
    memory = caller.memory if data.agent_id is None else caller.as_agent(data.agent_id)
    given: dict[str, Any] = {"max_tokens": data.budget_tokens, "quiet": data.quiet}
    block = memory.context(data.session_id, data.text, **given)
    return ContextBlock(
        text=block.text,
        tokens=block.tokens,
        omitted=block.omitted,
        items=[_item(*one) for one in zip(block.sources, block.weights, block.homes, strict=True)],
    )


def _item(identifier: str, weight: int, home: str) -> ContextItem:
    kind = "node" if "/" in identifier or identifier.endswith(".md") else "entry"
    return ContextItem(kind=kind, id=identifier, tokens=weight, why="", home=home)


ROUTES = [search, context]
