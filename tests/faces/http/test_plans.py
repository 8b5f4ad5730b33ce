"""Plans: the proof of an erasure, retention as previewed, undoing after a restart."""

import re
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.faces.http import actions
from mnemolog.faces.http.passes import Scope
from mnemolog.faces.http.plans import ACTIONS
from tests.conftest import SetClock
from tests.faces.http.servers import finished, in_thread


def planned(client, action, **more):
    made = client.post("/plans", json={"action": action, **more})
    assert made.status_code == 201, made.text
    return made.json()


def run(client, plan):
    count = plan["counts"]["entries"] if plan["confirm"] == "count" else True
    done = client.post(f"/plans/{plan['plan_id']}/run", json={"confirm": count})
    assert done.status_code == 200, done.text
    return done.json()


def test_the_proof_of_an_erasure_says_how_much_was_looked_through_and_what_is_left_where(
    server, owner, session
):
    secret = "the walrus sings on thursdays"
    entry = owner.post(
        f"/sessions/{session}/entries", json={"type": "note", "content": secret}
    ).json()["id"]
    selector = {"session_id": session, "ids": [entry]}
    plan = planned(owner, "erase", selector=selector)
    result = finished(owner, run(owner, plan)["job_id"])["result"]
    proof = result["proof"]
    assert proof["clean"]
    assert {"place": "sessions", "hits": 0} in proof["places"]
    assert {"place": "index", "hits": 0} in proof["places"]
    assert {"place": "log", "lines": 1} in result["removed"]
    log = server.root / "sessions" / session / "memory.jsonl"
    assert proof["bytes"] > log.stat().st_size
    assert proof["files"] > 5
    (server.root / "archive" / "left.txt").write_text(secret)
    again = owner.post("/verify", json={"text": [secret]}).json()
    found = finished(owner, again["id"])["result"]["proof"]
    assert {"place": "archive", "hits": 1} in found["places"]
    assert not found["clean"]
    assert secret not in str(found)
    (server.root / "archive" / "left.txt").unlink()


def test_an_erasure_from_many_sessions_looks_through_every_file_once(tmp_path, monkeypatch):
    with in_thread(tmp_path / "store") as server, server.client() as owner:
        for number in range(6):
            name = owner.post("/sessions", json={"user_id": "ann"}).json()["id"]
            entry = {"type": "note", "tags": ["gone"], "content": f"secret number {number}"}
            owner.post(f"/sessions/{name}/entries", json=entry)
        keeper = type(server.memory._keeper)
        scan, scans = keeper.scan, list[object]()

        def counted(*given: Any) -> Any:
            scans.append(given)
            return scan(*given)

        monkeypatch.setattr(keeper, "scan", counted)
        plan = planned(owner, "erase", selector={"tags": ["gone"]})
        result = finished(owner, run(owner, plan)["job_id"])["result"]
        assert (result["erased"], result["proof"]["clean"], len(scans)) == (6, True, 1)
        monkeypatch.setattr(actions, "_AT_ONCE", 0)  # no two fit into memory together
        for name in [one["id"] for one in owner.get("/sessions").json()["items"]]:
            entry = {"type": "note", "tags": ["gone"], "content": f"another secret of {name}"}
            owner.post(f"/sessions/{name}/entries", json=entry)
        plan = planned(owner, "erase", selector={"tags": ["gone"]})
        result = finished(owner, run(owner, plan)["job_id"])["result"]
        assert (result["erased"], result["proof"]["clean"], len(scans)) == (6, True, 7)


def test_every_byte_below_the_root_is_looked_through(root):
    with Memory.open(root, environ={}) as memory:
        sid = memory.create_session("u1").id
        memory.add_memory(sid, content="anything")
        memory.query(text="anything")
        found = memory.verify_erasure(text="nothing of the kind")
        files = [one for one in root.rglob("*") if one.is_file()]
        assert found.files == len(files)
        assert found.bytes == sum(one.stat().st_size for one in files)
        memory.archive_session(sid)
        packed = memory.verify_erasure(text="nothing of the kind")
        assert packed.bytes > sum(one.stat().st_size for one in root.rglob("*") if one.is_file())


def texts(memory, sid):
    return [one.text for one in memory.get_entries(sid)]


