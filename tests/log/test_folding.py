"""Folding lines into the entries that live now; the lines are built by hand."""

import pytest

from tests.log.independent import build, mark

LATER = "2026-11-16T00:00:00.000Z"


@pytest.fixture
def write(folder):
    def write(*lines: bytes) -> None:
        (folder / "memory.jsonl").write_bytes(b"".join(lines))

    return write


def living(memory, sid):
    return [(one.id, one.content) for one in memory.get_entries(sid)]


def test_the_same_id_again_is_a_newer_revision_under_the_first_timestamp(memory, sid, write):
    write(
        build(1, "m1", "growing"), build(2, "m2", "other"), build(3, "m1", "grown", timestamp=LATER)
    )
    first, second = memory.get_entries(sid)
    assert (first.id, first.content, first.seq) == ("m1", "grown", 3)
    assert first.timestamp == "2026-11-15T09:00:00.000Z"
    assert first.written_at == LATER
    assert second.id == "m2", "an entry keeps its place in the order"


def test_a_tombstone_hides_its_target(memory, sid, write):
    write(build(1, "m1"), build(2, "m2"), mark(3, "tombstone", "m1"))
    assert living(memory, sid) == [("m2", "hello")]
    assert memory.get_memory(sid, "m1") is None
    assert memory.get_statistics(sid).total_entries == 1


def test_an_undelete_brings_back_the_revision_before_the_tombstone(memory, sid, write):
    write(
        build(1, "m1", "old"),
        build(2, "m1", "new"),
        mark(3, "tombstone", "m1"),
        mark(4, "undelete", "m1"),
    )
    assert living(memory, sid) == [("m1", "new")]


def test_a_revision_after_a_tombstone_revives_the_id(memory, sid, write):
    write(build(1, "m1", "old"), mark(2, "tombstone", "m1"), build(3, "m1", "back"))
    assert living(memory, sid) == [("m1", "back")]
    assert memory.get_entries(sid)[0].timestamp == "2026-11-15T09:00:00.000Z"


def test_a_tombstone_after_an_undelete_hides_again(memory, sid, write):
    write(
        build(1, "m1"),
        mark(2, "tombstone", "m1"),
        mark(3, "undelete", "m1"),
        mark(4, "tombstone", "m1"),
    )
    assert living(memory, sid) == []


def test_an_erased_target_is_gone_and_no_undelete_brings_it_back(memory, sid, write):
    write(build(1, "m1"), mark(2, "erased", "m1"), mark(3, "undelete", "m1"), build(4, "m2"))
    assert living(memory, sid) == [("m2", "hello")]
    assert memory.get_memory(sid, "m1") is None


def test_an_erased_line_in_the_place_of_its_target_leaves_nothing_of_it(memory, sid, write):
    write(build(1, "m1", "kept"), mark(2, "erased", "m2"), build(3, "m3", "kept too"))
    assert living(memory, sid) == [("m1", "kept"), ("m3", "kept too")]
    assert memory.get_entries(sid).warnings == ()


@pytest.mark.parametrize("kind", ["tombstone", "undelete", "erased"])
def test_a_mark_without_a_living_target_changes_nothing(memory, sid, write, kind):
    write(build(1, "m1"), mark(2, kind, "never-there"))
    assert living(memory, sid) == [("m1", "hello")]


def test_numbers_go_on_after_marks(memory, sid, write):
    write(build(1, "m1"), mark(2, "tombstone", "m1"))
    assert memory.add_memory(sid, content="next").seq == 3


def test_writing_a_tombstoned_id_again_revives_it(memory, sid, write):
    write(build(1, "m1", "old"), mark(2, "tombstone", "m1"))
    receipt = memory.add_memory(sid, id="m1", content="new")
    assert receipt.seq == 3
    assert living(memory, sid) == [("m1", "new")]


def test_a_tombstoned_entry_cannot_be_updated(memory, sid, write):
    write(build(1, "m1", "old"), mark(2, "tombstone", "m1"))
    with pytest.raises(LookupError, match="m1"):
        memory.update_memory(sid, "m1", tags=["x"])


def test_created_is_the_first_timestamp_of_a_rewritten_entry(memory, sid, write):
    write(build(5, "m1", "kept", timestamp=LATER, created="2026-01-01T00:00:00.000Z"))
    assert memory.get_entries(sid)[0].timestamp == "2026-01-01T00:00:00.000Z"


def test_numbers_may_have_gaps_and_go_on_after_the_last_one(memory, sid, write):
    write(build(3, "m1"), build(90, "m2"))
    assert [one.seq for one in memory.get_entries(sid)] == [3, 90]
    assert memory.add_memory(sid, content="next").seq == 91
