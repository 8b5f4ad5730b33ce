"""The API: sessions, entries, searching, plans, jobs, exchange, and what it says about itself."""

import io
import json
import shlex
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.faces.http import page, tickets
from tests.conftest import SetClock
from tests.faces.http.servers import finished, in_thread, wait_until

DOCS = Path(__file__).parents[3] / "docs"


def entries_of(owner, session, **query):
    found = owner.get(f"/sessions/{session}/entries", params=query)
    assert found.status_code == 200, found.text
    return found.json()


def planned(owner, action, selector, **more):
    made = owner.post("/plans", json={"action": action, "selector": selector, **more})
    assert made.status_code == 201, made.text
    return made.json()


def test_a_session_is_listed_with_counts_and_facets(owner, session):
    found = owner.get("/sessions", params={"user": "ann", "limit": 200}).json()
    [row] = [one for one in found["items"] if one["id"] == session]
    assert row["entries"] == 3
    assert row["by_type"] == {"conversation": 1, "decision": 1, "finding": 1}
    assert row["state"] == "active"
    assert row["limit_bytes"] > row["size_bytes"] > 0
    assert found["facets"]["agents"]["architect"] >= 1
    assert found["facets"]["states"]["active"] >= 1


def test_lists_are_cut_and_go_on_by_cursor(owner):
    made = [owner.post("/sessions", json={"user_id": "cursor"}).json()["id"] for _ in range(5)]
    seen: list[str] = []
    cursor = None
    while True:
        query = {"user": "cursor", "limit": 2, **({"cursor": cursor} if cursor else {})}
        found = owner.get("/sessions", params=query).json()
        seen += [one["id"] for one in found["items"]]
        assert len(found["items"]) <= 2
        assert found["total"] == 5
        cursor = found["next_cursor"]
        if cursor is None:
            break
    assert sorted(seen) == sorted(made)
    assert owner.get("/sessions", params={"limit": 201}).status_code == 400
    assert owner.get("/sessions", params={"cursor": "nonsense"}).json()["code"] == "E_CURSOR"


def test_a_session_reads_in_windows_that_join_without_a_gap(owner):
    session = owner.post("/sessions", json={}).json()["id"]
    batch = [{"type": "note", "content": f"note {n}"} for n in range(25)]
    assert owner.post(f"/sessions/{session}/batch", json={"entries": batch}).status_code == 201
    last = entries_of(owner, session, limit=10)
    assert [one["place"] for one in last["items"]] == list(range(16, 26))
    before = entries_of(owner, session, limit=10, before_seq=last["previous_cursor"])
    assert [one["place"] for one in before["items"]] == list(range(6, 16))
    onward = entries_of(owner, session, limit=10, after_seq=before["next_cursor"])
    assert onward["items"] == last["items"]
    middle = entries_of(owner, session, limit=5, around=12)
    assert 12 in [one["place"] for one in middle["items"]]
    assert middle["total"] == 25
    some = entries_of(owner, session, q="note 1", limit=200)
    assert len(some["items"]) == 11  # 1, and 10 to 19


@pytest.mark.parametrize("path", ["entries?around=x", "entries/x"])
def test_an_entry_that_there_is_none_of_leads_to_the_route_that_lists_them(owner, session, path):
    told = owner.get(f"/sessions/{session}/{path}")
    assert (told.status_code, told.json()["code"]) == (404, "E_ENTRY_NOT_FOUND")
    advice = "`GET /sessions/{session_id}/entries` lists what there is."
    assert told.json()["advice"] == advice
    assert owner.get(f"/sessions/{session}/entries").status_code == 200


def test_the_raw_line_is_the_line_of_the_file(server, owner, session):
    entry = entries_of(owner, session)["items"][1]["entry"]["id"]
    raw = owner.get(f"/sessions/{session}/entries/{entry}/raw").json()
    content = (server.root / raw["segment"]).read_bytes()
    assert raw["line"].encode() == content[raw["offset"] : raw["offset"] + raw["bytes"]]
    assert raw["sum_ok"]
    assert json.loads(raw["line"])["id"] == entry


