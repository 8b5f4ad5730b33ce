"""add_memory takes both source documents' records, in either spelling, and refuses the rest."""

import pytest

from mnemolog.errors import InvalidFormatError, SchemaInvalidError

SEED_002 = {
    "id": "mem_abc123xyz",
    "timestamp": "2026-01-10T14:23:45.678Z",
    "type": "conversation",
    "content": {"role": "user", "message": "How do I implement OAuth2?", "metadata": {"n": 1}},
    "importance": 0.85,
    "decay_factor": 1.0,
    "tags": ["authentication", "security"],
    "references": ["mem_def456uvw"],
    "checksum": "sha256:00",
    "schema_version": 1,
}


def stored(memory, sid, record=None, **fields):
    receipt = memory.add_memory(sid, record, **fields)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    return entry


@pytest.mark.req(
    "S002-022", "S002-024", "S002-025", "S002-026", "S002-027", "S002-030", "S002-043", "S002-044"
)
def test_the_enveloped_record_of_the_second_document(memory, sid):
    entry = stored(memory, sid, SEED_002)
    assert entry.id == "mem_abc123xyz"
    assert entry.session_id == sid
    assert entry.timestamp == "2026-01-10T14:23:45.678Z"
    assert entry.type == "conversation"
    assert entry.role == "user"
    assert entry.content == "How do I implement OAuth2?"
    assert entry.metadata == {"n": 1}
    assert entry.importance == 0.85
    assert entry.tags == ("authentication", "security")
    assert entry.references == ("mem_def456uvw",)
    assert entry.sum != "sha256:00", "a foreign checksum is not stored as ours"


@pytest.mark.req("S002-025", "S002-043")
def test_the_enveloped_decision_of_the_second_document(memory, sid):
    content = {
        "decision": "Use Authorization Code flow for web apps",
        "rationale": "Most secure for server-side applications",
        "alternatives": ["Implicit flow", "PKCE"],
    }
    entry = stored(memory, sid, type="decision", content=content, importance=0.9)
    assert entry.content == content


def test_flat_and_enveloped_records_store_the_same(memory, sid):
    flat = stored(memory, sid, type="decision", made_by="architect", decision="x", impact="high")
    enveloped = stored(
        memory,
        sid,
        {
            "type": "decision",
            "agent_id": "architect",
            "content": {"decision": "x", "impact": "high"},
        },
    )
    assert flat.content == enveloped.content
    assert flat.agent_id == enveloped.agent_id == "architect"


def test_camel_case_is_understood(memory, sid):
    entry = stored(
        memory,
        sid,
        {
            "type": "decisions",
            "madeBy": "architect",
            "approvedBy": ["u1"],
            "decision": "x",
            "alternativesConsidered": [{"option": "y", "rejected_reason": "z"}],
            "userId": "u1",
            "runId": "r1",
            "schemaVersion": 1,
        },
    )
    assert (entry.type, entry.agent_id, entry.user_id, entry.run_id) == (
        "decision", "architect", "u1", "r1",
    )  # fmt: skip
    assert entry.content["approved_by"] == ["u1"]
    assert entry.content["alternatives_considered"] == [{"option": "y", "rejected_reason": "z"}]


def test_a_dictionary_and_keywords_can_be_mixed(memory, sid):
    entry = stored(memory, sid, {"content": "x", "tags": ["a"]}, tags=["b"], importance=1)
    assert (entry.content, entry.tags, entry.importance) == ("x", ("b",), 1.0)


@pytest.mark.req("S002-022")
def test_an_entry_without_an_id_gets_one_that_sorts_by_time(memory, sid, clock):
    ids = []
    for _ in range(3):
        ids.append(memory.add_memory(sid, content="x").id)
        clock.advance(milliseconds=1)
    assert all(one.startswith("mem_") for one in ids)
    assert ids == sorted(ids)
    assert len({memory.add_memory(sid, content="x").id for _ in range(50)}) == 50


