"""Lines with a right sum that another program wrote, or a later one: none of them may stop the
reading, the search or the upkeep of anything else."""

import pytest

from mnemolog import Memory
from mnemolog.errors import CorruptionError
from mnemolog.log.lines import Draft
from mnemolog.model.entry import MAX_SEQ

FIELDS = {
    "v": 1,
    "id": "theirs",
    "session_id": "talk",
    "timestamp": "2026-11-15T08:00:00.000Z",
    "type": "note",
    "origin": "agent",
    "agent_id": "architect",
    "content": "written elsewhere",
}


@pytest.fixture
def written(memory, sid, folder):
    """Writes a line of their own behind one of ours."""
    memory.add_memory(sid, id="ours", content="written here")
    memory.close()

    def write(seq=2, **fields):
        with (folder / "memory.jsonl").open("ab") as log:
            log.write(Draft({**FIELDS, **fields}).line(seq))
        return memory

    return write


def ids(found) -> set[str]:
    return {one.id for one in found}


@pytest.mark.parametrize("seq", [-5, 0, MAX_SEQ + 1, 10**18 - 1, 2**53, 2**63, 2**64, 10**30])
def test_a_number_that_no_log_gets_to_is_damage_and_nothing_is_lost_behind_it(
    written, root, sid, seq
):
    memory = written(seq)
    later = memory.add_memory(sid, content="written later")
    assert later.seq == 3  # the damaged line uses up one
    with Memory.open(root, environ={}) as other:
        found = other.get_entries(sid)
        assert ids(found) == {"ours", later.id}
        assert len(found.warnings) == 1
        assert {hit.entry.id for hit in other.query(None, text="written")} == ids(found)
        assert other.close_session(sid).state == "idle"
        assert other.compact_session(sid).archived == 0
        other.archive_session(sid)
        assert ids(other.get_entries(sid)) == {"ours", later.id}
        assert other.add_memory(sid, content="more").seq == 4


def test_behind_the_last_number_nothing_is_written_that_nobody_would_read(written, root, sid):
    memory = written(MAX_SEQ)
    with pytest.raises(CorruptionError, match="last number"):
        memory.add_memory(sid, content="too late")
    assert ids(memory.get_entries(sid)) == {"ours", "theirs"}
    memory.close_session(sid)
    memory.compact_session(sid)
    assert ids(memory.get_entries(sid)) == {"ours", "theirs"}
    with Memory.open(root, environ={}) as other:
        assert {hit.entry.id for hit in other.query(None, text="written")} == {"ours", "theirs"}


@pytest.mark.parametrize("version", [1, 2])
def test_a_scope_that_we_do_not_know_is_for_its_writer_and_stops_no_search(written, sid, version):
    memory = written(scope="team", v=version)
    assert {hit.entry.id for hit in memory.query(None, text="written")} == {"ours", "theirs"}
    for agent, seen in (("architect", {"ours", "theirs"}), ("analyst", {"ours"})):
        view = memory.for_agent(agent)
        assert ids(view.get_entries(sid)) == seen
        assert {hit.entry.id for hit in view.query(sid, text="written")} == seen


@pytest.mark.parametrize(
    "stamp", ["garbage", "", "2026-13-45T99:00:00.000Z", "2026-11-15T08:00:00"]
)
@pytest.mark.parametrize("field", ["timestamp", "at", "created"])
def test_a_time_that_is_none_keeps_nothing_from_being_done(written, sid, field, stamp):
    memory = written(**{field: stamp})
    memory.compact_session(sid)
    assert ids(memory.get_entries(sid)) <= {"ours", "theirs"}
    assert "theirs" in ids(memory.get_entries(sid)) or memory.get_memory(sid, "theirs")
    assert all(one.is_future in (True, False) for one in memory.get_entries(sid))
    memory.update_decay_factors(sid)
    memory.maintain()
    memory.delete_memory(sid, "theirs")
    memory.undelete(sid, {"ids": ["theirs"]})


@pytest.mark.parametrize("stamp", ["garbage", "2026-11-15T08:00:00"])
def test_a_deletion_at_a_time_that_is_none_hides_all_the_same(written, sid, stamp):
    memory = written(type="tombstone", target="ours", at=stamp)
    assert ids(memory.get_entries(sid)) == set()
    memory.undelete(sid, {"ids": ["ours"]})
    memory.compact_session(sid)
