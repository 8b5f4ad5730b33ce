"""The package as others meet it: what an import costs, what is public, what it never does."""

import asyncio
import inspect
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import mnemolog
from mnemolog import AsyncMemory, Memory
from mnemolog.aio import AsyncRun
from mnemolog.errors import SchemaInvalidError
from tests.log.test_locks import held

# Each of these costs more than the whole of `import mnemolog` may.
HEAVY = set(
    "asyncio click email http importlib.metadata multiprocessing numpy rich socket sqlite3 ssl"
    " subprocess tarfile unittest urllib.request xml yaml".split()
)

IMPORTED = """
import json, sys
before = set(sys.modules)
exec(sys.argv[1])
print(json.dumps(sorted(set(sys.modules) - before)))
"""

# Its end waits for every thread.
WATCHED = """
import asyncio, sys, threading
from mnemolog import AsyncMemory

async def watch(root, stop):
    async with await AsyncMemory.open(root, environ={}) as memory:
        session = await memory.create_session()
        hits = memory.watch(stop=stop, after={})
        await memory.add_memory(session.id, content="one")
        print((await anext(hits)).entry.content)
        waiting = asyncio.ensure_future(anext(hits))
        await asyncio.sleep(0.5)
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            print("cancelled")

asyncio.run(watch(sys.argv[1], eval(sys.argv[2])))
"""

OFFLINE = """
import sys

def refuse(event, args):
    if event.startswith("socket."):
        raise RuntimeError(event)

sys.addaudithook(refuse)
from mnemolog import Memory

with Memory.open(sys.argv[1]) as memory:
    session = memory.create_session("u1", agent_ids=["architect"])
    memory.add_conversation(session.id, role="user", content="hello")
    memory.add_decision(session.id, made_by="architect", decision="x")
    memory.update_preference(session.id, key="k", value="v", scope="user")
    assert len(memory.get_entries(session.id)) == 2
    memory.get_global_statistics()
    memory.close_session(session.id)
    memory.delete_session(session.id)

import socket
try:
    socket.socket()
except RuntimeError:
    print("done")
"""


def python(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def imported_by(statement: str) -> set[str]:
    return set(json.loads(python(IMPORTED, statement)))


def third_party(modules: set[str]) -> set[str]:
    roots = {name.partition(".")[0] for name in modules}
    return roots - set(sys.stdlib_module_names) - {"mnemolog"}


@pytest.mark.req("S001-001", "S002-005")
def test_an_import_brings_no_third_party_and_nothing_heavy():
    loaded = imported_by("import mnemolog")
    assert third_party(loaded) <= {"msgspec"}
    assert loaded & HEAVY == set()


@pytest.mark.req("S001-001", "S002-005")
def test_memory_itself_needs_msgspec_alone():
    loaded = imported_by("from mnemolog import Memory")
    assert "msgspec" in third_party(loaded)
    assert third_party(loaded) == third_party(imported_by("import msgspec"))
    assert loaded & HEAVY == set()


@pytest.mark.req("S001-001", "S001-008", "S002-005", "S002-008")
def test_no_socket_is_ever_opened(tmp_path):
    assert python(OFFLINE, str(tmp_path / "store")) == "done\n"


def test_the_public_names_are_frozen():
    assert mnemolog.__all__ == ["AsyncMemory", "Memory", "__version__"]
    assert mnemolog.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="nonsense"):
        _ = mnemolog.nonsense


def test_the_package_is_typed():
    assert (Path(inspect.getfile(mnemolog)).parent / "py.typed").exists()


def verbs(kind: type) -> set[str]:
    return {
        name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))
    }


def test_every_view_of_an_async_memory_has_awaited_verbs_too(tmp_path):
    async def check() -> None:
        async with await AsyncMemory.open(tmp_path / "store", environ={}) as memory:
            session = await memory.create_session("u1", agent_ids=["a", "b"])
            await memory.add_memory(session.id, content="x", agent_id="b", scope="agent")
            views = [
                memory.for_agent("b"),
                memory.for_user("u1"),
                memory.for_agents(["a", "b"]),
            ]
            for view in views:
                assert isinstance(view, AsyncMemory)
                assert [one.id for one in await view.list_sessions()] == [session.id]
            assert memory.settings == memory.sync.settings
            with pytest.raises(AttributeError, match="'AsyncMemory' object"):
                _ = memory.nonsense  # type: ignore[attr-defined]

    asyncio.run(check())


