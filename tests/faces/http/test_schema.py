"""schemathesis over the whole OpenAPI document: no 5xx, no answer that the document denies."""

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from mnemolog.faces.http.app import described, make_app
from tests.faces.http.servers import finished, in_thread

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# A stream has no end, and a tick or a doctor's visit takes its time.
schema = schemathesis.openapi.from_dict(described(make_app(None))).exclude(
    path_regex="/events$|/worker/tick$"
)


@pytest.fixture(scope="module")
def seeded(server):
    """Something for the routes to find, so that they do not only answer 404."""
    memory = server.memory
    made = memory.create_session("ann", agent_ids=["a"], session_id="0")
    memory.add_memory(made.id, type="note", id="0", content="zero")
    memory.write_node("0", "zero", user_id="0")
    return server


@schema.parametrize()
@settings(
    max_examples=8,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_no_request_makes_the_server_fail_or_answer_what_it_did_not_promise(case, seeded):
    headers = {"Authorization": f"Bearer {seeded.token}"}
    case.call_and_validate(base_url=seeded.url, headers=headers, checks=CHECKS, timeout=60)


def test_the_document_tells_of_streams_and_files_what_is_answered(server, owner):
    paths = owner.get("/openapi.json").json()["paths"]

    def kinds(path):
        return paths[f"/api/v1{path}"]["get"]["responses"]["200"]["content"]

    with owner.stream("GET", "/events") as stream:
        assert stream.headers["content-type"].partition(";")[0] == "text/event-stream"
        assert list(kinds("/events")) == ["text/event-stream"]
    session = owner.post("/sessions", json={}).json()["id"]
    for layout in ("json", "jsonl", "markdown", "four-files"):
        asked = {"layout": layout, "session_id": session}
        job = finished(owner, owner.post("/exports", json=asked).json()["id"])
        file = httpx2.get(f"{server.url}/api/v1/downloads/{job['result']['ticket']}")
        assert file.headers["content-type"].partition(";")[0] in kinds("/downloads/{ticket}")


def test_the_document_tells_what_each_body_is(owner):
    schemas = owner.get("/openapi.json").json()["components"]["schemas"]
    assert [name for name, one in schemas.items() if not one.get("description")] == []
    assert [name for name, one in schemas.items() if "\n " in one["description"]] == []


def test_the_document_tells_what_needs_no_token(tmp_path):
    # A server of its own: others may have brought wrong tokens too often for a minute.
    with in_thread(tmp_path / "store") as server, server.client() as owner:
        paths = owner.get("/openapi.json").json()["paths"]
        asked = {
            (method, path): operation
            for path, item in paths.items()
            for method, operation in item.items()
        }
        assert len(asked) < 120, "one more is answered with E_RATE"
        for (method, path), operation in asked.items():
            url = server.url + path.replace("{", "").replace("}", "")
            is_open = httpx2.request(method, url, json={}).json()["code"] != "E_TOKEN"
            assert (operation.get("security") == []) is is_open, (method, path)