def test_revisions_and_links_of_an_entry(owner, session):
    first, second = [one["entry"]["id"] for one in entries_of(owner, session)["items"][:2]]
    changed = owner.patch(f"/sessions/{session}/entries/{first}", json={"content": "We need more."})
    assert changed.json()["status"] == "revised"
    more = {"type": "note", "content": "see above", "references": [second]}
    note = owner.post(f"/sessions/{session}/entries", json=more).json()["id"]
    found = owner.get(f"/sessions/{session}/entries/{first}/revisions").json()["items"]
    assert [one["kind"] for one in found] == ["revision", "revision"]
    links = owner.get(f"/sessions/{session}/entries/{note}/links").json()
    assert [one["id"] for one in links["outgoing"]] == [second]
    back = owner.get(f"/sessions/{session}/entries/{second}/links").json()
    assert [one["id"] for one in back["incoming"]] == [note]
    row = owner.get(f"/sessions/{session}/entries/{first}").json()
    assert (row["revisions"], row["place"], row["flags"]) == (2, 1, ["revised"])


def test_a_revision_against_an_older_one_is_refused(owner, session):
    first = entries_of(owner, session)["items"][0]["entry"]["id"]
    refused = owner.patch(
        f"/sessions/{session}/entries/{first}", json={"content": "x", "expected_seq": 999}
    )
    assert (refused.status_code, refused.json()["code"]) == (409, "E_CONCURRENT_MOD")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"expected_seq": "999"}, "expected_seq"),
        ({"expected_seq": 0.5}, "expected_seq"),
        ({"expected_seq": True}, "expected_seq"),
        ({"session_id": "another"}, "session_id"),
        ({"self": 1}, "self"),
        ({"not-a-field": 1}, "not-a-field"),
    ],
)
def test_what_a_revision_would_not_listen_to_is_refused(owner, session, body, field):
    first = entries_of(owner, session)["items"][0]["entry"]
    path = f"/sessions/{session}/entries/{first['id']}"
    refused = owner.patch(path, json={"content": "overwritten", **body})
    assert (refused.status_code, refused.json()["code"]) == (400, "E_SCHEMA_INVALID")
    assert field in refused.json()["detail"]
    assert owner.get(path).json()["entry"]["seq"] == first["seq"]


def test_a_search_says_what_was_done_differently_than_asked_also_of_an_earlier_moment(
    owner, session
):
    long = {"text": "which database " + "x" * 60_000, "session_id": session}
    now = datetime.now(UTC).isoformat()
    for asked in (long, {**long, "as_of": now}):
        (note,) = owner.post("/search", json=asked).json()["notes"]
        assert "the text is long" in note
    assert owner.post("/search", json={"text": "which database"}).json()["notes"] == []


@pytest.mark.parametrize("scorer", ["recall", "weighted", "product"])
def test_the_parts_of_a_hit_give_its_relevance(owner, session, scorer):
    asked = {"text": "which database", "session_id": session, "scorer": scorer}
    found = owner.post("/search", json=asked).json()
    assert found["hits"][0]["entry"]["content"]["decision"] == "Use PostgreSQL"
    for hit in found["hits"]:
        parts = [part["contribution"] for part in hit["why"]["parts"]]
        total = 1.0
        for part in parts:
            total *= part
        total = total if hit["why"]["mode"] == "product" else sum(parts)
        assert total == pytest.approx(hit["relevance"], abs=1e-4)
    assert found["facets"]["types"]["decision"] == 1


def test_what_is_found_of_an_object_reads_field_by_field_with_its_words_marked(owner, session):
    asked = {"text": "postgresql", "types": ["decision"], "session_id": session}
    (hit,) = owner.post("/search", json=asked).json()["hits"]
    assert hit["text"] == "Use PostgreSQL · rationale: ACID"
    assert [hit["text"][start:end] for start, end in hit["highlights"]] == ["PostgreSQL"]


def test_the_context_is_exactly_what_the_library_gives(server, owner, session):
    asked = {"text": "database", "session_id": session, "budget_tokens": 500}
    block = owner.post("/context", json=asked).json()
    own = server.memory.context(session, "database", max_tokens=500)
    assert (block["text"], block["tokens"]) == (own.text, own.tokens)
    assert [item["id"] for item in block["items"]] == list(own.sources)


