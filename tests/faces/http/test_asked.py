"""A query that a route does not understand is refused with the nearest name, never ignored."""

import pytest


@pytest.mark.parametrize(
    ("path", "name", "advice"),
    [
        ("/sessions?stat=active", "stat", "Did you mean 'state'?"),
        ("/sessions?in_state=active", "in_state", "Did you mean 'state'?"),
        ("/sessions/x/entries?afer_seq=1", "afer_seq", "Did you mean 'after_seq'?"),
        ("/stats/series?fron=-7d", "fron", "Did you mean 'from'?"),
        ("/me?verbose=1", "verbose", "Leave it out."),
        ("/stats/recalled?marmot=", "marmot", "Use sessions."),
    ],
)
def test_a_name_that_a_route_does_not_know_is_refused(owner, path, name, advice):
    told = owner.get(path)
    assert told.status_code == 400
    assert (told.json()["code"], told.json()["advice"]) == ("E_SCHEMA_INVALID", advice)
    assert list(told.json()["fields"]) == [name]


@pytest.mark.parametrize(
    ("metric", "advice"),
    [
        ("entrys", "Did you mean 'entries'?"),
        ("memory.size.byte", "Did you mean 'memory.size.bytes'?"),
        ("at", "Use entries, memory.compaction.count"),
    ],
)
def test_a_metric_that_there_is_none_of_is_refused(owner, metric, advice):
    told = owner.get("/stats/series", params={"metric": metric})
    assert told.status_code == 400
    assert told.json()["advice"].startswith(advice)
    assert list(told.json()["fields"]) == ["metric"]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/sessions?state=gone", "state"),
        ("/sessions?limit=0", "limit"),
        ("/hidden?limit=x", "limit"),
    ],
)
def test_what_is_wrong_with_a_query_is_told_by_the_name_that_was_sent(owner, path, field):
    told = owner.get(path)
    assert told.status_code == 400
    assert list(told.json()["fields"]) == [field]


def test_every_route_still_takes_what_its_page_says(owner):
    document = owner.get("/openapi.json").json()
    refused = []
    for path, operations in document["paths"].items():
        named = [p for p in operations.get("get", {}).get("parameters", ()) if p["in"] == "query"]
        for one in named:
            told = owner.get(path.removeprefix("/api/v1"), params={one["name"]: "1"})
            if "This route takes no" in told.text:
                refused.append((path, one["name"]))
    assert refused == []


@pytest.mark.parametrize("asked", [{"include_archived": True}, {"as_of": "2026-11-01T00:00:00Z"}])
def test_what_looks_at_one_session_is_not_left_out_where_none_is_named(owner, session, asked):
    refused = owner.post("/search", json={"text": "ACID", **asked})
    assert (refused.status_code, refused.json()["code"]) == (400, "E_INVALID_QUERY")
    told = owner.post("/search", json={"text": "ACID", "session_id": session, **asked})
    assert told.status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "field", "advice"),
    [
        ("/sessions", {"user": "ann"}, "user", "Did you mean 'user_id'?"),
        ("/search", {"txt": "tea"}, "txt", "Did you mean 'text'?"),
        ("/verify", {"colour": "red"}, "colour", "Use ids, text."),
    ],
)
def test_a_field_that_a_body_has_no_place_for_is_refused_like_a_name(
    owner, path, body, field, advice
):
    told = owner.post(path, json=body)
    assert told.status_code == 400
    assert told.json()["code"] == "E_SCHEMA_INVALID"
    assert told.json()["detail"] == f"The body takes no '{field}'."
    assert (list(told.json()["fields"]), told.json()["advice"]) == ([field], advice)


def test_what_has_a_wrong_type_or_size_is_named_and_the_document_that_says_more(owner):
    document = "`GET /api/v1/openapi.json` says what each route takes."
    for told, detail in (
        (owner.get("/sessions?limit=900"), "limit: Expected `int` <= 200"),
        (owner.get("/sessions?limit=many"), "limit: Expected `int`, got `str`"),
        (owner.post("/sessions", json={"user_id": 3}), "user_id: Expected `str | null`, got `int`"),
        (owner.post("/search"), "There is no body."),
    ):
        assert told.status_code == 400
        assert (told.json()["detail"], told.json()["advice"]) == (detail, document)
