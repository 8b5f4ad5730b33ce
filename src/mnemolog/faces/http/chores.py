"""What a server does by itself: figures for the charts, maintenance, the worker."""

import threading
import time
from collections.abc import Callable
from typing import Any

from mnemolog.errors import MnemologError
from mnemolog.faces.http import logs
from mnemolog.faces.http.house import House
from mnemolog.faces.http.passes import Scope
from mnemolog.faces.http.problems import RefusedError

_FIGURES_SECONDS = 60.0
_STEP = 0.5


class Chores:
    """Threads that end when the server does, each after what it is about to finish."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def begin(self) -> None:
        """Start what the settings ask for."""
        memory = self._house.memory
        tick_seconds = memory.settings.knowledge.tick_seconds
        self._every(lambda: _FIGURES_SECONDS, self._figures)
        self._every(lambda: _FIGURES_SECONDS, self._house.feeds.sweep)
        self._every(lambda: _FIGURES_SECONDS, self._house.tickets.sweep)
        self._every(lambda: memory.settings.server.maintain_minutes * 60, self._maintain)
        if self._house.worker is not None:
            self._every(lambda: tick_seconds, self._tick)

    def _every(self, seconds: Callable[[], float], call: Callable[[], None]) -> None:
        """Call again and again, as often as is asked for now; with 0 seconds not at all."""

        def turns() -> None:
            last = time.monotonic()
            while not self._stop.wait(min(_STEP, seconds() or _STEP)):
                if seconds() and time.monotonic() >= last + seconds():
                    self._guarded(call)
                    last = time.monotonic()

        thread = threading.Thread(target=turns, name=f"mnemolog-{call.__name__}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _guarded(self, call: Callable[[], Any]) -> None:
        try:
            self._house.expect_root()
            call()
        except (MnemologError, RefusedError) as error:  # the next turn may have more luck
            logs.failed(error, call.__name__)

    def _figures(self) -> None:
        self._house.figures.sample(self._house.memory, time.time())

    def _maintain(self) -> None:
        done = self._house.memory.maintain()
        logs.told(
            "maintenance",
            "maintained",
            archived=len(done.archived),
            compacted=len(done.compacted),
            failed=len(done.failed),
            is_elsewhere=done.is_elsewhere,
        )
        self._house.feeds.publish("health", Scope(), maintained=True)

    def _tick(self) -> None:
        self._house.tick()

    def close(self) -> None:
        """Let each finish what it has begun."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
