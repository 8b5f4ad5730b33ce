"""Times in queries: ranges, spans counted back from now, and every form of a moment."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.model.query import parse
from mnemolog.model.times import to_text
from mnemolog.testing.clock import FixedClock
from tests.index.searching import few, ids, steady
from tests.index.world import NOW, WORLD, by_id, write
from tests.memory.machine import QUICK


@pytest.fixture(scope="module")
def world() -> Iterator[Memory]:
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(NOW)) as memory,
    ):
        write(memory)
        yield memory


@pytest.mark.req("S002-071")
@pytest.mark.parametrize(
    ("phrase", "hours"),
    [
        ("last hour", 1), ("past hour", 1), ("last 3 hours", 3), ("last day", 24),
        ("past 2 days", 48), ("last week", 168), ("Last Week ", 168), ("last 2 weeks", 336),
        ("last month", 720), ("last year", 8760), ("last 30 minutes", 0.5), ("past 2 years", 17520),
        ("last 24h", 24), ("past 2 d", 48), ("last 30min", 0.5), ("last 1w", 168),
    ],
)  # fmt: skip
def test_a_span_of_time_is_counted_back_from_now_and_both_ends_are_included(world, phrase, hours):
    wanted = {told.id for told in WORLD if told.hours <= hours}
    assert set(ids(world.query(None, time_range=phrase))) == wanted
    assert set(ids(world.query(None, {"timeRange": {"start": phrase}}))) == wanted
    assert parse({"time_range": phrase}, NOW).start == to_text(NOW - timedelta(hours=hours))
    older = {told.id for told in WORLD if told.hours >= hours}
    assert set(ids(world.query(None, time_range={"end": phrase}))) == older


@pytest.mark.req("S001-065", "S002-049", "S002-070")
def test_a_time_range_includes_both_ends_to_the_millisecond(world):
    at = by_id("d1").moment
    hair = timedelta(milliseconds=1)
    assert ids(world.search_by_time_range(None, at, at)) == ["d1"]
    assert ids(world.search_by_time_range(None, at - hair, at + hair)) == ["d1"]
    assert ids(world.search_by_time_range(None, at + hair, at + hair)) == []
    assert ids(world.search_by_time_range(None, at - hair, at - hair)) == []


@pytest.mark.req("S002-049")
def test_a_search_by_time_range_is_newest_first_unless_it_is_told_otherwise(world):
    start, end = NOW - timedelta(days=2), NOW
    newest = sorted((told for told in WORLD if told.hours <= 48), key=lambda told: told.hours)
    assert ids(world.search_by_time_range(None, start, end)) == [told.id for told in newest]
    oldest = world.search_by_time_range(None, start, end, sort="time_asc", limit=2)
    assert ids(oldest) == [told.id for told in newest[::-1][:2]]


@pytest.mark.parametrize("form", ["text", "datetime", "milliseconds", "naive"])
def test_a_moment_is_taken_in_every_form(world, form):
    at = by_id("d1").moment
    forms = {
        "text": at.isoformat(),
        "datetime": at,
        "milliseconds": int(at.timestamp() * 1000),
        "naive": at.replace(tzinfo=None),
    }
    assert ids(world.query(None, time_range={"start": forms[form], "end": forms[form]})) == ["d1"]


def test_the_beginning_of_the_epoch_is_a_moment_like_any_other(world):
    assert ids(world.query(None, time_range={"end": 0})) == []
    assert len(world.query(None, time_range={"start": 0})) == len(WORLD)


# Where whole milliseconds are hardest to hit with numbers that are not whole.
EDGES = [datetime(year, 2, 1, tzinfo=UTC) for year in (1971, 1987, 2004, 2026, 2039)]
STAMPS = st.builds(
    lambda start, later: start + timedelta(milliseconds=later),
    st.sampled_from(EDGES),
    st.integers(0, 10**9) | st.integers(0, 10**12),
)


@few
@given(stamps=st.lists(STAMPS, min_size=1, max_size=40))
def test_a_hit_carries_the_exact_time_of_its_entry(world, stamps):
    sid = world.create_session().id
    world.add_many(sid, [{"content": "x", "timestamp": stamp} for stamp in stamps])
    found = world.query(sid, limit=100, sort="time_desc")
    world.delete_session(sid)
    assert [hit.entry.timestamp for hit in found] == sorted(
        (to_text(stamp) for stamp in stamps), reverse=True
    )
