"""Upsert by id, update_memory, and what happens when two writers want the same entry."""

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    ConcurrencyError,
    ConcurrentModificationError,
    EntryNotFoundError,
    SchemaInvalidError,
)
from mnemolog.policy.access import OWNER
from mnemolog.ports import LogKey, Write
from mnemolog.settings import Storage
from tests.log.independent import records


def get(memory, sid, entry_id):
    entry = memory.get_memory(sid, entry_id)
    assert entry is not None
    return entry


def test_writing_an_id_again_revises_the_entry(memory, sid, folder, clock):
    first = memory.add_memory(sid, id="m1", content="growing", tags=["a"])
    clock.advance(minutes=1)
    second = memory.add_memory(sid, id="m1", content="grown")
    assert (first.status, second.status) == ("stored", "revised")
    assert second.seq == first.seq + 1
    entry = get(memory, sid, "m1")
    assert (entry.content, entry.tags) == ("grown", ())
    assert entry.timestamp == "2026-11-15T09:00:00.000Z", "the first timestamp stays"
    assert entry.written_at == "2026-11-15T09:01:00.000Z"
    assert len(memory.get_entries(sid)) == 1
    assert [one["content"] for one in records(folder)] == ["growing", "grown"], "nothing is lost"


def test_an_id_twice_in_one_batch_is_stored_then_revised(memory, sid):
    receipts = memory.add_many(
        sid, [{"id": "m1", "content": "one"}, {"content": "x"}, {"id": "m1", "content": "two"}]
    )
    assert [one.status for one in receipts] == ["stored", "stored", "revised"]
    assert get(memory, sid, "m1").content == "two"
    assert len(memory.get_entries(sid)) == 2


def test_the_same_id_in_two_sessions_is_two_entries(memory, sid):
    other = memory.create_session().id
    memory.add_memory(sid, id="m1", content="here")
    assert memory.add_memory(other, id="m1", content="there").status == "stored"
    assert get(memory, sid, "m1").content == "here"
    assert get(memory, other, "m1").content == "there"


@pytest.fixture
def finding(memory, sid):
    receipt = memory.add_finding(
        sid,
        id="f1",
        discovered_by="analyst",
        description="leak",
        severity="high",
        category="memory",
        tags=["a", "b"],
        references=["m0"],
        importance=0.7,
        metadata={"build": 7},
        context={"topic": "heap"},
    )
    return receipt.id


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ({"importance": 0.2}, ("importance", 0.2)),
        ({"importance": 0}, ("importance", 0.0)),
        ({"tags": ["c"]}, ("tags", ("c",))),
        ({"tags": []}, ("tags", ())),
        ({"metadata": {"build": 8}}, ("metadata", {"build": 8})),
        ({"category": "cpu"}, ("category", "cpu")),
        ({"references": ["m9"]}, ("references", ("m9",))),
        ({"context": {"topic": "stack"}}, ("context", {"topic": "stack"})),
        ({"priority": 3}, ("importance", 0.3)),
    ],
)
def test_an_update_changes_what_it_names_and_keeps_the_rest(memory, sid, finding, change, value):
    before = get(memory, sid, finding)
    receipt = memory.update_memory(sid, finding, **change)
    assert receipt.status == "revised"
    after = get(memory, sid, finding)
    name, wanted = value
    assert getattr(after, name) == wanted
    kept = set(before.__struct_fields__) - {name, "seq", "sum", "at"}
    assert {one: getattr(after, one) for one in kept} == {one: getattr(before, one) for one in kept}


def test_an_update_of_the_status_keeps_the_rest_of_the_content(memory, sid, finding):
    memory.update_memory(sid, finding, status="resolved")
    assert get(memory, sid, finding).content == {
        "description": "leak",
        "severity": "high",
        "status": "resolved",
    }


def test_an_update_of_the_content_replaces_it(memory, sid, finding):
    memory.update_memory(sid, finding, content={"description": "no leak", "status": "closed"})
    assert get(memory, sid, finding).content == {"description": "no leak", "status": "closed"}


@pytest.mark.parametrize("importance", [0.0, 1.0])
def test_an_update_of_something_else_keeps_the_importance(memory, sid, importance):
    memory.add_memory(sid, id="m1", content="x", importance=importance)
    memory.update_memory(sid, "m1", tags=["t"])
    assert get(memory, sid, "m1").importance == importance


def test_references_can_be_taken_back_in_whichever_form_they_came(memory, sid):
    for form in (
        {"references": ["a"]},
        {"references": {"findings": ["a"]}},
        {"metadata": {"references": ["a"]}},
    ):
        receipt = memory.add_memory(sid, content="x", **form)
        memory.update_memory(sid, receipt.id, references=["b"])
        assert get(memory, sid, receipt.id).references == ("b",)


@pytest.mark.parametrize(
    "field", ["id", "type", "agent_id", "user_id", "scope", "origin", "timestamp"]
)
def test_what_an_entry_is_cannot_be_updated(memory, sid, finding, field):
    with pytest.raises(SchemaInvalidError, match=field):
        memory.update_memory(sid, finding, **{field: "other"})


@pytest.mark.parametrize("name", ["made_by", "madeBy", "discovered_by", "agentId"])
def test_an_agent_cannot_write_in_the_name_of_another_by_an_update(memory, name):
    sid = memory.create_session(agent_ids=["a", "b"]).id
    view = memory.for_agent("a")
    own = view.add_memory(sid, content="mine", scope="agent").id
    with pytest.raises(SchemaInvalidError, match="agent_id"):
        view.update_memory(sid, own, **{name: "b"})
    assert get(memory, sid, own).agent_id == "a"
    assert memory.for_agent("b").get_memory(sid, own) is None


