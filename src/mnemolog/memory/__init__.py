"""`Memory`: the one meeting place of every way in and every back end."""

import os
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Self

from mnemolog import stores
from mnemolog.errors import InvalidFormatError, NotAllowedError, SchemaInvalidError
from mnemolog.memory.archiving import Archiving
from mnemolog.memory.backing import Backing
from mnemolog.memory.exporting import Exporting
from mnemolog.memory.importing import Importing
from mnemolog.memory.inspecting import Inspecting
from mnemolog.memory.learning import Learning
from mnemolog.memory.maintaining import Maintaining
from mnemolog.memory.recalling import Recalling
from mnemolog.memory.redacting import Redacting
from mnemolog.memory.reviewing import Reviewing
from mnemolog.memory.running import Running
from mnemolog.memory.watching import Watching
from mnemolog.memory.writing import Writing
from mnemolog.model import given
from mnemolog.model.ids import check_agents, check_id
from mnemolog.policy.access import Viewer
from mnemolog.ports import Clock
from mnemolog.ports.embedder import Embedder

DEFAULT_ROOT = ".mnemolog"


class Memory(
    Inspecting,
    Learning,
    Importing,
    Exporting,
    Maintaining,
    Archiving,
    Redacting,
    Running,
    Reviewing,
    Recalling,
    Writing,
    Watching,
    Backing,
):
    """Sessions and their entries. Safe to share between threads; a context manager."""

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] = DEFAULT_ROOT,
        *,
        settings: Mapping[str, object] | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        embedder: Embedder | str | None = None,
    ) -> Self:
        """Open a root, making it where there is none; `settings` go above file and environment,
        and an `embedder`, an object or a name, above the one that they choose."""
        path = given.place(root, "root")
        if not path:
            raise InvalidFormatError(
                "The path of the root is empty.", advice="Give a folder such as '.mnemolog'."
            )
        around = os.environ if environ is None else environ
        end = stores.open(path, around, {} if settings is None else settings, embedder)
        return cls(
            end.store,
            end.settings,
            clock,
            index=end.index,
            keeper=end.keeper,
            mover=end.mover,
            shelf=end.shelf,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Sync what is not synced yet and let go of all files; the handle stays usable."""
        self._store.close()
        if self._index is not None:
            self._index.close()

    def for_agent(self, agent_id: str) -> "Memory":
        """A view that sees and writes only what this agent may.

        It may begin a session with any user, and so reach what is scoped to that user; to confine
        an agent to one user, hand out `memory.for_user(user).for_agent(agent)`.
        """
        return self._as(self._viewer._replace(agent=check_id(agent_id, "agent id")))

    def for_agents(self, agent_ids: Iterable[str]) -> "Memory":
        """A view that sees what any of these agents may; it writes as the first of them."""
        agents = check_agents(agent_ids)
        if not agents:
            raise SchemaInvalidError("No agent is named.", advice="Name at least one.")
        return self._as(self._viewer._replace(agent=agents[0], beside=agents[1:]))

    def for_user(self, user_id: str) -> "Memory":
        """A view of one user's sessions."""
        return self._as(self._viewer._replace(user=check_id(user_id, "user id")))

    def _as(self, viewer: Viewer) -> "Memory":
        ours = self._viewer
        if (ours.agents and ours.agents != viewer.agents) or ours.user not in (None, viewer.user):
            raise NotAllowedError(
                "A view cannot be turned into somebody else's.",
                advice="Make it from the owner's handle.",
            )
        ports = (self._index, self._kept_by, self._moved_by, self._shelved_by)
        return Memory(self._store, self.settings, self._clock, viewer, *ports)