@pytest.mark.parametrize("given", ["msg-001", "b6f0e8f4-7c3b-4a53-9f0e-1f2a3b4c5d6e", "ä/ö", "x"])
def test_a_given_id_of_any_form_is_kept(memory, sid, given):
    assert stored(memory, sid, id=given, content="x").id == given


@pytest.mark.req("S002-024")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-01-10T14:23:45.678Z", "2026-01-10T14:23:45.678Z"),
        ("2026-01-10T14:23:45Z", "2026-01-10T14:23:45.000Z"),
        ("2026-01-10T15:23:45+01:00", "2026-01-10T14:23:45.000Z"),
        ("2026-01-10T14:23:45", "2026-01-10T14:23:45.000Z"),
        ("2026-01-10", "2026-01-10T00:00:00.000Z"),
        (1768055025678, "2026-01-10T14:23:45.678Z"),
    ],
)
def test_timestamps_are_iso_with_milliseconds_in_utc(memory, sid, given, kept):
    assert stored(memory, sid, content="x", timestamp=given).timestamp == kept


def test_the_time_of_writing_is_kept_beside_a_given_timestamp(memory, sid):
    entry = stored(memory, sid, content="x", timestamp="2020-01-01T00:00:00Z")
    assert entry.written_at == "2026-11-15T09:00:00.000Z"
    assert stored(memory, sid, content="x").at is None


@pytest.mark.parametrize(
    "bad", ["yesterday", "", "2026-13-01", "2026-01-10T25:00:00Z", True, [], {}, 1e30]
)
def test_a_bad_timestamp_is_refused(memory, sid, bad):
    with pytest.raises(InvalidFormatError, match="timestamp") as caught:
        memory.add_memory(sid, content="x", timestamp=bad)
    assert "ISO 8601" in caught.value.advice


@pytest.mark.req("S002-139")
def test_a_timestamp_in_the_future_is_kept_and_flagged(memory, sid):
    receipt = memory.add_memory(sid, content="x", timestamp="2027-01-01T00:00:00Z")
    assert any("future" in warning for warning in receipt.warnings)
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert entry.is_future
    assert entry.timestamp == "2027-01-01T00:00:00.000Z"


@pytest.mark.req("S002-139")
def test_clocks_may_disagree_by_a_few_minutes(memory, sid):
    receipt = memory.add_memory(sid, content="x", timestamp="2026-11-15T09:04:00Z")
    assert receipt.warnings == ()
    entry = memory.get_memory(sid, receipt.id)
    assert entry is not None
    assert not entry.is_future


@pytest.mark.parametrize("content", ["", "   \n\t", {}, None])
def test_empty_content_is_refused(memory, sid, content):
    with pytest.raises(SchemaInvalidError, match="empty"):
        memory.add_memory(sid, content=content)
    assert memory.get_entries(sid) == []


@pytest.mark.req("S001-148")
@pytest.mark.parametrize("content", [5, ["list"], True, b"bytes", {"a": {1, 2}}, {"a": object()}])
def test_content_that_is_neither_text_nor_an_object_is_refused(memory, sid, content):
    with pytest.raises(SchemaInvalidError) as caught:
        memory.add_memory(sid, content=content)
    assert caught.value.code == "E_SCHEMA_INVALID"


def test_an_unknown_field_is_refused_with_the_nearest_name(memory, sid):
    with pytest.raises(SchemaInvalidError, match="importence") as caught:
        memory.add_memory(sid, content="x", importence=1)
    assert "importance" in caught.value.advice


@pytest.mark.req("S002-027")
@pytest.mark.parametrize("good", [0, 0.0, 0.5, 1, 1.0])
def test_importance_is_a_number_from_0_to_1(memory, sid, good):
    assert stored(memory, sid, content="x", importance=good).importance == good


