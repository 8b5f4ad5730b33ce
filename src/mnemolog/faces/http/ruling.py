"""Which settings count at once when they are changed, and which from the next start."""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from threading import Lock
from typing import Literal
from weakref import WeakSet

from mnemolog.memory import Memory
from mnemolog.settings import Settings

Heard = Callable[[Settings], None]

# What is built into something when the server begins: locks, the index, the socket, the worker.
_AT_START = frozenset(
    "version concurrency.lock_timeout_ms search.embedder search.timeout_ms archive.auto_restore"
    " knowledge.distiller knowledge.model knowledge.endpoint knowledge.token_budget"
    " knowledge.tick_seconds knowledge.sessions_per_tick"
    " server.behind_tls server.allow_hosts server.threads".split()
)


def applies(key: str) -> Literal["now", "restart"]:
    """When a change of a setting counts."""
    return "restart" if key in _AT_START else "now"


def page_tokens_live(settings: Settings) -> timedelta:
    """For how long a browser stays signed in."""
    return timedelta(days=settings.server.page_token_days)


class Ruling:
    """Hands settings on to whatever goes by them while the server runs."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._mutex = Lock()
        self._views: WeakSet[Memory] = WeakSet()
        self._heard: list[Heard] = [_log_from]

    def seen(self, view: Memory) -> Memory:
        """A view that is to go by the same settings as the memory itself."""
        with self._mutex:
            self._views.add(view)
        return view

    def tell(self, heard: Heard) -> None:
        """Have somebody told of other settings."""
        self._heard.append(heard)

    def change(self, changed: Mapping[str, object]) -> None:
        """Go by these values from now on, as far as that is possible."""
        taken = {key: value for key, value in changed.items() if applies(key) == "now"}
        settings = self._memory.settings.changed(taken)
        with self._mutex:
            views = {self._memory, *self._views}
        for one in views:
            one.use_settings(settings)
        for heard in self._heard:
            heard(settings)


def _log_from(settings: Settings) -> None:
    logging.getLogger("mnemolog").setLevel(settings.server.log_level.upper())
