"""The page docs/settings.md, made from the settings themselves so that it cannot drift."""

from collections.abc import Iterable

from mnemolog.settings import KEYS, written
from mnemolog.settings.layers import variable
from mnemolog.settings.sections import TYPES
from mnemolog.settings.spellings import RENAMED, RETIRED, plain

INTRODUCTION = f"""\
# Settings

All settings have defaults; most roots need no settings file. Where a value comes from, the later
above the earlier:

1. the defaults below;
2. `config.toml` in the root;
3. environment variables: `{variable("storage.durability")}` is `storage.durability`, and lists are
   written as JSON;
4. a session's own overrides, given when it is created: `storage.max_session_size_mb`,
   `storage.durability` and everything in `decay`, `compaction` and `privacy`.

```toml
[storage]
max_session_size_mb = 50
durability = "batch"

[decay.half_life_hours]
decision = 1440
preference = "never"

[[privacy.redaction_patterns]]
type = "ticket"
regex = "TICKET-[0-9]+"
```

An unknown setting is refused, and the error names the nearest one. A retired setting is ignored
with a `RetiredSettingWarning` that says why. A value of a wrong type or out of its range is
refused, and the error says what is permitted. Sizes in MB count 1,048,576 bytes. `"never"` stands
for no value. Types may be written in the plural (`decisions`), and those without a key of their
own take `default`.

This page is printed by `python -m mnemolog.settings`.
"""

COMPATIBILITY = """\
## Keys of the source documents

mnemolog grew out of three documents, each with a configuration of its own. Their JSON files can be
used as they are: the text of the settings file may be JSON instead of TOML. Every key of theirs is
listed here as kept, renamed or retired.
"""


def _each(pattern: str) -> list[str]:
    return [pattern.format(name) for name in TYPES]


# Every key of each document, as it is spelled there.
DOCUMENTS: dict[str, list[str]] = {
    "Session memory persistence": [
        "memory_config.version",
        "memory_config.storage.root_path",
        "memory_config.storage.format",
        "memory_config.storage.encoding",
        "memory_config.storage.max_session_size_mb",
        "memory_config.storage.compression.enabled",
        "memory_config.storage.compression.algorithm",
        "memory_config.concurrency.lock_timeout_ms",
        "memory_config.concurrency.lock_retry_interval_ms",
        "memory_config.concurrency.max_concurrent_writes",
        "memory_config.indexing.enabled",
        "memory_config.indexing.update_strategy",
        "memory_config.indexing.rebuild_threshold_writes",
        "memory_config.indexing.cache_size_mb",
        "memory_config.decay.enabled",
        "memory_config.decay.update_interval_hours",
        "memory_config.decay.minimum_factor",
        *_each("memory_config.decay.rates.{}"),
        "memory_config.compaction.enabled",
        "memory_config.compaction.trigger_threshold_mb",
        "memory_config.compaction.keep_percentage",
        "memory_config.compaction.strategy",
        "memory_config.privacy.auto_redaction",
        *_each("memory_config.privacy.retention_days.{}"),
        "memory_config.privacy.auto_purge",
        "memory_config.privacy.audit_deletions",
        "memory_config.performance.batch_write_size",
        "memory_config.performance.index_cache_ttl_seconds",
        "memory_config.performance.lazy_load",
        *_each("decay_config.{}.decay_rate"),
        *_each("decay_config.{}.half_life_hours"),
        "update_interval_hours",
        "minimum_decay_factor",
        "privacy_config.auto_redaction.enabled",
        "privacy_config.auto_redaction.patterns",
        "privacy_config.auto_redaction.replacement",
        "privacy_config.retention_limits.conversation_days",
        "privacy_config.retention_limits.decisions_days",
        "privacy_config.retention_limits.findings_days",
        "privacy_config.retention_limits.preferences_days",
        "privacy_config.auto_purge.enabled",
        "privacy_config.auto_purge.schedule_cron",
        "rootPath",
    ],
    "Agent memory persistence layer": [
        "version",
        "storage.root_directory",
        "storage.max_session_size_mb",
        "storage.compaction_threshold",
        "storage.auto_compact",
        "concurrency.lock_timeout_ms",
        "concurrency.max_retries",
        "concurrency.retry_backoff_ms",
        "decay.enabled",
        "decay.update_interval_minutes",
        "decay.type_specific.conversation.half_life_hours",
        "decay.type_specific.decision.half_life_hours",
        "decay.type_specific.finding.half_life_hours",
        "decay.type_specific.preference.decay_enabled",
        "decay.min_decay_factor",
        "performance.cache_size",
        "performance.batch_write_interval_ms",
        "performance.index_in_memory",
        "integrity.enable_checksums",
        "integrity.checksum_algorithm",
        "decay_config.enabled",
        "decay_config.half_life_hours",
        "decay_config.min_decay_factor",
        "compaction_config.auto_compact",
        "compaction_config.threshold",
        "storageRoot",
        "defaultDecayHalfLife",
        "max_session_size_bytes",
    ],
    "Compartments": ["MaxSizePerCompartment", "StoragePath"],
}

# What a document fixes without giving it a key.
KEYLESS: dict[str, list[tuple[str, str, str]]] = {
    "Compartments": [
        (
            "file permissions 0755 and 0644 (no key)",
            "retired",
            "Memory is private: folders are 0700 and files 0600, always.",
        )
    ],
}


def fate(key: str) -> tuple[str, str]:
    """What became of a document's key (kept, renamed, retired), and why."""
    path = plain(key)
    if path in RENAMED:
        to, reason = RENAMED[path].to, RENAMED[path].reason
        return ("kept" if to == path else f"renamed to `{to}`"), reason
    if path in KEYS:
        name = "kept" if path == key else f"kept as `{path}`"
        return name, KEYS[path].description
    return "retired", RETIRED[path]


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, "## Keys\n", _keys(), COMPATIBILITY]
    parts += [_document(title, keys) for title, keys in DOCUMENTS.items()]
    return "\n".join(parts)


def _keys() -> str:
    rows = (
        (f"`{key.name}`", key.permitted, f"`{written(key.default)}`", key.description)
        for key in KEYS.values()
    )
    return _table(("key", "permitted", "default", "what it does"), rows)


def _document(title: str, keys: Iterable[str]) -> str:
    rows = [(f"`{key}`", *fate(key)) for key in keys]
    rows += KEYLESS.get(title, [])
    return f"### {title}\n\n{_table(('key there', 'here', 'why, or what it does'), rows)}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
