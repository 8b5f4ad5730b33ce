"""The door: Host, Origin, tokens, limits; and which addresses may be bound."""

import http.client
import stat
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from mnemolog.faces.mcp.guard import Doorway, names_of
from mnemolog.stores.files.serving.token_file import TokenFile
from tests.faces.http.servers import in_process, in_thread

PAGE, API, MCP = "/", "/api/v1/me", "/mcp"


def status_of(server, path, *, token=True, **headers):
    """What one request gets; None leaves a header out."""
    sent = {"Host": server.host, **headers}
    if token:
        sent.setdefault("Authorization", f"Bearer {server.token}")
    wire = http.client.HTTPConnection(server.host, timeout=30)
    wire.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
    for name, value in sent.items():
        if value is not None:
            wire.putheader(name, value)
    wire.endheaders()
    got = wire.getresponse()
    told = got.status, {name.lower(): value for name, value in got.getheaders()}
    wire.close()
    return told


@pytest.mark.parametrize("path", [PAGE, API, MCP, "/metrics", "/healthz", "/static/app.js"])
def test_a_foreign_host_gets_421_everywhere(server, path):
    assert status_of(server, path, Host="evil.example")[0] == 421
    assert status_of(server, path, Host=None)[0] in (400, 421)
    assert status_of(server, path, Host="127.0.0.1:1")[0] == 421


@pytest.mark.parametrize("path", [PAGE, API, MCP, "/metrics", "/healthz"])
@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_foreign_origin_gets_403_everywhere(server, path, origin):
    assert status_of(server, path, Origin=origin)[0] == 403


@pytest.mark.parametrize("path", [API, MCP, "/metrics", "/api/v1/openapi.json", "/api/v1/nope"])
@pytest.mark.parametrize("token", [None, "Bearer wrong", "Basic abc", "Bearer "])
def test_what_holds_something_asks_for_the_token(server, path, token):
    status, headers = status_of(server, path, token=False, Authorization=token)
    assert status == 401
    assert headers["www-authenticate"] == "Bearer"
    assert headers["content-type"] == "application/problem+json"


def test_all_right_gets_200_and_no_cors(server):
    for path in (API, PAGE, "/metrics", "/healthz"):
        status, headers = status_of(server, path, Origin=f"http://{server.host}")
        assert status == 200, path
        assert not [name for name in headers if name.startswith("access-control")]


@pytest.mark.parametrize(("path", "without"), [(MCP, 401), ("/metrics", 401), ("/healthz", 200)])
def test_a_slash_at_the_end_leads_to_the_same_place_by_the_same_door(server, path, without):
    for token in (True, False):
        plain, more = (status_of(server, one, token=token)[0] for one in (path, f"{path}/"))
        assert plain == more
    assert more == without


def test_whether_the_server_lives_may_be_asked_for_by_the_head_alone(server):
    answer = httpx2.head(f"{server.url}/healthz")
    assert (answer.status_code, answer.content) == (200, b"")