@pytest.mark.req("S002-027")
@pytest.mark.parametrize("bad", [-0.1, 1.1, "high", True, float("nan"), float("inf"), 10**30])
def test_any_other_importance_is_refused(memory, sid, bad):
    with pytest.raises(SchemaInvalidError, match="importance"):
        memory.add_memory(sid, content="x", importance=bad)


def test_a_priority_is_a_tenth_of_it(memory, sid):
    assert stored(memory, sid, content="x", priority=5).importance == 0.5
    for bad in (0, 11, 5.5, "5", True):
        with pytest.raises(SchemaInvalidError, match="priority"):
            memory.add_memory(sid, content="x", priority=bad)


@pytest.mark.parametrize(
    "good",
    [
        "personal_info", "security.authentication", "日本", "a-b", "x" * 32, "हिन्दी.தமிழ்",
        "עִבְרִית", "cafe\u0301", "a" + "\u0301" * 31,
    ],
)  # fmt: skip
def test_tags_may_be_words_in_any_script_joined_by_dots(memory, sid, good):
    assert stored(memory, sid, content="x", tags=[good]).tags == (good,)


@pytest.mark.parametrize(
    "bad",
    [
        "", "two words", "x" * 33, "a..b", ".a", "a/b", "nul\0", "\ud800", "\u0301a", "a.\u0301",
        "a" + "\u0301" * 32, "a\u202eb", "a\u200bb", "é.", ".".join(["e\u0301"] * 17),
    ],
)  # fmt: skip
def test_any_other_tag_is_refused(memory, sid, bad):
    with pytest.raises(InvalidFormatError, match="tag"):
        memory.add_memory(sid, content="x", tags=["good", bad])


@pytest.mark.parametrize("given", ["conversations", "Decisions", "findings", "notes", "events"])
def test_types_are_understood_in_the_plural(memory, sid, given):
    kind = given.lower().removesuffix("s")
    content = {"decision": "x", "description": "x"}
    assert stored(memory, sid, type=given, content=content).type == kind


def test_users_may_add_types_of_their_own(memory, sid):
    assert stored(memory, sid, type="stand-up", content={"mood": "good"}).type == "stand-up"


@pytest.mark.parametrize("bad", ["tombstone", "erased", "undelete", "", "Two Words", "x" * 33, 5])
def test_marks_and_malformed_types_are_refused(memory, sid, bad):
    with pytest.raises(InvalidFormatError, match="type"):
        memory.add_memory(sid, type=bad, content="x")


def test_the_shape_of_one_type_is_not_asked_of_another(memory, sid):
    content = {"confidence": "high", "alternatives": "none", "approved_by": "all", "key": 5}
    assert stored(memory, sid, type="event", content=content).content == content


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("scope", "everyone"),
        ("scope", "run"),
        ("origin", "nowhere"),
        ("compartment", "session"),
        ("metadata", "text"),
        ("context", 5),
        ("references", [5]),
        ("references", 5),
        ("session_id", "another"),
    ],
)
def test_envelope_fields_are_checked(memory, sid, field, bad):
    with pytest.raises(SchemaInvalidError) as caught:
        memory.add_memory(sid, content="x", **{field: bad})
    assert caught.value.details["field"] == field


def test_an_agent_scoped_entry_says_whose_it_is(memory, sid):
    with pytest.raises(SchemaInvalidError, match="agent"):
        memory.add_memory(sid, content="x", scope="agent")


def test_the_sessions_own_id_in_an_entry_is_fine(memory, sid):
    assert stored(memory, sid, content="x", session_id=sid).session_id == sid


def test_whole_numbers_are_those_of_64_bits(memory, sid):
    ends = [-(2**63), 2**63 - 1]
    receipt = memory.add_memory(sid, content={"ends": ends})
    assert memory.get_memory(sid, receipt.id).content == {"ends": ends}
    for beyond in (ends[0] - 1, ends[1] + 1):
        with pytest.raises(SchemaInvalidError, match="64 bits"):
            memory.add_memory(sid, content={"n": beyond})