def test_one_entry_is_hidden_at_once_and_brought_back(owner, session):
    entry = entries_of(owner, session)["items"][0]["entry"]["id"]
    selector = {"session_id": session, "ids": [entry]}
    done = planned(owner, "delete", selector, run=True)["outcome"]
    assert done["receipt"] == {"hidden": 1}
    assert entries_of(owner, session)["total"] == 2
    shown = entries_of(owner, session, hidden=True)["items"][0]
    assert shown["hidden_until"] > shown["hidden_at"]
    hidden = owner.get("/hidden", params={"session": session}).json()
    assert [one["entry"]["id"] for one in hidden["items"]] == [entry]
    assert owner.post(f"/undo/{done['undo_id']}").json()["ids"] == [entry]
    assert entries_of(owner, session)["total"] == 3
    assert owner.post(f"/undo/{done['undo_id']}").status_code == 404


def test_a_plan_is_run_as_it_was_shown_or_not_at_all(owner, session):
    plan = planned(owner, "clear_session", {"session_id": session})
    assert plan["counts"]["entries"] == 3
    assert "hide 3 entries" in plan["sentence"]
    assert owner.post(f"/plans/{plan['plan_id']}/run", json={}).json()["code"] == "E_CONFIRM"
    owner.post(f"/sessions/{session}/entries", json={"type": "note", "content": "one more"})
    refused = owner.post(f"/plans/{plan['plan_id']}/run", json={"confirm": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "E_PLAN_CHANGED")
    again = refused.json()["plan"]
    assert again["counts"]["entries"] == 4
    assert entries_of(owner, session)["total"] == 4
    done = owner.post(f"/plans/{again['plan_id']}/run", json={"confirm": True})
    assert done.json()["receipt"] == {"hidden": 4}
    assert entries_of(owner, session)["total"] == 0
    twice = owner.post(f"/plans/{again['plan_id']}/run", json={"confirm": True})
    assert twice.status_code == 404
    owner.post(f"/undo/{done.json()['undo_id']}")
    assert entries_of(owner, session)["total"] == 4


def test_what_must_be_confirmed_cannot_be_run_at_once(owner, session):
    selector = {"session_id": session, "types": ["decision"]}
    refused = owner.post("/plans", json={"action": "erase", "selector": selector, "run": True})
    assert (refused.status_code, refused.json()["code"]) == (400, "E_CONFIRM")
    assert entries_of(owner, session)["total"] == 3


def test_an_erasure_ends_with_its_proof_and_the_bytes_are_gone(server, owner):
    secret = "xylophone-quartz-" + "8261"
    session = owner.post("/sessions", json={}).json()["id"]
    entry = {"type": "note", "content": secret, "tags": ["sensitive"]}
    owner.post(f"/sessions/{session}/entries", json=entry)
    owner.post("/search", json={"text": secret})
    plan = planned(owner, "erase", {"session_id": session, "tags": ["sensitive"]})
    assert plan["confirm"] == "count"
    wrong = owner.post(f"/plans/{plan['plan_id']}/run", json={"confirm": True})
    assert wrong.json()["code"] == "E_CONFIRM"
    done = owner.post(f"/plans/{plan['plan_id']}/run", json={"confirm": 1}).json()
    job = finished(owner, done["job_id"])
    assert job["state"] == "done", job
    assert job["result"]["erased"] == 1
    assert job["result"]["proof"]["clean"]
    assert job["result"]["proof"]["files"] > 0
    for file in server.root.rglob("*"):
        assert not file.is_file() or secret.encode() not in file.read_bytes()
    proof = finished(owner, owner.post("/verify", json={"text": [secret]}).json()["id"])
    assert proof["result"]["proof"]["clean"]
    actions = [row["action"] for row in owner.get("/audit").json()["items"]]
    assert "erase" in actions
    assert owner.get("/audit").json()["chain_ok"]


def test_a_session_is_counted_right_after_an_erasure_by_another_program(server, owner):
    then = SetClock()
    then.moment = datetime.now(UTC) - timedelta(hours=1)
    with Memory.open(server.root, clock=then, environ={}) as beside:
        session = beside.create_session(user_id="ann").id
        ids = [beside.add_conversation(session, role="user", content=f"{n}").id for n in range(3)]

        def counted():
            listed = owner.get("/sessions", params={"limit": 200}).json()["items"]
            [row] = [one for one in listed if one["id"] == session]
            return row["entries"], owner.get(f"/sessions/{session}").json()["entries"]

        assert counted() == (3, 3)
        beside.erase(session, ids=ids[:2])
        assert counted() == (1, 1)


def test_sessions_that_go_while_they_are_listed_cost_only_their_rows(server, owner):
    with Memory.open(server.root, environ={}) as beside, ThreadPoolExecutor(1) as pool:

        def come_and_go():
            for _ in range(6):
                names = [beside.create_session().id for _ in range(10)]
                for name in names:
                    beside.delete_session(name)

        going = pool.submit(come_and_go)
        statuses = set()
        while not going.done():
            statuses.add(owner.get("/sessions", params={"limit": 200}).status_code)
        going.result()
    assert statuses == {200}


def test_sessions_are_archived_restored_and_deleted_by_plans(owner, session):
    for action, state in (("archive_session", "archived"), ("restore_session", "active")):
        plan = planned(owner, action, {"session_ids": [session]})
        done = owner.post(f"/plans/{plan['plan_id']}/run", json={"confirm": True})
        assert done.status_code == 200, done.text
        assert owner.get(f"/sessions/{session}").json()["state"] == state
    plan = planned(owner, "delete_session", {"session_ids": [session]})
    assert any(name.endswith("memory.jsonl") for name in plan["files"])
    done = owner.post(f"/plans/{plan['plan_id']}/run", json={"confirm": 3})
    assert finished(owner, done.json()["job_id"])["state"] == "done"
    gone = owner.get(f"/sessions/{session}")
    assert (gone.status_code, gone.json()["code"]) == (404, "E_SESSION_NOT_FOUND")


@pytest.mark.parametrize(
    "action", ["retention", "redact", "reindex", "compact", "migrate", "repair"]
)
def test_upkeep_is_planned_and_done_as_a_job(owner, session, action):
    selector = {"session_ids": [session]} if action == "compact" else {}
    plan = planned(owner, action, selector)
    confirm = plan["counts"]["entries"] if plan["confirm"] == "count" else True
    done = owner.post(f"/plans/{plan['plan_id']}/run", json={"confirm": confirm})
    job = finished(owner, done.json()["job_id"])
    assert job["state"] == "done", job
    assert job["id"] in [one["id"] for one in owner.get("/jobs").json()["items"]]


def test_an_export_is_fetched_once_by_its_ticket_and_imported_again(server, owner, session):
    asked = {"layout": "jsonl", "session_id": session}
    job = finished(owner, owner.post("/exports", json=asked).json()["id"])
    ticket = job["result"]["ticket"]
    with server.client("nobody") as nobody:  # a link brings no token
        found = nobody.get(f"/downloads/{ticket}")
        assert found.status_code == 200
        assert nobody.get(f"/downloads/{ticket}").status_code == 404
    files = {"files": {"export.jsonl": found.text}, "prefix": "again-"}
    dry = finished(owner, owner.post("/imports", json={**files, "dry_run": True}).json()["id"])
    assert dry["result"]["new"] >= 3
    assert owner.get(f"/sessions/again-{session}").status_code == 404
    done = finished(owner, owner.post("/imports", json=files).json()["id"])
    assert done["result"]["new"] == dry["result"]["new"]
    assert owner.get(f"/sessions/again-{session}").json()["entries"] == 3


def test_an_export_of_several_files_is_one_archive(owner, session):
    asked = {"layout": "four-files", "session_id": session}
    job = finished(owner, owner.post("/exports", json=asked).json()["id"])
    found = owner.get(f"/downloads/{job['result']['ticket']}")
    assert len(zipfile.ZipFile(io.BytesIO(found.content)).namelist()) >= 3


def test_an_export_that_no_download_can_hold_is_told_as_that(owner, session, monkeypatch):
    asked = {"layout": "jsonl", "session_id": session}
    kept = finished(owner, owner.post("/exports", json=asked).json()["id"])["result"]
    monkeypatch.setattr(tickets, "_MOST_BYTES", kept["bytes"] - 1)
    job = finished(owner, owner.post("/exports", json=asked).json()["id"])
    assert (job["state"], job["error"]["code"]) == ("failed", "E_SIZE_LIMIT")
    assert owner.get(f"/downloads/{kept['ticket']}").status_code == 200, "others keep theirs"


def test_the_tree_is_told_a_level_at_a_time(owner):
    for path in ("projects%2Fpay", "projects%2Fold%2Fone", "tea", "USER.md"):
        assert owner.put(f"/nodes/ann/{path}", json={"body": "text"}).status_code == 200
    top = owner.get("/nodes/ann", params={"depth": 1}).json()
    shown = [(one["path"], one["kind"], one["children"]) for one in top["items"]]
    assert shown == [("USER.md", "file", 0), ("projects", "folder", 2), ("tea", "node", 0)]
    assert (top["total"], top["next"]) == (3, "")
    asked = {"depth": 1, "path": "projects", "limit": 1}
    first = owner.get("/nodes/ann", params=asked).json()
    rest = owner.get("/nodes/ann", params={**asked, "after": first["next"]}).json()
    assert [one["path"] for one in first["items"] + rest["items"]] == [
        "projects/old", "projects/pay",
    ]  # fmt: skip
    below = owner.get("/nodes/ann", params={"path": "projects"}).json()
    assert [one["path"] for one in below["items"]] == ["projects/old/one", "projects/pay"]


def test_a_node_is_written_read_versioned_and_guarded(owner):
    path = "/nodes/ann/projects%2Fpayments"
    made = owner.put(path, json={"body": "Uses [[Other]].", "reason": "first"})
    assert (made.status_code, made.json()["status"]) == (200, "created")
    node = owner.get(path).json()
    assert node["path"] == "projects/payments"
    assert node["outgoing"][0]["exists"] is False
    fresh = {"If-Match": node["hash"]}
    second = owner.put(path, json={"body": "Uses PostgreSQL."}, headers=fresh)
    assert second.json()["status"] == "updated"
    stale = owner.put(path, json={"body": "Uses MongoDB."}, headers=fresh)
    assert (stale.status_code, stale.json()["code"]) == (412, "E_NODE_CONFLICT")
    assert "PostgreSQL" in stale.json()["theirs"]
    assert stale.json()["hash"] == second.json()["hash"]
    versions = owner.get(f"{path}/versions").json()["items"]
    assert len(versions) == 2
    newest = owner.get(f"{path}/versions/{versions[-1]['n']}").json()
    assert {"+", "-"} <= {line["op"] for hunk in newest["hunks"] for line in hunk["lines"]}
    back = owner.post(f"{path}/versions/{versions[0]['n']}/revert", json={})
    assert back.json()["status"] == "updated"
    assert "Other" in owner.get(path).json()["body"]
    # The worker may have learned something of ann meanwhile.
    assert "projects/payments" in [one["path"] for one in owner.get("/nodes/ann").json()["items"]]
    assert "projects/payments" in [one["path"] for one in owner.get("/graph/ann").json()["nodes"]]
    found = owner.post("/search", json={"text": "payments other", "kinds": ["node"]}).json()
    assert found["hits"][0]["node"]["path"] == "projects/payments"
    assert owner.delete(path).json()["status"] == "deleted"
    assert owner.get(path).status_code == 404


def test_a_search_for_nodes_keeps_to_users_times_and_limit(owner, server):
    for user in ("zoe", "yan"):
        for number in range(12):
            server.memory.write_node(f"birds/heron-{number}", "A heron.\n", user_id=user)

    def search(**more):
        return owner.post("/search", json={"text": "heron", "kinds": ["node"], **more}).json()

    found = search(users=["zoe"], limit=20)
    assert {one["node"]["user"] for one in found["hits"]} == {"zoe"}
    assert (found["total"], found["total_exact"]) == (12, True)
    assert search(users=["nobody"])["hits"] == []
    assert search(time_range={"end": "2020-01-01"})["hits"] == []
    assert search(users=["zoe"], limit=5)["total_exact"] is False


def test_a_least_relevance_holds_for_nodes_and_a_least_importance_leaves_none(owner, server):
    server.memory.write_node("birds/stork", "A stork.\n", user_id="zoe")

    def best(**more):
        asked = {"text": "stork bird", "kinds": ["node"], "users": ["zoe"], **more}
        return [one["relevance"] for one in owner.post("/search", json=asked).json()["hits"]]

    top, *_ = best()
    assert best(min_relevance=top)[:1] == [top]
    assert best(min_relevance=top + 0.01) == []
    assert best(min_importance=0.1) == []


def test_the_worker_and_the_review_can_be_looked_at(owner):
    assert owner.get("/worker").json()["state"] in ("idle", "working")
    assert owner.post("/worker/tick").json()["done"] >= 0
    found = owner.get("/review").json()
    assert found == {"items": [], "next_cursor": None, "total": 0, "total_exact": True}
    gone = owner.post("/review/nope", json={"verdict": "accept"})
    assert gone.status_code == 404


def test_a_session_is_due_once_it_is_told_that_nobody_goes_on_there(tmp_path):
    with in_thread(tmp_path / "store", {"knowledge.tick_seconds": 3600}) as server:
        turns = server.memory.settings.knowledge.turn_threshold
        with server.client() as client:

            def told(session, what):
                answer = client.post(f"/sessions/{session}/moments", json={"what": what})
                return answer.json().get("is_due", answer.status_code)

            for what in ("reset", "compacted", "sleep", "turns"):
                client.post("/sessions", json={"session_id": what})
                note = {"type": "note", "content": "we need ACID"}
                client.post(f"/sessions/{what}/entries", json=note)
                assert told(what, "turn") is False
                if what == "turns":
                    assert [told(what, "turn") for _ in range(turns - 1)][-1] is True
                else:
                    assert told(what, what) is True
            queue = {
                one["session_id"]: one["cause"] for one in client.get("/worker").json()["queue"]
            }
            assert queue == {one: one for one in ("reset", "compacted", "sleep", "turns")}
            assert (told("sleep", "lunch"), told("nope", "sleep")) == (400, 404)


def test_the_review_is_paged_by_what_waits_and_not_by_its_number(owner, server):
    server.memory.create_session("una", session_id="una", agent_ids=["analyst"])
    for key in ("editor", "shell", "theme"):
        content = {"key": key, "value": "dark"}
        server.memory.add_memory(
            "una", type="preference", content=content, agent_id="analyst", origin="tool"
        )
        server.memory.sleep_session("una")
        owner.post("/worker/tick")
    wait_until(lambda: owner.get("/review").json()["total"] == 3)
    whole = [one["id"] for one in owner.get("/review").json()["items"]]
    first = owner.get("/review", params={"limit": 2}).json()
    assert ([one["id"] for one in first["items"]], first["total"]) == (whole[:2], 3)
    owner.post(f"/review/{whole[0]}", json={"verdict": "reject"})
    rest = owner.get("/review", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [one["id"] for one in rest["items"]] == whole[2:]
    assert (rest["next_cursor"], rest["total"]) == (None, 2)
    for one in whole[1:]:
        owner.post(f"/review/{one}", json={"verdict": "reject"})


def test_what_was_recalled_is_told_field_by_field(owner, session):
    told = owner.get("/stats/recalled", params={"sessions": 1}).json()
    texts = {one["id"]: one["text"] for one in [*told["most"], *told["never_sample"]]}
    assert "Use PostgreSQL · rationale: ACID" in texts.values()


def test_health_tells_totals_curves_rules_findings_and_settings(owner, session):
    assert owner.get("/stats").json()["entries"] >= 3
    series = owner.get("/stats/series", params={"metric": "entries"}).json()
    assert len(series["t"]) == len(series["series"]["decision"])
    curves = {one["type"]: one for one in owner.get("/stats/decay").json()["items"]}
    assert curves["conversation"]["points"][0] == [0.0, 1.0]
    assert 0 <= owner.get("/stats/recalled").json()["never_share"] <= 1
    rules = owner.get("/retention").json()
    assert {one["type"]: one["days"] for one in rules["rules"]}["conversation"] == 90
    assert rules["next_run"] is not None
    assert isinstance(owner.get("/doctor").json()["healthy"], bool)
    settings = {one["key"]: one for one in owner.get("/settings").json()["items"]}
    assert settings["storage.durability"]["value"] == "always"
    assert owner.get(f"/sessions/{session}/minimap").json()["buckets"][0]["from_seq"] == 1
    names = [one["name"] for one in owner.get(f"/sessions/{session}/files").json()["files"]]
    assert any(name.endswith("manifest.json") for name in names)


def test_a_setting_is_changed_in_its_file_against_what_was_read(tmp_path):
    root = tmp_path / "store"
    root.mkdir(mode=0o700)
    config = "# mine\n[storage]\nbatch_write_size = 7 # few\n\n[decay]\nminimum = 0.2\n"
    (root / "config.toml").write_text(config)
    with in_thread(root) as server, server.client() as client:
        read = client.get("/settings").json()["hash"]
        sent = {
            "storage.batch_write_size": 9,
            "storage.durability": "batch",
            "search.timeout_ms": 5,
        }
        done = client.patch("/settings", json=sent, headers={"If-Match": read})
        assert done.status_code == 200, done.text
        assert done.json()["pending"] == ["search.timeout_ms"]
        applies = {one["key"]: one["applies"] for one in done.json()["items"]}
        assert [applies[key] for key in sent] == ["now", "now", "restart"]
        assert server.memory.settings.storage.durability == "batch"
        assert server.memory.settings.search.timeout_ms != 5
        stale = client.patch("/settings", json=sent, headers={"If-Match": read})
        assert (stale.status_code, stale.json()["code"]) == (409, "E_CONCURRENT_MOD")
        for wrong in ({"storage.durability": "never"}, {"storage.nope": 1}):
            refused = client.patch("/settings", json=wrong)
            assert (refused.status_code, refused.json()["code"]) == (400, "E_SETTINGS")
    text = (root / "config.toml").read_text()
    assert text.startswith("# mine\n[storage]\n")
    assert "minimum = 0.2" in text
    with in_thread(root) as server:
        assert server.memory.settings.storage.batch_write_size == 9
        assert server.memory.settings.storage.durability == "batch"
        assert server.memory.settings.search.timeout_ms == 5


@pytest.mark.parametrize(
    ("body", "told"),
    [(b"", "There is no body."), (b'{"user_id":', "The body cannot be read: "), (b"[]", "Expect")],
)
def test_a_body_that_is_none_is_told_as_that(owner, body, told):
    kind = {"content-type": "application/json"}
    refused = owner.post("/sessions", content=body, headers=kind)
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith(told)
    assert "data" not in refused.json().get("fields", {})


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data"])
def test_a_body_of_another_kind_is_named_as_what_is_wrong(owner, kind):
    found = owner.post("/search", content=b"text=x", headers={"content-type": kind})
    assert found.status_code == 400
    assert "JSON" in found.json()["detail"]


def test_an_error_says_what_was_refused_and_what_to_do(owner, session):
    refused = owner.post(f"/sessions/{session}/entries", json={"type": "Not A Type"})
    told = refused.json()
    assert refused.status_code == 400
    assert refused.headers["content-type"].startswith("application/problem+json")
    assert told["code"] == "E_INVALID_FORMAT"
    assert told["advice"]
    assert told["fields"]
    assert told["request_id"] == refused.headers["x-request-id"]
    unknown = owner.post("/sessions", json={"usr": "ann"})
    assert (unknown.status_code, unknown.json()["code"]) == (400, "E_SCHEMA_INVALID")
    assert owner.get("/nowhere").json()["code"] == "E_NOT_FOUND"
    assert owner.delete("/sessions").json()["code"] == "E_METHOD"


def test_the_page_of_the_api_is_current():
    assert (DOCS / "http.md").read_text() == page.page().rstrip() + "\n"


def test_the_first_requests_that_the_page_shows_do_what_it_says(tmp_path):
    """Each line of its example is sent, by another program than curl."""
    example = (DOCS / "http.md").read_text().split("```")[1].replace("\n    ", " ")
    asked = [shlex.split(line)[4:] for line in example.splitlines() if line.startswith("$ curl")]
    told = []
    with in_thread(tmp_path / "store") as server, server.client() as client:
        for address, *body in asked:
            sent = {"json": json.loads(body[1])} if body else {}
            method = "POST" if body else "GET"
            told.append(client.request(method, address.removeprefix("$api"), **sent))
    assert [one.status_code for one in told] == [201, 201, 200, 201, 200], told[-1].text
    assert [one["entry"]["id"] for one in told[2].json()["hits"]] == ["db"]
    assert told[3].json()["outcome"]["receipt"] == {"hidden": 1}
    assert [one["entry"]["id"] for one in told[4].json()["items"]] == ["db"]
