"""What the tests of layouts share: a memory with something of everything, and how to compare."""

from pathlib import Path
from typing import Any

import msgspec

from mnemolog import Memory
from mnemolog.policy.importance import importance
from mnemolog.ports import SHARED, LogKey

TWO_WAY = ("json", "jsonl", "work-agent", "four-files", "one-log", "memory-json")


def fill(memory: Memory) -> None:
    """Two sessions with entries of every type, of a user and shared."""
    memory.create_session(
        "u1",
        session_id="Talk A",
        agent_ids=["architect", "analyst"],
        metadata={"project_name": "pay", "tags": ["architecture"]},
        created_at="2026-01-11T10:00:00Z",
    )
    memory.create_session("u2", session_id="other", agent_ids=["analyst"])
    memory.add_conversation(
        "Talk A", id="msg-001", role="assistant", agent_id="architect",
        content="I recommend PostgreSQL.\n\nZażółć 漢字 🙂", timestamp="2026-01-11T10:05:23Z",
        context={"conversation_id": "conv-xyz", "topic": "database_selection"},
        metadata={"tokens": 15, "references": ["dec-001"]},
    )  # fmt: skip
    memory.add_decision(
        "Talk A", id="dec-001", made_by="architect", approved_by=["u1"], decision="Use PostgreSQL",
        rationale="ACID", impact="high", tags=["database", "security.login"],
        alternatives_considered=[{"option": "MongoDB", "rejected_reason": "no ACID"}],
        references={"conversations": ["msg-001"], "findings": ["finding-003"]},
        timestamp="2026-01-11T10:10:00Z",
    )  # fmt: skip
    memory.add_finding(
        "Talk A", id="finding-003", discovered_by="analyst", category="scalability",
        severity="high", description="No pool", evidence="application.yml", recommendation="Add",
        tags=["performance"], timestamp="2026-01-11T10:11:00Z", importance=0.35,
    )  # fmt: skip
    memory.update_preference(
        "Talk A", key="style", value={"length": "short"}, confidence=0.9, category="communication"
    )
    memory.add_memory("Talk A", id="n1", type="note", content="plan b", compartment="plan",
                      category="steps", metadata={"depth": 2, "who": "me"})  # fmt: skip
    memory.add_memory("Talk A", id="e1", type="event", content={"deployed": [1, 2.5, None, True]})
    memory.add_memory("Talk A", id="own", type="risk", content="Late", scope="agent",
                      agent_id="analyst", priority=7)  # fmt: skip
    memory.add_conversation("Talk A", id="t1", role="tool", content={"tool_calls": [{"id": "c"}]})
    memory.add_memory("other", id="n2", type="note", content="about u1", user_id="u1")
    memory.update_preference("Talk A", key="theme", value="dark", scope="user")
    memory.add_memory("Talk A", id="k1", type="note", content="for all", scope="shared")


def shown(memory: Memory, session: str, *, exact: bool = True) -> list[dict[str, Any]]:
    """A session's entries as plain values, without what an import cannot keep."""
    return [_plain(entry, exact) for entry in memory.get_entries(session)]


def beside(memory: Memory, *users: str) -> list[dict[str, Any]]:
    """The users' own and the shared entries; the log says whose they are, if they do not."""
    logs = [*(LogKey("user", user) for user in users), SHARED]
    return [
        {"user_id": log.id, **_plain(entry, True)}
        for log in logs
        for entry in memory._store.read(log, memory._viewer).entries
    ]


def _plain(entry: Any, exact: bool) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(entry)
    for name in ("seq", "sum", "at"):
        found.pop(name, None)
    return found if exact else {**found, "importance": importance(entry)}


def opened(path: Path) -> Memory:
    """A memory that reads no environment."""
    return Memory.open(path, environ={})
