"""Other spellings: the keys of the three source documents, renamed or retired.

A path here is plain: `memory_config.storage.format` is `storage.format`.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

from mnemolog.settings.keys import NEVER
from mnemolog.settings.sections import TYPES

Values = Mapping[str, object]


class RetiredSettingWarning(UserWarning):
    """A setting was given that no longer does anything; the text says why."""


class Renamed(NamedTuple):
    """Where a setting lives now, and how its value goes there."""

    to: str
    reason: str
    # Takes the value and all other values in sight; raises ValueError saying what is permitted.
    reshape: Callable[[object, Values], Values] | None = None

    def values(self, value: object, around: Values) -> Values:
        """What the value means under today's keys."""
        return self.reshape(value, around) if self.reshape else {self.to: value}


# The first segment of a path, and what stands there in ours.
WRAPPERS = {
    "memory_config": "",
    "MemoryConfig": "",
    "decay_config": "decay.",
    "privacy_config": "privacy.",
    "compaction_config": "compaction.",
}

_SINGULAR = {f"{name}s{ending}": f"{name}{ending}" for name in TYPES for ending in ("", "_days")}


def plain(path: str) -> str:
    """The path without its wrapper, and with the types that it names in the singular."""
    first, dot, rest = path.partition(".")
    if dot and first in WRAPPERS:
        return plain(WRAPPERS[first] + rest)
    return ".".join(_SINGULAR.get(segment, segment) for segment in path.split("."))


def _version(value: object, _: Values) -> Values:
    return {"version": 1 if str(value) in ("1", "1.0") else value}


def _bytes(value: object, _: Values) -> Values:
    return {"storage.max_session_size_mb": _amount(value) / (1024 * 1024)}


def _share_of_limit(value: object, around: Values) -> Values:
    return {"compaction.size_trigger": _amount(value) / _amount(around[SIZE_LIMIT])}


def _amount(value: object) -> float:
    if isinstance(value, int | float) and value is not True and 0 < value <= LARGEST_AMOUNT:
        return float(value)
    raise ValueError(f"a number above 0 up to {LARGEST_AMOUNT}")


def _all_half_lives(value: object, around: Values) -> Values:
    paths = [f"decay.half_life_hours.{name}" for name in (*TYPES, "default")]
    return {path: value for path in paths if around[path] not in (None, NEVER)}


def _half_life_of(entry_type: str) -> Callable[[object, Values], Values]:
    switch = f"decay.type_specific.{entry_type}.decay_enabled"
    target = f"decay.half_life_hours.{entry_type}"
    return lambda value, around: {} if around.get(switch) is False else {target: value}


def _decay_switch_of(entry_type: str) -> Callable[[object, Values], Values]:
    target = f"decay.half_life_hours.{entry_type}"

    def reshape(value: object, around: Values) -> Values:
        if value is False:
            return {target: None}
        given = around.get(f"decay.type_specific.{entry_type}.half_life_hours", around[target])
        if value is not True or given in (None, NEVER):
            raise ValueError(f"false, or true together with {target}")
        return {}

    return reshape


def _patterns(value: object, _: Values) -> Values:
    if not isinstance(value, list | tuple):
        raise ValueError("a list of {type, regex}")
    own = [item for item in value if item not in DOCUMENT_PATTERNS]
    if len(own) < len(value):
        key = "privacy.auto_redaction.patterns"
        warnings.warn(f"{key}: {RENAMED[key].reason}", RetiredSettingWarning, stacklevel=2)
    return {"privacy.redaction_patterns": own}


LARGEST_AMOUNT = 10**15
SIZE_LIMIT = "storage.max_session_size_mb"

# The patterns of "session memory persistence": api_key takes any checksum for a key and
# misses keys with - or _, so none of the three is used when it is given word for word.
DOCUMENT_PATTERNS = (
    {"type": "email", "regex": r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Z|a-z]{2,}\b"},
    {"type": "api_key", "regex": r"\b[A-Za-z0-9]{32,}\b"},
    {"type": "password", "regex": r"password[\s:=]+[^\s]+"},
)

_OWN_SECTION = "Compaction has a section of its own."
_ONE_WORD = "One name for one thing."
_ONE_TABLE = "One table for all types."

