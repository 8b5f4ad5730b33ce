"""Preferences by key, nodes that are the same, and lines of earlier versions."""

import pytest

from mnemolog.faces.http.orders import Order
from mnemolog.faces.http.upkeep import UPKEEP
from mnemolog.fs.real import RealDisk
from tests.log.second import open_second


def set_one(client, **body):
    done = client.post("/preferences", json=body)
    assert done.status_code == 201, done.text
    return done.json()


def in_force(client, **query):
    found = client.get("/preferences", params=query)
    assert found.status_code == 200, found.text
    return {one["content"]["key"]: one["content"]["value"] for one in found.json()["items"]}


@pytest.mark.req("S001-123")
def test_the_nearest_preference_is_in_force(owner, session):
    set_one(owner, key="tone", value="formal", scope="shared")
    first = set_one(owner, key="tone", value="kind", user_id="ann", scope="user")
    set_one(owner, key="length", value={"words": 50}, session_id=session, confidence=0.9)
    assert in_force(owner) == {"tone": "formal"}
    assert in_force(owner, user="ann") == {"tone": "kind"}
    assert in_force(owner, session=session) == {"tone": "kind", "length": {"words": 50}}
    again = set_one(owner, key="tone", value="brief", user_id="ann", scope="user")
    assert (again["id"], again["status"]) == (first["id"], "revised")
    assert in_force(owner, user="ann") == {"tone": "brief"}


def test_a_preference_of_nobody_and_one_with_unknown_fields_are_refused(owner, session):
    for body in ({"key": "a", "value": 1}, {"key": "a", "value": 1, "session_id": session, "x": 1},
                 {"key": "a", "session_id": session}):  # fmt: skip
        done = owner.post("/preferences", json=body)
        assert (done.status_code, done.json()["code"]) == (400, "E_SCHEMA_INVALID"), body
    assert owner.get("/preferences", params={"session": "nowhere"}).status_code == 404


def test_a_token_of_one_user_neither_sees_nor_sets_those_of_another(server, owner):
    set_one(owner, key="drink", value="tea", user_id="berta", scope="user")
    with server.client() as narrowed:
        narrowed.headers["Mnemolog-User"] = "carl"
        assert narrowed.get("/preferences", params={"user": "berta"}).status_code == 403
        body = {"key": "drink", "value": "beer", "user_id": "berta", "scope": "user"}
        assert narrowed.post("/preferences", json=body).status_code == 403
    assert in_force(owner, user="berta")["drink"] == "tea"


def test_similar_nodes_are_told_and_become_one(owner):
    for path, body in (
        ("tea-shop", "Opens at nine."),
        ("shop/tea", "Opens at nine.\nSells oolong."),
    ):
        path = path.replace("/", "%2F")
        body = f"# Tea shop\n\n{body}\n"
        assert owner.put(f"/nodes/dora/{path}", json={"body": body, "title": "Tea shop"}).is_success
    found = owner.get("/similar/dora").json()
    assert found["total"] == 1
    [pair] = found["items"]
    assert {pair["path"], pair["other"]} == {"tea-shop", "shop/tea"}
    done = owner.post("/nodes/dora/tea-shop/merge", json={"into": "shop/tea", "reason": "twice"})
    assert done.status_code == 200, done.text
    assert done.json()["path"] == "shop/tea"
    assert owner.get("/nodes/dora/tea-shop").status_code == 404
    assert "Sells oolong." in owner.get("/nodes/dora/shop%2Ftea").json()["body"]
    assert owner.get("/similar/dora").json()["items"] == []


def test_a_migration_by_plan_rewrites_what_it_said(root, memory, sid):
    memory.add_many(sid, [{"content": f"line {number}"} for number in range(3)])
    memory.close()
    with open_second(RealDisk(str(root))) as later:
        order = Order(later, str(root), {"session_id": sid}, {})
        action = UPKEEP["migrate"]
        action.check(order)
        draft = action.draft(order)
        assert (draft.sessions, draft.entries) == (1, 3)
        result, undo = action.run(order, None)
        assert [one["lines"] for one in result["migrated"]] == [3]
        assert undo == []
        assert action.draft(order).entries == 0
        assert action.run(order, None)[0] == {"migrated": [], "current": 1}
