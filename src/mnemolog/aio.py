"""`AsyncMemory`: the same verbs, awaited. One thin wrapper; the core is written once."""

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from types import TracebackType
from typing import Any, Self

from mnemolog.memory import DEFAULT_ROOT, Memory
from mnemolog.model.query import Hit
from mnemolog.ports import Clock
from mnemolog.ports.embedder import Embedder


class AsyncMemory:
    """A `Memory` whose verbs are awaited; each runs in a thread and never blocks the loop."""

    def __init__(self, memory: Memory) -> None:
        self.sync = memory

    @classmethod
    async def open(
        cls,
        root: str | os.PathLike[str] = DEFAULT_ROOT,
        *,
        settings: Mapping[str, object] | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
        embedder: Embedder | str | None = None,
    ) -> Self:
        """Open a root, making it where there is none; `settings` go above file and environment."""
        made = await asyncio.to_thread(
            Memory.open,
            root,
            settings=settings,
            clock=clock,
            environ=environ,
            embedder=embedder,
        )
        return cls(made)

    def for_agent(self, agent_id: str) -> "AsyncMemory":
        """A view that sees and writes only what this agent may."""
        return AsyncMemory(self.sync.for_agent(agent_id))

    def for_user(self, user_id: str) -> "AsyncMemory":
        """A view of one user's sessions."""
        return AsyncMemory(self.sync.for_user(user_id))

    async def watch(self, *args: Any, **kwargs: Any) -> AsyncIterator[Hit]:
        """Yield what is written from now on, as `Memory.watch` does."""
        hits = await asyncio.to_thread(self.sync.watch, *args, **kwargs)
        while (hit := await asyncio.to_thread(next, hits, None)) is not None:
            yield hit

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        verb = getattr(self.sync, name) if not name.startswith("_") else None
        if not callable(verb):
            raise AttributeError(f"'AsyncMemory' object has no attribute {name!r}")

        @functools.wraps(verb)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return await asyncio.to_thread(verb, *args, **kwargs)

        return awaited

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.sync.close)
