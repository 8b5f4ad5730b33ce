"""Receipts: every writer says what became of each entry."""

import pytest

from mnemolog.errors import MnemologError


@pytest.mark.req("S002-043")
def test_a_receipt_tells_id_status_number_session_and_durability(memory, sid):
    receipt = memory.add_memory(sid, content="hello")
    assert receipt.id.startswith("mem_")
    assert receipt.status == "stored"
    assert receipt.durable is True
    assert receipt.seq == 1
    assert receipt.session_id == sid
    assert receipt.redactions == ()
    assert receipt.warnings == ()
    assert receipt.reason is None


def test_add_many_gives_receipts_in_the_order_of_the_entries(memory, sid):
    batch = [{"content": f"{n}", "scope": ("session", "agent")[n % 2], "agent_id": "architect"}
             for n in range(9)]  # fmt: skip
    receipts = memory.add_many(sid, batch)
    found = [memory.get_memory(sid, one.id) for one in receipts]
    assert [one.content for one in found if one is not None] == [f"{n}" for n in range(9)]


def test_an_empty_batch_stores_nothing(memory, sid):
    assert memory.add_many(sid, []) == []
    assert memory.get_entries(sid) == []


def test_a_batch_may_be_any_iterable(memory, sid):
    receipts = memory.add_many(sid, ({"content": str(n)} for n in range(3)))
    assert [one.seq for one in receipts] == [1, 2, 3]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_bad_entry_refuses_the_whole_batch(memory, sid, place):
    batch = [{"content": "good"}, {"content": "good"}]
    batch.insert(place, {"content": ""})
    with pytest.raises(MnemologError):
        memory.add_many(sid, batch)
    assert memory.get_entries(sid) == []


def test_one_refused_entry_refuses_a_batch_that_goes_to_several_logs(memory, sid):
    memory.for_agent("architect").add_memory(sid, id="m1", content="mine", scope="shared")
    batch = [{"content": "fine"}, {"id": "m1", "content": "not mine", "scope": "shared"}]
    with pytest.raises(MnemologError):
        memory.for_agent("analyst").add_many(sid, batch)
    assert memory.get_entries(sid) == [], "none is stored if one is refused"


def test_what_was_left_out_or_changed_is_told(memory, sid):
    receipt = memory.add_memory(sid, content="bad \ud800 half", access_count=3)
    assert any("access_count" in warning for warning in receipt.warnings)
    assert any("surrogate" in warning for warning in receipt.warnings)


def test_the_callers_record_is_never_changed(memory, sid):
    record = {"type": "finding", "content": {"description": "x"}, "tags": ["b", "a"]}
    record["references"] = {"conversations": ["m1"]}
    before = repr(record)
    memory.add_memory(sid, record)
    memory.add_finding(sid, record)
    assert repr(record) == before


def test_a_stored_entry_shares_nothing_with_the_callers_record(memory, sid):
    content = {"list": [1]}
    receipt = memory.add_memory(sid, type="event", content=content)
    content["list"].append(2)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.content == {"list": [1]}


def test_a_nearly_full_session_is_warned_about(memory):
    small = memory.create_session(settings={"storage.max_session_size_mb": 0.01}).id
    receipts = [memory.add_memory(small, content="x" * 1000) for _ in range(8)]
    assert receipts[0].warnings == ()
    assert any("%" in warning for warning in receipts[-1].warnings)


def test_an_entry_and_a_receipt_print_what_they_say_and_no_empty_fields(memory, sid):
    receipt = memory.add_memory(sid, type="note", content="Tea at five")
    told = f"{memory.get_memory(sid, receipt.id)!r} {receipt!r}"
    assert "content='Tea at five'" in told
    assert "status='stored'" in told
    assert "None" not in told
