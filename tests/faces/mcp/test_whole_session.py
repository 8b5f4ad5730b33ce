"""A whole session of the official client: over stdio and over HTTP, in both wire generations."""

import json
import time
from pathlib import Path

import anyio
import pytest
from mcp import Client

from mnemolog import Memory
from mnemolog.tools import TABLE
from tests.faces.mcp.clients import (
    ENVELOPE,
    VERSIONS,
    Address,
    http_server,
    over_http,
    over_stdio,
    said,
)


async def whole_session(client: Client, about: str) -> None:
    """Everything that the server offers, once."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TABLE]
    assert [tool.description for tool in listed] == [tool.description for tool in TABLE]
    assert [tool.input_schema for tool in listed] == [tool.schema() for tool in TABLE]
    hints = [tool.annotations and tool.annotations.read_only_hint for tool in listed]
    assert hints == [tool.is_reading for tool in TABLE]
    assert "Compartments:" in (client.instructions or "")
    assert "always in your prompt" not in (client.instructions or ""), "over MCP nothing is"

    await said(client, "save_memory", compartment="run", content=f"half done with {about}")
    await said(client, "save_memory", compartment="session", content=f"{about} likes tea", id=about)
    assert "half done" in await said(client, "get_memory", compartment="run")
    assert f"{about} likes tea" in await said(client, "search_memory", query=f"{about} tea")
    assert "half done" in await said(client, "recall_context", query="tea")
    await said(client, "save_memory", compartment="plan", content="step one", id=f"{about}-plan")
    cleared = await said(client, "clear_memory", compartment="plan", id=f"{about}-plan")
    assert cleared.startswith("Cleared 1 from plan.")

    (sessions,) = (await client.read_resource("memory://sessions")).contents
    uri = json.loads(sessions.text)["sessions"][0]["uri"]  # type: ignore[union-attr]
    assert uri in [str(one.uri) for one in (await client.list_resources()).resources]
    (transcript,) = (await client.read_resource(uri)).contents
    assert f"  | {about} likes tea" in transcript.text  # type: ignore[union-attr]
    templates = (await client.list_resource_templates()).resource_templates
    assert [one.uri_template for one in templates] == [
        "memory://sessions/{id}{?after,from}",
        "memory://nodes/{user}{?after}",
        "memory://nodes/{user}/{address}{?after,from}",
    ]

    assert [one.name for one in (await client.list_prompts()).prompts] == ["system", "recall"]
    (message,) = (await client.get_prompt("recall", {"query": "tea"})).messages
    assert "half done" in message.content.text  # type: ignore[union-attr]
    (message,) = (await client.get_prompt("system")).messages
    assert message.content.text == client.instructions  # type: ignore[union-attr]


def left_behind(root: Path) -> tuple[list[str], list[str]]:
    """What outlives the connection: the notes of sessions, and the notes of runs."""
    with Memory.open(root) as memory:
        kept = [
            entry.text
            for session in memory.list_sessions()
            for entry in memory.get_entries(session.id)
        ]
    return kept, [path.name for path in root.glob("sessions/*/runs/*")]


@pytest.mark.parametrize("generation", VERSIONS)
def test_a_client_over_stdio_uses_everything_and_its_run_ends_with_it(root, generation):
    async def story():
        async with over_stdio(root, mode=generation) as client:
            assert client.protocol_version == VERSIONS[generation]
            await whole_session(client, "ada")
            assert len(left_behind(root)[1]) == 1

    anyio.run(story)
    assert left_behind(root) == (["ada likes tea"], [])


@pytest.mark.parametrize("generation", VERSIONS)
def test_a_client_over_http_uses_everything(shared_root, address, generation):
    about = f"client-{generation}"
    before = left_behind(shared_root)[1]

    async def story():
        async with over_http(address, generation) as client:
            assert client.protocol_version == VERSIONS[generation]
            await whole_session(client, about)

    anyio.run(story)
    assert f"{about} likes tea" in left_behind(shared_root)[0]
    # Without a connection there is nobody who leaves; that run ends with the server. The others
    # end when the server has noticed that their client left.
    more, deadline = 1 if generation == ENVELOPE else 0, time.monotonic() + 20
    while len(left_behind(shared_root)[1]) - len(before) != more:
        assert time.monotonic() < deadline


def test_the_runs_of_connectionless_clients_end_with_the_server(root):
    async def story(address: Address):
        async with over_http(address, ENVELOPE) as client:
            await said(client, "save_memory", compartment="run", content="mine")
        async with over_http(address, ENVELOPE, **{"Mnemolog-Run": "other"}) as client:
            assert "mine" not in await said(client, "get_memory", compartment="run")
            await said(client, "save_memory", compartment="run", content="apart")
        # The name of a client is no name of a run.
        async with over_http(address, ENVELOPE, **{"Mnemolog-Run": "mcp"}) as client:
            assert "mine" not in await said(client, "get_memory", compartment="run")

    with http_server(root) as address:
        anyio.run(story, address)
        assert len(left_behind(root)[1]) == 3
    assert left_behind(root) == ([], [])
