"""The Model Context Protocol behind the same door: each token gets tools for its own scope."""

from datetime import UTC, datetime

import anyio
import pytest

from mnemolog.stores.files.passes import TokenFile
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