def hide(client, sid, entry):
    selector = {"session_id": sid, "ids": [entry]}
    done = client.post("/plans", json={"action": "delete", "selector": selector, "run": True})
    return done.json()["outcome"]["undo_id"]


def test_two_hides_and_a_clearing_are_undone_one_by_one_after_a_restart(tmp_path):
    root = tmp_path / "store"
    with in_thread(root) as server, server.client() as client:
        sid = client.post("/sessions", json={}).json()["id"]
        ids = [
            client.post(
                f"/sessions/{sid}/entries", json={"type": "note", "content": f"{n}"}
            ).json()["id"]
            for n in range(130)
        ]
        undos = [hide(client, sid, ids[0]), hide(client, sid, ids[1])]
        plan = planned(client, "clear_session", selector={"session_id": sid})
        undos.append(run(client, plan)["undo_id"])
    with in_thread(root) as server, server.client() as client:
        assert texts(server.memory, sid) == []
        back = [len(client.post(f"/undo/{one}").json()["ids"]) for one in reversed(undos)]
        assert back == [128, 1, 1]
        assert len(texts(server.memory, sid)) == 130
        assert client.post(f"/undo/{undos[0]}").status_code == 404


def test_an_undo_brings_back_nothing_that_was_hidden_at_another_time(owner, server, session):
    entry = server.memory.get_entries(session)[0].id
    first = hide(owner, session, entry)
    assert owner.post(f"/undo/{first}").status_code == 200
    hide(owner, session, entry)
    assert owner.post(f"/undo/{first}").json()["code"] == "E_UNDO_NOT_FOUND"
    for made_up in ("undo_", "undo_x", "x", "undo_W10", "undo_eyJ9", "undo_" + "W1siIiwiIixbXV1d"):
        assert owner.post(f"/undo/{made_up}").status_code in (400, 404)


@pytest.fixture
def aged(tmp_path):
    """A root with entries of two years ago: one decision was approved, others are young."""
    root, clock = tmp_path / "store", SetClock()
    clock.moment = datetime.now(UTC) - timedelta(days=700)
    with Memory.open(root, clock=clock, environ={}) as memory:
        sid = memory.create_session("ann", session_id="old").id
        memory.add_conversation(sid, role="user", content="long ago")
        memory.add_decision(sid, decision="kept", approved_by=["ann"])
        memory.add_decision(sid, decision="gone")
        memory.update_preference(sid, key="tone", value="short")
        clock.moment = datetime.now(UTC)
        memory.add_conversation(sid, role="user", content="today")
    return root


def test_a_retention_run_removes_what_its_preview_told_and_keeps_what_was_approved(aged):
    with in_thread(aged) as server, server.client() as client:
        plan = planned(client, "retention")
        assert plan["counts"]["entries"] == len(plan["sample"])
        assert plan["keeps"] == {"approved": 1}
        assert "1 approved decision kept." in plan["sentence"]
        before = {one.id for one in server.memory.get_entries("old")}
        result = finished(client, run(client, plan)["job_id"])["result"]
        after = {one.id for one in server.memory.get_entries("old")}
        assert before - after == set(plan["sample"])
        assert (result["hidden"], result["kept"]) == (len(plan["sample"]), 1)
        contents = str([one.content for one in server.memory.get_entries("old")])
        assert "kept" in contents
        assert "short" in contents
        assert "gone" not in contents


def test_a_retention_plan_means_the_moment_that_it_was_made_for(aged):
    """What grows too old while somebody reads the preview waits for the next run."""
    with Memory.open(aged, environ={}) as memory:
        told = memory.purge(dry_run=True)
        later = SetClock()
        later.moment = datetime.now(UTC) + timedelta(days=400)
        with Memory.open(aged, environ={}, clock=later) as then:
            done = then.purge(confirm=True, as_of=told.purged_at)
    assert done.tombstoned == told.tombstoned
    assert done.spared.count == 1


