"""How a server serves: runs and sessions, whose they are, progress, and how it ends."""

import fcntl
import subprocess
import sys

import anyio
import pytest
from mcp import Client

from mnemolog import Memory
from mnemolog.faces.mcp import runs
from mnemolog.faces.mcp import server as serving
from mnemolog.faces.mcp.runs import Runs, Served, open_session
from mnemolog.faces.mcp.server import make_server
from tests.faces.mcp.clients import (
    ENVELOPE,
    HANDSHAKE,
    VERSIONS,
    asked,
    said,
    server,
)


def test_listing_makes_no_session_and_the_first_call_does(memory):
    async def story():
        async with Client(server(memory), mode=HANDSHAKE) as client:
            await client.list_tools()
            await client.list_prompts()
            await client.list_resources()
            assert memory.list_sessions() == []
            await said(client, "recall_context")
            assert len(memory.list_sessions()) == 1

    anyio.run(story)


def test_a_client_comes_back_to_its_session_of_the_day(memory):
    served = Served(memory)
    first = open_session(served, "Claude Code!")
    assert first == open_session(served, "claude-code")
    assert first.startswith("mcp-claude-code-2")
    assert memory.load_session(first).metadata == {"client": "Claude Code!"}
    assert open_session(served, "cursor") != first
    assert open_session(served, "\x1b\u202e").startswith("mcp-client-2")


def test_agents_and_users_do_not_meet_in_a_session_of_the_day(memory):
    whose = [(None, None), ("a", None), ("a-b", None), ("a", "b"), (None, "a")]
    names = set()
    for agent, user in whose:
        view = memory if agent is None else memory.for_agent(agent)
        view = view if user is None else view.for_user(user)
        names.add(open_session(Served(view, None, agent, user), "cursor"))
    assert len(names) == len(whose)


def test_a_session_that_was_named_is_used_and_made_where_it_is_missing(memory, sid):
    assert open_session(Served(memory, sid), "cursor") == sid
    assert open_session(Served(memory, "another"), "cursor") == "another"


def test_the_session_of_another_agent_is_an_error_that_the_model_can_read(memory, sid):
    async def story():
        served = Served(memory.for_agent("stranger"), sid, "stranger")
        async with Client(make_server(Runs(served)), mode=HANDSHAKE) as client:
            told, is_error = await asked(client, "get_memory", {"compartment": "session"})
            assert is_error
            assert told.startswith(f"Error: There is no session '{sid}'.")

    anyio.run(story)


def test_connections_of_one_server_have_runs_of_their_own(memory, sid):
    async def story():
        shared = server(memory, sid)
        async with (
            Client(shared, mode=HANDSHAKE) as left,
            Client(shared, mode=HANDSHAKE) as right,
        ):
            await said(left, "save_memory", compartment="run", content="left's own")
            await said(left, "save_memory", compartment="session", content="for all")
            assert "left's own" not in await said(right, "get_memory", compartment="run")
            assert "for all" in await said(right, "get_memory", compartment="session")

    anyio.run(story)


@pytest.mark.parametrize("generation", VERSIONS)
def test_a_client_whose_run_or_session_was_ended_elsewhere_gets_another_one(memory, generation):
    async def story():
        async with Client(server(memory), mode=generation) as client:
            for compartment in ("run", "session"):
                await said(client, "save_memory", compartment=compartment, content="early")
            (session,) = memory.list_sessions()
            memory.end_run(session.id, memory.left_runs(session.id)[0].run_id)
            await said(client, "save_memory", compartment="run", content="late")
            notes = await said(client, "get_memory", compartment="run")
            assert ("early" in notes, "late" in notes) == (False, True)
            assert "early" in await said(client, "get_memory", compartment="session")
            memory.delete_session(session.id)
            await client.get_prompt("recall", {"query": "late"})
            await said(client, "save_memory", compartment="session", content="again")
            assert "again" in await said(client, "get_memory", compartment="session")

    anyio.run(story)
    (session,) = memory.list_sessions()
    assert memory.left_runs(session.id) == []


