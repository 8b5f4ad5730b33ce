"""A session's own facts, and what is derived about it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec


class Segment(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of a log; `size` is known once the segment is sealed."""

    name: str
    first_seq: int = 1
    size: int | None = None


class Manifest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What `manifest.json` holds. Nothing in it changes when an entry is added."""

    v: int
    session_id: str
    user_id: str | None = None
    agent_ids: tuple[str, ...] = ()
    created_at: str
    metadata: dict[str, Any] = {}
    preferences: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    markers: dict[str, Any] = {}
    generation: int = 1
    segments: tuple[Segment, ...] = ()
    archived_at: str | None = None
    """Only in the archive."""


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """A session as its callers see it."""

    id: str
    user_id: str | None
    agent_ids: tuple[str, ...]
    metadata: dict[str, Any]
    preferences: dict[str, Any]
    settings: dict[str, Any]
    state: str
    created_at: str
    updated_at: str
    version: str = "1.0"


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What a log holds, counted while folding it; only what the viewer may see."""

    counts: dict[str, int]
    agents: dict[str, int]
    revisions: int
    size_bytes: int
    last_seq: int
    last_written: str | None
    damaged: int
    redactions: dict[str, int] = {}


def together(parts: Sequence[Summary]) -> Summary:
    """What several logs hold."""
    counts, agents, redactions = Counter[str](), Counter[str](), Counter[str]()
    for one in parts:
        counts.update(one.counts)
        agents.update(one.agents)
        redactions.update(one.redactions)
    return Summary(
        counts=dict(counts),
        agents=dict(agents),
        revisions=sum(one.revisions for one in parts),
        size_bytes=sum(one.size_bytes for one in parts),
        last_seq=max((one.last_seq for one in parts), default=0),
        last_written=max((one.last_written for one in parts if one.last_written), default=None),
        damaged=sum(one.damaged for one in parts),
        redactions=dict(redactions),
    )


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """A session in numbers, under the names that both source documents use."""

    session_id: str | None
    total_entries: int
    total_messages: int
    total_decisions: int
    total_findings: int
    total_preferences: int
    conversations: int
    decisions: int
    findings: int
    preferences: int
    by_type: dict[str, int]
    by_agent: dict[str, int]
    size_bytes: int
    total_size_bytes: int
    max_size_bytes: int
    corrupted_lines: int
    redactions: dict[str, int]
    revisions: int
    created_at: str | None
    updated_at: str | None
    last_accessed: str | None
    sessions: int = 1
    warnings: tuple[str, ...] = ()
    """The sessions that could not be counted, and why."""
