"""Which entries leave a log: the least relevant first, whatever else had to go before them."""

from datetime import UTC, datetime, timedelta

from mnemolog.model.entry import Entry
from mnemolog.model.times import to_text
from mnemolog.policy.compaction import Needs, Weighed, judge
from mnemolog.settings import Settings

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)


def weighed(name: str, importance: float, died: str | None = None) -> Weighed:
    entry = Entry(
        v=1, id=name, timestamp=to_text(NOW), type="note", origin="user", importance=importance
    )
    return Weighed(entry, died, bytes=100)


def test_what_was_deleted_lately_takes_no_turn_of_what_is_least_relevant():
    """There are deleted entries to move first, and then the faintest of the living."""
    deleted = [weighed(f"dead-{n}", 1.0, to_text(NOW - timedelta(days=1))) for n in range(5)]
    faint = [weighed(f"faint-{n:02}", 0.05) for n in range(10)]
    living = [weighed(f"living-{n:02}", 0.3 + n / 100) for n in range(40)]
    settings = Settings().changed({"compaction.relevance_floor": 0.2})
    verdict = judge([*living, *faint, *deleted], Needs(NOW, settings, room=3000))
    assert not verdict.drop
    gone = sorted(verdict.move)
    assert gone == sorted(
        [one.entry.id for one in (*deleted, *faint)] + [f"living-{n:02}" for n in range(14)]
    )
