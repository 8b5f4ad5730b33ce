"""Inspecting: windows, exact lines, revisions, and what would be forgotten, for each view."""

import pytest

from mnemolog.errors import EntryNotFoundError, NotAllowedError


def places(found):
    return [one.place for one in found.entries]


@pytest.fixture
def talk(memory, sid):
    """Ten entries of two agents; the third was revised and the fifth is hidden."""
    done = [
        memory.add_memory(
            sid, content=f"line {n}", tags=["odd"] if n % 2 else [],
            agent_id="architect" if n < 6 else "analyst",
        )
        for n in range(1, 11)
    ]  # fmt: skip
    memory.update_memory(sid, done[2].id, content="line 3, again")
    memory.delete(sid, ids=[done[4].id])
    return [one.id for one in done]


def test_windows_follow_each_other_and_a_revision_keeps_its_place(memory, sid, talk):
    last = memory.timeline(sid, limit=4)
    assert places(last) == [7, 8, 9, 10]
    assert (last.more_before, last.more_after, last.total) == (True, False, 9)
    before = memory.timeline(sid, before=7, limit=4)
    assert places(before) == [2, 3, 4, 6]
    assert before.entries[1].entry.content == "line 3, again"
    first = memory.timeline(sid, after=0, limit=3)
    assert (places(first), first.more_before, first.more_after) == ([1, 2, 3], False, True)
    assert places(memory.timeline(sid, around=6, limit=2)) == [4, 6, 7]


def test_filters_narrow_a_timeline_by_head_and_by_content(memory, sid, talk):
    assert places(memory.timeline(sid, agents=["analyst"])) == [6, 7, 8, 9, 10]
    assert places(memory.timeline(sid, tags=["odd"])) == [1, 3, 7, 9]
    assert places(memory.timeline(sid, text="AGAIN")) == [3]
    assert places(memory.timeline(sid, types=["decision"])) == []
    hidden = memory.timeline(sid, with_hidden=True).entries[4]
    assert hidden.hidden_at is not None
    assert hidden.hidden_until is not None


def test_another_agents_own_entry_is_in_no_window_line_or_count(memory, sid):
    own = memory.for_agent("architect").add_memory(sid, content="mine", scope="agent")
    view = memory.for_agent("analyst")
    assert places(view.timeline(sid)) == []
    assert view.minimap(sid) == []
    for verb in (view.told, view.raw_line, view.revisions):
        with pytest.raises(EntryNotFoundError):
            verb(sid, own.id)


def test_an_agent_sees_no_hidden_entry_of_another(memory, sid, talk):
    view = memory.for_agent("analyst")
    assert talk[4] not in [one.entry.id for one in view.timeline(sid, with_hidden=True).entries]
    assert view.hidden_entries(sid) == []
    assert [one.entry.id for one in memory.hidden_entries()] == [talk[4]]
    with pytest.raises(EntryNotFoundError):
        view.raw_line(sid, talk[4])


def test_the_lines_about_an_entry_are_told_in_order(memory, sid, talk):
    assert [one.kind for one in memory.revisions(sid, talk[2])] == ["revision", "revision"]
    assert [one.kind for one in memory.revisions(sid, talk[4])] == ["revision", "tombstone"]
    told = memory.told(sid, talk[2])
    assert (told.revisions, told.place) == (2, 3)


def test_what_would_be_forgotten_changes_its_mark_with_the_world(memory, sid, talk):
    before = memory.would_forget(sid, {"tags": ["odd"]})
    assert len(before.ids) == 4
    assert memory.would_forget(sid, {"tags": ["odd"]}) == before
    assert len(memory.would_forget(sid, {"tags": ["odd"]}, erase=True).ids) == 5
    memory.update_memory(sid, talk[0], content="changed")
    assert memory.would_forget(sid, {"tags": ["odd"]}).mark != before.mark
    assert len(memory.for_agent("analyst").would_forget(sid).ids) == 5


def test_a_minimap_covers_all_entries_once(memory, sid, talk):
    buckets = memory.minimap(sid, 3)
    assert sum(sum(one.by_type.values()) for one in buckets) == 9
    assert (buckets[0].from_seq, buckets[-1].to_seq) == (1, 10)
    assert len(buckets) == 3


def test_a_minimap_tells_where_each_day_begins_whatever_part_it_falls_into(memory):
    session = memory.create_session().id
    hours = [1, 2, 23, 24, 47, 48, 49, 50]
    for number, hour in enumerate(hours, 1):
        stamp = f"2026-10-{1 + hour // 24:02}T{hour % 24:02}:30:00Z"
        memory.add_memory(session, content=f"{number}", timestamp=stamp)

    def begun(ahead: int) -> list[int]:
        buckets = memory.minimap(session, 2, ahead)
        for one in buckets:
            assert all(one.from_seq <= place <= one.to_seq for place in one.days.values())
        return [place for one in buckets for place in one.days.values()]

    assert begun(0) == [1, 4, 6]
    assert begun(60) == [1, 3, 5]
    assert begun(-120) == [1, 2, 5, 8]


def test_what_concerns_the_whole_root_is_for_the_owner(memory):
    view = memory.for_agent("architect")
    for verb in (view.purge_runs, view.readable_audit):
        with pytest.raises(NotAllowedError):
            verb()
    assert memory.purge_runs().next is not None
    curve = memory.decay_curves(["conversation"], 3)[0]
    assert curve.points[0] == (0.0, 1.0)
    assert curve.points[-1][1] == curve.floor
