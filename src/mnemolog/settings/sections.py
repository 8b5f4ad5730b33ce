"""The settings themselves: every section, key, default, range and one-line description."""

import re
from functools import cached_property
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

MIB = 1024 * 1024

# The types of entry that have a key of their own in the per-type tables.
TYPES = ("conversation", "decision", "finding", "preference")

T = TypeVar("T")

_MINUTE, _HOUR, _DAY = "[0-5]?[0-9]", "(?:[01]?[0-9]|2[0-3])", "(?:0?[1-9]|[12][0-9]|3[01])"
_MONTH, _WEEKDAY = "(?:0?[1-9]|1[0-2])", "[0-7]"


def _cron_field(number: str) -> str:
    """A list of numbers, and of ranges or `*` with or without a step."""
    one = rf"(?:{number}|(?:\*|{number}-{number})(?:/0?[1-9][0-9]?)?)"
    return f"{one}(?:,{one})*"


CRON = f"^{' '.join(map(_cron_field, (_MINUTE, _HOUR, _DAY, _MONTH, _WEEKDAY)))}$"

Share = Annotated[float, Meta(ge=0, le=1)]
PositiveShare = Annotated[float, Meta(gt=0, le=1)]
Hours = Annotated[float, Meta(gt=0, le=1_000_000)]
Days = Annotated[int, Meta(ge=1, le=100_000)]
Rate = Annotated[float, Meta(ge=0, le=1000)]
Megabytes = Annotated[float, Meta(gt=0, le=1_000_000)]


# Type checkers do not see that `frozen` is inherited, and `kw_only` is not: each class says both.
class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A group of settings; it cannot be changed once made."""


class PerType(Section, Generic[T], frozen=True, kw_only=True):
    """One value for each type of entry; the types without a key of their own share `default`."""

    def for_type(self, entry_type: str) -> T:
        """The value of one type of entry."""
        value: T = getattr(self, entry_type if entry_type in TYPES else "default")
        return value


class Storage(Section, frozen=True, kw_only=True, dict=True):
    """How logs are written and how large they may grow; its sizes are worked out once."""

    max_session_size_mb: Annotated[
        Megabytes, Meta(description="Largest size of one session's log and runs, in MiB.")
    ] = 10.0
    max_root_size_mb: Annotated[
        float,
        Meta(
            ge=0,
            le=1_000_000_000,
            description="Largest size of all logs and of the archive together, in MiB;"
            " 0 means no limit.",
        ),
    ] = 0.0
    segment_size_mb: Annotated[
        Megabytes, Meta(description="Size at which a log's segment is sealed, in MiB.")
    ] = 8.0
    max_content_bytes: Annotated[
        int,
        Meta(
            ge=1,
            le=MIB,
            description="Largest content of one entry, in bytes; may be lowered, not raised.",
        ),
    ] = MIB
    durability: Annotated[
        Literal["always", "batch", "os"],
        Meta(
            description="When a write reaches the disk: before it is acknowledged (always),"
            " soon after (batch), or when the system likes (os)."
        ),
    ] = "always"
    batch_write_size: Annotated[
        int,
        Meta(ge=1, le=100_000, description="With durability batch: sync after so many entries."),
    ] = 100
    batch_write_interval_ms: Annotated[
        int,
        Meta(
            ge=1,
            le=3_600_000,
            description="With durability batch: sync after so many milliseconds.",
        ),
    ] = 1000

    @cached_property
    def max_session_bytes(self) -> int:
        """The session limit in bytes."""
        return max(1, int(self.max_session_size_mb * MIB))

    @cached_property
    def max_root_bytes(self) -> int:
        """The limit of the whole root in bytes; 0 means none."""
        return max(1, int(self.max_root_size_mb * MIB)) if self.max_root_size_mb else 0

    @cached_property
    def segment_bytes(self) -> int:
        """The segment size in bytes."""
        return max(1, int(self.segment_size_mb * MIB))


class Concurrency(Section, frozen=True, kw_only=True):
    """How long writers wait for each other."""

    lock_timeout_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=3_600_000,
            description="How long a writer waits for a session's lock before E_LOCK_TIMEOUT.",
        ),
    ] = 5000


class HalfLives(PerType[float | None], frozen=True, kw_only=True):
    """Hours after which an entry of a type counts half; None means that it never decays."""

    conversation: Annotated[
        Hours | None, Meta(description="Half-life of conversation entries.")
    ] = 168.0
    decision: Annotated[Hours | None, Meta(description="Half-life of decisions.")] = 720.0
    finding: Annotated[Hours | None, Meta(description="Half-life of findings.")] = 336.0
    preference: Annotated[Hours | None, Meta(description="Half-life of preferences.")] = None
    default: Annotated[Hours | None, Meta(description="Half-life of every other type.")] = 168.0


class Rates(PerType[float], frozen=True, kw_only=True):
    """The literal exponential rates per hour, used by the model `rate` alone."""

    conversation: Annotated[
        Rate, Meta(description="Rate per hour of conversation entries; model rate only.")
    ] = 0.1
    decision: Annotated[Rate, Meta(description="Rate per hour of decisions; model rate only.")] = (
        0.02
    )
    finding: Annotated[Rate, Meta(description="Rate per hour of findings; model rate only.")] = 0.05
    preference: Annotated[
        Rate, Meta(description="Rate per hour of preferences; model rate only.")
    ] = 0.01
    default: Annotated[
        Rate, Meta(description="Rate per hour of every other type; model rate only.")
    ] = 0.1


class Decay(Section, frozen=True, kw_only=True):
    """How entries lose weight with age; computed when asked for, never written to a log."""

    enabled: Annotated[bool, Meta(description="Whether age lowers relevance at all.")] = True
    model: Annotated[
        Literal["half_life", "rate"],
        Meta(description="Which table is used: half_life_hours or rates."),
    ] = "half_life"
    half_life_hours: HalfLives = HalfLives()
    rates: Rates = Rates()
    minimum: Annotated[Share, Meta(description="Decay never falls below this.")] = 0.1


class Compaction(Section, frozen=True, kw_only=True):
    """When a log is rewritten without what nobody needs."""

    auto: Annotated[
        bool,
        Meta(description="Compact by itself at the size trigger."),
    ] = True
    size_trigger: Annotated[
        PositiveShare,
        Meta(description="Share of the session limit at which compaction starts."),
    ] = 0.9
    relevance_floor: Annotated[
        Share,
        Meta(description="Entries below this relevance move to the archive first."),
    ] = 0.05
    keep_fraction: Annotated[
        PositiveShare,
        Meta(
            description="Share of entries kept when a log is still too large after that;"
            " repeated until it fits."
        ),
    ] = 0.8

    def trigger(self, limit: int) -> int:
        """The size in bytes at which a log of this limit is compacted by itself; 0 for never."""
        return int(limit * self.size_trigger) if self.auto else 0


class RedactionPattern(Section, frozen=True, kw_only=True):
    """One rule of the user's own: what `regex` matches is hidden as a secret of `type`."""

    type: Annotated[str, Meta(min_length=1, max_length=64)]
    regex: Annotated[str, Meta(min_length=1, max_length=1000)]

    def __post_init__(self) -> None:
        try:
            re.compile(self.regex)
        except (re.error, OverflowError, RecursionError) as error:
            raise ValueError(f"the regex of {self.type!r} does not compile: {error}") from error


