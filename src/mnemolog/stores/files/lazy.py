"""The finder, made when the first search asks for it: writing loads no numpy and no model."""

from datetime import datetime
from threading import Lock
from typing import Any

from mnemolog.fs import Disk
from mnemolog.model.query import Hits, Query
from mnemolog.policy.access import Viewer
from mnemolog.ports import Index, Listed, Progress, Wanted
from mnemolog.settings import Decay


def __getattr__(name: str) -> Any:
    if name == "make_finder":
        from mnemolog.stores.files.finder import make_finder

        return make_finder
    raise AttributeError(name)


class LazyFinder:
    """Passes every call on to the real finder."""

    def __init__(self, disk: Disk, root: str) -> None:
        self._disk = disk
        self._root = root
        self._mutex = Lock()
        self._made: Index | None = None

    def _finder(self) -> Index:
        with self._mutex:
            if self._made is None:
                self._made = __getattr__("make_finder")(self._disk, self._root)
            return self._made

    def search(
        self, query: Query, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> Hits:
        return self._finder().search(query, viewer, session_id, now, decay)

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        return self._finder().sessions(wanted, viewer)

    def catch_up(self, progress: Progress | None = None) -> int:
        return self._finder().catch_up(progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        return self._finder().rebuild(progress)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
