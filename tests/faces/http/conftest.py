"""One server that many of these tests share, and a session in it for each of them."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.faces.http.servers import Server, in_thread


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    root = tmp_path_factory.mktemp("served") / "store"
    with in_thread(root, {"server.requests_per_minute": 1_000_000}) as server:
        yield server


@pytest.fixture
def owner(server: Server) -> Iterator[httpx2.Client]:
    with server.client() as client:
        yield client


@pytest.fixture
def session(owner: httpx2.Client) -> str:
    """A session of the user ann and the agent architect, with three entries."""
    made = owner.post("/sessions", json={"user_id": "ann", "agent_ids": ["architect"]})
    session_id: str = made.json()["id"]
    for entry in (
        {"type": "conversation", "role": "user", "content": "We need ACID."},
        {"type": "decision", "agent_id": "architect", "tags": ["database"],
         "content": {"decision": "Use PostgreSQL", "rationale": "ACID"}},
        {"type": "finding", "agent_id": "architect",
         "content": {"description": "Backups are never restored", "severity": "high"}},
    ):  # fmt: skip
        assert owner.post(f"/sessions/{session_id}/entries", json=entry).status_code == 201
    return session_id
