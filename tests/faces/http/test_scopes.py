"""Scoped tokens: whoever holds one sees and changes nothing else, by any route."""

from datetime import UTC, datetime

import pytest

from mnemolog.stores.files.serving.token_file import TokenFile
from tests.faces.http.servers import in_thread

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
        ("POST", f"{own}/moments", {"what": "sleep"}),
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


@pytest.mark.parametrize("scope", SCOPES)
def test_the_parts_that_are_the_owners_are_told_to_nobody_else(server, owner, scope):
    assert {"review", "worker"} <= set(owner.get("/me").json()["capabilities"])
    with server.client(token_for(server, **scope)) as client:
        told = client.get("/me").json()["capabilities"]
    assert "sessions" in told
    assert not {"review", "worker"} & set(told)


SEVERAL = {"agents": ("architect", "scribe")}


@pytest.fixture
def ours(owner):
    """A session of the scribe's, with what only the scribe may see, and what only the analyst."""
    agents = ["scribe", "analyst"]
    made = owner.post("/sessions", json={"user_id": "cara", "agent_ids": agents}).json()["id"]
    for agent, content in (("scribe", "only the scribe knows"), ("analyst", SECRET)):
        entry = {"type": "note", "scope": "agent", "agent_id": agent, "content": content}
        assert owner.post(f"/sessions/{made}/entries", json=entry).status_code == 201
    entry = {"type": "note", "agent_id": "scribe", "content": "for all who are here"}
    owner.post(f"/sessions/{made}/entries", json=entry)
    return made


def test_a_token_of_several_agents_sees_what_any_of_them_sees(server, session, theirs, ours):
    with server.client(token_for(server, **SEVERAL)) as client:
        me = client.get("/me").json()
        assert (me["agent"], me["scope"]["agents"]) == (None, ["architect", "scribe"])
        listed = client.get("/sessions").json()
        assert {one["id"] for one in listed["items"]} >= {session, ours}
        assert theirs[0] not in [one["id"] for one in listed["items"]]
        assert "bob" not in listed["facets"]["users"]
        shown = client.get(f"/sessions/{ours}/entries").json()
        said = [one["entry"]["content"] for one in shown["items"]]
        assert said == ["only the scribe knows", "for all who are here"]
        assert shown["total"] == 2
        row = client.get(f"/sessions/{ours}").json()
        assert (row["entries"], row["by_agent"]) == (2, {"scribe": 2})
        hits = client.post("/search", json={"text": "scribe knows"}).json()
        assert "only the scribe knows" in [one["text"] for one in hits["hits"]]
        assert client.get("/nodes/cara").status_code == 200
        assert client.get("/nodes/bob").status_code in (403, 404)
        context = client.post("/context", json={"text": "who knows", "agent_id": "scribe"})
        assert context.status_code == 200
        assert client.post("/context", json={"text": "x", "agent_id": "analyst"}).status_code == 403


def test_nothing_foreign_is_told_to_a_token_of_several_agents(server, session, theirs, ours):
    other, entry = theirs
    before = [one.sum for one in server.memory.get_entries(other)]
    with server.client(token_for(server, **SEVERAL)) as client:
        answers = everything(client, other, entry)
        # The analyst takes part in a session of ours, but what is theirs alone is not told.
        answers += [("GET", path, client.get(path)) for path in (
            f"/sessions/{ours}/entries?hidden=true", f"/sessions/{ours}/minimap", "/stats",
            "/stats/recalled", "/hidden", "/stats/series")]  # fmt: skip
    for method, path, answer in answers:
        assert answer.status_code < 500, (method, path, answer.text)
        assert SECRET not in answer.text, (method, path)
        if answer.status_code < 400 and "?" not in path:
            assert entry not in answer.text, (method, path)
    assert [one.sum for one in server.memory.get_entries(other)] == before


def test_a_token_of_several_agents_says_as_which_one_it_writes(server, session):
    token = token_for(server, agents=("architect", "analyst"))
    note = {"type": "note", "content": "mine"}
    with server.client(token) as unsaid:
        refused = unsaid.post(f"/sessions/{session}/entries", json=note)
        assert (refused.status_code, refused.json()["code"]) == (403, "E_SCOPE")
        assert "Mnemolog-Agent" in refused.json()["advice"]
    with server.client(token, **{"Mnemolog-Agent": "architect"}) as said:
        assert session in [one["id"] for one in said.get("/sessions").json()["items"]]
        assert said.post(f"/sessions/{session}/entries", json=note).status_code == 201
    with server.client(token, **{"Mnemolog-Agent": "stranger"}) as other:
        assert other.get("/sessions").status_code == 403


def test_a_token_of_several_users_is_asked_which_one_is_meant_but_knows_itself(server, session):
    with server.client(token_for(server, users=("ann", "bob"))) as client:
        me = client.get("/me").json()
        assert (me["user"], me["scope"]["users"]) == (None, ["ann", "bob"])
        assert client.get("/sessions").json()["code"] == "E_SCOPE"


def test_a_token_of_several_agents_hears_of_what_each_of_them_does(server, session):
    token = token_for(server, agents=("architect", "analyst"))
    named = {"Mnemolog-Agent": "architect"}
    with server.client(token, **named) as writer, server.client(token) as reader:
        job = writer.post("/exports", json={"session_id": session}).json()
        assert reader.get(f"/jobs/{job['id']}").status_code == 200
        assert job["id"] in [one["id"] for one in reader.get("/jobs").json()["items"]]


def test_the_owner_may_look_as_somebody_else(server, session, theirs):
    with server.client(**{"Mnemolog-User": "bob"}) as bob:
        found = [one["id"] for one in bob.get("/sessions").json()["items"]]
    assert theirs[0] in found
    assert session not in found


def test_an_owner_who_looks_as_one_agent_is_told_of_no_others_sessions(tmp_path):
    def told(client):
        waits = client.get("/worker").json()["queue"]
        audit = client.get("/audit").json()["items"]
        return {one["session_id"] for one in waits}, {one["session_id"] for one in audit}

    settings = {"knowledge.tick_seconds": 3600}
    with in_thread(tmp_path / "store", settings) as server, server.client() as owner:
        for agent in ("architect", "analyst"):
            owner.post("/sessions", json={"session_id": f"of-{agent}", "agent_ids": [agent]})
            entries = [{"type": "note", "content": f"{n}", "id": f"{agent}-{n}"} for n in range(2)]
            owner.post(f"/sessions/of-{agent}/batch", json={"entries": entries})
            hide = {"session_id": f"of-{agent}", "ids": [f"{agent}-0"]}
            owner.post("/plans", json={"action": "delete", "selector": hide, "run": True})
            server.memory.sleep_session(f"of-{agent}")
        assert told(owner) == ({"of-architect", "of-analyst"}, {"of-architect", "of-analyst"})
        with server.client(**{"Mnemolog-Agent": "architect"}) as narrowed:
            assert told(narrowed) == ({"of-architect"}, {"of-architect"})


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


@pytest.mark.parametrize(
    ("action", "why"), [("reindex", "rebuild the index"), ("repair", "maintain a memory")]
)
def test_upkeep_that_is_for_the_owner_is_refused_by_its_own_name(server, action, why):
    with server.client(token_for(server, users=("ann",))) as client:
        answer = client.post("/plans", json={"action": action})
    assert (answer.status_code, answer.json()["code"]) == (403, "E_NOT_ALLOWED")
    assert answer.json()["detail"].startswith(f"Only the owner may {why}.")
