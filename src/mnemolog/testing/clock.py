"""A clock for tests: it stands still until it is told to move."""

from datetime import UTC, datetime, timedelta


class FixedClock:
    """Tells the moment that it was given; fulfils the port `Clock`."""

    def __init__(self, moment: datetime = datetime(2026, 11, 15, 9, tzinfo=UTC)) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """The moment that was set last."""
        return self.moment

    def set(self, moment: datetime) -> None:
        """Jump to a moment, forwards or backwards."""
        self.moment = moment

    def advance(self, **amount: float) -> None:
        """Move on by so much time: `advance(hours=2)`, as `timedelta` takes it."""
        self.moment += timedelta(**amount)
