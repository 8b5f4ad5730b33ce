"""Reading back: single entries, all of them, by type and by filter."""

import pytest

from mnemolog.errors import InvalidFormatError, SchemaInvalidError


@pytest.fixture
def filled(memory, sid, clock):
    memory.add_conversation(
        sid, id="c1", role="user", content="hi", agent_id="architect", tags=["greeting"]
    )
    clock.advance(hours=1)
    memory.add_decision(
        sid,
        id="d1",
        made_by="architect",
        decision="PostgreSQL",
        impact="high",
        approved_by=["u1"],
        tags=["security.login", "database"],
    )
    clock.advance(hours=1)
    memory.add_decision(sid, id="d2", made_by="analyst", decision="Redis", impact="low")
    clock.advance(hours=1)
    memory.add_finding(
        sid, id="f1", discovered_by="analyst", description="x", severity="critical", category="perf"
    )
    memory.add_finding(
        sid, id="f2", discovered_by="architect", description="y", severity="low", status="resolved"
    )
    return sid


def ids(entries):
    return [one.id for one in entries]


@pytest.mark.req("S002-044")
def test_one_entry_by_its_id_or_nothing(memory, filled):
    entry = memory.get_memory(filled, "d1")
    assert entry is not None
    assert entry.content["decision"] == "PostgreSQL"
    assert memory.get_memory(filled, "nowhere") is None


def test_all_entries_in_the_order_of_writing(memory, filled):
    assert ids(memory.get_entries(filled)) == ["c1", "d1", "d2", "f1", "f2"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"types": "decision"}, ["d1", "d2"]),
        ({"types": ["decisions", "conversation"]}, ["c1", "d1", "d2"]),
        ({"types": "note"}, []),
        ({"after": 3}, ["f1", "f2"]),
        ({"last": 2}, ["f1", "f2"]),
        ({"last": 0}, []),
        ({"last": 99}, ["c1", "d1", "d2", "f1", "f2"]),
        ({"types": "decision", "last": 1}, ["d2"]),
        ({"agents": ["architect"]}, ["c1", "d1", "f2"]),
        ({"agents": ["architect"], "last": 1}, ["f2"]),
        ({"agent_id": "analyst"}, ["d2", "f1"]),
        ({"role": "user"}, ["c1"]),
        ({"tags": ["greeting", "database"]}, ["c1", "d1"]),
        ({"tags": ["security"]}, ["d1"]),
        ({"tags": ["login"]}, []),
        ({"min_importance": 0.9}, ["d1", "d2", "f1"]),
    ],
)
def test_entries_can_be_chosen(memory, filled, wanted, found):
    assert ids(memory.get_entries(filled, **wanted)) == found


@pytest.mark.req("S001-125")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["d1", "d2"]),
        ({"impact": "high"}, ["d1"]),
        ({"impact": ["high", "low"]}, ["d1", "d2"]),
        ({"made_by": "analyst"}, ["d2"]),
        ({"madeBy": "analyst"}, ["d2"]),
        ({"approved_by": "u1"}, ["d1"]),
        ({"tags": ["database"], "made_by": "architect"}, ["d1"]),
        ({"tags": ["database"], "made_by": "analyst"}, []),
        ({"impact": None}, ["d1", "d2"]),
    ],
)
def test_decisions_by_filter(memory, filled, filters, found):
    assert ids(memory.get_decisions(filled, filters)) == found
    assert ids(memory.get_decisions(filled, **filters)) == found


@pytest.mark.req("S001-126")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, ["f1", "f2"]),
        ({"severity": "critical"}, ["f1"]),
        ({"status": "open"}, ["f1"]),
        ({"status": "resolved"}, ["f2"]),
        ({"category": "perf"}, ["f1"]),
        ({"discovered_by": "architect"}, ["f2"]),
    ],
)
def test_findings_by_filter(memory, filled, filters, found):
    assert ids(memory.get_findings(filled, filters)) == found


@pytest.mark.parametrize(
    ("time_range", "found"),
    [
        ({"start": "2026-11-15T10:00:00Z"}, ["d1", "d2", "f1", "f2"]),
        ({"end": "2026-11-15T10:00:00Z"}, ["c1", "d1"]),
        ({"start": "2026-11-15T10:00:00Z", "end": "2026-11-15T11:00:00Z"}, ["d1", "d2"]),
        ({"start": "2027-01-01"}, []),
    ],
)
def test_a_time_range_includes_its_ends(memory, filled, time_range, found):
    assert ids(memory.get_entries(filled, time_range=time_range)) == found
    assert ids(memory.get_entries(filled, {"timeRange": time_range})) == found


@pytest.mark.parametrize(
    ("filters", "error"),
    [
        ({"colour": "red"}, SchemaInvalidError),
        ({"severity": 5}, SchemaInvalidError),
        ({"tags": [5]}, SchemaInvalidError),
        ({"min_importance": "high"}, SchemaInvalidError),
        ({"time_range": "today"}, SchemaInvalidError),
        ({"time_range": {"from": "2026-01-01"}}, SchemaInvalidError),
        ({"time_range": {"start": "soon"}}, InvalidFormatError),
        ({"types": "Not A Type"}, InvalidFormatError),
    ],
)
def test_a_filter_without_sense_is_refused(memory, filled, filters, error):
    with pytest.raises(error):
        memory.get_entries(filled, **filters)


def test_reading_after_a_number_comes_in_the_order_of_revisions(memory, filled):
    memory.update_memory(filled, "c1", content="hello")
    found = memory.get_entries(filled, after=4)
    assert [(one.id, one.seq) for one in found] == [("f2", 5), ("c1", 6)]


def test_a_read_gives_plain_text_in_order(memory, filled):
    entry = memory.get_memory(filled, "d1")
    assert entry is not None
    assert entry.text.split("\n")[0] == "PostgreSQL"
