"""Timestamps: ISO 8601 in UTC with milliseconds, always ending in `Z`."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from mnemolog.errors import InvalidFormatError, shown

# Clocks may disagree by this much before a timestamp counts as lying in the future.
SKEW = timedelta(minutes=5)

DAY = 86_400_000
"""Milliseconds."""

# A day from the ends of the calendar, which no time zone can reach beyond.
_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_LAST = datetime(9999, 12, 30, tzinfo=UTC)

_EPOCH = datetime.fromtimestamp(0, UTC)

# Up to here a float tells every microsecond from the next whole second.
_EXACT = 2**32


def to_text(moment: datetime) -> str:
    """Write a moment the way every mnemolog file does."""
    seconds = moment.timestamp()
    if 0 <= seconds < _EXACT:
        return f"{_second(int(seconds))}.{moment.microsecond // 1000:03}Z"
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    """A whole second since the epoch, as text: most of what is written falls into the same few."""
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")


def to_moment(text: str) -> datetime:
    """Read back what `to_text` wrote."""
    return datetime.fromisoformat(text)


def shifted(moment: datetime, **amount: float) -> datetime:
    """A moment so much later, as `timedelta` takes it; where the calendar ends it stops, for a
    clock may stand anywhere."""
    try:
        return moment + timedelta(**amount)
    except OverflowError:
        end = _LAST if next(iter(amount.values())) > 0 else _FIRST
        return end.astimezone(moment.tzinfo)


def of_file(nanoseconds: int) -> str:
    """When a file was changed, as its disk tells; some tell years that no calendar has."""
    try:
        return to_text(datetime.fromtimestamp(nanoseconds / 1e9, UTC))
    except (OverflowError, ValueError, OSError):
        return to_text(_LAST if nanoseconds > 0 else _FIRST)


def local(moment: datetime) -> datetime:
    """A moment as the clocks here show it; as it is where the calendar ends."""
    try:
        return moment.astimezone()
    except OverflowError:
        return moment


def is_moment(text: str) -> bool:
    """Whether something is a moment, wherever it is read."""
    try:
        return to_moment(text).tzinfo is not None
    except ValueError:
        return False


def known_moment(text: str) -> datetime:
    """The same of what somebody else may have written: no time at all is as good as a wrong one."""
    try:
        moment = to_moment(text)
    except ValueError:
        return _EPOCH
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def normalise(value: object, what: str = "timestamp") -> str:
    """Accept ISO 8601 text, a datetime or epoch milliseconds; a naive time is read as UTC."""
    try:
        moment = _moment_of(value)
        return to_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise InvalidFormatError(
            f"The {what} {shown(value, 80)} is not a valid time.",
            advice="Give ISO 8601 such as 2026-11-15T09:00:00.000Z, a datetime, "
            "or epoch milliseconds.",
            field=what,
        ) from error


def _moment_of(value: object) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        return datetime.fromisoformat(value.strip())
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000, UTC)
    raise TypeError(type(value).__name__)


def hours_between(earlier: str, later: datetime) -> float:
    """Hours from a stored timestamp to a moment; never negative, so the future counts as now."""
    return max(0.0, (later - known_moment(earlier)).total_seconds() / 3600)


def is_later(stamp: str, than: str) -> bool:
    """Whether one stored timestamp lies after another by more than clocks may disagree."""
    return stamp > than and known_moment(stamp) - known_moment(than) > SKEW