def test_another_key_is_another_preference(memory, sid):
    theme = memory.update_preference(sid, key="theme", value="dark").id
    for change in ({"content": {"key": "colour", "value": "red"}}, {"key": "colour"}):
        with pytest.raises(SchemaInvalidError, match="key"):
            memory.update_memory(sid, theme, **change)
    memory.update_memory(sid, theme, value="light")
    assert [one.content for one in memory.get_preferences(sid)] == [
        {"key": "theme", "value": "light"}
    ]
    memory.add_memory(sid, id="own", type="preference", content={"key": "theme", "value": 1})
    memory.update_memory(sid, "own", key="colour")


@pytest.mark.parametrize("bad", ["1", True, 1.0, -1])
def test_the_revision_that_is_expected_is_a_number(memory, sid, bad):
    memory.add_memory(sid, id="m1", content="x")
    with pytest.raises(SchemaInvalidError, match="expected_seq"):
        memory.update_memory(sid, "m1", content="y", expected_seq=bad)
    assert get(memory, sid, "m1").content == "x"


@pytest.mark.parametrize(
    "change", [{}, {"tags": None}, {"nonsense": 1}, {"importance": 2}, {"content": ""}]
)
def test_an_update_without_sense_is_refused_and_changes_nothing(memory, sid, finding, change):
    before = get(memory, sid, finding)
    with pytest.raises(SchemaInvalidError):
        memory.update_memory(sid, finding, **change)
    assert get(memory, sid, finding) == before


def test_a_revision_of_what_was_deleted_meanwhile_is_refused(memory, sid):
    receipt = memory.add_memory(sid, id="m1", content="one")
    read = memory.get_memory(sid, "m1")
    memory.delete(sid, ids=["m1"])
    late = Write(read, is_given=True, expected_seq=receipt.seq)
    with pytest.raises(ConcurrentModificationError, match="m1"):
        memory._store.append(LogKey("session", sid), [late], OWNER, Storage())
    assert memory.get_memory(sid, "m1") is None


def test_an_entry_that_is_not_there_cannot_be_updated(memory, sid):
    with pytest.raises(EntryNotFoundError, match="m9") as caught:
        memory.update_memory(sid, "m9", tags=["x"])
    assert caught.value.code == "E_ENTRY_NOT_FOUND"


@pytest.mark.req("S001-146", "S001-164")
def test_an_update_of_a_stale_revision_is_refused(memory, sid, root):
    first = memory.add_memory(sid, id="m1", content="one")
    with Memory.open(root, environ={}) as other:
        second = other.update_memory(sid, "m1", content="two", expected_seq=first.seq)
        with pytest.raises(ConcurrentModificationError, match="m1") as caught:
            memory.update_memory(sid, "m1", content="three", expected_seq=first.seq)
    assert caught.value.code == "E_CONCURRENT_MOD"
    assert isinstance(caught.value, ConcurrencyError)
    assert caught.value.details["expected_seq"] == first.seq
    assert caught.value.details["seq"] == second.seq
    assert "again" in caught.value.advice
    assert get(memory, sid, "m1").content == "two"
    assert memory.update_memory(sid, "m1", content="x", expected_seq=second.seq).seq == 3


@pytest.mark.req("S001-146")
def test_an_agent_cannot_take_another_writers_id(memory, sid):
    memory.for_agent("architect").add_memory(sid, id="m1", content="mine")
    for scope in ("session", "agent"):
        with pytest.raises(ConcurrentModificationError, match="m1") as caught:
            memory.for_agent("analyst").add_memory(sid, id="m1", content="no, mine", scope=scope)
        assert caught.value.code == "E_CONCURRENT_MOD"
        assert caught.value.advice
    assert get(memory, sid, "m1").content == "mine"


def test_one_entry_that_is_taken_refuses_the_whole_batch(memory, sid):
    memory.for_agent("architect").add_memory(sid, id="m1", content="mine")
    batch = [{"content": "fine"}, {"id": "m1", "content": "not fine"}]
    with pytest.raises(ConcurrentModificationError):
        memory.for_agent("analyst").add_many(sid, batch)
    assert [one.content for one in memory.get_entries(sid)] == ["mine"]


def test_the_owner_may_revise_what_an_agent_wrote(memory, sid):
    memory.for_agent("architect").add_memory(sid, id="m1", content="one")
    memory.update_memory(sid, "m1", content="two")
    entry = get(memory, sid, "m1")
    assert (entry.content, entry.agent_id) == ("two", "architect")
    memory.for_agent("architect").update_memory(sid, "m1", content="three")
    assert get(memory, sid, "m1").content == "three"


def test_an_update_finds_entries_of_the_user_and_shared_ones(memory, sid):
    memory.add_memory(sid, id="u", content="user", scope="user")
    memory.add_memory(sid, id="s", content="shared", scope="shared")
    other = memory.create_session("u1").id
    memory.update_memory(other, "u", content="user 2")
    memory.update_memory(other, "s", content="shared 2")
    assert get(memory, sid, "u").content == "user 2"
    assert get(memory, sid, "s").content == "shared 2"


def test_a_growing_message_saved_many_times_is_one_entry(memory, sid):
    for length in range(1, 30):
        memory.add_conversation(sid, id="msg", role="assistant", content="x" * length)
    stats = memory.get_statistics(sid)
    assert (stats.total_entries, stats.revisions) == (1, 28)
    assert get(memory, sid, "msg").content == "x" * 29
