"""The index as plain JSON: both shapes, of one session and of all."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidQueryError, SessionNotFoundError
from mnemolog.fs.real import RealDisk
from mnemolog.index.export import words
from mnemolog.policy.decay import factor
from mnemolog.ports import Index
from mnemolog.settings import Settings
from mnemolog.stores.files import FilesStore
from mnemolog.stores.files.finder import FilesFinder
from tests.log.rewriting import rewrite

FACTS = {
    "file", "line_number", "byte_offset", "type", "timestamp", "tags", "importance",
    "current_relevance",
}  # fmt: skip


@pytest.fixture
def filled(memory: Memory, sid: str) -> str:
    memory.add_conversation(
        sid, id="msg-001", role="user", content="Which database scales? The database matters.",
        timestamp="2026-11-15T07:59:59Z", context={"topic": "database_selection"},
    )  # fmt: skip
    memory.add_decision(
        sid, id="dec-001", made_by="architect", decision="Use PostgreSQL", importance=0.8,
        timestamp="2026-11-15T08:00:00Z", tags=["database", "security.storage"],
    )  # fmt: skip
    memory.add_finding(
        sid, id="finding-003", description="Scalability is untested", severity="low",
        timestamp="2026-11-15T08:30:00Z", tags=["database"],
    )  # fmt: skip
    return sid


def line_at(folder: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """The line that an entry's facts point to, found both ways."""
    content = (folder / facts["file"]).read_bytes()
    by_offset = content[facts["byte_offset"] :].split(b"\n", 1)[0]
    assert content.split(b"\n")[facts["line_number"] - 1] == by_offset
    found: dict[str, Any] = json.loads(by_offset)
    return found


# --- words, topics and hours


@pytest.mark.req("S001-038", "S001-016")
def test_the_inverted_shape_says_whose_it_is_and_which_version(memory, filled):
    index = memory.export_index(filled, "inverted")
    assert set(index) == {
        "session_id", "created_at", "inverted_index", "topic_index", "temporal_index", "version",
    }  # fmt: skip
    assert index["session_id"] == filled
    assert index["created_at"] == memory.load_session(filled).created_at
    assert index["version"] == 1


@pytest.mark.req("S001-039")
def test_words_lead_to_the_ids_of_the_entries_that_hold_them(memory, filled):
    found = memory.export_index(filled, "inverted")["inverted_index"]
    assert found["database"] == ["msg-001", "dec-001", "finding-003"]
    assert found["postgresql"] == ["dec-001"]
    assert found["scalability"] == ["finding-003"]
    assert "the" not in found
    assert list(found) == sorted(found)


@pytest.mark.req("S001-040", "S002-020")
def test_topics_are_tags_and_the_topics_of_messages(memory, filled):
    assert memory.export_index(filled, "inverted")["topic_index"] == {
        "database": ["dec-001", "finding-003"],
        "database_selection": ["msg-001"],
        "security.storage": ["dec-001"],
    }


@pytest.mark.req("S001-041")
def test_hours_lead_to_what_was_said_in_them(memory, filled):
    assert memory.export_index(filled, "inverted")["temporal_index"] == {
        "2026-11-15T07": ["msg-001"],
        "2026-11-15T08": ["dec-001", "finding-003"],
    }


def test_text_without_spaces_is_cut_into_pairs(memory, sid):
    receipt = memory.add_memory(sid, content="数据库 and a Workflow", category="plans")
    entry = memory.get_memory(sid, receipt.id)
    assert words(entry) == ["数", "据", "库", "数据", "据库", "workflow", "plans"]


# --- entries, tags and types


@pytest.mark.req("S002-036", "S002-016")
def test_the_entries_shape_says_which_version_and_how_recent(memory, filled):
    index = memory.export_index(filled, "entries")
    assert set(index) == {"version", "last_updated", "entries", "tags", "types"}
    assert index["version"] == 1
    assert index["last_updated"] == memory.load_session(filled).updated_at


@pytest.mark.req("S002-037", "S002-113")
def test_each_entry_is_told_with_its_place_and_weight(memory, folder, clock, filled):
    clock.advance(hours=400)
    found = memory.export_index(filled)["entries"]
    assert list(found) == ["msg-001", "dec-001", "finding-003"]
    assert [each["line_number"] for each in found.values()] == [1, 2, 3]
    for identifier, facts in found.items():
        assert set(facts) == FACTS
        line = line_at(folder, facts)
        assert (line["id"], line["type"]) == (identifier, facts["type"])
        assert line["timestamp"] == facts["timestamp"]
    decided = found["dec-001"]
    assert decided["tags"] == ["database", "security.storage"]
    assert decided["importance"] == 0.8
    left = factor("decision", 401.0, Settings().decay, 1 + 0.2 * 0.8)
    assert decided["current_relevance"] == pytest.approx(0.8 * left, abs=1e-5)