class Retention(PerType[int | None], frozen=True, kw_only=True):
    """Days after which entries of a type are purged; None means never."""

    conversation: Annotated[
        Days | None,
        Meta(description="Days that conversation entries are kept."),
    ] = 90
    decision: Annotated[Days | None, Meta(description="Days that decisions are kept.")] = 365
    finding: Annotated[Days | None, Meta(description="Days that findings are kept.")] = 180
    preference: Annotated[Days | None, Meta(description="Days that preferences are kept.")] = 730
    default: Annotated[
        Days | None,
        Meta(description="Days that every other type is kept."),
    ] = None


class Privacy(Section, frozen=True, kw_only=True):
    """What is hidden, how long things are kept, and what a deletion leaves behind."""

    redaction: Annotated[
        bool,
        Meta(description="Hide secrets before they are written."),
    ] = True
    redaction_patterns: Annotated[
        tuple[RedactionPattern, ...],
        Meta(description="Rules of your own beside the built-in ones."),
    ] = ()
    redaction_kinds: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=64)], ...],
        Meta(
            title="names of kinds; none means all",
            description="What is hidden: private-key, jwt, api-key, cookie, password, iban, card,"
            " ssn, email, phone.",
        ),
    ] = ()
    retention_days: Retention = Retention()
    auto_purge: Annotated[
        bool,
        Meta(
            description="Let `maintain` purge what is past its retention on schedule, once a first"
            " purge was confirmed."
        ),
    ] = True
    purge_schedule: Annotated[
        str,
        Meta(
            pattern=CRON,
            title="five cron fields",
            description="When `maintain` purges: minute, hour, day, month, weekday; local time.",
        ),
    ] = "0 2 * * 0"
    audit_deletions: Annotated[
        bool,
        Meta(description="Record that a deletion happened, never what it said."),
    ] = True
    undelete_days: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000,
            description="Days in which a deletion can be undone; a purge erases it after that.",
        ),
    ] = 30
    keep_approved_decisions: Annotated[
        bool,
        Meta(description="Never purge decisions that the user approved."),
    ] = True


class Archive(Section, frozen=True, kw_only=True):
    """When idle sessions move out of the way."""

    auto: Annotated[
        bool,
        Meta(description="Archive idle sessions by itself."),
    ] = True
    after_idle_days: Annotated[Days, Meta(description="Days without a write before that.")] = 30
    auto_restore: Annotated[
        bool,
        Meta(
            description="A write to an archived session restores it; otherwise E_SESSION_ARCHIVED."
        ),
    ] = True


class Search(Section, frozen=True, kw_only=True):
    """How entries are found."""

    embedder: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=100,
            title="static, small, full, full-numpy, minilm, none, or the name of an installed one",
            description="What compares meanings; another model means that all is embedded anew.",
        ),
    ] = "static"
    timeout_ms: Annotated[
        int,
        Meta(
            ge=0,
            le=3_600_000,
            description="How long a search may take before E_QUERY_TIMEOUT; 0 means no limit.",
        ),
    ] = 0


class Compartments(Section, frozen=True, kw_only=True):
    """The notes that an agent keeps by lifetime."""

    max_characters: Annotated[
        int,
        Meta(
            ge=1,
            le=100_000_000,
            description="Most that the notes of one compartment may hold, in Unicode code points.",
        ),
    ] = 10_000
    plan_scope: Annotated[
        Literal["session", "run"],
        Meta(description="Whether plan notes live as long as the session or the run."),
    ] = "session"
