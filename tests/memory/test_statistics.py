"""Statistics under the names of both source documents: counted, never stored."""

import pytest

from mnemolog import Memory


@pytest.fixture
def filled(memory, sid):
    for number in range(4):
        memory.add_conversation(sid, role="user", content=f"{number}", agent_id="architect")
    memory.add_decision(sid, decision="x", made_by="architect")
    memory.add_decision(sid, id="d2", decision="y", made_by="analyst")
    memory.add_decision(sid, id="d2", decision="z", made_by="analyst")
    memory.add_finding(sid, description="x", discovered_by="analyst")
    memory.update_preference(sid, key="k", value="v")
    memory.add_memory(sid, type="note", content="x")
    return sid


@pytest.mark.req("S001-027", "S001-132", "S002-032", "S002-035", "S002-055")
def test_a_session_in_numbers(memory, filled, folder):
    found = memory.get_statistics(filled)
    assert found.session_id == filled
    assert found.total_entries == 9
    assert found.total_messages == found.conversations == 4
    assert found.total_decisions == found.decisions == 2
    assert found.total_findings == found.findings == 1
    assert found.total_preferences == found.preferences == 1
    assert found.by_type == {
        "conversation": 4, "decision": 2, "finding": 1, "preference": 1, "note": 1,
    }  # fmt: skip
    assert found.by_agent == {"architect": 5, "analyst": 2}
    assert found.size_bytes == found.total_size_bytes == (folder / "memory.jsonl").stat().st_size
    assert found.max_size_bytes == 10 * 1024 * 1024
    assert found.corrupted_lines == 0
    assert found.revisions == 1
    assert found.sessions == 1
    assert memory.get_session_stats(filled) == found


@pytest.mark.req("S001-027", "S001-047", "S002-032")
def test_times_are_those_of_the_session_and_of_its_last_write(memory, sid, clock):
    clock.advance(hours=2)
    memory.add_memory(sid, content="x")
    found = memory.get_statistics(sid)
    assert found.created_at == "2026-11-15T09:00:00.000Z"
    assert found.updated_at == found.last_accessed == "2026-11-15T11:00:00.000Z"


@pytest.mark.req("S001-047")
def test_a_write_changes_the_numbers_and_not_the_manifest(memory, sid, folder):
    before = (folder / "manifest.json").read_bytes()
    for total in range(1, 4):
        memory.add_memory(sid, content="x")
        assert memory.get_statistics(sid).total_messages == total
    assert (folder / "manifest.json").read_bytes() == before


def test_a_new_session_counts_nothing(memory, sid):
    found = memory.get_statistics(sid)
    assert (found.total_entries, found.size_bytes, found.by_type) == (0, 0, {})
    assert found.updated_at == found.created_at


@pytest.mark.req("S001-133")
def test_all_sessions_in_numbers(memory, filled, clock):
    clock.advance(hours=1)
    other = memory.create_session("u2").id
    memory.add_conversation(other, content="x", agent_id="writer")
    one, two = memory.get_statistics(filled), memory.get_statistics(other)
    total = memory.get_global_statistics()
    assert total.session_id is None
    assert total.sessions == 2
    assert total.total_entries == 10
    assert total.total_messages == 5
    assert total.by_agent == {"architect": 5, "analyst": 2, "writer": 1}
    assert total.size_bytes == one.size_bytes + two.size_bytes
    assert total.max_size_bytes == one.max_size_bytes + two.max_size_bytes
    assert total.revisions == 1
    assert total.created_at == "2026-11-15T09:00:00.000Z"
    assert total.updated_at == "2026-11-15T10:00:00.000Z"


def test_an_empty_root_has_numbers_too(memory):
    found = memory.get_global_statistics()
    assert (found.sessions, found.total_entries, found.created_at) == (0, 0, None)


def test_statistics_are_the_same_in_a_fresh_process(memory, filled, root):
    with Memory.open(root, environ={}) as again:
        assert again.get_statistics(filled) == memory.get_statistics(filled)
        assert again.get_global_statistics() == memory.get_global_statistics()


@pytest.mark.req("S002-130")
def test_damaged_lines_are_counted(memory, filled, folder):
    with (folder / "memory.jsonl").open("ab") as log:
        log.write(b"garbage\nmore garbage\n")
    assert memory.get_statistics(filled).corrupted_lines == 2
    assert memory.get_statistics(filled).total_entries == 9
    assert memory.get_global_statistics().corrupted_lines == 2


def test_one_session_that_cannot_be_read_does_not_hide_the_others(memory, filled, root):
    broken = memory.create_session(session_id="broken").id
    memory.add_memory(broken, content="x")
    (root / "sessions" / "broken" / "memory.jsonl").unlink()
    memory.close()
    assert memory.get_global_statistics().total_entries == 9


def test_the_index_counts_what_a_compaction_left(memory, sid):
    for number in range(4):
        memory.add_memory(sid, id=f"m{number}", content="said")
    memory.update_memory(sid, "m0", content="said otherwise")
    memory.delete_memory(sid, "m1")
    before = memory.numbers(sid).summary
    assert before.revisions == 1
    memory.compact_session(sid)
    after, counted = memory.numbers(sid).summary, memory.get_statistics(sid)
    assert after.size_bytes == counted.size_bytes < before.size_bytes
    assert after.revisions == counted.revisions == 0
