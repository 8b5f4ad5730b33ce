"""schemathesis over the whole OpenAPI document: no 5xx, no answer that the document denies."""

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
