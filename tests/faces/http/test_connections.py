"""The Model Context Protocol behind the same door: each token gets tools for its own scope."""

from datetime import UTC, datetime
from functools import partial

import anyio
import httpx2
import pytest

from mnemolog.stores.files.serving.token_file import TokenFile
from tests.faces.http.servers import in_thread, wait_until
from tests.faces.mcp.clients import ENVELOPE, HANDSHAKE, Address, over_http, said


def spoken(server, token, mode, work):
    """What a real client gets to know."""

    async def talk():
        async with over_http(Address(f"{server.url}/mcp", token), mode) as client:
            return await work(client)

    return anyio.run(talk)


@pytest.mark.parametrize("mode", [HANDSHAKE, ENVELOPE])
def test_a_client_of_the_protocol_writes_what_the_api_finds(server, owner, mode):
    words = f"spoken over {mode}"

    async def work(client):
        return await said(client, "save_memory", compartment="session", content=words)

    spoken(server, server.token, mode, work)
    found = owner.post("/search", json={"text": words}).json()
    assert [hit for hit in found["hits"] if words in hit["text"]]


def test_a_scoped_client_sees_nothing_of_others(server, owner, session):
    token, _ = TokenFile(str(server.root)).issue(
        "scoped", datetime.now(UTC), None, agents=("stranger",)
    )

    async def work(client):
        return await said(client, "search_memory", query="PostgreSQL")

    assert "Use PostgreSQL" in spoken(server, server.token, HANDSHAKE, work)
    assert "Use PostgreSQL" not in spoken(server, token, HANDSHAKE, work)


HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def narrow(tmp_path, monkeypatch):
    """A server that has room for two scopes."""
    monkeypatch.setattr("mnemolog.faces.http.connections._MOST", 2)
    with in_thread(tmp_path / "store") as server:
        yield server


def posted(server, agent, method, params, session=""):
    """What a client gets that keeps no stream open, and never says that it goes."""
    headers = {
        "Authorization": f"Bearer {server.token}",
        "Accept": "application/json, text/event-stream",
        **({"Mnemolog-Agent": agent} if agent else {}),
        **({"Mcp-Session-Id": session} if session else {}),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return httpx2.post(f"{server.url}/mcp", json=body, headers=headers, timeout=60)


def noted(server, agent):
    """Open a connection for an agent and save a note of its run there."""
    session = posted(server, agent, "initialize", HELLO).headers["Mcp-Session-Id"]
    note = {"compartment": "run", "content": f"note of {agent}"}
    call = {"name": "save_memory", "arguments": note}
    assert posted(server, agent, "tools/call", call, session).status_code == 200
    return session


def open_runs(server):
    memory = server.memory
    return {run.agent_id for one in memory.list_sessions() for run in memory.left_runs(one.id)}


def test_another_scope_takes_the_place_of_the_one_that_was_idle_longest(narrow):
    first, second = noted(narrow, "a"), noted(narrow, "b")
    posted(narrow, "a", "ping", {}, first)
    noted(narrow, "c")
    wait_until(lambda: open_runs(narrow) == {"a", "c"})
    assert posted(narrow, "a", "ping", {}, first).status_code == 200
    assert posted(narrow, "b", "ping", {}, second).status_code == 404
    noted(narrow, "b")
    wait_until(lambda: open_runs(narrow) == {"a", "b"})


def test_a_scope_with_somebody_connected_is_never_let_go(narrow):
    async def story():
        address = Address(f"{narrow.url}/mcp", narrow.token)
        async with (
            over_http(address, HANDSHAKE, **{"Mnemolog-Agent": "a"}) as one,
            over_http(address, HANDSHAKE, **{"Mnemolog-Agent": "b"}) as two,
        ):
            for client in (one, two):
                await said(client, "save_memory", compartment="run", content="mine")
            refused = await anyio.to_thread.run_sync(posted, narrow, "c", "initialize", HELLO)
            assert refused.status_code == 503
            for client in (one, two):
                assert "mine" in await said(client, "get_memory", compartment="run")

    anyio.run(story)
    # The server sees a little later that their streams are closed.
    wait_until(lambda: posted(narrow, "c", "initialize", HELLO).status_code == 200)


def test_scopes_keep_nobody_out_who_sees_everything(narrow):
    owner = noted(narrow, "")
    for agent in ("a", "b", "c"):
        noted(narrow, agent)
    assert posted(narrow, "", "ping", {}, owner).status_code == 200, (
        "others took no place of theirs"
    )

    async def story():
        address = Address(f"{narrow.url}/mcp", narrow.token)
        async with (
            over_http(address, HANDSHAKE, **{"Mnemolog-Agent": "a"}) as one,
            over_http(address, HANDSHAKE, **{"Mnemolog-Agent": "b"}) as two,
        ):
            for client in (one, two):
                await said(client, "save_memory", compartment="run", content="mine")
            post = partial(posted, narrow, "", "initialize", HELLO)
            assert (await anyio.to_thread.run_sync(post)).status_code == 200

    anyio.run(story)
