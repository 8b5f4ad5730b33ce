"""A small world to search: a few entries of every kind, in two sessions."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from mnemolog import Memory

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)


class Told(NamedTuple):
    """One entry of the world, as the test knows it."""

    id: str
    session: str
    type: str
    agent: str | None
    hours: float
    importance: float
    tags: tuple[str, ...]
    text: str
    references: tuple[str, ...] = ()

    @property
    def moment(self) -> datetime:
        """When it was said."""
        return NOW - timedelta(hours=self.hours)


USERS = {"talk": "u1", "other": "u2"}
WORLD = (
    Told("c1", "talk", "conversation", "architect", 0.5, 0.5, ("database",), "compare engines"),
    Told("d1", "talk", "decision", "architect", 40, 1.0, ("database", "security.disk"), "encrypt",
         ("c1",)),
    Told("f1", "talk", "finding", "analyst", 240, 0.8, ("security.login",), "weak login", ("d1",)),
    Told("p1", "talk", "preference", None, 1000, 0.7, (), "short answers"),
    Told("n1", "talk", "note", "analyst", 9000, 0.2, ("security", "deprecated"), "old login"),
    Told("e1", "talk", "event", None, 1.0, 0.0, (), "build failed"),
    Told("s1", "talk", "stand-up", "analyst", 24, 0.5, ("database.schema",), "login works"),
    Told("c2", "other", "conversation", "analyst", 2, 0.5, ("database",), "compare engines",
         ("c1",)),
    Told("d2", "other", "decision", "lead", 168, 0.9, ("deprecated",), "drop the old login"),
)  # fmt: skip


def write(memory: Memory) -> None:
    """Write the whole world."""
    for session, user in USERS.items():
        memory.create_session(user, agent_ids=["architect", "analyst"], session_id=session)
    for told in WORLD:
        memory.add_memory(
            told.session,
            id=told.id,
            type=told.type,
            content=told.text,
            tags=told.tags,
            timestamp=told.moment,
            importance=told.importance,
            references=told.references,
            **({"agent_id": told.agent} if told.agent else {}),
        )


def by_id(identifier: str) -> Told:
    """The entry of this id."""
    return next(told for told in WORLD if told.id == identifier)
