"""The bodies of answers and requests about searching and contexts."""

from typing import Any, Literal

import msgspec

from mnemolog.faces.http.shapes import Body
from mnemolog.model.entry import Entry


class Search(Body):
    """What to look for: the fields of a query."""

    text: str = ""
    session_id: str | None = None
    kinds: tuple[Literal["entry", "node"], ...] = ("entry", "node")
    types: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    tags: tuple[str, ...] | dict[str, tuple[str, ...]] = ()
    time_range: str | dict[str, Any] | None = None
    references: tuple[str, ...] = ()
    max_depth: int | None = None
    min_relevance: float | None = None
    min_importance: float | None = None
    limit: int = 20
    sort: str | None = None
    scorer: str | None = None
    include_archived: bool = False
    as_of: str | None = None
    facets: bool = True
    quiet: bool = False


class WhyPart(msgspec.Struct, kw_only=True):
    """One part of a relevance: what it was, how much it weighs, what it adds."""

    name: str
    raw: float
    weight: float
    contribution: float


class Why(msgspec.Struct, kw_only=True):
    """What a relevance is made of; the contributions are summed or multiplied."""

    scorer: str
    mode: str
    parts: list[WhyPart]


class NodeRow(msgspec.Struct, kw_only=True):
    """A node that was found."""

    user: str
    path: str
    title: str
    description: str
    updated_at: int


class HitRow(msgspec.Struct, kw_only=True):
    """Something that was found, how relevant it is, and why."""

    kind: str
    entry: Entry | None
    node: NodeRow | None
    text: str
    relevance: float
    highlights: list[tuple[int, int]]
    why: Why


class IndexState(msgspec.Struct, kw_only=True):
    """Whether everything that was written was looked at."""

    caught_up: bool
    semantic: str
    missing: int


class SearchFacets(msgspec.Struct, kw_only=True):
    """How many of the best thousand there are of each type, agent and tag."""

    types: dict[str, int]
    agents: dict[str, int]
    tags: dict[str, int]
    kinds: dict[str, int]


class Found(msgspec.Struct, kw_only=True):
    """What a search brought."""

    hits: list[HitRow]
    facets: SearchFacets
    total: int
    total_exact: bool
    took_ms: float
    notes: tuple[str, ...]
    """What was done differently than the query asked for."""
    index: IndexState


class Ask(Body):
    """What a model is about to be asked."""

    text: str = ""
    session_id: str | None = None
    agent_id: str | None = None
    budget_tokens: int = 2000
    quiet: bool = False


class ContextItem(msgspec.Struct, kw_only=True):
    """One thing that a model is told; `home` is the session of an entry, or the user of a node."""

    kind: str
    id: str
    home: str
    tokens: int
    why: str


class ContextBlock(msgspec.Struct, kw_only=True):
    """What a model would be told."""

    text: str
    tokens: int
    omitted: int
    items: list[ContextItem]
