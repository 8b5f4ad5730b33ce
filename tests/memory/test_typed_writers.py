"""The typed writers take every field of the source documents, and give it back."""

import pytest

from mnemolog.errors import SchemaInvalidError
from tests.log.independent import records

MESSAGE = {
    "id": "msg-001",
    "timestamp": "2026-01-11T10:05:23Z",
    "agent_id": "architect",
    "role": "assistant",
    "content": "Based on the requirements, I recommend PostgreSQL for ACID compliance.",
    "context": {
        "conversation_id": "conv-xyz",
        "parent_message_id": "msg-000",
        "topic": "database_selection",
    },
    "metadata": {
        "tokens": 15,
        "processing_time_ms": 230,
        "references": ["dec-001", "finding-003"],
    },
    "decay_factor": 1.0,
}
DECISION = {
    "id": "dec-001",
    "timestamp": "2026-01-11T10:10:00Z",
    "made_by": "architect",
    "approved_by": ["user-789"],
    "decision": "Use PostgreSQL for primary database",
    "rationale": "ACID compliance required for financial transactions",
    "alternatives_considered": [
        {"option": "MongoDB", "rejected_reason": "Eventual consistency risk"},
        {"option": "MySQL", "rejected_reason": "Licensing concerns"},
    ],
    "impact": "high",
    "tags": ["database", "architecture", "critical"],
    "references": {"conversations": ["msg-001", "msg-002"], "findings": ["finding-003"]},
    "decay_factor": 1.0,
}
FINDING = {
    "id": "finding-003",
    "timestamp": "2026-01-11T10:08:15Z",
    "discovered_by": "analyst",
    "category": "scalability",
    "severity": "high",
    "description": "Database connection pooling not configured",
    "evidence": "Connection pool config missing from application.yml",
    "recommendation": "Implement HikariCP with max 50 connections",
    "status": "open",
    "tags": ["performance", "database", "configuration"],
    "decay_factor": 1.0,
}
PREFERENCE = {
    "id": "pref-001",
    "timestamp": "2026-01-11T10:00:00Z",
    "category": "communication",
    "key": "response_style",
    "value": "concise_with_examples",
    "context": "User prefers brief explanations followed by code examples",
    "confidence": 0.9,
    "learned_from": ["sess-2026-01-10-xyz", "sess-2026-01-11-abc"],
    "decay_factor": 1.0,
}


@pytest.fixture(params=["dictionary", "keywords"])
def call(request):
    """Hand a record to a writer in one of the two ways."""

    def call(writer, sid, record):
        return writer(sid, record) if request.param == "dictionary" else writer(sid, **record)

    return call


def typed(record):
    """Without what no typed writer takes by keyword, because it is derived."""
    return {name: value for name, value in record.items() if name != "decay_factor"}


@pytest.mark.req("S001-002", "S001-029", "S001-030", "S001-120", "S002-026")
def test_every_field_of_a_conversation_entry(memory, sid, call):
    receipt = call(memory.add_conversation, sid, typed(MESSAGE))
    assert (receipt.id, receipt.status, receipt.durable) == ("msg-001", "stored", True)
    entry = memory.get_memory(sid, "msg-001")
    assert entry is not None
    assert entry.type == "conversation"
    assert entry.timestamp == "2026-01-11T10:05:23.000Z"
    for name in ("agent_id", "role", "content", "context", "metadata"):
        assert getattr(entry, name) == MESSAGE[name], name
    assert entry.references == ("dec-001", "finding-003")


@pytest.mark.req("S001-002", "S001-032", "S001-033", "S001-121")
def test_every_field_of_a_decision_record(memory, sid, call):
    call(memory.add_decision, sid, typed(DECISION))
    (entry,) = memory.get_decisions(sid)
    assert entry.id == "dec-001"
    assert entry.type == "decision"
    assert entry.agent_id == "architect"
    assert entry.timestamp == "2026-01-11T10:10:00.000Z"
    assert entry.tags == ("database", "architecture", "critical")
    for name in ("decision", "rationale", "alternatives_considered", "impact", "approved_by"):
        assert entry.content[name] == DECISION[name], name
    assert entry.references == ("msg-001", "msg-002", "finding-003")
    assert entry.content["references"] == DECISION["references"], "kept as it came, for exports"


@pytest.mark.req("S001-002", "S001-034", "S001-122")
def test_every_field_of_a_finding_record(memory, sid, call):
    call(memory.add_finding, sid, typed(FINDING))
    (entry,) = memory.get_findings(sid)
    assert (entry.id, entry.type, entry.agent_id) == ("finding-003", "finding", "analyst")
    assert entry.category == "scalability"
    assert entry.tags == ("performance", "database", "configuration")
    for name in ("severity", "description", "evidence", "recommendation", "status"):
        assert entry.content[name] == FINDING[name], name


@pytest.mark.req("S001-002", "S001-123", "S001-127")
def test_every_field_of_a_preference(memory, sid, call):
    call(memory.update_preference, sid, typed(PREFERENCE))
    (entry,) = memory.get_preferences(sid)
    assert (entry.id, entry.type, entry.category) == ("pref-001", "preference", "communication")
    assert entry.timestamp == "2026-01-11T10:00:00.000Z"
    for name in ("key", "value", "context", "confidence", "learned_from"):
        assert entry.content[name] == PREFERENCE[name], name


