"""`Memory`: the one meeting place of every way in and every back end."""

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from mnemolog import stores
from mnemolog.errors import InvalidFormatError, NotAllowedError
from mnemolog.memory.exporting import Exporting
from mnemolog.memory.finding import Finding
from mnemolog.memory.getting import Getting
from mnemolog.memory.sessions import Sessions
from mnemolog.memory.watching import Watching
from mnemolog.memory.writing import Writing
from mnemolog.model.ids import check_id
from mnemolog.policy.access import Viewer
from mnemolog.ports import Clock

DEFAULT_ROOT = ".mnemolog"


class Memory(Sessions, Writing, Getting, Finding, Watching, Exporting):
    """Sessions and their entries. Safe to share between threads; a context manager."""

    @classmethod
    def open(
        cls,
        root: str | os.PathLike[str] = DEFAULT_ROOT,
        *,
        settings: Mapping[str, object] | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Self:
        """Open a root, making it where there is none; `settings` go above file and environment."""
        path = os.fspath(root)
        if not path:
            raise InvalidFormatError(
                "The path of the root is empty.", advice="Give a folder such as '.mnemolog'."
            )
        end = stores.open(path, os.environ if environ is None else environ, settings or {})
        return cls(end.store, end.settings, clock, index=end.index)

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

    def for_user(self, user_id: str) -> "Memory":
        """A view of one user's sessions."""
        return self._as(self._viewer._replace(user=check_id(user_id, "user id")))

    def _as(self, viewer: Viewer) -> "Memory":
        for ours, theirs in zip(self._viewer, viewer, strict=True):
            if ours is not None and ours != theirs:
                raise NotAllowedError(
                    "A view cannot be turned into somebody else's.",
                    advice="Make it from the owner's handle.",
                )
        return Memory(self._store, self.settings, self._clock, viewer, self._index)
