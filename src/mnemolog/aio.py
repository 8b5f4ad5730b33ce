"""`AsyncMemory`: the same verbs, awaited. One thin wrapper; the core is written once."""

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mnemolog.memory import DEFAULT_ROOT, Memory
from mnemolog.memory.run import Run
from mnemolog.model.query import Hit, Query
from mnemolog.policy.compartments import Compartment
from mnemolog.ports import Clock
from mnemolog.ports.embedder import Embedder
from mnemolog.settings import Settings

if TYPE_CHECKING:
    from mnemolog.memory.awaited import MemoryVerbs, RunVerbs
else:  # the verbs come by `__getattr__`; the stub is for type checkers alone
    MemoryVerbs = RunVerbs = object


class AsyncMemory(MemoryVerbs):
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

    def for_agents(self, agent_ids: Iterable[str]) -> "AsyncMemory":
        """A view that sees what any of these agents may; it writes as the first of them."""
        return AsyncMemory(self.sync.for_agents(agent_ids))

    def for_user(self, user_id: str) -> "AsyncMemory":
        """A view of one user's sessions."""
        return AsyncMemory(self.sync.for_user(user_id))

    def run(
        self,
        session_id: str,
        *,
        run_id: str | None = None,
        agent_id: str | None = None,
        compartments: Iterable[Compartment] = (),
    ) -> "AsyncRun":
        """Open a run, as `Memory.run` does: `async with memory.run(session_id) as run`."""
        return AsyncRun(
            functools.partial(
                self.sync.run,
                session_id,
                run_id=run_id,
                agent_id=agent_id,
                compartments=compartments,
            )
        )

    async def watch(
        self,
        query: Query | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        after: Mapping[str, int] | None = None,
        poll: float = 0.2,
        stop: Event | None = None,
    ) -> AsyncIterator[Hit]:
        """Yield what is written from now on, as `Memory.watch` does; cancelling ends it."""
        over = _Over(stop)
        begin = functools.partial(self.sync.watch, query, session_id, after, poll)
        # The loop has few threads, and they are for what ends: as many watches would take them all.
        own = ThreadPoolExecutor(1)
        in_own = functools.partial(asyncio.get_running_loop().run_in_executor, own)
        try:
            hits = await in_own(functools.partial(begin, stop=over))
            while (hit := await in_own(next, hits, None)) is not None:
                yield hit
        finally:
            over.set()  # the thread may still wait, and the program would wait for it without end
            own.shutdown(wait=False)

    @property
    def settings(self) -> Settings:
        """What is in force for the whole root; nothing to await."""
        return self.sync.settings

    def _verb(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        verb = getattr(self.sync, name, None) if not name.startswith("_") else None
        if not callable(verb):
            raise AttributeError(f"'AsyncMemory' object has no attribute {name!r}")
        return _awaited(verb)

    if not TYPE_CHECKING:  # which knows every verb, and so refuses what is none
        __getattr__ = _verb

    def __dir__(self) -> list[str]:
        """What whoever types is offered: the verbs too, though none of them stands here."""
        return _with_names_of(self.sync, super().__dir__())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await _to_the_end(self.sync.close)


class AsyncRun(RunVerbs):
    """A run whose verbs are awaited; it is opened by `async with`, or by `await`.

    `sync` is the run itself, for what needs no waiting.
    """

    def __init__(self, opening: Callable[[], Run]) -> None:
        self._opening = opening
        self._run: Run | None = None

    @property
    def sync(self) -> Run:
        """The run itself, once it is opened."""
        if self._run is None:
            raise RuntimeError("The run is not open yet: use `async with`, or await it.")
        return self._run

    def __await__(self) -> Generator[Any, None, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        attempt = _Attempt(self._opening)
        try:
            self._run = await asyncio.to_thread(attempt.open)
        except asyncio.CancelledError:
            opened = attempt.give_up()
            if opened is not None:
                await _to_the_end(opened.end)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await _to_the_end(self.sync.end)

    def _found(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'AsyncRun' object has no attribute {name!r}")
        found = getattr(self.sync, name)
        return _awaited(found) if callable(found) else found

    if not TYPE_CHECKING:
        __getattr__ = _found

    def __dir__(self) -> list[str]:
        """What whoever types is offered, before the run is opened too."""
        return _with_names_of(self._run or Run, super().__dir__())


class _Attempt:
    """A run that a thread opens for somebody who may be cancelled meanwhile, and more than once:
    the thread goes on, and nobody else would end what it opens."""

    def __init__(self, opening: Callable[[], Run]) -> None:
        self._opening = opening
        self._mutex = Lock()
        self._run: Run | None = None
        self._is_unwanted = False

    def open(self) -> Run:
        run = self._opening()
        with self._mutex:
            self._run = run
            is_unwanted = self._is_unwanted
        if is_unwanted:
            run.end()
        return run

    def give_up(self) -> Run | None:
        """What is open already and must be ended; what is opened later ends by itself."""
        with self._mutex:
            self._is_unwanted = True
            return self._run


class _Over(Event):
    """Set by itself, or with the event that the caller gave, which is the one waited for."""

    def __init__(self, theirs: Event | None) -> None:
        super().__init__()
        self._theirs = theirs

    def is_set(self) -> bool:
        return super().is_set() or (self._theirs is not None and self._theirs.is_set())

    def wait(self, timeout: float | None = None) -> bool:
        return super().wait(timeout) if self._theirs is None else self._theirs.wait(timeout)


async def _to_the_end(work: Callable[[], object]) -> None:
    """Do in a thread what must be done, also if whoever waits for it is cancelled (again).

    Not by `to_thread`: a task is cancelled with its loop, and what waits for a thread with it.
    """
    await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))


def _with_names_of(wrapped: object, own: Iterable[str]) -> list[str]:
    return sorted({*own, *(name for name in dir(wrapped) if not name.startswith("_"))})


def _awaited(verb: Callable[..., Any]) -> Callable[..., Coroutine[Any, Any, Any]]:
    @functools.wraps(verb)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(verb, *args, **kwargs)

    return awaited
