"""Files exactly as the source documents show them go in, and files like them come out."""

import hashlib
import json
from typing import Any

import pytest

Record = dict[str, Any]

MESSAGE: Record = {
    "id": "msg-001", "timestamp": "2026-01-11T10:05:23Z", "agent_id": "architect",
    "role": "assistant", "content": "I recommend PostgreSQL for ACID compliance.",
    "context": {"conversation_id": "conv-xyz", "parent_message_id": "msg-000",
                "topic": "database_selection"},
    "metadata": {"tokens": 15, "processing_time_ms": 230, "references": ["dec-001"]},
    "decay_factor": 1.0,
}  # fmt: skip
DECISION: Record = {
    "id": "dec-001", "timestamp": "2026-01-11T10:10:00Z", "made_by": "architect",
    "approved_by": ["user-789"], "decision": "Use PostgreSQL for primary database",
    "rationale": "ACID", "impact": "high", "tags": ["database", "critical"],
    "alternatives_considered": [{"option": "MySQL", "rejected_reason": "Licensing concerns"}],
    "references": {"conversations": ["msg-001"], "findings": ["finding-003"]},
    "decay_factor": 1.0,
}  # fmt: skip
FINDING: Record = {
    "id": "finding-003", "timestamp": "2026-01-11T10:08:15Z", "discovered_by": "analyst",
    "category": "scalability", "severity": "high", "description": "No connection pool",
    "evidence": "application.yml", "recommendation": "Add one", "status": "open",
    "tags": ["performance"], "decay_factor": 1.0,
}  # fmt: skip
PREFERENCE: Record = {
    "id": "pref-001", "timestamp": "2026-01-11T10:00:00Z", "category": "communication",
    "key": "response_style", "value": "concise", "context": "brief, then code",
    "confidence": 0.9, "learned_from": ["sess-2026-01-10-xyz"], "decay_factor": 1.0,
}  # fmt: skip
MANIFEST: Record = {
    "session_id": "sess-2026-01-11-abc123", "created_at": "2026-01-11T10:00:00Z",
    "updated_at": "2026-01-11T14:30:00Z", "user_id": "user-789",
    "agent_ids": ["bmad-master", "architect", "analyst"],
    "metadata": {"project_name": "payment-system", "tags": ["payments"]},
    "statistics": {"total_messages": 127, "total_decisions": 8, "total_findings": 15,
                   "size_bytes": 245678, "last_accessed": "2026-01-11T14:30:00Z"},
    "version": "1.0",
}  # fmt: skip


def line(value) -> bytes:
    return json.dumps(value).encode() + b"\n"


def lines(content: bytes) -> list:
    return [json.loads(each) for each in content.splitlines()]


# --- four files


@pytest.fixture
def four_files():
    folder = "sessions/sess-2026-01-11-abc123/"
    return {
        f"{folder}manifest.json": line(MANIFEST),
        f"{folder}conversation.jsonl": line(MESSAGE),
        f"{folder}decisions.jsonl": line(DECISION),
        f"{folder}findings.jsonl": line(FINDING),
        f"{folder}preferences.jsonl": line(PREFERENCE),
        f"{folder}index.json": b"{}",
    }


@pytest.mark.req("S001-009", "S001-010", "S001-011", "S001-012", "S001-013", "S001-014")
@pytest.mark.req("S001-015", "S001-025", "S001-026", "S001-105")
def test_four_files_become_one_session_in_the_order_of_time(memory, four_files):
    report = memory.import_from(four_files)
    assert report.layout == "four-files"
    assert report.stored == dict.fromkeys(("conversation", "decision", "finding", "preference"), 1)
    session = memory.load_session("sess-2026-01-11-abc123")
    assert session.user_id == "user-789"
    assert session.agent_ids == ("bmad-master", "architect", "analyst")
    assert session.metadata == MANIFEST["metadata"]
    assert session.created_at == "2026-01-11T10:00:00.000Z"
    ids = [entry.id for entry in memory.get_entries(session.id)]
    assert ids == ["pref-001", "msg-001", "finding-003", "dec-001"]
    decision = memory.get_memory(session.id, "dec-001")
    assert (decision.agent_id, decision.origin) == ("architect", "import")
    assert decision.references == ("msg-001", "finding-003")
    assert (memory.get_memory(session.id, "finding-003").agent_id) == "analyst"


