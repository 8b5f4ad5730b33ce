"""Sessions to read: a talk with every kind of entry, another agent's, and a long one."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.faces.page.driving import Server

LONG = 320


def write_talks(server: Server) -> None:
    """Write them all."""
    server.session("talk", TALK, user_id="ada", agent_ids=["architect"])
    server.session("secret-plans", PLANS, user_id="ben", agent_ids=["analyst"])
    server.session("long", long_talk(), user_id="ada", agent_ids=["architect"])


TALK: list[dict[str, Any]] = [
    {"type": "conversation", "role": "user", "content": "No order may ever be half written."},
    {
        "type": "conversation",
        "role": "assistant",
        "agent_id": "architect",
        "content": "Then we need **transactions**:\n\n- PostgreSQL\n- or MySQL",
    },
    {
        "type": "decision",
        "id": "dec-database",
        "agent_id": "architect",
        "tags": ["database"],
        "content": {
            "decision": "Use PostgreSQL",
            "rationale": "Transactions, and the team knows it",
            "alternatives_considered": ["MongoDB", "MySQL"],
            "impact": "high",
            "approved_by": ["Ann"],
        },
    },
    {
        "type": "finding",
        "agent_id": "architect",
        "references": ["dec-database"],
        "content": {
            "description": "PostgreSQL has no backup that was ever restored",
            "severity": "high",
            "evidence": "the log of the nightly run",
            "recommendation": "Restore it weekly",
            "status": "open",
        },
    },
    {
        "type": "preference",
        "agent_id": "architect",
        "scope": "session",
        "content": {"key": "language", "value": "British English", "confidence": 0.9},
    },
    {"type": "note", "agent_id": "architect", "content": "Ann leads the payment system."},
]
PLANS: list[dict[str, Any]] = [
    {"type": "note", "agent_id": "analyst", "content": "zebrafish is the code name of the merger"},
]


def long_talk() -> list[dict[str, Any]]:
    """A talk over five days."""
    began = datetime.now(UTC) - timedelta(days=5)
    return [
        {
            "type": "conversation" if number % 9 else "decision",
            "role": "user",
            "content": f"message {number}" if number % 9 else {"decision": f"decide {number}"},
            "timestamp": (began + timedelta(minutes=20 * number)).isoformat(),
        }
        for number in range(LONG)
    ]
