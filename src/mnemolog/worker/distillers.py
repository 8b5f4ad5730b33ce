"""Which distiller learns from whom: chosen by a setting, one for each source agent."""

import logging
from collections.abc import Callable
from importlib.metadata import entry_points
from pkgutil import resolve_name
from threading import Lock
from typing import Any

from mnemolog.errors import SettingsError
from mnemolog.model.lesson import Prompt
from mnemolog.policy.learning import cache_key
from mnemolog.ports.distiller import Distiller
from mnemolog.settings import Knowledge

GROUP = "mnemolog.distillers"
LLM, NONE = "llm", "none"

_log = logging.getLogger(__name__)

Told = Callable[[], Prompt | None]
"""Reads what the root tells its memory-agents."""
Make = Callable[[str, Knowledge], Distiller]
"""Makes the distiller of a source agent; what an entry point of the group `GROUP` has to be."""


class Distillers:
    """The memory-agents that were needed so far; each is made when its agent is first met."""

    def __init__(
        self, settings: Knowledge, make: Make | None = None, prompt: Told | None = None
    ) -> None:
        self._settings = settings
        self._make = make
        self._told = prompt if make is None and settings.distiller == LLM else None
        self._prompt: Prompt | None = None
        self._made: dict[str, Distiller] = {}
        self._mutex = Lock()

    @property
    def is_off(self) -> bool:
        """Whether nobody is to learn anything."""
        return self._make is None and self._settings.distiller == NONE

    def of(self, agent_id: str) -> Distiller:
        """The distiller of a source agent."""
        with self._mutex:
            self._look_at_prompt()
            key = cache_key(agent_id)
            if key not in self._made:
                if self._make is None:
                    self._make = _maker(self._settings.distiller, self._prompt)
                self._made[key] = self._make(agent_id, self._settings)
            return self._made[key]

    def _look_at_prompt(self) -> None:
        """A person may edit it at any time: from then on memory-agents are made anew."""
        now = self._told() if self._told else None
        if now != self._prompt:
            self._prompt, self._make, self._made = now, None, {}
            told = f"{now.path}, sha256 {now.hash}" if now else "the package's own prompt"
            _log.info("memory-agents are told by %s", told)

    def known(self) -> list[str]:
        """The cache keys of those that were made."""
        return sorted(self._made)


def _maker(name: str, prompt: Prompt | None) -> Make:
    if name == "rules":
        rules = resolve_name("mnemolog.distillers.rules:Rules")()
        return lambda agent_id, settings: rules
    return _llm_maker(prompt) if name == LLM else _installed(name)


def _llm_maker(prompt: Prompt | None) -> Make:
    try:
        # Without the colon, a library that it misses would end in an AttributeError.
        llm: Any = resolve_name("mnemolog.distillers.llm:")
    except ImportError as error:
        raise SettingsError(
            "The distiller `llm` needs an extra.",
            advice="pip install 'mnemolog[agent]', or set knowledge.distiller = 'rules'.",
            key="knowledge.distiller",
        ) from error

    def make(agent_id: str, settings: Knowledge) -> Distiller:
        llm.open_model(settings)  # what cannot be used is told now
        made: Distiller = llm.MemoryAgent(
            agent_id, lambda: llm.open_model(settings), settings, prompt
        )
        return made

    return make


def _installed(name: str) -> Make:
    found = entry_points(group=GROUP)
    if name not in found.names:
        known = ", ".join(["rules", LLM, NONE, *sorted(found.names)])
        raise SettingsError(
            f"There is no distiller {name!r:.100}.",
            advice=f"Set knowledge.distiller to one of {known}.",
            key="knowledge.distiller",
        )
    made: Make = found[name].load()
    return made