@pytest.mark.req("S001-027", "S001-028", "S001-031", "S001-034", "S001-035", "S001-036")
@pytest.mark.req("S001-016", "S001-037", "S001-038")
def test_four_files_come_out_with_the_same_fields_and_derived_ones_filled_in(memory, four_files):
    memory.import_from(four_files)
    files = dict(memory.export_files("four-files"))
    assert sorted(files) == sorted(four_files)
    expected = {"conversation": MESSAGE, "decisions": DECISION, "findings": FINDING,
                "preferences": PREFERENCE}  # fmt: skip
    for stem, given in expected.items():
        (found,) = lines(files[f"sessions/sess-2026-01-11-abc123/{stem}.jsonl"])
        assert 0 < found.pop("decay_factor") <= 1
        assert found.pop("origin") == "import"
        assert found.pop("type") == stem.removesuffix("s")
        assert found.pop("timestamp") == given["timestamp"].replace("Z", ".000Z")
        kept = {name: given[name] for name in given if name not in ("decay_factor", "timestamp")}
        assert found == kept
    manifest = json.loads(files["sessions/sess-2026-01-11-abc123/manifest.json"])
    assert set(manifest) == set(MANIFEST)
    assert manifest["version"] == "1.0"
    assert manifest["statistics"]["total_messages"] == 1
    index = json.loads(files["sessions/sess-2026-01-11-abc123/index.json"])
    assert index["topic_index"]["database_selection"] == ["msg-001"]


@pytest.mark.req("S001-017", "S001-018")
def test_shared_files_become_the_users_own_and_shared_entries(memory, four_files):
    preference = {**PREFERENCE, "id": "pref-9"}
    knowledge = {"id": "k1", "type": "finding", "description": "Retry on 503"}
    four_files["shared/user-preferences.json"] = line({"users": {"user-789": [preference]}})
    four_files["shared/agent-knowledge.json"] = line({"entries": [knowledge]})
    assert memory.import_from(four_files).refused_total == 0
    (found,) = memory.get_preferences(user_id="user-789")
    assert (found.id, found.scope) == ("pref-9", "user")
    assert memory.get_memory("sess-2026-01-11-abc123", "k1").scope == "shared"


def test_a_folder_without_a_manifest_is_a_session_of_its_name(memory):
    memory.import_from({"x/Pay%20ment/decisions.jsonl": line(DECISION)})
    assert memory.load_session("Pay ment").user_id is None


def test_fields_and_tags_without_a_place_are_kept_and_come_back(memory):
    odd = {**FINDING, "sprint": 7, "tags": ["ok", "not a tag"]}
    memory.import_from({"s/findings.jsonl": line(odd)})
    entry = memory.get_memory("s", "finding-003")
    assert (entry.tags, entry.metadata["other_tags"]) == (("ok",), ["not a tag"])
    (found,) = lines(dict(memory.export_files("four-files"))["sessions/s/findings.jsonl"])
    assert (found["sprint"], found["tags"]) == (7, ["ok", "not a tag"])
    assert "metadata" not in found


# --- one log


