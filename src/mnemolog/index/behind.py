"""Behind: a thread that embeds what waits, while everybody goes on searching."""

import logging
import threading
from collections.abc import Callable

from mnemolog.errors import MnemologError

_log = logging.getLogger(__name__)

# A thread that takes a mutex again at once would leave it to nobody.
_BREATH = 0.005


class Behind:
    """At most one thread; it ends once nothing waits, and when it is told to."""

    def __init__(self, embed: Callable[[], int]) -> None:
        self._embed = embed
        self.forget()

    def forget(self) -> None:
        """Begin without a thread, as a forked child does."""
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    @property
    def is_at_work(self) -> bool:
        """Whether a thread looks after what waits."""
        return self._thread is not None and self._thread.is_alive()

    def wake(self) -> None:
        """Have what waits embedded; for whoever holds the index."""
        if not self.is_at_work:
            self._stop = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(self._stop,), name="mnemolog-embedding", daemon=True
            )
            self._thread.start()

    def _run(self, stop: threading.Event) -> None:
        try:
            while not stop.is_set() and self._embed():
                stop.wait(_BREATH)
        except MnemologError as error:  # the next search meets the same
            _log.warning("embedding behind the searches ended: %s", error.message)

    def end(self) -> None:
        """Wait until it has finished what it is about; not for whoever holds the index."""
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None
