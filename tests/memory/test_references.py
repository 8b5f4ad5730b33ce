"""References in the three forms of the source documents become one list."""

import pytest


def references(memory, sid, **fields):
    receipt = memory.add_memory(sid, content="x", **fields)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    return entry.references


@pytest.mark.req("S002-030")
def test_as_a_list(memory, sid):
    assert references(memory, sid, references=["a", "b", "a"]) == ("a", "b")


@pytest.mark.req("S001-030")
def test_in_the_metadata_of_a_message(memory, sid):
    assert references(memory, sid, metadata={"references": ["a", "b"]}) == ("a", "b")


@pytest.mark.req("S001-033")
def test_as_an_object_by_type(memory, sid):
    given = {"conversations": ["m1", "m2"], "findings": ["f1"], "decisions": []}
    assert references(memory, sid, references=given) == ("m1", "m2", "f1")


def test_from_two_places_at_once(memory, sid):
    found = references(memory, sid, references=["a"], metadata={"references": ["b", "a"], "n": 1})
    assert found == ("a", "b")


@pytest.mark.req("S002-142")
def test_entries_may_refer_to_each_other_in_a_circle(memory, sid):
    memory.add_many(
        sid,
        [
            {"id": "a", "content": "x", "references": ["b"]},
            {"id": "b", "content": "x", "references": ["c"]},
            {"id": "c", "content": "x", "references": ["a", "c"]},
        ],
    )
    found = {one.id: one.references for one in memory.get_entries(sid)}
    assert found == {"a": ("b",), "b": ("c",), "c": ("a", "c")}
    memory.update_memory(sid, "a", tags=["still", "works"])
    assert memory.get_statistics(sid).total_entries == 3


def test_what_is_referred_to_need_not_exist(memory, sid):
    assert references(memory, sid, references=["not yet there"]) == ("not yet there",)