def test_an_agent_that_was_taken_off_its_session_leaves_no_run_there(memory, sid):
    async def story():
        served = Served(memory.for_agent("architect"), sid, "architect")
        async with Client(make_server(Runs(served)), mode=HANDSHAKE) as client:
            note = {"compartment": "session", "content": "x"}
            assert not (await asked(client, "save_memory", note))[1]
            memory.update_session(sid, agent_ids=["analyst"])
            told, is_error = await asked(client, "save_memory", note)
            assert is_error
            assert told.startswith(f"Error: There is no session '{sid}'.")
            assert memory.left_runs(sid) == []

    anyio.run(story)


def test_connectionless_runs_do_not_grow_without_end(memory, sid, monkeypatch):
    monkeypatch.setattr(runs, "_MOST_SHARED", 2)
    names = iter("abcd")
    monkeypatch.setattr(runs, "client_name", lambda context: next(names))

    async def story():
        async with Client(server(memory, sid), mode=ENVELOPE) as client:
            for _ in range(4):
                await said(client, "save_memory", compartment="run", content="x")
            assert len(memory.left_runs(sid)) == 2

    anyio.run(story)
    assert memory.left_runs(sid) == []


@pytest.mark.parametrize("generation", VERSIONS)
def test_who_asks_for_progress_hears_that_a_long_call_goes_on(
    root, memory, sid, monkeypatch, generation
):
    monkeypatch.setattr(serving, "_BEAT_SECONDS", 0.01)
    told: list[float] = []

    async def story():
        async with Client(server(memory, sid), mode=generation) as client:
            await said(client, "recall_context")
            with (root / "sessions" / sid / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)

                async def heard(progress, total, message):
                    told.append(progress)
                    assert (total, message) == (None, "save_memory")
                    if len(told) == 3:
                        fcntl.flock(lock, fcntl.LOCK_UN)

                note = {"compartment": "session", "content": "late"}
                await client.call_tool("save_memory", note, progress_callback=heard)

    anyio.run(story)
    assert len(told) >= 3
    assert told == sorted(set(told))


def test_the_protocols_library_is_imported_by_nobody_but_the_server():
    script = (
        "import sys, mnemolog.faces.cli.app; print('mcp' in sys.modules, 'anyio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "False False\n"


def test_the_agents_of_a_root_are_kept_apart_by_configuration(memory):
    async def story():
        for agent in ("a", "b"):
            served = Served(memory.for_agent(agent), None, agent)
            async with Client(make_server(Runs(served)), mode=ENVELOPE) as client:
                await said(client, "save_memory", compartment="session", content=f"word of {agent}")
                found = await said(client, "search_memory", query="word of")
                assert f"word of {agent}" in found
                assert found.count("word of") == 1

    anyio.run(story)


@pytest.mark.parametrize(
    ("users", "is_found"), [((None, None), True), (("u", "u"), True), (("u", "v"), False)]
)
def test_agents_share_what_is_known_of_one_user_and_nothing_of_another(memory, users, is_found):
    async def story():
        for agent, user in zip("ab", users, strict=True):
            view = memory.for_agent(agent)
            served = Served(view if user is None else view.for_user(user), None, agent, user)
            async with Client(make_server(Runs(served)), mode=ENVELOPE) as client:
                if agent == "a":
                    await said(client, "write_knowledge", address="topics/tea", content="- Green.")
                else:
                    found = await said(client, "read_knowledge")
                    assert ("topics/tea" in found) == is_found

    anyio.run(story)


def test_the_server_can_be_served_again_after_it_ended(root):
    async def story(note: str):
        with Memory.open(root) as memory:
            async with Client(server(memory), mode=HANDSHAKE) as client:
                await said(client, "save_memory", compartment="session", content=note)
                return await said(client, "get_memory", compartment="session")

    anyio.run(story, "first")
    told = anyio.run(story, "second")
    assert "first" in told
    assert "second" in told
