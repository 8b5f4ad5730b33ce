"""Settings: one frozen object made of defaults, a file, the environment and overrides.

Nothing here reads a file or the environment by itself; the caller hands both in.
"""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Literal

from msgspec import Meta

from mnemolog.errors import SettingsError
from mnemolog.settings import layers
from mnemolog.settings.keys import Key, as_given, build, keys_of, written
from mnemolog.settings.knowledge import Knowledge
from mnemolog.settings.layers import NOT_SETTINGS
from mnemolog.settings.sections import (
    Archive,
    Compaction,
    Compartments,
    Concurrency,
    Decay,
    HalfLives,
    Privacy,
    Rates,
    RedactionPattern,
    Retention,
    Search,
    Section,
    Storage,
)
from mnemolog.settings.server import Server
from mnemolog.settings.spellings import RetiredSettingWarning

__all__ = [
    "KEYS",
    "NOT_SETTINGS",
    "Archive",
    "Compaction",
    "Compartments",
    "Concurrency",
    "Decay",
    "HalfLives",
    "Key",
    "Knowledge",
    "Privacy",
    "Rates",
    "RedactionPattern",
    "Retention",
    "RetiredSettingWarning",
    "Search",
    "Server",
    "Settings",
    "Storage",
    "load",
    "written",
]

# What one session may have of its own; everything else belongs to the whole root.
SESSION_SECTIONS = ("decay.", "compaction.", "privacy.")
SESSION_KEYS = ("storage.max_session_size_mb", "storage.durability")


class Settings(Section, frozen=True, kw_only=True):
    """All settings; `Settings()` are the defaults."""

    version: Annotated[Literal[1], Meta(description="Version of the settings file.")] = 1
    storage: Storage = Storage()
    concurrency: Concurrency = Concurrency()
    decay: Decay = Decay()
    compaction: Compaction = Compaction()
    privacy: Privacy = Privacy()
    archive: Archive = Archive()
    search: Search = Search()
    compartments: Compartments = Compartments()
    knowledge: Knowledge = Knowledge()
    server: Server = Server()

    def flat(self) -> dict[str, object]:
        """Every value by its dotted key."""
        return {name: attrgetter(name)(self) for name in KEYS}

    def changed(self, changes: Mapping[str, object]) -> "Settings":
        """A copy with other values, given nested or by dotted key, and checked."""
        return self._with(layers.settle(layers.from_mapping(changes), self.flat(), KEYS))

    def with_overrides(self, overrides: Mapping[str, object]) -> "Settings":
        """A copy for one session; what belongs to the whole root is refused."""
        settled = layers.settle(layers.from_mapping(overrides), self.flat(), KEYS)
        _check_session_may_set((path, name) for path, (_, name) in settled.items())
        return self._with(settled)

    def merged(self, before: Mapping[str, object], more: Mapping[str, object]) -> dict[str, object]:
        """A session's overrides with further ones above them.

        They stay as they were spelled, unless both speak of the same: the same key may be spelled
        in several ways, and a table holds many, so then today's keys stand there, one by one.
        """
        old = layers.settle(layers.from_mapping(before), self.flat(), KEYS)
        around = self._with(old).flat()
        new = layers.settle(layers.from_mapping(more), around, KEYS)
        if not old.keys() & new.keys() and not before.keys() & more.keys():
            return {**before, **more}
        return {path: as_given(value) for path, (value, _) in {**old, **new}.items()}

    def _with(self, settled: Mapping[str, tuple[object, str]]) -> "Settings":
        values = {path: value for path, (value, _) in settled.items()}
        return build(Settings, self.flat() | values)


# Every setting by its dotted name, in the order of the documentation.
KEYS: Mapping[str, Key] = {key.name: key for key in keys_of(Settings)}


def load(text: str | None = None, environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of a root: its file's text (TOML or JSON), then `environ` above it."""
    settings = Settings() if text is None else Settings().changed(layers.parse(text))
    given = layers.from_environ(environ or {}, KEYS)
    # A variable is always text: "1" may be a number or a switch.
    return settings._with(layers.settle(given, settings.flat(), KEYS, strict=False))


def _check_session_may_set(given: Iterable[tuple[str, str]]) -> None:
    for path, name in given:
        if path not in SESSION_KEYS and not path.startswith(SESSION_SECTIONS):
            raise SettingsError(
                f"{name} cannot be set for one session.",
                advice=f"Set {path} in config.toml for the whole root. A session may override"
                f" {', '.join(SESSION_KEYS)} and all of decay, compaction and privacy.",
                key=path,
            )
