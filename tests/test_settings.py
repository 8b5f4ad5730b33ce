"""Settings: defaults, a file in TOML or JSON, the environment, and a session's overrides."""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import msgspec
import pytest

from mnemolog import Memory
from mnemolog.errors import SettingsError
from mnemolog.settings import (
    KEYS,
    NOT_SETTINGS,
    RedactionPattern,
    RetiredSettingWarning,
    Settings,
    load,
)
from mnemolog.settings.layers import from_mapping, variable
from mnemolog.settings.page import DOCUMENTS, page
from mnemolog.settings.spellings import DOCUMENT_PATTERNS, RENAMED, RETIRED
from mnemolog.stores.files.serving import config_file

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"

# The whole config.json of "session memory persistence", section 9.
SESSION_MEMORY_CONFIG = """
{
  "memory_config": {
    "version": "1.0",
    "storage": {
      "root_path": ".bmad/memory",
      "format": "jsonl",
      "encoding": "utf-8",
      "max_session_size_mb": 10,
      "compression": {"enabled": false, "algorithm": "gzip"}
    },
    "concurrency": {
      "lock_timeout_ms": 5000,
      "lock_retry_interval_ms": 100,
      "max_concurrent_writes": 10
    },
    "indexing": {
      "enabled": true,
      "update_strategy": "incremental",
      "rebuild_threshold_writes": 1000,
      "cache_size_mb": 5
    },
    "decay": {
      "enabled": true,
      "update_interval_hours": 24,
      "minimum_factor": 0.1,
      "rates": {"conversation": 0.1, "decision": 0.02, "finding": 0.05, "preference": 0.01}
    },
    "compaction": {
      "enabled": true,
      "trigger_threshold_mb": 9,
      "keep_percentage": 0.8,
      "strategy": "relevance_based"
    },
    "privacy": {
      "auto_redaction": true,
      "retention_days": {"conversation": 90, "decision": 365, "finding": 180, "preference": 730},
      "auto_purge": true,
      "audit_deletions": true
    },
    "performance": {
      "batch_write_size": 100,
      "index_cache_ttl_seconds": 300,
      "lazy_load": true
    }
  }
}
"""

# Its decay parameters, section 6.2, and its privacy safeguards, section 7.3.
DECAY_PARAMETERS = """
{
  "decay_config": {
    "conversation": {"decay_rate": 0.1, "half_life_hours": 168},
    "decision": {"decay_rate": 0.02, "half_life_hours": 720},
    "finding": {"decay_rate": 0.05, "half_life_hours": 336},
    "preference": {"decay_rate": 0.01, "half_life_hours": 1440}
  },
  "update_interval_hours": 24,
  "minimum_decay_factor": 0.1
}
"""
PRIVACY_SAFEGUARDS = r"""
{
  "privacy_config": {
    "auto_redaction": {
      "enabled": true,
      "patterns": [
        {"type": "email", "regex": "\\b[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Z|a-z]{2,}\\b"},
        {"type": "api_key", "regex": "\\b[A-Za-z0-9]{32,}\\b"},
        {"type": "password", "regex": "password[\\s:=]+[^\\s]+"}
      ],
      "replacement": "[REDACTED]"
    },
    "retention_limits": {
      "conversation_days": 90,
      "decisions_days": 365,
      "findings_days": 180,
      "preferences_days": 730
    },
    "auto_purge": {"enabled": true, "schedule_cron": "0 2 * * 0"}
  }
}
"""

# The whole config.json of "agent memory persistence layer", section 7.1, and 7.2.
MEMORY_LAYER_CONFIG = """
{
  "version": "1.0",
  "storage": {
    "root_directory": "./memory",
    "max_session_size_mb": 10,
    "compaction_threshold": 0.9,
    "auto_compact": true
  },
  "concurrency": {"lock_timeout_ms": 5000, "max_retries": 3, "retry_backoff_ms": 100},
  "decay": {
    "enabled": true,
    "update_interval_minutes": 60,
    "type_specific": {
      "conversation": {"half_life_hours": 168},
      "decision": {"half_life_hours": 720},
      "finding": {"half_life_hours": 336},
      "preference": {"decay_enabled": false}
    },
    "min_decay_factor": 0.1
  },
  "performance": {"cache_size": 100, "batch_write_interval_ms": 1000, "index_in_memory": true},
  "integrity": {"enable_checksums": true, "checksum_algorithm": "sha256"}
}
"""
SESSION_OVERRIDES = """
{
  "decay_config": {"enabled": true, "half_life_hours": 336, "min_decay_factor": 0.2},
  "compaction_config": {"auto_compact": false, "threshold": 0.95}
}
"""


