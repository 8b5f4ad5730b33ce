"""Retention: what is overdue, what is past undoing, and what is never touched."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.model.entry import Entry
from mnemolog.model.times import to_text
from mnemolog.policy.compaction import Weighed
from mnemolog.policy.retention import Due, Kept, Terms, due
from mnemolog.settings import Settings

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)
PRIVACY = Settings().privacy
TERMS = Terms(PRIVACY, NOW)
DAYS = {"conversation": 90, "decision": 365, "finding": 180, "preference": 730}


def stamp(days: float) -> str:
    """The moment so many days ago."""
    return to_text(NOW - timedelta(days=days))


def entry(
    days: float, kind: str = "conversation", *, arrived: float | None = None, **more: object
) -> Entry:
    at = None if arrived is None else stamp(arrived)
    fields = {"id": f"{kind}-{days}", **more}
    return Entry(v=1, timestamp=stamp(days), at=at, type=kind, origin="user", **fields)  # type: ignore[arg-type]


@pytest.mark.req("S001-098", "S001-117")
@pytest.mark.parametrize(("kind", "days"), DAYS.items())
def test_each_type_has_its_own_time(kind, days):
    assert not TERMS.is_overdue(entry(days, kind)), "exactly at its age it is still kept"
    assert TERMS.is_overdue(entry(days + 0.001, kind))


@pytest.mark.parametrize("kind", ["note", "event", "own-type"])
def test_what_has_no_time_is_kept_for_ever(kind):
    assert not TERMS.is_overdue(entry(100_000, kind))


@given(happened=st.floats(-100, 2000), arrived=st.floats(-100, 2000), kind=st.sampled_from([*DAYS]))
def test_nothing_is_overdue_that_is_younger_by_either_clock(happened, arrived, kind):
    one = entry(happened, kind, arrived=arrived)
    is_old = stamp(happened) < stamp(DAYS[kind]) and stamp(arrived) < stamp(DAYS[kind])
    assert TERMS.is_overdue(one) == is_old
    assert TERMS.is_past(one) <= TERMS.is_overdue(one)


def test_an_approved_decision_is_kept_while_the_setting_says_so():
    approved = entry(1000, "decision", content={"decision": "x", "approved_by": ["ann"]})
    assert not TERMS.is_overdue(approved)
    assert not TERMS.is_past(approved)
    strict = Settings().changed({"privacy.keep_approved_decisions": False}).privacy
    assert Terms(strict, NOW).is_overdue(approved)
    assert TERMS.is_overdue(entry(1000, "decision", content={"decision": "x", "approved_by": []}))


def test_what_was_hidden_can_be_undone_for_thirty_days():
    assert not TERMS.is_expired(None)
    assert not TERMS.is_expired(stamp(30))
    assert TERMS.is_expired(stamp(30.001))


def test_a_log_hides_what_is_overdue_and_erases_what_was_hidden():
    old, young = entry(91), entry(89)
    gone, fresh = entry(5, id="gone"), entry(500, id="fresh")
    kept = Kept([old, young], [Weighed(gone, stamp(31), 1), Weighed(fresh, stamp(29), 1)])
    assert due(kept, TERMS) == Due((old,), (gone,))


def test_what_a_compaction_moved_goes_when_both_times_are_over():
    moved = {one.id: Weighed(one, None, 1) for one in (entry(121), entry(119))}
    assert [one.id for one in due(Kept([], [], moved), TERMS).erase] == ["conversation-121"]


def test_what_a_compaction_moved_while_hidden_goes_with_its_tombstone():
    late = Weighed(entry(2, id="late"), stamp(31), 1)
    lately = Weighed(entry(2, id="lately"), stamp(29), 1)
    moved = {one.entry.id: one for one in (late, lately)}
    assert [one.id for one in due(Kept([], [], moved), TERMS).erase] == ["late"]


@pytest.mark.parametrize("is_hidden", [False, True])
def test_a_moved_entry_that_lives_on_in_the_log_is_left_alone(is_hidden):
    moved = {"m1": Weighed(entry(500, id="m1"), None, 1)}
    young = entry(1, id="m1")
    kept = Kept([], [Weighed(young, stamp(1), 1)], moved) if is_hidden else Kept([young], (), moved)
    assert due(kept, TERMS) == Due()


@pytest.mark.req("S001-102")
def test_an_archived_session_goes_as_a_whole_and_what_is_past_does_not_wait_for_the_rest():
    past, overdue = entry(121, id="past"), entry(119, id="overdue")
    kept = entry(9999, "note", id="kept")
    assert due(Kept([past], archived_at=stamp(60)), TERMS) == Due((), (past,), is_whole=True)
    assert due(Kept([past, overdue], archived_at=stamp(60)), TERMS) == Due((), (past,))
    assert due(Kept([past, kept], archived_at=stamp(60)), TERMS) == Due((), (past,))
    assert due(Kept([overdue, kept], archived_at=stamp(60)), TERMS) == Due()


def test_what_somebody_deleted_does_not_wait_for_the_rest_of_an_archived_session():
    hidden = [Weighed(entry(5, id="late"), stamp(31), 1), Weighed(entry(5), stamp(29), 1)]
    moved = {"out": Weighed(entry(5, id="out"), stamp(31), 1)}
    found = due(Kept([entry(1)], hidden, moved, stamp(1)), TERMS)
    assert [one.id for one in found.erase] == ["late", "out"]
    assert not found.is_whole


def test_an_empty_session_leaves_the_archive_like_a_conversation_of_the_day_it_came():
    assert due(Kept([], archived_at=stamp(120)), TERMS) == Due()
    assert due(Kept([], archived_at=stamp(121)), TERMS) == Due(is_whole=True)


@given(first=st.floats(0, 1000), arrived=st.floats(0, 1000), kind=st.sampled_from([*DAYS, "note"]))
def test_the_quick_look_never_misses_what_is_overdue(first, arrived, kind):
    one = entry(first, kind, arrived=arrived)
    assert TERMS.is_overdue(one) <= TERMS.may_be_overdue(kind, one.timestamp)