def test_async_memory_offers_every_verb(tmp_path):
    async def check() -> None:
        async with await AsyncMemory.open(tmp_path / "store") as memory:
            views = {"for_agent", "for_agents", "for_user"}
            for name in verbs(Memory) - views - {"open", "watch", "run"}:
                assert inspect.iscoroutinefunction(getattr(memory, name)), name
            assert inspect.isasyncgenfunction(memory.watch)
            assert isinstance(memory.run("talk"), AsyncRun)
            assert isinstance(memory.for_agent("architect"), AsyncMemory)
            assert isinstance(memory.for_agents(["architect"]), AsyncMemory)
            assert isinstance(memory.for_user("u1"), AsyncMemory)
            with pytest.raises(AttributeError):
                _ = memory.nonsense  # type: ignore[attr-defined]

    asyncio.run(check())


def test_whoever_types_is_offered_every_awaited_verb(tmp_path):
    async def check() -> None:
        async with await AsyncMemory.open(tmp_path / "store") as memory:
            assert {*dir(memory)} >= {*verbs(Memory), "settings", "sync", "watch"}
            session = await memory.create_session("u1")
            run = memory.run(session.id)
            assert {*dir(run)} >= {"save", "room", "end", "sync"}
            async with run:
                assert {*dir(run)} >= {"save", "room", "end", "sync"}

    asyncio.run(check())


def test_opening_takes_the_same_keywords_both_ways():
    sync, awaited = inspect.signature(Memory.open), inspect.signature(AsyncMemory.open)
    assert list(awaited.parameters) == list(sync.parameters)


@pytest.mark.parametrize("verb", ["open", "run", "watch"])
def test_what_async_memory_does_in_its_own_way_takes_what_memory_takes(verb):
    told = [inspect.signature(getattr(kind, verb)) for kind in (Memory, AsyncMemory)]
    assert list(told[0].parameters.values()) == list(told[1].parameters.values())


def test_awaited_verbs_do_what_the_plain_ones_do(tmp_path):
    async def check() -> None:
        async with await AsyncMemory.open(tmp_path / "store") as memory:
            session = await memory.create_session("u1", agent_ids=["architect"])
            receipt = await memory.for_agent("architect").add_memory(session.id, content="hello")
            entry = await memory.get_memory(session.id, receipt.id)
            assert entry is not None
            assert (entry.content, entry.agent_id) == ("hello", "architect")
            with pytest.raises(SchemaInvalidError):
                await memory.add_memory(session.id, content="")

    asyncio.run(check())


@pytest.mark.parametrize("stop", ["None", "threading.Event()"])
def test_who_is_cancelled_while_watching_leaves_no_thread_waiting(tmp_path, stop):
    words = [sys.executable, "-c", WATCHED, str(tmp_path / "store"), stop]
    told = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.split() == ["one", "cancelled"]


def test_watches_take_no_thread_from_the_other_verbs(tmp_path):
    async def check(over: threading.Event) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        async with await AsyncMemory.open(tmp_path / "store") as memory:
            session = await memory.create_session("u1")
            await memory.add_memory(session.id, content="before")
            watches = [memory.watch(session_id=session.id, after={}, stop=over) for _ in range(3)]
            assert [(await anext(watch)).entry.content for watch in watches] == ["before"] * 3
            nexts = [asyncio.ensure_future(anext(watch)) for watch in watches]
            await asyncio.sleep(0)  # each asks for the next, which is not there yet
            try:
                await asyncio.wait_for(memory.add_memory(session.id, content="after"), 20)
                assert [(await one).entry.content for one in nexts] == ["after"] * 3
            finally:
                over.set()  # or a failure would wait for its threads without end

    asyncio.run(check(threading.Event()))


def test_awaited_verbs_really_run_beside_each_other(tmp_path):
    async def check() -> None:
        async with await AsyncMemory.open(tmp_path / "store") as memory:
            blocked = (await memory.create_session(session_id="blocked")).id
            free = (await memory.create_session(session_id="free")).id
            with held(tmp_path / "store/sessions/blocked/lock"):
                waiting = asyncio.ensure_future(memory.add_memory(blocked, content="x"))
                for _ in range(10):
                    await memory.add_memory(free, content="y")
                assert not waiting.done()
            assert (await waiting).durable

    asyncio.run(check())


@pytest.mark.req("S001-163")
def test_ten_awaited_writers_at_once(tmp_path):
    async def check() -> None:
        async with await AsyncMemory.open(tmp_path / "store") as memory:
            session = await memory.create_session("u1")
            await asyncio.gather(
                *(
                    memory.add_conversation(
                        session.id, agent_id=f"agent-{number}", content=f"message-{number}"
                    )
                    for number in range(10)
                )
            )
            assert (await memory.get_statistics(session.id)).total_messages == 10

    asyncio.run(check())