@pytest.mark.req("S001-012", "S001-013", "S001-014", "S001-015", "S001-045")
def test_all_types_stand_in_one_log_in_the_order_of_writing(memory, sid, folder):
    memory.add_conversation(sid, typed(MESSAGE))
    memory.update_preference(sid, typed(PREFERENCE))
    memory.add_decision(sid, typed(DECISION))
    memory.add_finding(sid, typed(FINDING))
    found = [(one["type"], one["id"]) for one in records(folder)]
    assert found == [
        ("conversation", "msg-001"),
        ("preference", "pref-001"),
        ("decision", "dec-001"),
        ("finding", "finding-003"),
    ]
    assert [path.name for path in folder.glob("*.jsonl")] == ["memory.jsonl"]


@pytest.mark.parametrize(
    ("writer", "record"),
    [
        ("add_conversation", MESSAGE),
        ("add_decision", DECISION),
        ("add_finding", FINDING),
        ("update_preference", PREFERENCE),
    ],
)
def test_a_whole_record_with_its_derived_decay_is_taken_and_the_receipt_says_so(
    memory, sid, writer, record
):
    receipt = getattr(memory, writer)(sid, record)
    assert any("decay_factor" in warning for warning in receipt.warnings)
    entry = memory.get_memory(sid, record["id"])
    assert entry is not None
    assert "decay_factor" not in (entry.content if isinstance(entry.content, dict) else {})
    assert "decay_factor" not in entry.metadata


def test_a_finding_is_open_unless_it_says_otherwise(memory, sid):
    memory.add_finding(sid, id="f1", description="leak")
    memory.add_finding(sid, id="f2", description="leak", status="resolved")
    assert [one.content["status"] for one in memory.get_findings(sid)] == ["open", "resolved"]


@pytest.mark.parametrize(
    ("writer", "record", "missing"),
    [
        ("add_decision", {"rationale": "because"}, "decision"),
        ("add_finding", {"severity": "high"}, "description"),
        ("update_preference", {"value": 1}, "key"),
        ("update_preference", {"key": "k"}, "value"),
        ("add_conversation", {"role": "user"}, "content"),
    ],
)
def test_what_a_type_cannot_do_without_is_asked_for(memory, sid, writer, record, missing):
    with pytest.raises(SchemaInvalidError, match=missing):
        getattr(memory, writer)(sid, record)
    assert memory.get_entries(sid) == []


def test_a_typed_writer_decides_the_type(memory, sid):
    receipt = memory.add_decision(sid, {"type": "finding", "decision": "x"})
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.type == "decision"


def test_keywords_win_over_the_dictionary(memory, sid):
    receipt = memory.add_decision(sid, {"decision": "old", "impact": "low"}, decision="new")
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.content == {"decision": "new", "impact": "low"}


def test_the_origin_follows_the_role(memory, sid):
    for role in ("user", "tool", "assistant", None):
        memory.add_conversation(sid, role=role, content="x")
    found = [(one.role, one.origin) for one in memory.get_entries(sid)]
    assert found == [("user", "user"), ("tool", "tool"), ("assistant", "agent"), (None, "agent")]


@pytest.mark.parametrize(
    ("field", "record"),
    [
        ("agent_id", {"agentId": "a", "agent_id": "b"}),
        ("agent_id", {"made_by": "a", "agent_id": "b"}),
        ("agent_id", {"agent_id": "b", "discoveredBy": "a"}),
        ("importance", {"priority": 3, "importance": 0.9}),
        ("impact", {"impact": "high", "Impact": "low"}),
    ],
)
def test_of_two_values_for_one_field_none_is_dropped_in_silence(memory, sid, field, record):
    with pytest.raises(SchemaInvalidError, match=f"{field} is given twice"):
        memory.add_decision(sid, decision="Use PostgreSQL", **record)


@pytest.mark.parametrize(
    "record",
    [
        {"made_by": "a", "agent_id": "a", "madeBy": None},
        {"made_by": "a", "priority": None},
        {"agentId": None, "agent_id": "a", "priority": 3, "importance": 0.3},
    ],
)
def test_the_same_value_may_be_given_twice_and_none_is_no_value(memory, sid, record):
    stored = memory.add_decision(sid, decision="Use PostgreSQL", **record).id
    assert memory.get_memory(sid, stored).agent_id == "a"


@pytest.mark.parametrize("bad", ["", " \n", 5, ["x"], {"x": 1}])
def test_what_a_type_needs_says_something(memory, sid, bad):
    for write, fields in (
        (memory.add_decision, {"decision": bad}),
        (memory.add_finding, {"description": bad}),
        (memory.update_preference, {"key": bad, "value": 1}),
        (memory.add_decision, {"content": {"decision": bad}}),
    ):
        with pytest.raises(SchemaInvalidError, match="a text that says something"):
            write(sid, **fields)
    assert memory.update_preference(sid, key="k", value="").status == "stored"