@pytest.mark.req("S002-038", "S002-039")
def test_tags_and_types_lead_to_ids(memory, filled):
    index = memory.export_index(filled)
    assert index["tags"] == {
        "database": ["dec-001", "finding-003"],
        "security.storage": ["dec-001"],
    }
    assert index["types"] == {
        "conversation": ["msg-001"],
        "decision": ["dec-001"],
        "finding": ["finding-003"],
    }


def test_places_are_right_after_damage_revisions_segments_and_a_rewrite(root, clock):
    small = {"storage.segment_size_mb": 0.002}
    with Memory.open(root, clock=clock, environ={}, settings=small) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="first", content="old")
        log = root / "sessions" / "talk" / "memory.jsonl"
        log.write_bytes(log.read_bytes() + b"\nnot a line of ours\n")
        memory.add_many("talk", [{"id": f"m{n}", "content": "x" * 300} for n in range(20)])
        memory.update_memory("talk", "first", content="new")
        for _ in range(2):
            found = memory.export_index("talk")["entries"]
            assert len(found) == 21
            for identifier, facts in found.items():
                assert line_at(root / "sessions" / "talk", facts)["id"] == identifier
            last = list(found)[-1]
            assert (last, line_at(root / "sessions" / "talk", found[last])["content"]) == (
                "first", "new",
            )  # fmt: skip
            rewrite(root, "talk", lambda line: b"not a line" not in line and line.strip() != b"")


# --- all sessions


@pytest.mark.req("S002-019", "S002-020")
def test_over_all_sessions_ids_are_told_apart_by_their_session(memory, filled):
    memory.create_session(session_id="other")
    memory.add_memory("other", id="msg-001", type="note", content="a database", tags=["database"])
    memory.create_session(session_id="empty")
    inverted = memory.export_index(None, "inverted")
    assert inverted["session_id"] is None
    assert inverted["inverted_index"]["database"] == {
        "other": ["msg-001"],
        filled: ["msg-001", "dec-001", "finding-003"],
    }
    assert inverted["topic_index"]["database"] == {
        "other": ["msg-001"],
        filled: ["dec-001", "finding-003"],
    }
    entries = memory.export_index(None, "entries")
    assert {name: list(ids) for name, ids in entries["entries"].items()} == {
        "other": ["msg-001"],
        filled: ["msg-001", "dec-001", "finding-003"],
    }
    assert entries["entries"]["other"]["msg-001"]["type"] == "note"
    assert entries["types"]["note"] == {"other": ["msg-001"]}


def test_a_users_own_log_and_the_shared_one_belong_to_no_session(memory, sid):
    memory.update_preference(sid, key="language", value="en", scope="user")
    memory.add_memory(sid, content="for all", scope="shared")
    assert memory.export_index()["entries"] == {}


def test_a_view_exports_what_it_may_see(memory, sid):
    memory.create_session(session_id="foreign", agent_ids=["stranger"])
    memory.add_memory("foreign", content="elsewhere")
    memory.for_agent("analyst").add_memory(sid, id="own", content="kept", scope="agent")
    memory.for_agent("architect").add_memory(sid, id="open", content="said")
    view = memory.for_agent("architect")
    assert list(view.export_index(sid)["entries"]) == ["open"]
    assert list(view.export_index()["entries"]) == [sid]
    assert "kept" not in view.export_index(None, "inverted")["inverted_index"]
    with pytest.raises(SessionNotFoundError):
        view.export_index("foreign")


# --- derived


@pytest.mark.parametrize("shape", ["inverted", "entries"])
def test_it_is_the_same_when_the_index_is_thrown_away(memory, root, filled, shape):
    before = memory.export_index(filled, shape), memory.export_index(None, shape)
    shutil.rmtree(root / "index")
    assert (memory.export_index(filled, shape), memory.export_index(None, shape)) == before


def test_a_session_without_entries_has_an_empty_index(memory, sid):
    created = memory.load_session(sid).created_at
    assert memory.export_index(sid) == {
        "version": 1, "last_updated": created, "entries": {}, "tags": {}, "types": {},
    }  # fmt: skip
    assert memory.export_index(sid, "inverted")["inverted_index"] == {}


def test_exporting_is_no_use_of_an_entry(memory, folder, filled):
    before = memory.export_index(filled)
    memory.close()
    assert not (folder / "access.jsonl").exists()
    assert memory.export_index(filled) == before


@pytest.mark.parametrize("shape", ["002", "", None, 1])
def test_a_shape_that_there_is_not_is_refused(memory, sid, shape):
    with pytest.raises(InvalidQueryError, match="inverted, entries"):
        memory.export_index(sid, shape)


def test_a_back_end_whose_index_cannot_be_exported_says_so(memory, root, sid):
    store = FilesStore(RealDisk(str(root)), Settings())
    finder = FilesFinder(RealDisk(str(root)), str(root), None)
    only_searching = cast(Index, SimpleNamespace(search=finder.search, close=finder.close))
    for index in (None, only_searching):
        with pytest.raises(InvalidQueryError):
            Memory(store, index=index).export_index(sid)