def test_of_two_who_change_the_settings_against_the_same_text_one_is_refused(tmp_path):
    with in_thread(tmp_path / "store") as server, server.client() as client:
        read = client.get("/settings").json()["hash"]
        statuses = []

        def change(number):
            sent = {"storage.batch_write_size": number}
            done = client.patch("/settings", json=sent, headers={"If-Match": read})
            statuses.append((done.status_code, number))

        threads = [threading.Thread(target=change, args=(number,)) for number in range(10, 18)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        won = [number for status, number in statuses if status == 200]
        assert sorted(status for status, _ in statuses) == [200] + [409] * 7
        assert server.memory.settings.storage.batch_write_size == won[0]


def test_limits_of_the_door_and_views_go_by_a_change_at_once(tmp_path):
    with in_thread(tmp_path / "store") as server, server.client() as client:
        assert server.built is not None
        house = server.built.house
        before = house.view(Scope("a"))
        done = client.patch(
            "/settings",
            json={"server.max_body_mb": 0.001, "server.page_token_days": 2,
                  "privacy.undelete_days": 3, "server.log_level": "error"},
        )  # fmt: skip
        assert done.json()["pending"] == []
        assert before.settings.privacy.undelete_days == 3
        assert house.desk.lives == timedelta(days=2)
        large = client.post("/sessions", json={"metadata": {"x": "y" * 5000}})
        assert large.status_code == 413


UNHEARD = [
    ("clear_session", {"session_id": "s", "ids": ["one"]}, {}, "selector.ids"),
    ("delete_session", {"session_id": "s", "tags": ["old"]}, {}, "selector.tags"),
    ("archive_session", {"session_id": "s"}, {"reason": "old"}, "options.reason"),
    ("compact", {"session_id": "s", "types": ["note"]}, {}, "selector.types"),
    ("redact", {"sesion_id": "s"}, {}, "selector.sesion_id"),
    ("retention", {"session_id": "s"}, {}, "selector.session_id"),
    ("reindex", {"session_id": "s"}, {}, "selector.session_id"),
    ("erase", {"tag": ["old"]}, {}, "selector.tag"),
    ("delete", {"session_id": "s", "ids": ["one"]}, {"mode": "erase"}, "options.mode"),
    ("clear_session", {"session_id": "s"}, {"mode": "ERASE"}, "options.mode"),
    ("clear_session", {"session_id": "s"}, {"why": "old"}, "options.why"),
]


@pytest.mark.parametrize(("action", "selector", "options", "field"), UNHEARD)
def test_what_an_action_would_not_listen_to_is_refused(owner, action, selector, options, field):
    owner.post("/sessions", json={"session_id": "s"})
    order = {"action": action, "selector": selector, "options": options}
    refused = owner.post("/plans", json=order)
    assert (refused.status_code, refused.json()["code"]) == (400, "E_SCHEMA_INVALID")
    assert list(refused.json()["fields"]) == [field]


@pytest.mark.parametrize("action", ACTIONS)
def test_what_a_view_may_not_do_is_refused_when_it_is_planned(server, owner, session, action):
    owner.post(f"/sessions/{session}/entries", json={"type": "note", "content": "a word"})
    given = ACTIONS[action].selector
    selector = {"session_id": session} if "session_id" in given else {}
    if "types" in given:
        selector["types"] = ["note"]
    with server.client(**{"Mnemolog-Agent": "architect"}) as agent:
        made = agent.post("/plans", json={"action": action, "selector": selector})
        if made.status_code != 201:
            assert (made.status_code, made.json()["code"]) == (403, "E_NOT_ALLOWED")
            return
        done = run(agent, made.json())
        if done.get("job_id"):
            assert finished(agent, done["job_id"])["state"] == "done"


@pytest.mark.parametrize("action", ["delete", "erase", "redact", "clear_session", "delete_session"])
@pytest.mark.parametrize(
    "named",
    [
        {"session_ids": []},
        {"session_ids": ""},
        {"session_id": []},
        {"session_ids": {}},
        {"session_ids": [1]},
        {"session_id": "a", "session_ids": ["b"]},
    ],
)
def test_no_names_of_sessions_never_mean_all_of_them(owner, session, action, named):
    criteria = {"types": ["conversation"]} if action in ("delete", "erase") else {}
    refused = owner.post("/plans", json={"action": action, "selector": {**criteria, **named}})
    assert refused.status_code == 400, refused.text


def test_the_page_about_the_server_names_every_action():
    page = (Path(__file__).parents[3] / "docs" / "server.md").read_text()
    [listed] = [part for part in page.split("\n\n") if part.startswith("The actions: ")]
    assert re.findall(r"`([a-z_]+)`", listed) == list(ACTIONS)
