"""A session as it was at a moment, from its log alone."""

from datetime import UTC, datetime

import pytest

from mnemolog.errors import InvalidFormatError


@pytest.fixture
def told(memory, sid, clock):
    """One entry an hour from nine on, one revised at twelve, one deleted at one, revived at two."""
    for number in range(3):
        memory.add_memory(sid, content=f"said at {9 + number}", id=f"m{number}", type="note")
        clock.advance(hours=1)
    memory.update_memory(sid, "m0", content="said otherwise at 12")
    clock.advance(hours=1)
    memory.delete(sid, ids=["m1"])
    clock.advance(hours=1)
    memory.undelete(sid, ["m1"])
    return memory


def at(memory, sid, hour, **more):
    moment = datetime(2026, 11, 15, hour, tzinfo=UTC)
    return {one.id: one.content for one in memory.get_entries(sid, as_of=moment, **more)}


def test_what_was_written_later_does_not_count(told, sid):
    assert at(told, sid, 8) == {}
    assert at(told, sid, 9) == {"m0": "said at 9"}
    assert at(told, sid, 11) == {f"m{n}": f"said at {9 + n}" for n in range(3)}


def test_an_entry_is_shown_as_it_stood_then(told, sid):
    assert at(told, sid, 11)["m0"] == "said at 9"
    assert at(told, sid, 12)["m0"] == "said otherwise at 12"


def test_a_later_deletion_does_not_count_and_an_earlier_one_does(told, sid):
    assert "m1" in at(told, sid, 12)
    assert "m1" not in at(told, sid, 13)
    assert "m1" in at(told, sid, 14)
    assert at(told, sid, 15) == {one.id: one.content for one in told.get_entries(sid)}


def test_what_is_erased_is_gone_from_the_past_too(told, sid):
    told.erase(sid, ids=["m0"])
    assert at(told, sid, 9) == {}
    assert set(at(told, sid, 12)) == {"m1", "m2"}


def test_the_time_of_writing_counts_and_not_the_one_that_was_given(told, sid, clock):
    told.add_memory(sid, content="an old story", timestamp="1999-01-01T00:00:00Z", id="old")
    assert "old" not in at(told, sid, 13)
    assert "old" in at(told, sid, 14)


def test_a_moment_may_be_given_in_any_form_that_times_have(told, sid):
    moment = datetime(2026, 11, 15, 10, tzinfo=UTC)
    forms = [moment, "2026-11-15T10:00:00Z", "2026-11-15T11:00+01:00", moment.timestamp() * 1000]
    for form in forms:
        assert [one.id for one in told.get_entries(sid, as_of=form)] == ["m0", "m1"]
    with pytest.raises(InvalidFormatError):
        told.get_entries(sid, as_of="some day")


def test_it_goes_with_every_other_filter(told, sid):
    assert list(at(told, sid, 11, last=1)) == ["m2"]
    assert list(at(told, sid, 11, after=1)) == ["m1", "m2"]
    assert at(told, sid, 11, types="decision") == {}
    assert [one.id for one in told.get_decisions(sid, as_of="2026-11-15")] == []


def test_looking_back_is_no_way_around_a_view(told, sid):
    told.add_memory(sid, content="mine", agent_id="architect", scope="agent", id="own")
    assert "own" in at(told.for_agent("architect"), sid, 15)
    assert "own" not in at(told.for_agent("analyst"), sid, 15)


def test_looking_back_changes_nothing_and_costs_later_reads_nothing(told, sid, folder):
    before = (folder / "memory.jsonl").read_bytes()
    at(told, sid, 10)
    assert (folder / "memory.jsonl").read_bytes() == before
    assert len(told.get_entries(sid)) == 3


def test_damage_is_told_as_always(told, sid, folder):
    with (folder / "memory.jsonl").open("ab") as log:
        log.write(b"no line\n")
    assert len(told.get_entries(sid, as_of="2026-11-15T10:00:00Z").warnings) == 1


def test_a_compaction_takes_away_what_was_superseded(told, sid):
    told.compact_session(sid)
    assert at(told, sid, 11) == {"m1": "said at 10", "m2": "said at 11"}
    assert at(told, sid, 12)["m0"] == "said otherwise at 12"
