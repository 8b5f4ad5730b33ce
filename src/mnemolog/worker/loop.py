"""The loop: ticks one after the other, each session in a thread of its own.

A distiller that takes long keeps its lease and its thread, and delays nobody else: a tick waits for
its sessions for as long as there is between two ticks, then leaves the slow ones to themselves.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, Thread, current_thread

from mnemolog.errors import ConcurrencyError, SettingsError, StorageError
from mnemolog.memory import Memory
from mnemolog.worker.distillers import Distillers
from mnemolog.worker.picking import Picked, pick
from mnemolog.worker.tick import Learner, Outcome, StoppedError, tried

# So many times as many sessions as a tick takes may be at work at once, all slow ones together.
_MOST = 4
# What was said later is learned later; but a slow distiller, once at work, is waited for no longer.
_TURN_SECONDS = 5.0

_log = logging.getLogger(__name__)

Told = Callable[[Outcome], object]


class Worker:
    """Learns from due sessions until it is stopped."""

    def __init__(
        self, memory: Memory, distillers: Distillers | None = None, told: Told | None = None
    ) -> None:
        self._memory = memory
        self._settings = memory.settings.knowledge
        self._distillers = distillers or Distillers(self._settings, prompt=memory.memory_prompt)
        self._learner = Learner(memory, self._distillers, self._while_writing)
        self._told = told
        self._state = Condition()
        self._busy: dict[str, Thread] = {}
        self._last: dict[str, Thread] = {}
        self._began: dict[Thread, float] = {}
        self._done: list[Outcome] = []
        self._writing = 0
        self._is_stopped = False
        self.ticks = 0

    @property
    def busy(self) -> list[str]:
        """The sessions that are at work."""
        with self._state:
            return sorted(self._busy)

    def run(self) -> None:
        """Tick until somebody calls `stop`; the next tick begins a while after the last ended."""
        while not self._is_stopped:
            try:
                self.tick(self._settings.tick_seconds)
            except (StorageError, ConcurrencyError) as error:  # the disk may be better next time
                _log.warning("a tick failed: %s", error.code)
            except SettingsError as error:  # a person may put it right at any time
                _log.error("nothing is learned: %s", error)
            with self._state:
                self._state.wait_for(lambda: self._is_stopped, self._settings.tick_seconds)

    def stop(self) -> None:
        """No tick begins any more; what is being written is finished, what is thought is not."""
        with self._state:
            self._is_stopped = True
            self._state.notify_all()
            self._state.wait_for(lambda: not self._writing)

    def tick(self, patience: float | None = None) -> list[Outcome]:
        """Take up to `knowledge.sessions_per_tick` sessions; says what became of those that are
        done by now. Without patience it waits for all of its own."""
        if self._is_stopped or self._distillers.is_off:
            return []
        self.ticks += 1
        limit = self._settings.sessions_per_tick
        busy = self.busy
        own = [
            self._start(picked)
            for picked in pick(self._memory, min(limit, limit * _MOST - len(busy)), busy)
        ]
        self._wait_for(own, patience)
        return self._take_done()

    def _start(self, picked: Picked) -> Thread:
        if picked.due is not None and picked.due.cause != "exempt":
            agent = picked.due.agent_id
            made = tried(lambda: self._distillers.of(agent))
            if isinstance(made, SettingsError):  # nobody's failure
                picked.lease.close()
                raise made
        with self._state:
            before = self._last.get(picked.user_id)
            thread = Thread(
                target=self._work, args=(picked, before), daemon=True, name=picked.session_id
            )
            self._busy[picked.session_id] = self._last[picked.user_id] = thread
        thread.start()
        return thread

    def _work(self, picked: Picked, before: Thread | None) -> None:
        outcome = None
        try:
            with picked.lease:
                self._take_turn(before)
                outcome = self._learner.learn(picked)
        except StoppedError:
            pass  # it stays due, and is for whoever works next
        finally:
            with self._state:
                mine = self._busy.pop(picked.session_id)
                self._began.pop(mine, None)
                if self._last.get(picked.user_id) is mine:
                    del self._last[picked.user_id]
                self._done += [outcome] if outcome else []
                self._state.notify_all()

    def _take_turn(self, before: Thread | None) -> None:
        """Wait for whoever is before: until it is done, or has been at work for too long."""
        with self._state:
            while before in self._busy.values() and not self._is_stopped:
                began = self._began.get(before) if before is not None else None
                left = None if began is None else began + _TURN_SECONDS - time.monotonic()
                if left is not None and left <= 0:
                    break
                self._state.wait(left)
            self._began[current_thread()] = time.monotonic()
            self._state.notify_all()

    @contextmanager
    def _while_writing(self) -> Iterator[None]:
        with self._state:
            if self._is_stopped:
                raise StoppedError
            self._writing += 1
        try:
            yield
        finally:
            with self._state:
                self._writing -= 1
                self._state.notify_all()

    def _wait_for(self, own: list[Thread], patience: float | None) -> None:
        with self._state:
            self._state.wait_for(
                lambda: self._is_stopped or not any(one in self._busy.values() for one in own),
                patience,
            )

    def _take_done(self) -> list[Outcome]:
        with self._state:
            done, self._done = self._done, []
        for outcome in done:
            if self._told is not None:
                self._told(outcome)
        return done
