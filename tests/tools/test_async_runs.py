"""Runs that are awaited: the same verbs, and an end that comes whatever happens."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemolog import AsyncMemory
from mnemolog.errors import SessionNotFoundError
from mnemolog.tools import bind


@pytest.fixture
def amemory(memory):
    return AsyncMemory(memory)


def left(memory: AsyncMemory, sid: str) -> list[str]:
    return [one.run_id for one in memory.sync.left_runs(sid)]


@pytest.mark.req("S004-061", "S004-062")
def test_a_run_is_opened_and_ended_by_async_with(amemory, sid):
    async def story() -> None:
        async with amemory.run(sid, agent_id="architect", run_id="r") as run:
            assert (run.id, run.session_id, run.is_open) == ("r", sid, True)
            await run.save("run", "step 1", id="a")
            assert [note.content for note in await run.get("run")] == ["step 1"]
            assert await run.size("run") == 6
            assert left(amemory, sid) == ["r"]
            tools = bind(run.sync)
            answer = await tools.call_async("get_memory", {"compartment": "run"})
            assert "  | step 1" in answer.text
            assert "step 1" in tools.block()
        assert not run.is_open

    asyncio.run(story())
    assert left(amemory, sid) == []


def test_a_run_may_be_awaited_and_ended_by_hand(amemory, sid):
    async def story() -> None:
        run = await amemory.run(sid, run_id="r")
        await run.save("run", "x")
        await run.end()

    asyncio.run(story())
    assert left(amemory, sid) == []


def test_an_error_inside_ends_the_run_and_one_while_opening_begins_none(amemory, sid):
    async def fails() -> None:
        async with amemory.run(sid) as run:
            await run.save("run", "x")
            raise ZeroDivisionError

    async def never() -> None:
        async with amemory.run("no such session"):
            raise AssertionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(fails())
    with pytest.raises(SessionNotFoundError):
        asyncio.run(never())
    assert left(amemory, sid) == []


def test_a_run_that_is_not_open_yet_says_so(amemory, sid):
    run = amemory.run(sid)
    with pytest.raises(RuntimeError, match="async with"):
        _ = run.id
    assert not hasattr(run, "_nothing")
    assert left(amemory, sid) == []


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_cancelled_while_the_run_is_opened_leaves_none_behind(
    amemory, sid, monkeypatch, times
):
    opening, go = threading.Event(), threading.Event()
    begin = amemory.sync.run

    def slowly(*args: object, **more: object) -> object:
        opening.set()
        assert go.wait(10)
        return begin(*args, **more)

    monkeypatch.setattr(amemory.sync, "run", slowly)

    async def story() -> None:
        async def work() -> None:
            async with amemory.run(sid):
                raise AssertionError

        task = asyncio.create_task(work())
        await asyncio.to_thread(opening.wait, 10)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    assert left(amemory, sid) == []


def test_who_is_cancelled_inside_ends_the_run(amemory, sid, folder: Path):
    async def story() -> None:
        async def work() -> None:
            async with amemory.run(sid) as run:
                await run.save("run", "x")
                begun.set()
                await asyncio.sleep(60)

        begun = asyncio.Event()
        task = asyncio.create_task(work())
        await begun.wait()
        assert len(list((folder / "runs").iterdir())) == 1
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(story())
    assert list((folder / "runs").iterdir()) == []


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_cancelled_while_the_run_ends_and_all_threads_are_busy_ends_it(amemory, sid, times):
    go = threading.Event()

    async def story() -> None:
        async def work() -> None:
            async with amemory.run(sid):
                begun.set()
                await asyncio.sleep(60)

        begun = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        task = asyncio.create_task(work())
        await begun.wait()
        busy = loop.run_in_executor(None, go.wait, 10)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        loop.call_soon(go.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await busy

    asyncio.run(story())
    assert left(amemory, sid) == []


def test_who_is_cancelled_while_the_memory_closes_still_closes_it(root):
    """With durability `batch`, closing is what brings the last entries to the disk."""
    go, closed = threading.Event(), threading.Event()

    async def story() -> None:
        async def work() -> None:
            async with await AsyncMemory.open(root, environ={}) as memory:
                close = memory.sync.close

                def closing() -> None:
                    close()
                    closed.set()

                memory.sync.close = closing  # type: ignore[method-assign]
                begun.set()
                await asyncio.sleep(60)

        begun = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        task = asyncio.create_task(work())
        await begun.wait()
        busy = loop.run_in_executor(None, go.wait, 10)
        for _ in range(2):
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        loop.call_soon(go.set)
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await busy

    asyncio.run(story())
    assert closed.is_set()


def test_ten_runs_at_once_on_one_loop(amemory, sid):
    async def work(number: int) -> list[str]:
        async with amemory.run(sid, agent_id="architect") as run:
            for step in range(3):
                await run.save("run", f"{number}.{step}")
            await run.save("session", f"from {number}")
            return [note.content for note in await run.get("run")]

    async def story() -> list[list[str]]:
        return await asyncio.gather(*(work(number) for number in range(10)))

    found = asyncio.run(story())
    assert found == [[f"{number}.{step}" for step in range(3)] for number in range(10)]
    told = {entry.content for entry in amemory.sync.get_entries(sid)}
    assert told == {f"from {number}" for number in range(10)}
    assert left(amemory, sid) == []
