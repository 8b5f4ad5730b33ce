"""A small true story in a root: sessions, a graph with versions and a dead link, proposals."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mnemolog import Memory
from mnemolog.testing.clock import FixedClock
from mnemolog.worker import Worker

USER = "ada"
PAY = "projects/payment-system"
PAGE = f"/knowledge/{USER}/{PAY}"
# The views that look the same whoever talked: a node, what waits, what is forgotten, how it fares.
VIEWS = [
    PAGE,
    f"{PAGE}?v=2",
    f"{PAGE}?edit=1",
    "/review",
    "/forgetting",
    "/forgetting?tab=erase",
    "/forgetting?tab=hidden",
    "/forgetting?tab=audit",
    "/health",
    "/health?tab=charts",
    "/health?tab=doctor",
    "/health?tab=settings",
]


def tell(root: Path) -> None:
    """Write the story through the library, as agents and a worker would have."""
    with Memory.open(str(root)) as memory:
        decision = _session(memory)
        _nodes(memory, decision)
        _proposals(memory)


def _session(memory: Memory) -> str:
    session = memory.create_session(USER, session_id="sess-pay", agent_ids=["architect"])
    said = memory.add_conversation(
        session.id, role="user", content="We move money: no order may ever be half written."
    )
    memory.add_conversation(
        session.id,
        role="assistant",
        agent_id="architect",
        content="Then we need **transactions**. I recommend PostgreSQL.",
    )
    decision = memory.add_decision(
        session.id,
        made_by="architect",
        decision="Use PostgreSQL",
        rationale="Transactions, and the team knows it",
        alternatives_considered=[{"option": "MongoDB"}, {"option": "MySQL"}],
        impact="high",
        tags=["database"],
        references=[said.id],
    )
    memory.add_finding(
        session.id,
        discovered_by="architect",
        severity="high",
        description="The nightly backup is never restored, so nobody knows whether it works",
        recommendation="Restore it into a scratch database every week",
        tags=["database", "operations"],
    )
    return f"{session.id}/{decision.id}"


def _nodes(memory: Memory, source: str) -> None:
    def write(address: str, title: str, body: str, **more: object) -> str:
        done = memory.write_node(address, body, user_id=USER, title=title, **more)  # type: ignore[arg-type]
        return done.hash

    write("USER.md", "Ada", "- Prefers British English.\n- Lives in Lisbon.\n")
    write("TOOLS.md", "Tools", "- Run the linter before the tests.\n")
    first = write(
        PAY,
        "Payment system",
        "- Uses MongoDB.\n- [[Ann]] leads the team.\n",
        reason="first notes",
        by="rules",
    )
    second = write(
        PAY,
        "Payment system",
        "How orders are stored, and why.\n\n"
        f"- Uses [[PostgreSQL]] since 15 Nov. <!-- {source} -->\n"
        "- ~~Uses MongoDB.~~ (until 15 Nov)\n"
        "- [[Ann]] leads the team.\n",
        expected=first,
        reason="Use PostgreSQL was decided",
        sources=[source],
        by="rules",
    )
    write(
        PAY,
        "Payment system",
        "How orders are stored, and why.\n\n"
        f"- Uses [[PostgreSQL]] since 15 Nov. <!-- {source} -->\n"
        "- ~~Uses MongoDB.~~ (until 15 Nov)\n"
        "- [[Ann]] leads the team; [[topics/backups|backups]] are hers too.\n"
        "- Was compared with [[MySQL]].\n\n"
        "## Why\n\nMoney moves, so nothing may be half written: [[ACID]].\n",
        expected=second,
        reason="who looks after the backups",
    )
    write("people/ann", "Ann", "- Ann leads the [[payment-system]] team.\n- Works with [[Bo]].\n")
    write("people/bo", "Bo", "- Writes the [[HikariCP]] part of the [[payment-system]].\n")
    write("topics/postgresql", "PostgreSQL", "- A database with [[ACID]] transactions.\n")
    write("topics/acid", "ACID", "- All or nothing: what [[PostgreSQL]] promises.\n")
    write("topics/hikaricp", "HikariCP", "- Keeps connections to [[PostgreSQL]].\n")
    write("topics/backups", "Backups", "- Restore one every week, says [[Ann]].\n")
    write("projects/reports", "Reports", "- Reads what the Payment system wrote, at night.\n")


def _proposals(memory: Memory) -> None:
    """What came from a tool and is about a person or the tools waits for a person's yes."""
    said: list[dict[str, Any]] = [
        {"type": "preference", "content": {"key": "theme", "value": "dark"}},
        {"type": "note", "tags": ["tools.git"], "content": "Commits are signed with git."},
        {"type": "preference", "content": {"key": "editor", "value": "vim"}},
    ]
    for number, fields in enumerate(said):
        session = memory.create_session(
            USER, session_id=f"sess-tool-{number}", agent_ids=["analyst"]
        )
        memory.add_memory(session.id, fields, agent_id="analyst", origin="tool")
        memory.sleep_session(session.id)


def learn(root: Path) -> None:
    """Let a worker look once, so that proposals wait."""
    with Memory.open(str(root)) as memory:
        worker = Worker(memory)
        try:
            worker.tick()
        finally:
            worker.stop()


def tell_old(root: Path) -> None:
    """What is long past its retention, what was approved, and what is new."""
    clock = FixedClock(datetime.now(UTC) - timedelta(days=400))
    with Memory.open(str(root), clock=clock) as memory:
        session = memory.create_session(USER, session_id="sess-old", agent_ids=["architect"])
        for number in range(4):
            memory.add_conversation(session.id, role="user", content=f"old talk {number}")
        memory.add_decision(session.id, made_by="architect", decision="an old decision")
        memory.add_decision(
            session.id, made_by="architect", decision="an approved decision", approved_by=["ada"]
        )
        clock.set(datetime.now(UTC))
        memory.add_conversation(session.id, role="user", content="new talk")
