"""Who may see what. The one place where this is decided."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Viewer(NamedTuple):
    """Who is asking. Without an agent and a user it is the owner, who sees everything."""

    agent: str | None = None
    user: str | None = None
    beside: tuple[str, ...] = ()
    """Further agents, for whoever reads what several of them may see."""

    @property
    def agents(self) -> tuple[str, ...]:
        """All agents that are asking; none if any agent's things are meant."""
        return () if self.agent is None else (self.agent, *self.beside)

    @property
    def origin(self) -> str:
        """The origin of a line of our own that this viewer makes us write."""
        return "user" if self.agent is None else "agent"


OWNER = Viewer()

# A scope of a later version is none of these: who wrote it is sure to be meant, others are not.
_OPEN = ("session", "user", "shared")


class Scoped(Protocol):
    """Anything that says who wrote it and for whom."""

    @property
    def scope(self) -> str:
        """run, session, agent, user or shared."""

    @property
    def agent_id(self) -> str | None:
        """Who wrote it."""


def may_see_session(viewer: Viewer, agent_ids: Sequence[str], user_id: str | None) -> bool:
    """An agent sees the sessions that name it; a user's view only those of that user."""
    if viewer.agent is not None and not any(agent in agent_ids for agent in viewer.agents):
        return False
    return viewer.user is None or viewer.user == user_id


def may_see(viewer: Viewer, item: Scoped) -> bool:
    """What is scoped to an agent or a run is for that agent alone; the rest is for the session."""
    if viewer.agent is None or item.scope in _OPEN:
        return True
    return item.agent_id in viewer.agents


def may_change(viewer: Viewer, item: Scoped) -> bool:
    """Only the writer or the owner may revise or delete an entry; a user nothing shared."""
    if viewer.agent is not None:
        return item.agent_id in viewer.agents
    return viewer.user is None or item.scope != "shared"