def quietly(text: str) -> Settings:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetiredSettingWarning)
        return load(text)


def retired_by(text: str) -> set[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        load(text)
    assert all(item.category is RetiredSettingWarning for item in caught)
    return {str(item.message).split(" is retired")[0] for item in caught}


def names_in(text: str) -> list[str]:
    return [given.name for given in from_mapping(json.loads(text))]


# Defaults


@pytest.mark.req("S001-111", "S001-113", "S002-119")
def test_the_defaults_are_those_of_the_documents():
    settings = Settings()
    assert settings.storage.max_session_size_mb == 10
    assert settings.storage.max_session_bytes == 10 * 1024 * 1024
    assert settings.storage.segment_bytes == 8 * 1024 * 1024
    assert settings.storage.max_content_bytes == 1_048_576
    assert settings.storage.durability == "always"
    assert settings.concurrency.lock_timeout_ms == 5000
    assert settings.compartments.max_characters == 10_000


def test_nothing_given_means_the_defaults():
    assert load() == load("") == load("{}") == load(None, {"HOME": "/", "PATH": ""}) == Settings()


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(AttributeError):
        Settings().storage.durability = "os"  # type: ignore[misc]
    assert hash(Settings()) == hash(Settings())


def test_a_type_without_a_key_of_its_own_takes_the_default():
    decay = load("[decay.half_life_hours]\ndefault = 5").decay
    assert decay.half_life_hours.for_type("decision") == 720
    assert decay.half_life_hours.for_type("preference") is None
    assert decay.half_life_hours.for_type("incident") == 5
    assert decay.half_life_hours.for_type("for_type") == 5
    assert decay.rates.for_type("finding") == 0.05
    assert Settings().privacy.retention_days.for_type("note") is None


def test_every_default_passes_its_own_check():
    assert Settings().changed(Settings().flat()) == Settings()


# The file


def test_a_toml_file_is_read():
    settings = load('[storage]\nsegment_size_mb = 0.001\n[decay]\nmodel = "rate"\n')
    assert settings.storage.segment_bytes == 1048
    assert settings.decay.model == "rate"


def test_a_byte_order_mark_does_no_harm():
    assert load('\ufeff{"decay": {"enabled": false}}').decay.enabled is False
    assert load("\ufeff[decay]\nenabled = false").decay.enabled is False


TOO_DEEP = ('{"a":' * 100_000, "a = " + "[" * 100_000)
TOO_LONG = "a = " + "9" * 6000
BROKEN = ("storage = [", "{", '{"a": 1} x', "[storage]\n[storage]", "x", '{"a": "\udcff"}')


@pytest.mark.parametrize("text", [*BROKEN, *TOO_DEEP, TOO_LONG], ids=range(9))
def test_a_broken_file_is_refused(text):
    with pytest.raises(SettingsError, match="not valid"):
        load(text)


def test_never_and_null_mean_no_value():
    assert load('[decay.half_life_hours]\nfinding = "never"').decay.half_life_hours.finding is None
    assert load('{"privacy": {"retention_days": {"decision": null}}}') == load(
        '[privacy.retention_days]\ndecision = "never"'
    )


def test_own_redaction_patterns_are_read():
    text = "[[privacy.redaction_patterns]]\ntype = 'ticket'\nregex = 'T-[0-9]+'"
    ticket = RedactionPattern(type="ticket", regex="T-[0-9]+")
    settings = load(text)
    assert settings.privacy.redaction_patterns == (ticket,)
    assert settings.changed(settings.flat()) == settings


@pytest.mark.parametrize("plural", ["decay.half_life_hours", "privacy.retention_days"])
def test_types_may_be_written_in_the_plural(plural):
    assert load(f"[{plural}]\ndecisions = 7") == load(f"[{plural}]\ndecision = 7") != Settings()


def test_two_spellings_may_agree_but_not_differ():
    agreeing = '{"decay": {"minimum": 0.3}, "decay_config": {"min_decay_factor": 0.3}}'
    assert load(agreeing).decay.minimum == 0.3
    with pytest.raises(SettingsError, match=r"decay\.minimum and decay_config\.min_decay_factor"):
        load(agreeing.replace("0.3}}", "0.4}}"))


# What is refused


@pytest.mark.parametrize(
    ("text", "suggestion"),
    [
        ("[storage]\ndurabilty = 'os'", "storage.durability"),
        ("[storage]\nlock_timeout_ms = 1", "concurrency.lock_timeout_ms"),
        ("[stroage]\nsegment_size_mb = 1", "storage.segment_size_mb"),
        ("[privacy.retention_days]\nconversatoin = 1", "privacy.retention_days.conversation"),
        ("[decay.half_life_hours]\nincident = 1", "decay.half_life_hours.default"),
        ("[concurency]\nlock_time_ms = 1", "concurrency.lock_timeout_ms"),
    ],
)
def test_an_unknown_setting_is_refused_with_the_nearest_one(text, suggestion):
    with pytest.raises(SettingsError, match="There is no setting") as refusal:
        load(text)
    assert refusal.value.details["suggestion"] == suggestion
    assert f"Did you mean {suggestion}?" in str(refusal.value)


def test_a_setting_like_no_other_is_refused_without_a_guess():
    with pytest.raises(SettingsError, match=r"no setting zzz\..*lists them all") as refusal:
        load("zzz = 1")
    assert refusal.value.details["suggestion"] is None


@pytest.mark.parametrize(
    ("key", "value", "permitted"),
    [
        ("storage.durability", "fast", "always or batch or os"),
        ("storage.max_session_size_mb", 0, "a number above 0 up to 1000000"),
        ("storage.max_session_size_mb", float("inf"), "a number above 0 up to 1000000"),
        ("storage.max_session_size_mb", float("nan"), "a number above 0 up to 1000000"),
        ("storage.max_content_bytes", 1_048_577, "a whole number from 1 up to 1048576"),
        ("storage.batch_write_size", 2.5, "a whole number from 1 up to 100000"),
        ("concurrency.lock_timeout_ms", "5000", "a whole number from 0 up to 3600000"),
        ("concurrency.lock_timeout_ms", True, "a whole number from 0 up to 3600000"),
        ("decay.enabled", 1, "true or false"),
        ("decay.minimum", -0.1, "a number from 0 up to 1"),
        ("decay.minimum", "never", "a number from 0 up to 1"),
        ("decay.half_life_hours.decision", 0, "a number above 0 up to 1000000, or never"),
        ("privacy.purge_schedule", "weekly", "five cron fields"),
        ("compartments.plan_scope", "agent", "run or session"),
        ("version", 2, "1"),
        ("storage", 5, "a table, for storage is a section"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_with_what_is_permitted(key, value, permitted):
    with pytest.raises(SettingsError) as refusal:
        Settings().changed({key: value})
    assert str(refusal.value) == f"{key} = {value!r} cannot be used. Permitted: {permitted}."
    assert refusal.value.details["key"] == key
    assert refusal.value.code == "E_SETTINGS"


@pytest.mark.parametrize(
    ("pattern", "complaint"),
    [
        ({"type": "x", "regex": "("}, "does not compile"),
        ({"type": "x"}, "regex"),
        ({"type": "x", "regex": "x", "flags": "i"}, "flags"),
    ],
)
def test_a_redaction_pattern_that_cannot_work_is_refused(pattern, complaint):
    with pytest.raises(SettingsError, match=complaint):
        Settings().changed({"privacy.redaction_patterns": [pattern]})


def test_a_long_value_is_not_repeated_in_full():
    with pytest.raises(SettingsError) as refusal:
        Settings().changed({"storage.durability": "x" * 10_000})
    assert len(str(refusal.value)) < 200


# The environment


def test_every_key_has_a_variable_of_its_own():
    assert len({variable(key) for key in KEYS}) == len(KEYS)
    assert not NOT_SETTINGS & {variable(key) for key in (*KEYS, *RENAMED, *RETIRED)}


def test_the_environment_stands_above_the_file():
    environ = {
        "MNEMOLOG_STORAGE_DURABILITY": "os",
        "MNEMOLOG_STORAGE_SEGMENT_SIZE_MB": "0.5",
        "MNEMOLOG_DECAY_HALF_LIFE_HOURS_DECISION": "never",
        "MNEMOLOG_DECAY_ENABLED": "False",
        "MNEMOLOG_PRIVACY_REDACTION": "0",
        "MNEMOLOG_PRIVACY_PURGE_SCHEDULE": "30 3 * * *",
        "MNEMOLOG_PRIVACY_REDACTION_PATTERNS": '[{"type": "t", "regex": "T-[0-9]+"}]',
    }
    settings = load('[storage]\ndurability = "batch"\nbatch_write_size = 7', environ)
    assert settings.storage.durability == "os"
    assert settings.storage.batch_write_size == 7
    assert settings.storage.segment_size_mb == 0.5
    assert settings.decay.half_life_hours.decision is None
    assert settings.decay.enabled is False
    assert settings.privacy.redaction is False
    assert settings.privacy.purge_schedule == "30 3 * * *"
    assert settings.privacy.redaction_patterns == (RedactionPattern(type="t", regex="T-[0-9]+"),)


def test_root_token_and_soak_are_not_settings():
    assert load(None, dict.fromkeys(NOT_SETTINGS, "anything")) == Settings()
    assert {"MNEMOLOG_ROOT", "MNEMOLOG_TOKEN", "MNEMOLOG_SOAK"} == NOT_SETTINGS


def test_an_unknown_variable_is_refused_with_the_nearest_one():
    with pytest.raises(SettingsError, match=r"Did you mean MNEMOLOG_STORAGE_DURABILITY\?"):
        load(None, {"MNEMOLOG_STORAGE_DURABILTY": "os"})


@pytest.mark.parametrize("value", ["", "soon", "-1", "1.5", "true", "\udcff"])
def test_a_variable_that_cannot_be_used_is_named_in_the_refusal(value):
    with pytest.raises(SettingsError, match="MNEMOLOG_CONCURRENCY_LOCK_TIMEOUT_MS = "):
        load(None, {"MNEMOLOG_CONCURRENCY_LOCK_TIMEOUT_MS": value})


def test_a_retired_variable_warns():
    with pytest.warns(RetiredSettingWarning, match="MNEMOLOG_CONCURRENCY_MAX_RETRIES is retired"):
        load(None, {"MNEMOLOG_CONCURRENCY_MAX_RETRIES": "3"})


# A session's own settings


def test_a_session_may_override_what_concerns_it_alone():
    root = load("[storage]\nsegment_size_mb = 2")
    session = root.with_overrides(
        {
            "storage": {"max_session_size_mb": 50, "durability": "batch"},
            "privacy.redaction": False,
            "compaction.keep_fraction": 0.5,
        }
    )
    assert session.storage.max_session_size_mb == 50
    assert session.storage.durability == "batch"
    assert session.storage.segment_size_mb == 2
    assert session.privacy.redaction is False
    assert session.compaction.keep_fraction == 0.5
    assert root.privacy.redaction is True


def test_the_documents_overrides_are_understood():
    session = Settings().with_overrides(json.loads(SESSION_OVERRIDES))
    lives = session.decay.half_life_hours
    assert (lives.conversation, lives.decision, lives.finding, lives.default) == (336,) * 4
    assert lives.preference is None
    assert session.decay.minimum == 0.2
    assert session.compaction.auto is False
    assert session.compaction.size_trigger == 0.95


def test_one_half_life_also_reaches_preferences_that_decay():
    root = load("[decay.half_life_hours]\npreference = 1440")
    session = root.with_overrides({"decay_config": {"half_life_hours": 5}})
    assert session.decay.half_life_hours.preference == 5


@pytest.mark.parametrize(
    "key",
    ["storage.segment_size_mb", "concurrency.lock_timeout_ms", "search.timeout_ms", "version"],
)
def test_a_session_may_not_override_what_belongs_to_the_root(key):
    with pytest.raises(SettingsError, match=f"{key} cannot be set for one session"):
        Settings().with_overrides({key: 1})


# The documents' files


@pytest.mark.req("S001-019", "S001-110", "S001-111", "S001-113", "S001-114", "S001-118")
def test_the_session_memory_configuration_gives_our_defaults():
    assert quietly(SESSION_MEMORY_CONFIG) == Settings()


@pytest.mark.req("S001-111", "S001-113", "S001-114", "S001-118")
def test_other_values_in_the_session_memory_configuration_arrive():
    tree = json.loads(SESSION_MEMORY_CONFIG)["memory_config"]
    tree["storage"]["max_session_size_mb"] = 20
    tree["concurrency"]["lock_timeout_ms"] = 1
    tree["decay"]["minimum_factor"] = 0.3
    tree["decay"]["rates"]["finding"] = 0.4
    tree["compaction"] = {"enabled": False, "trigger_threshold_mb": 15, "keep_percentage": 0.6}
    tree["privacy"]["auto_redaction"] = False
    tree["performance"] = {"batch_write_size": 5}
    settings = quietly(json.dumps({"memory_config": tree}))
    assert settings.storage.max_session_size_mb == 20
    assert settings.storage.batch_write_size == 5
    assert settings.concurrency.lock_timeout_ms == 1
    assert settings.decay.minimum == 0.3
    assert settings.decay.rates.finding == 0.4
    assert not settings.compaction.auto
    assert settings.compaction.size_trigger == 0.75
    assert settings.compaction.keep_fraction == 0.6
    assert not settings.privacy.redaction


@pytest.mark.req("S001-111", "S001-112", "S001-113", "S001-114", "S001-118")
def test_its_retired_keys_warn_and_no_others():
    assert retired_by(SESSION_MEMORY_CONFIG) == {
        "memory_config.storage.root_path",
        "memory_config.storage.format",
        "memory_config.storage.encoding",
        "memory_config.storage.compression.enabled",
        "memory_config.storage.compression.algorithm",
        "memory_config.concurrency.lock_retry_interval_ms",
        "memory_config.concurrency.max_concurrent_writes",
        "memory_config.indexing.enabled",
        "memory_config.indexing.update_strategy",
        "memory_config.indexing.rebuild_threshold_writes",
        "memory_config.compaction.strategy",
        "memory_config.performance.lazy_load",
        "memory_config.performance.index_cache_ttl_seconds",
        "memory_config.indexing.cache_size_mb",
        "memory_config.decay.update_interval_hours",
    }


def test_its_decay_parameters_are_read_with_preferences_that_decay():
    found = quietly(DECAY_PARAMETERS)
    assert found.decay.half_life_hours.preference == 1440
    assert found.changed({"decay.half_life_hours.preference": None}) == Settings()


def test_its_redaction_patterns_give_way_to_the_built_in_rules():
    tree = json.loads(PRIVACY_SAFEGUARDS)
    patterns = tree["privacy_config"]["auto_redaction"]["patterns"]
    assert tuple(patterns) == DOCUMENT_PATTERNS
    assert quietly(PRIVACY_SAFEGUARDS) == Settings()
    patterns.append({"type": "ticket", "regex": "T-[0-9]+"})
    with pytest.warns(RetiredSettingWarning) as caught:
        settings = Settings().changed(tree)
    assert any("replaced by the built-in ones" in str(item.message) for item in caught)
    assert [pattern.type for pattern in settings.privacy.redaction_patterns] == ["ticket"]


@pytest.mark.req("S002-021", "S002-117", "S002-119", "S002-122")
def test_the_memory_layer_configuration_gives_our_defaults():
    assert quietly(MEMORY_LAYER_CONFIG) == Settings()


@pytest.mark.req("S002-119", "S002-122")
def test_other_values_in_the_memory_layer_configuration_arrive():
    tree = json.loads(MEMORY_LAYER_CONFIG)
    tree["storage"] |= {
        "max_session_size_mb": 3,
        "compaction_threshold": 0.5,
        "auto_compact": False,
    }
    tree["concurrency"] = {"lock_timeout_ms": 250}
    tree["decay"]["type_specific"] = {
        "conversations": {"half_life_hours": 24, "decay_enabled": False},
        "decision": {"half_life_hours": 48, "decay_enabled": True},
    }
    tree["performance"] = {"batch_write_interval_ms": 8}
    settings = quietly(json.dumps(tree))
    assert settings.storage.max_session_size_mb == 3
    assert settings.storage.batch_write_interval_ms == 8
    assert settings.concurrency.lock_timeout_ms == 250
    assert settings.compaction.size_trigger == 0.5
    assert not settings.compaction.auto
    assert settings.decay.half_life_hours.conversation is None
    assert settings.decay.half_life_hours.decision == 48


@pytest.mark.req("S002-119", "S002-122", "S002-123")
def test_the_memory_layers_retired_keys_warn_and_no_others():
    assert retired_by(MEMORY_LAYER_CONFIG) == {
        "storage.root_directory",
        "decay.update_interval_minutes",
        "performance.cache_size",
        "concurrency.max_retries",
        "concurrency.retry_backoff_ms",
        "performance.index_in_memory",
        "integrity.enable_checksums",
        "integrity.checksum_algorithm",
    }


@pytest.mark.req("S002-123")
def test_checksums_cannot_be_switched_off():
    with pytest.warns(RetiredSettingWarning, match="SHA-256 checksum; it cannot be switched off"):
        assert load('{"integrity": {"enable_checksums": false}}') == Settings()


@pytest.mark.req("S001-110", "S002-117")
@pytest.mark.parametrize("version", [1, "1", "1.0"])
def test_the_version_of_the_file_may_be_a_text(version):
    assert load(json.dumps({"version": version})).version == 1
    assert load(json.dumps({"memory_config": {"version": version}})).version == 1


@pytest.mark.req("S001-110", "S002-117")
def test_a_file_of_a_newer_version_is_refused():
    with pytest.raises(SettingsError, match=r"version = '2\.0' cannot be used"):
        load('{"version": "2.0"}')


def test_the_compartments_configuration_is_read():
    with pytest.warns(RetiredSettingWarning, match="StoragePath is retired"):
        settings = load('{"MaxSizePerCompartment": 500, "StoragePath": "memory.json"}')
    assert settings.compartments.max_characters == 500


@pytest.mark.parametrize(
    ("given", "key", "value"),
    [
        ({"max_session_size_bytes": 524_288}, "storage.max_session_size_mb", 0.5),
        ({"defaultDecayHalfLife": 12}, "decay.half_life_hours.default", 12),
        ({"privacy.retention_days.decisions_days": 4}, "privacy.retention_days.decision", 4),
        ({"privacy.retention_limits.finding": 4}, "privacy.retention_days.finding", 4),
        ({"decay.type_specific.preference.half_life_hours": 4, "decay.type_specific.preference"
          ".decay_enabled": True}, "decay.half_life_hours.preference", 4),
    ],
)  # fmt: skip
def test_other_spellings_arrive_where_they_should(given, key, value):
    assert Settings().changed(given) == Settings().changed({key: value}) != Settings()


@pytest.mark.parametrize(
    ("key", "value", "permitted"),
    [
        ("decay.type_specific.preference.decay_enabled", True, "false, or true together with"),
        ("decay.type_specific.decision.decay_enabled", "no", "false, or true together with"),
        ("compaction.trigger_threshold_mb", "9", "a number above 0"),
        ("compaction.trigger_threshold_mb", 11, "a number above 0 up to 1"),
        ("max_session_size_bytes", True, "a number above 0"),
        ("max_session_size_bytes", 10**40, "a number above 0"),
        ("privacy.auto_redaction.patterns", "x", r"a list of \{type, regex\}"),
    ],
)
def test_a_wrong_value_under_another_spelling_is_refused_by_that_name(key, value, permitted):
    with pytest.raises(SettingsError, match=rf"{key} = {value!r} cannot.*Permitted: {permitted}"):
        Settings().changed({key: value})


def test_every_retired_key_warns_with_its_reason():
    for key, reason in RETIRED.items():
        with pytest.warns(RetiredSettingWarning, match=re.escape(f"{key} is retired")) as caught:
            assert Settings().changed({key: "anything"}) == Settings()
        assert reason in str(caught[0].message)


def test_no_spelling_hides_a_key_of_ours_or_leads_nowhere():
    assert not set(RETIRED) & {*KEYS, *RENAMED}
    assert set(KEYS) & set(RENAMED) == {"version"}
    targets = {renamed.to for renamed in RENAMED.values()} - {"decay.half_life_hours.*"}
    assert targets <= set(KEYS)


# The page


def test_the_page_names_every_key_of_the_documents_files():
    session_memory = SESSION_MEMORY_CONFIG, DECAY_PARAMETERS, PRIVACY_SAFEGUARDS
    memory_layer = MEMORY_LAYER_CONFIG, SESSION_OVERRIDES
    for title, texts in [
        ("Session memory persistence", session_memory),
        ("Agent memory persistence layer", memory_layer),
    ]:
        assert {name for text in texts for name in names_in(text)} <= set(DOCUMENTS[title])
    assert all(f"| `{key}` |" in page() for keys in DOCUMENTS.values() for key in keys)


def test_the_page_in_the_docs_is_the_generated_one():
    printed = subprocess.run(
        [sys.executable, "-m", "mnemolog.settings"], capture_output=True, check=True, text=True
    ).stdout
    assert printed == page()
    assert PAGE.read_text(encoding="utf-8") == printed, (
        "run: python -m mnemolog.settings > docs/settings.md"
    )


def test_every_key_is_described_with_its_range():
    for key in KEYS.values():
        assert key.description.endswith("."), key.name
        assert "\n" not in key.description
        assert key.permitted, key.name
        assert msgspec.convert(key.default, key.annotation) == key.default


def test_the_example_on_the_page_works():
    [example] = re.findall(r"```toml\n(.*?)```", page(), re.DOTALL)
    settings = load(example)
    assert settings.storage.durability == "batch"
    assert settings.decay.half_life_hours.preference is None
    assert settings.privacy.redaction_patterns[0].type == "ticket"


def test_a_file_that_cannot_be_changed_line_by_line_is_left_as_it_is(tmp_path):
    text = '[knowledge]\nmodel = """\n[storage]\n"""\n'  # that is no table
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(SettingsError, match="line by line"):
        config_file.change(str(tmp_path), {"storage.durability": "os"}, None)
    assert (tmp_path / "config.toml").read_text() == text


@pytest.mark.parametrize("text", ["[nonsense]", "[decay.nonsense]", "[a.b.c]", '{"nonsense": {}}'])
def test_an_unknown_table_is_refused_though_it_is_empty(text):
    with pytest.raises(SettingsError, match="There is no setting"):
        load(text)


EMPTY = "storage decay.half_life_hours memory_config decay_config indexing privacy.auto_redaction"


@pytest.mark.parametrize("name", EMPTY.split())
def test_a_known_table_may_be_empty(name):
    assert load(f"[{name}]") == Settings()


def test_a_value_is_no_empty_table():
    with pytest.raises(SettingsError, match=r"storage\.durability"):
        load("[storage.durability]")


@pytest.mark.parametrize("given", [[1], 1, "x", [("a", 1)], True, b"x", [], 0, ""])
def test_settings_that_are_no_table_are_refused(root, given):
    with pytest.raises(SettingsError, match="must be a table"):
        Memory.open(root, settings=given, environ={})


@pytest.mark.parametrize("text", ["a" + ".a" * 3000 + " = 1", "[" + "a." * 3000 + "a]\nx = 1"])
def test_names_that_are_nested_without_end_are_refused_in_short(text):
    with pytest.raises(SettingsError, match=r"There is no setting a\.a") as caught:
        load(text)
    assert len(str(caught.value)) < 300


def test_a_mapping_that_holds_itself_is_refused():
    endless: dict[str, object] = {}
    endless["decay"] = endless
    with pytest.raises(SettingsError, match=r"There is no setting decay\.decay"):
        Settings().changed(endless)