RENAMED: dict[str, Renamed] = {
    "version": Renamed(
        "version", 'Every file carries a whole number; "1.0" is read as 1.', _version
    ),
    "max_session_size_bytes": Renamed(SIZE_LIMIT, "One unit; the value is converted.", _bytes),
    "storage.compaction_threshold": Renamed(
        "compaction.size_trigger",
        "A share of the size limit; what is too irrelevant to keep is compaction.relevance_floor.",
    ),
    "storage.auto_compact": Renamed("compaction.auto", _OWN_SECTION),
    "compaction.enabled": Renamed("compaction.auto", "Compacting by hand always works."),
    "compaction.auto_compact": Renamed("compaction.auto", _ONE_WORD),
    "compaction.threshold": Renamed("compaction.size_trigger", _ONE_WORD),
    "compaction.trigger_threshold_mb": Renamed(
        "compaction.size_trigger",
        "A share follows the limit when that changes; the value is divided by"
        " storage.max_session_size_mb.",
        _share_of_limit,
    ),
    "compaction.keep_percentage": Renamed(
        "compaction.keep_fraction", "0.8 is a fraction, not a percentage."
    ),
    "performance.batch_write_size": Renamed(
        "storage.batch_write_size", "Used with storage.durability batch alone."
    ),
    "performance.batch_write_interval_ms": Renamed(
        "storage.batch_write_interval_ms", "Used with storage.durability batch alone."
    ),
    "minimum_decay_factor": Renamed("decay.minimum", "Belongs to decay."),
    "decay.minimum_decay_factor": Renamed("decay.minimum", _ONE_WORD),
    "decay.minimum_factor": Renamed("decay.minimum", _ONE_WORD),
    "decay.min_decay_factor": Renamed("decay.minimum", _ONE_WORD),
    "decay.half_life_hours": Renamed(
        "decay.half_life_hours.*",
        "One number applies to every type that decays.",
        _all_half_lives,
    ),
    "defaultDecayHalfLife": Renamed(
        "decay.half_life_hours.default", "For the types without a half-life of their own."
    ),
    "privacy.auto_redaction": Renamed("privacy.redaction", _ONE_WORD),
    "privacy.auto_redaction.enabled": Renamed("privacy.redaction", _ONE_WORD),
    "privacy.auto_redaction.patterns": Renamed(
        "privacy.redaction_patterns",
        "Your own patterns are added to the built-in rules; the document's three are replaced by"
        " the built-in ones of the same names.",
        _patterns,
    ),
    "privacy.auto_purge.enabled": Renamed("privacy.auto_purge", "A switch needs no table."),
    "privacy.auto_purge.schedule_cron": Renamed(
        "privacy.purge_schedule", "A switch needs no table."
    ),
    "MaxSizePerCompartment": Renamed(
        "compartments.max_characters",
        "Counted in Unicode code points; a replaced note no longer counts.",
    ),
}


def _per_type(name: str) -> dict[str, Renamed]:
    half_life = f"decay.half_life_hours.{name}"
    kept = Renamed(f"privacy.retention_days.{name}", _ONE_WORD)
    return {
        f"decay.{name}.half_life_hours": Renamed(half_life, _ONE_TABLE),
        f"decay.{name}.decay_rate": Renamed(
            f"decay.rates.{name}",
            "Contradicts the half-life beside it; used with decay.model rate alone.",
        ),
        f"decay.type_specific.{name}.half_life_hours": Renamed(
            half_life, _ONE_TABLE, _half_life_of(name)
        ),
        f"decay.type_specific.{name}.decay_enabled": Renamed(
            half_life, 'false is read as "never".', _decay_switch_of(name)
        ),
        f"privacy.retention_limits.{name}": kept,
        f"privacy.retention_limits.{name}_days": kept,
        f"privacy.retention_days.{name}_days": kept,
    }


for _name in TYPES:
    RENAMED |= _per_type(_name)

_ROOT = "The root is chosen with --root or MNEMOLOG_ROOT; the settings file lies inside it."
_LOCK = "The lock is polled every 0.2 to 5 ms, once, up to concurrency.lock_timeout_ms."
_PLAIN = "A live log stays plain text; archives are always gzip."
_CHECKSUM = "Every line carries a SHA-256 checksum; it cannot be switched off or exchanged."
_DECAY = "Decay is worked out when it is asked for; nothing is kept that could grow old."
_CACHE = "Entries are read from the log each time; the system keeps its pages in memory."

RETIRED: dict[str, str] = {
    "rootPath": _ROOT,
    "storageRoot": _ROOT,
    "storage.root_path": _ROOT,
    "storage.root_directory": _ROOT,
    "storage.format": "The log is always JSONL.",
    "storage.encoding": "The log is always UTF-8.",
    "storage.compression": _PLAIN,
    "storage.compression.enabled": _PLAIN,
    "storage.compression.algorithm": _PLAIN,
    "concurrency.lock_retry_interval_ms": _LOCK,
    "concurrency.max_retries": _LOCK,
    "concurrency.retry_backoff_ms": _LOCK,
    "concurrency.max_concurrent_writes": "There is no cap; ten writers are the tested floor.",
    "indexing.enabled": "The index is derived and costs a write nothing; it is always there.",
    "indexing.update_strategy": "The index always catches up from where it stopped.",
    "indexing.rebuild_threshold_writes": "The index is rebuilt when it does not match its log,"
    " not after a number of writes.",
    "compaction.strategy": "The order is fixed: deleted entries, then those below"
    " compaction.relevance_floor, then the least relevant.",
    "privacy.auto_redaction.replacement": "The placeholder names what was hidden:"
    " [REDACTED:email].",
    "performance.lazy_load": "Content is always read when it is needed.",
    "update_interval_hours": _DECAY,
    "decay.update_interval_hours": _DECAY,
    "decay.update_interval_minutes": _DECAY,
    "indexing.cache_size_mb": _CACHE,
    "performance.cache_size": _CACHE,
    "performance.index_cache_ttl_seconds": _CACHE,
    "cache.entries": _CACHE,
    "cache.size_mb": _CACHE,
    "cache.ttl_seconds": _CACHE,
    "performance.index_in_memory": "The index is a file; the system keeps it in memory.",
    "integrity.enable_checksums": _CHECKSUM,
    "integrity.checksum_algorithm": _CHECKSUM,
    "StoragePath": _ROOT,
}
