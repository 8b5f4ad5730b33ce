"""Scoped tokens: whoever holds one sees and changes nothing else, by any route."""

from datetime import UTC, datetime

import pytest

from mnemolog.stores.files.passes import TokenFile

SECRET = "the heron flies at midnight"


def token_for(server, **scope):
    return TokenFile(str(server.root)).issue("scoped", datetime.now(UTC), None, **scope)[0]


@pytest.fixture
def theirs(owner):
    """A session of another agent and user, with an entry that must not be seen."""
    made = owner.post("/sessions", json={"user_id": "bob", "agent_ids": ["analyst"]}).json()["id"]
    entry = {"type": "decision", "agent_id": "analyst", "tags": ["heron"],
             "content": {"decision": SECRET, "rationale": SECRET}}  # fmt: skip
    stored = owner.post(f"/sessions/{made}/entries", json=entry)
    owner.put("/nodes/bob/secret", json={"body": SECRET, "title": SECRET})
    return made, stored.json()["id"]


def everything(client, session, entry):
    """An answer of each route that tells or changes something."""
    own = f"/sessions/{session}"
    selector = {"session_id": session, "ids": [entry]}
    asked = [
        ("GET", "/sessions", {}),
        ("GET", "/sessions?q=bob", {}),
        ("GET", own, {}),
        ("PATCH", own, {"metadata": {"x": 1}}),
        ("GET", f"{own}/minimap", {}),
        ("GET", f"{own}/files", {}),
        ("GET", f"{own}/entries", {}),
        ("GET", f"{own}/entries?hidden=true", {}),
        ("POST", f"{own}/entries", {"type": "note", "content": "intruder"}),
        ("POST", f"{own}/batch", {"entries": [{"type": "note", "content": "intruder"}]}),
        ("GET", f"{own}/entries/{entry}", {}),
        ("PATCH", f"{own}/entries/{entry}", {"content": "intruder"}),
        ("GET", f"{own}/entries/{entry}/raw", {}),
        ("GET", f"{own}/entries/{entry}/revisions", {}),
        ("GET", f"{own}/entries/{entry}/links", {}),
        ("POST", "/search", {"text": SECRET}),
        ("POST", "/search", {"text": SECRET, "session_id": session}),
        ("POST", "/context", {"text": SECRET}),
        ("POST", "/context", {"text": SECRET, "session_id": session}),
        ("GET", "/nodes/bob", {}),
        ("GET", "/nodes/bob/secret", {}),
        ("PUT", "/nodes/bob/secret", {"body": "intruder"}),
        ("DELETE", "/nodes/bob/secret", {}),
        ("GET", "/nodes/bob/secret/versions", {}),
        ("GET", "/nodes/bob/secret/versions/1", {}),
        ("GET", "/graph/bob", {}),
        ("GET", "/review", {}),
        ("GET", "/worker", {}),
        ("POST", "/plans", {"action": "delete", "selector": selector}),
        ("POST", "/plans", {"action": "erase", "selector": selector}),
        ("POST", "/plans", {"action": "erase", "selector": {"tags": ["heron"]}}),
        ("POST", "/plans", {"action": "clear_session", "selector": {"session_id": session}}),
        ("POST", "/plans", {"action": "delete_session", "selector": {"session_id": session}}),
        ("POST", "/plans", {"action": "archive_session", "selector": {"session_id": session}}),
        ("POST", "/plans", {"action": "retention"}),
        ("POST", "/plans", {"action": "redact"}),
        ("POST", "/plans", {"action": "repair"}),
        ("POST", "/verify", {"text": [SECRET]}),
        ("GET", "/jobs", {}),
        ("GET", "/retention", {}),
        ("GET", "/hidden", {}),
        ("GET", f"/hidden?session={session}", {}),
        ("GET", "/audit", {}),
        ("GET", "/stats", {}),
        ("GET", "/stats/series", {}),
        ("GET", "/stats/recalled", {}),
        ("GET", "/doctor", {}),
        ("GET", "/settings", {}),
        ("POST", "/exports", {"session_id": session}),
        ("POST", "/exports", {"user_id": "bob"}),
        ("GET", "/work-agents/analyst/sessions", {}),
    ]
    return [
        (method, path, client.request(method, path, json=body if body else None))
        for method, path, body in asked
    ]


SCOPES = [{"agents": ("architect",)}, {"users": ("ann",)},
          {"agents": ("architect",), "users": ("ann",)}]  # fmt: skip


@pytest.mark.parametrize("scope", SCOPES)
def test_nothing_of_another_agent_or_user_is_told_by_any_route(server, session, theirs, scope):
    other, entry = theirs
    before = server.memory.get_entries(other)
    with server.client(token_for(server, **scope)) as client:
        answers = everything(client, other, entry)
        jobs = client.get("/jobs").json()["items"]
        for job in jobs:
            if ticket := (job["result"] or {}).get("ticket"):
                answers.append(("GET", "download", client.get(f"/downloads/{ticket}")))
        mine = client.get("/sessions").json()
    for method, path, answer in answers:
        assert answer.status_code < 500, (method, path, answer.text)
        assert SECRET not in answer.text, (method, path)
        # An id or a word that was asked for may be said again when it is refused.
        if answer.status_code < 400 and "?" not in path:
            assert entry not in answer.text, (method, path)
            assert "analyst" not in answer.text, (method, path)
    assert session in [one["id"] for one in mine["items"]]
    assert other not in [one["id"] for one in mine["items"]]
    assert set(mine["facets"]["users"]) <= {"ann"}
    after = server.memory.get_entries(other)
    assert [one.sum for one in after] == [one.sum for one in before]
    assert server.memory.read_node("secret", user_id="bob").body.strip() == SECRET


def test_a_token_of_several_agents_says_which_one_it_means(server, session):
    token = token_for(server, agents=("architect", "analyst"))
    with server.client(token) as unsaid:
        assert unsaid.get("/sessions").json()["code"] == "E_SCOPE"
    with server.client(token, **{"Mnemolog-Agent": "architect"}) as said:
        assert session in [one["id"] for one in said.get("/sessions").json()["items"]]
    with server.client(token, **{"Mnemolog-Agent": "stranger"}) as other:
        assert other.get("/sessions").status_code == 403


def test_the_owner_may_look_as_somebody_else(server, session, theirs):
    with server.client(**{"Mnemolog-User": "bob"}) as bob:
        found = [one["id"] for one in bob.get("/sessions").json()["items"]]
    assert theirs[0] in found
    assert session not in found


def test_a_scoped_token_writes_as_its_agent(server, owner, session):
    with server.client(token_for(server, agents=("architect",))) as client:
        done = client.post(
            f"/sessions/{session}/entries", json={"type": "note", "content": "by me"}
        )
        assert done.status_code == 201, done.text
        forged = client.post(
            f"/sessions/{session}/entries",
            json={"type": "note", "content": "by him", "agent_id": "analyst"},
        )
        assert forged.status_code == 403
    row = owner.get(f"/sessions/{session}/entries/{done.json()['id']}").json()
    assert row["provenance"]["writer"] == "architect"


def test_plans_undos_and_jobs_belong_to_their_scope(server, owner, session):
    plan = owner.post(
        "/plans", json={"action": "clear_session", "selector": {"session_id": session}}
    ).json()
    with server.client(token_for(server, agents=("architect",))) as client:
        run = client.post(f"/plans/{plan['plan_id']}/run", json={"confirm": True})
        assert run.status_code == 404
        job = owner.post("/verify", json={"text": ["anything at all"]}).json()
        assert client.get(f"/jobs/{job['id']}").status_code == 404