def test_an_address_that_leads_nowhere_gives_a_browser_the_page_and_programs_an_error(server):
    asked = f"{server.url}/nowhere"
    browser = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    shown = httpx2.get(asked, headers=browser)
    assert (shown.status_code, shown.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "/app.js" in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    told = httpx2.get(asked)
    assert (told.status_code, told.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    assert "/api/v1" in told.text
    file = httpx2.get(f"{server.url}/static/nowhere.js", headers=browser)
    assert file.headers["content-type"] == "text/plain; charset=utf-8"
    with server.client(Accept="text/html") as client:
        problem = client.get("/nowhere")
    assert problem.headers["content-type"] == "application/problem+json"
    assert "openapi.json" in problem.json()["advice"]


def test_the_page_needs_no_token_and_has_strict_headers(server):
    for path in ("/", "/sessions", "/sessions/x/entries/y", "/health"):
        status, headers = status_of(server, path, token=False)
        assert status == 200
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]
    assert status_of(server, "/static/../../token", token=False)[0] == 404
    assert status_of(server, "/static/%2e%2e/%2e%2e/routes.py", token=False)[0] == 404
    assert status_of(server, "/nothing", token=False)[0] == 404


def test_the_api_forbids_keeping_answers(server, owner):
    found = owner.get("/me")
    assert found.headers["cache-control"] == "no-store"
    assert found.headers["x-request-id"]


def test_the_token_is_private_and_never_printed(tmp_path):
    root = tmp_path / "store"
    with in_process(root) as (server, process):
        token = (root / "token").read_text().strip()
        assert stat.S_IMODE((root / "token").stat().st_mode) == 0o600
        with server.client() as client:
            assert client.get("/me").json()["kind"] == "owner"
        process.terminate()
        told, errors = process.communicate(timeout=60)
    assert token not in told + errors
    assert process.returncode == 0


def test_a_sign_in_link_works_once_and_gives_a_token_that_can_be_revoked(server):
    assert server.built is not None
    code = server.built.house.desk.new_code()
    with httpx2.Client(base_url=f"{server.url}/api/v1", timeout=60) as nobody:
        first = nobody.post("/login", json={"code": code})
        assert first.status_code == 200
        again = nobody.post("/login", json={"code": code})
        assert (again.status_code, again.json()["code"]) == (401, "E_CODE")
    with server.client(first.json()["token"]) as page:
        assert page.get("/me").json()["kind"] == "page"
        assert page.get("/me").json()["expires_at"] == first.json()["expires_at"]
        assert page.post("/logout").status_code == 204
        assert page.get("/me").status_code == 401
    assert first.json()["token"] not in (server.root / "tokens.toml").read_text()


def test_an_old_code_and_an_expired_token_are_worthless(server):
    file = TokenFile(str(server.root))
    then = datetime.now(UTC) - timedelta(hours=1)
    code, _ = file.issue("code", then, timedelta(minutes=10))
    answer = httpx2.post(f"{server.url}/api/v1/login", json={"code": code}, timeout=60)
    assert answer.status_code == 401
    token, _ = file.issue("scoped", then, timedelta(minutes=10))
    with server.client(token) as late:
        assert late.get("/me").status_code == 401


def test_a_page_token_outlives_the_server(tmp_path):
    root = tmp_path / "store"
    with in_thread(root) as server:
        assert server.built is not None
        token, _ = server.built.house.desk.sign_in(server.built.house.desk.new_code())
    with in_thread(root) as server, server.client(token) as page:
        assert page.get("/me").status_code == 200


def test_a_token_that_only_reads_cannot_write(server, session):
    token, _ = TokenFile(str(server.root)).issue("scoped", datetime.now(UTC), None, read_only=True)
    with server.client(token) as reader:
        assert reader.get(f"/sessions/{session}").status_code == 200
        assert reader.post("/search", json={"text": "database"}).status_code == 200
        entry = {"type": "note", "content": "no"}
        for refused in (
            reader.post(f"/sessions/{session}/entries", json=entry),
            reader.post("/sessions", json={}),
            reader.patch(f"/sessions/{session}", json={"metadata": {"a": 1}}),
            reader.post("/plans", json={"action": "reindex"}),
            reader.put("/nodes/ann/x", json={"body": "no"}),
        ):
            assert (refused.status_code, refused.json()["code"]) == (403, "E_READ_ONLY")
        mcp = httpx2.post(f"{server.url}/mcp", headers=dict(reader.headers), json={}, timeout=60)
        assert mcp.status_code == 403


def test_too_many_requests_are_told_when_to_come_back(tmp_path):
    slow = {"server.requests_per_minute": 60}
    with in_thread(tmp_path / "store", slow) as server, server.client() as client:
        answers = [client.get("/me") for _ in range(70)]
    refused = [one for one in answers if one.status_code == 429]
    assert refused
    assert int(refused[0].headers["retry-after"]) >= 1
    assert {one.status_code for one in answers} == {200, 429}


def test_other_addresses_are_bound_only_behind_tls_with_a_token(run):
    refused = run("serve", "--host", "0.0.0.0", "--port", "0", code=5)
    assert "TLS" in refused.stderr
    assert "server.behind_tls in config.toml" in refused.stderr.replace("`", "")


@pytest.mark.parametrize(
    ("host", "port", "told"),
    [
        ("127.0.0.1", 7077, "127.0.0.1:7077"),
        ("127.0.0.1", 80, "127.0.0.1"),
        ("::1", 80, "[::1]"),
        ("127.0.0.9", 7077, "127.0.0.9:7077"),
        ("127.0.0.9", 80, "127.0.0.9"),
    ],
)
def test_a_server_answers_to_the_address_that_it_prints_as_clients_say_it(host, port, told):
    door = Doorway(names_of(port, (), host))
    origin = b"http://" + told.encode()
    assert door.refusal({b"host": [told.encode()], b"origin": [origin]}) is None
    assert door.refusal({b"host": [told.encode()], b"origin": [origin + b":1"]}) == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "evil.example"])
def test_an_address_that_others_reach_is_no_name_of_the_server_by_itself(host):
    named = f"[{host}]" if ":" in host else host
    door = Doorway(names_of(80, (), host))
    for said in (named, f"{named}:80"):
        assert door.refusal({b"host": [said.encode()]}) == 421


def test_tokens_are_made_listed_and_revoked_by_the_command(run, ask, root):
    run("init")
    made = ask("token", "new", "--name", "ci", "--for-agent", "architect", "--read-only")[0]
    assert made["agents"] == ["architect"]
    assert made["token"] not in (root / "tokens.toml").read_text()
    assert stat.S_IMODE((root / "tokens.toml").stat().st_mode) == 0o600
    [listed] = ask("token", "list")
    assert listed["id"] == made["id"]
    assert "token" not in listed
    assert "hash" not in listed
    ask("token", "revoke", made["id"])
    assert ask("token", "list") == []
    run("token", "revoke", made["id"], code=10)
    assert "#code=" in ask("token", "link")[0]["link"]
