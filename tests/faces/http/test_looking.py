"""What is shown to an agent counts as recalled; looking, and counting for the facets, does not."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faces.http.servers import in_thread

SHOWN = 3


def recalled_by(root: Path, path: str, asked: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """What is answered where thirty entries are about tea, and how many count as recalled then."""
    with in_thread(root) as server, server.client() as owner:
        session = made(owner)
        answer = owner.post(path, json={"session_id": session, **asked})
        assert answer.status_code == 200
    return answer.json(), sum(
        len(uses.read_text().splitlines()) for uses in root.glob("sessions/*/access.jsonl")
    )


def made(owner: httpx2.Client) -> str:
    entries = [{"type": "note", "content": f"tea number {number}"} for number in range(30)]
    session: str = owner.post("/sessions", json={"user_id": "ann", "agent_ids": ["a"]}).json()["id"]
    assert owner.post(f"/sessions/{session}/batch", json={"entries": entries}).status_code == 201
    return session


@pytest.mark.parametrize(
    ("more", "total", "recalled"),
    [
        ({}, 30, SHOWN),
        ({"facets": False}, SHOWN, SHOWN),
        ({"quiet": True}, 30, 0),
        ({"quiet": True, "facets": False}, SHOWN, 0),
    ],
)
def test_only_what_a_search_shows_was_recalled_unless_it_is_quiet(root, more, total, recalled):
    asked = {"text": "tea", "kinds": ["entry"], "limit": SHOWN, **more}
    found, count = recalled_by(root, "/search", asked)
    assert len(found["hits"]) == SHOWN
    assert found["total"] == total
    assert count == recalled


@pytest.mark.parametrize("quiet", [True, False])
def test_a_context_that_is_only_looked_at_recalls_nothing(root, quiet):
    block, count = recalled_by(root, "/context", {"text": "tea number", "quiet": quiet})
    assert "tea" in block["text"]
    assert bool(count) is not quiet