def summed(entry: dict) -> dict:
    canonical = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {**entry, "checksum": f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"}


HELLO: Record = {
    "id": "mem_001", "session_id": "sess_001", "timestamp": "2026-01-10T10:00:00Z",
    "type": "conversation", "content": {"role": "user", "message": "Hello", "metadata": {"a": 1}},
    "importance": 0.5, "tags": ["greeting"], "references": [],
}  # fmt: skip
HI = {**HELLO, "id": "mem_002", "content": {"role": "assistant", "message": "Hi!"},
      "references": ["mem_001"]}  # fmt: skip
METADATA: Record = {
    "session_id": "sess_001", "user_id": "user123", "created_at": "2026-01-10T14:00:00.000Z",
    "last_accessed": "2026-01-10T14:30:00.000Z", "total_entries": 42, "total_size_bytes": 1048576,
    "decay_config": {"enabled": True, "half_life_hours": 168, "min_decay_factor": 0.1},
    "preferences": {"language": "en", "verbosity": "medium", "custom": {}},
    "statistics": {"conversations": 15, "decisions": 8, "findings": 12, "preferences": 7},
}  # fmt: skip


LOG = "sessions/sess_001/memory.jsonl"
BURIED = line(
    {"id": "mem_001", "timestamp": "2026-01-12T00:00:00Z", "reason": "privacy"},
) + line({"id": "mem_000", "timestamp": "2026-01-12T00:00:00Z", "reason": ""})


def one_log(*entries, **more) -> dict:
    folder = "memory/sessions/sess_001/"
    files = {f"{folder}metadata.json": line(METADATA),
             f"{folder}memory.jsonl": b"".join(map(line, entries))}  # fmt: skip
    return {**files, **{f"{folder}{name}": content for name, content in more.items()}}


@pytest.mark.req("S002-014", "S002-015", "S002-026", "S002-032", "S002-034", "S002-126")
def test_one_log_becomes_a_session_with_its_facts(memory):
    files = one_log(summed(HELLO), HI)
    files["memory/sessions/sess_001/memory.jsonl"] = files[
        "memory/sessions/sess_001/memory.jsonl"
    ].replace(b"\n", b"\r\n")
    report = memory.import_from(files)
    assert (report.layout, report.stored, report.refused_total) == (
        "one-log", {"conversation": 2}, 0,
    )  # fmt: skip
    session = memory.load_session("sess_001")
    assert (session.user_id, session.preferences["language"]) == ("user123", "en")
    assert session.settings == {}
    first, second = memory.get_entries("sess_001")
    assert (first.role, first.content, first.metadata) == ("user", "Hello", {"a": 1})
    assert (second.importance, second.references) == (0.5, ("mem_001",))


@pytest.mark.req("S002-031", "S002-128", "S002-129")
def test_a_wrong_checksum_refuses_the_line_and_nothing_else(memory):
    broken = {**summed(HELLO), "importance": 0.9}
    report = memory.import_from(one_log(broken, summed(HI)))
    assert report.stored == {"conversation": 1}
    ((file, number, reason, code),) = report.refused
    assert (file, number) == ("memory/sessions/sess_001/memory.jsonl", 1)
    assert (reason, code) == ("the checksum does not match", "E_STORAGE_CORRUPT")


@pytest.mark.req("S002-017", "S002-095")
def test_what_was_deleted_there_comes_in_as_deleted_and_can_be_brought_back(memory, clock):
    files = one_log(HELLO, {**HELLO, "importance": 0.7}, HI, **{"tombstones.jsonl": BURIED})
    told = memory.import_from(files, dry_run=True)
    report = memory.import_from(files)
    assert (report.stored, report.deleted) == ({"conversation": 1}, {"conversation": 2})
    assert (told.stored, told.deleted) == (report.stored, report.deleted)
    assert report.skipped == {"deleted, and nothing left of it": 1}
    assert [entry.id for entry in memory.get_entries("sess_001")] == ["mem_002"]
    assert [hit.entry.id for hit in memory.query("sess_001", text="Hello")] == ["mem_002"]
    clock.advance(days=29)
    again = memory.import_from(files)
    assert again.skipped["deleted here"] == 2, "it stays as it is"
    assert memory.undelete("sess_001", ["mem_001"]).ids == ("mem_001",)
    first, _ = memory.get_entries("sess_001")
    assert (first.id, first.content, first.importance) == ("mem_001", "Hello", 0.7)


@pytest.mark.req("S002-017", "S002-102")
def test_a_tombstone_keeps_its_time_and_its_reason_without_secrets(memory, root):
    address = "ann@" + "example.org"
    tombstone = {"id": "mem_001", "timestamp": "2026-01-12T00:00:00Z", "reason": f"by {address}"}
    memory.import_from(one_log(HELLO, HI, **{"tombstones.jsonl": line(tombstone)}))
    stored = lines((root / "sessions/sess_001/memory.jsonl").read_bytes())
    (mark,) = [one for one in stored if one["type"] == "tombstone"]
    assert mark["timestamp"] == "2026-01-12T00:00:00.000Z"
    assert mark["reason"] == "by [REDACTED:email]"
    (out,) = lines(dict(memory.export_files("one-log"))["sessions/sess_001/tombstones.jsonl"])
    assert (out["id"], address in str(out)) == ("mem_001", False)


@pytest.mark.req("S002-204", "S001-037")
def test_how_often_an_entry_was_used_comes_in_and_goes_out(memory):
    used = {**HELLO, "access_count": 3, "last_accessed": "2026-01-11T00:00:00.000Z"}
    odd = {**HI, "access_count": True}
    for _ in range(2):
        memory.import_from(one_log(summed(used), odd))
        first, second = lines(dict(memory.export_files("one-log"))[LOG])
        assert (first["access_count"], first["last_accessed"]) == (3, "2026-01-11T00:00:00.000Z")
        assert "access_count" not in second


@pytest.mark.req("S002-017", "S002-095", "S002-102")
def test_what_was_deleted_here_is_exported_as_a_tombstone_alone(memory):
    memory.import_from(one_log(HELLO, HI))
    memory.delete("sess_001", ids=["mem_001"])
    files = dict(memory.export_files("one-log"))
    (tombstone,) = lines(files["sessions/sess_001/tombstones.jsonl"])
    assert (tombstone["id"], set(tombstone)) == ("mem_001", {"id", "timestamp", "reason"})
    assert b"Hello" not in b"".join(files.values())


@pytest.mark.req("S002-028", "S002-035", "S002-036", "S002-037", "S002-038", "S002-202")
def test_one_log_comes_out_with_checksums_and_an_index_of_its_bytes(memory):
    memory.import_from(one_log(HELLO, HI))
    files = dict(memory.export_files("one-log"))
    content = files["sessions/sess_001/memory.jsonl"]
    for found in lines(content):
        assert found["schema_version"] == 1
        given = found.pop("checksum")
        # Integral floats differ between languages; there is none here but the decay.
        assert found["decay_factor"] != int(found["decay_factor"])
        assert summed(found)["checksum"] == given
    index = json.loads(files["sessions/sess_001/index.json"])
    for number, each in enumerate(("mem_001", "mem_002"), 1):
        place = index["entries"][each]
        assert json.loads(content[place["byte_offset"] :].split(b"\n")[0])["id"] == each
        assert (place["line_number"], place["importance"]) == (number, 0.5)
        assert 0 < place["current_relevance"] <= 1
    assert index["tags"] == {"greeting": ["mem_001", "mem_002"]}
    metadata = json.loads(files["sessions/sess_001/metadata.json"])
    assert (metadata["version"], metadata["statistics"]["conversations"]) == (1, 2)
    assert set(METADATA) <= set(metadata)


@pytest.mark.req("S002-124")
def test_a_sessions_own_decay_is_taken_over_and_comes_out_again(memory):
    decay = {"enabled": True, "half_life_hours": 336, "min_decay_factor": 0.2}
    files = one_log(HELLO)
    files["memory/sessions/sess_001/metadata.json"] = line({**METADATA, "decay_config": decay})
    assert memory.import_from(files).adjusted == {}
    assert memory.load_session("sess_001").settings == {"decay_config": decay}
    out = json.loads(dict(memory.export_files("one-log"))["sessions/sess_001/metadata.json"])
    assert out["decay_config"] == decay


def test_settings_that_cannot_be_used_do_not_stop_an_import(memory):
    files = one_log(HELLO)
    files["memory/sessions/sess_001/metadata.json"] = line(
        {**METADATA, "decay_config": {"half_life_hours": "soon"}}
    )
    report = memory.import_from(files)
    assert report.adjusted == {"a session's settings were not taken over": 1}
    assert report.stored == {"conversation": 1}


# --- memory.json


NOTE: Record = {
    "id": "5f0c", "content": "Tests need a database", "category": "setup",
    "tags": ["tests", "two words"], "metadata": {"by": "ann"}, "access_count": 3, "priority": 8,
    "created_at": "2025-09-13T10:00:00.123456789Z", "updated_at": "2025-09-14T10:00:00Z",
}  # fmt: skip


@pytest.mark.req("S004-014", "S004-015", "S004-016", "S004-017", "S004-018", "S004-019")
@pytest.mark.req("S004-020", "S004-021")
def test_compartments_become_notes_and_come_out_again(memory):
    told = {"run": [NOTE], "session": [NOTE], "plan": [{**NOTE, "id": "p1", "priority": 0}]}
    report = memory.import_from({"bot/memory.json": line(told)})
    assert (report.layout, report.stored) == ("memory-json", {"note": 2})
    assert report.reasons == {"notes of a run end with it": 1}
    note, plan = memory.get_entries("bot")
    assert (note.importance, note.category, note.tags) == (0.8, "setup", ("tests",))
    assert (plan.compartment, plan.importance) == ("plan", 0.5)
    out = json.loads(dict(memory.export_files("memory-json"))["bot/memory.json"])
    assert [len(out[name]) for name in ("run", "session", "plan")] == [0, 1, 1]
    stamp = {"created_at": "2025-09-13T10:00:00.123Z"}
    assert out["session"] == [{**NOTE, **stamp}]


# --- work-agent


@pytest.mark.req("S000-02", "S000-03")
def test_events_of_any_shape_become_entries_and_come_out_again(memory):
    events: list[Record] = [
        {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Is it safe?"}]},
        {"id": "m2", "role": "assistant", "metadata": {"model": "x"},
         "parts": [{"type": "step-start"}, {"type": "text", "text": "Yes."}]},
        {"role": "user", "content": "Ship it.", "timestamp": "2026-01-01T00:00:00.000Z"},
        {"kind": "build", "ok": True, "timestamp": "2026-01-01T00:00:01.000Z"},
        {"id": "m5", "role": "assistant", "parts": [{"type": "tool-add", "output": 3}]},
    ]  # fmt: skip
    name = ".work-agent/agents/reviewer/memory/sessions/tauri-1.ndjson"
    about = {"userId": "u9", "title": "Release", "createdAt": "2026-01-01T00:00:00.000Z"}
    facts = ".work-agent/agents/reviewer/memory/conversations/tauri-1.json"
    report = memory.import_from({name: b"".join(map(line, events)), facts: line(about)})
    assert report.stored == {"conversation": 4, "event": 1}
    session = memory.load_session("tauri-1")
    assert (session.user_id, session.agent_ids) == ("u9", ("reviewer",))
    assert session.metadata == {"title": "Release"}
    texts = [entry.content for entry in memory.get_entries("tauri-1")]
    assert texts[:3] == ["Is it safe?", "Yes.", "Ship it."]
    out = lines(dict(memory.export_files("work-agent"))[name.removeprefix(".work-agent/")])
    for before, after in zip(events, out, strict=True):
        made = {"id": after["id"], "timestamp": after["timestamp"]}
        assert after == {**made, **before}


@pytest.mark.req("S000-13", "S000-15")
def test_two_agents_sessions_of_one_name_stay_two(memory):
    event = line({"role": "user", "content": "mine"})
    files = {f"agents/{slug}/memory/sessions/s.ndjson": event for slug in ("ann", "bob")}
    assert memory.import_from(files).sessions == {"created": 2}
    assert len(memory.for_agent("ann").get_entries("ann.s")) == 1
    assert [one.id for one in memory.for_agent("bob").list_sessions()] == ["bob.s"]


# --- nodes

NODE = """---
title: "Node Title"
description: "Short description"
path: ["category", "subcategory"]
createdAt: 1708000000000
updatedAt: 1708000000000
---

Document content here.
"""


@pytest.mark.req("S003-31", "S003-32", "S003-33", "S003-34", "S003-35", "S003-30")
def test_nodes_become_notes_and_come_out_byte_by_byte(memory):
    files = {
        "users/u1/memory/people/ann.md": NODE.encode(),
        "users/u1/memory/people/ann.v3.md": b"old",
        "users/u1/USER.md": b"# About\n\nLikes tea.\n",
    }
    report = memory.import_from(files)
    assert (report.layout, report.stored) == ("nodes", {"note": 2})
    assert report.skipped == {"older version": 1}
    assert memory.load_session("nodes-u1").user_id == "u1"
    notes = {entry.metadata["file"]: entry for entry in memory.get_entries("nodes-u1")}
    node = notes["memory/people/ann.md"]
    assert (node.content, node.tags) == ("Document content here.\n", ("category.subcategory",))
    assert node.timestamp == "2024-02-15T12:26:40.000Z"
    del files["users/u1/memory/people/ann.v3.md"]
    assert dict(memory.export_files("nodes")) == files


def test_an_entry_cannot_name_a_file_outside_the_export(memory, sid, tmp_path):
    for number, name in enumerate(
        ("../../out.md", "/etc/x.md", "a\\..\\b.md", "C:x.md", "a//b.md")
    ):
        matter = {"front_matter": {"title": "t"}, "file": name}
        memory.add_memory(sid, type="note", id=f"n{number}", content="x", metadata=matter)
    memory.export_to(tmp_path / "out", "nodes")
    found = [str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.md")]
    assert sorted(found) == [f"users/u1/memory/n{number}.md" for number in range(5)]


def test_two_notes_of_one_file_name_become_two_files(memory, sid):
    for number, name in enumerate(("memory/tea.md", "memory/Tea.md")):
        matter = {"front_matter": {"title": "t"}, "file": name}
        memory.add_memory(sid, type="note", id=f"n{number}", content=f"x{number}", metadata=matter)
    found = dict(memory.export_files("nodes"))
    assert len({name.lower() for name in found}) == 2
    assert sorted(content[-2:] for content in found.values()) == [b"x0", b"x1"]
