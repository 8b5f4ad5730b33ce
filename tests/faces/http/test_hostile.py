"""Hostile ids and bodies: nothing outside the root is touched, and nothing fails unexpectedly."""

from urllib.parse import quote

import pytest

IDS = [
    "../../outside",
    "..",
    "/etc/passwd",
    "..%2f..%2foutside",
    "a/b",
    "\\..\\..\\outside",
    "CON",
    "a\x00b",
    "\ud800",
    "x" * 5000,
    "<script>alert(1)</script>",
    "';DROP TABLE entry;--",
    "\u202eevil",
    "{session_id}",
    "%",
    "__proto__",
]
BODIES = [
    b"",
    b"null",
    b"[]",
    b"{",
    b'{"a":' * 2000,
    b"[" * 50_000,
    b'{"type":"note","content":1e999}',
    b'{"type":"note","content":{"a":NaN}}',
    b'{"type":"note","content":"\xff\xfe"}',
    b'{"type":"note","content":"\\ud800"}',
    b'{"type":"tombstone","target":"x"}',
    b'{"type":"note","id":"../../x","content":"x"}',
    b'{"type":"note","seq":1,"sum":"x","v":99}',
    b'{"type":"note","content":' + b"9" * 5000 + b"}",
]
PATHS = [
    "/sessions/{}",
    "/sessions/{}/entries",
    "/sessions/{}/minimap",
    "/sessions/{}/files",
    "/sessions/{}/entries/{}",
    "/sessions/{}/entries/{}/raw",
    "/sessions/{}/entries/{}/revisions",
    "/sessions/{}/entries/{}/links",
    "/nodes/{}",
    "/nodes/ann/{}",
    "/nodes/{}/x",
    "/nodes/ann/{}/versions",
    "/graph/{}",
    "/jobs/{}",
    "/downloads/{}",
    "/work-agents/{}/sessions",
    "/work-agents/x/sessions/{}",
]


def encoded(text):
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


@pytest.fixture(scope="module")
def outside(server):
    """Everything beside the root, before and after."""
    around = server.root.parent
    (around / "outside").write_text("untouched")

    def seen():
        return {
            str(path.relative_to(around)): path.stat().st_mtime_ns
            for path in around.rglob("*")
            if server.root not in path.parents and path != server.root
        }

    before = seen()
    yield
    assert seen() == before
    assert (around / "outside").read_text() == "untouched"


@pytest.mark.parametrize("hostile", IDS)
def test_a_hostile_id_in_any_path_leads_nowhere(server, owner, outside, hostile):
    for path in PATHS:
        address = path.replace("{}", encoded(hostile))
        answer = owner.get(address)
        assert answer.status_code < 500, (path, answer.text)
        assert "untouched" not in answer.text
        assert "root:x:" not in answer.text
    for action, address, body in (
        ("POST", "/sessions/{}/entries", {"type": "note", "content": "x"}),
        ("PATCH", "/sessions/{}", {"metadata": {}}),
        ("POST", "/sessions/{}/moments", {"what": "sleep"}),
        ("PUT", "/nodes/ann/{}", {"body": "x"}),
        ("PUT", "/nodes/{}/x", {"body": "x"}),
        ("DELETE", "/nodes/ann/{}", None),
        ("POST", "/plans/{}/run", {"confirm": True}),
        ("POST", "/undo/{}", None),
        ("POST", "/jobs/{}/cancel", None),
        ("POST", "/review/{}", {"verdict": "reject"}),
        ("POST", "/worker/parked/{}/retry", None),
    ):
        answer = owner.request(action, address.replace("{}", encoded(hostile)), json=body)
        assert answer.status_code < 500, (address, answer.text)


@pytest.mark.parametrize("hostile", [one for one in IDS if one != "\ud800"])
def test_a_hostile_id_in_a_body_leads_nowhere(server, owner, outside, hostile):
    made = owner.post("/sessions", json={"session_id": hostile, "user_id": hostile})
    assert made.status_code in (201, 400, 409), made.text
    for body in (
        {"action": "delete", "selector": {"session_id": hostile, "ids": [hostile]}},
        {"action": "delete_session", "selector": {"session_id": hostile}},
    ):
        assert owner.post("/plans", json=body).status_code < 500
    assert owner.post("/exports", json={"session_id": hostile}).status_code < 500
    files = {"files": {hostile: "{}"}}
    assert owner.post("/imports", json=files).status_code in (202, 400)
    assert owner.post("/login", json={"code": hostile}).status_code in (400, 401, 429)


@pytest.mark.parametrize("body", BODIES, ids=range(len(BODIES)))
def test_a_hostile_body_is_refused_or_stored_but_never_fails(owner, session, body):
    for path in (
        f"/sessions/{session}/entries",
        f"/sessions/{session}/batch",
        "/sessions",
        "/search",
        "/context",
        "/plans",
        "/verify",
        "/imports",
        "/exports",
    ):
        answer = owner.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code < 500, (path, answer.text)


def test_a_static_file_never_leads_out_of_its_folder(server, owner):
    for path in ("/static/../routes.py", "/static/%2e%2e/routes.py", "/static//etc/passwd"):
        assert owner.get(f"{server.url}{path}").status_code == 404
