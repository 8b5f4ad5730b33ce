"""Sessions of a second kind: the NDJSON files of an agent."""

import json

import pytest

from mnemolog.adapters.ndjson import AgentSessions
from tests.faces.http.servers import in_process, in_thread


@pytest.fixture
def folder(tmp_path):
    """Two sessions of the agent writer."""
    agent = AgentSessions(tmp_path / "work", "writer")
    for name in ("one", "two"):
        agent.new_session(name)
        agent.save({"role": "user", "content": f"hello {name}"})
    return tmp_path / "work"


def file_of(folder, name):
    return folder / ".work-agent/agents/writer/memory/sessions" / f"{name}.ndjson"


@pytest.mark.req("S000-07")
def test_every_ndjson_file_of_the_agent_is_listed(tmp_path, folder):
    with in_thread(tmp_path / "store", work_agents=folder) as server, server.client() as client:
        found = client.get("/work-agents/writer/sessions").json()
        assert {one["id"] for one in found["items"]} == {"one", "two"}
        assert all(one["kind"] == "ndjson" and one["size_bytes"] > 0 for one in found["items"])
        assert "work_agent" in client.get("/me").json()["capabilities"]
        events = client.get("/work-agents/writer/sessions/one").json()["items"]
        assert events[0]["content"] == "hello one"


@pytest.mark.req("S000-09", "S000-10")
def test_clear_cuts_the_file_to_zero_bytes_and_is_logged(tmp_path, folder):
    with in_process(tmp_path / "store", "--work-agent", str(folder)) as (server, process):
        with server.client() as client:
            done = client.post("/work-agents/writer/sessions/one/clear")
            assert done.json()["action"] == "clear"
            assert file_of(folder, "one").stat().st_size == 0
            listed = client.get("/work-agents/writer/sessions").json()["items"]
            assert {one["id"]: one["size_bytes"] > 0 for one in listed} == {
                "one": False,
                "two": True,
            }
        process.terminate()
        _, errors = process.communicate(timeout=60)
    lines = [json.loads(line) for line in errors.splitlines()]
    [line] = [one for one in lines if one["message"] == "session cleared"]
    assert line["session_id"] == "one"
    assert line["metadata"]["bytes"] == done.json()["bytes"]


@pytest.mark.req("S000-11", "S000-12")
def test_delete_removes_the_file_and_the_session_from_the_list(tmp_path, folder):
    with in_thread(tmp_path / "store", work_agents=folder) as server, server.client() as client:
        assert client.delete("/work-agents/writer/sessions/one").json()["action"] == "delete"
        assert not file_of(folder, "one").exists()
        listed = client.get("/work-agents/writer/sessions").json()["items"]
        assert [one["id"] for one in listed] == ["two"]
        gone = client.delete("/work-agents/writer/sessions/one")
        assert (gone.status_code, gone.json()["code"]) == (404, "E_SESSION_NOT_FOUND")


def test_without_a_folder_there_is_nothing_of_that_kind(owner):
    refused = owner.get("/work-agents/writer/sessions")
    assert (refused.status_code, refused.json()["code"]) == (404, "E_NOT_SERVED")
