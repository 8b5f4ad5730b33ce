"""An index that is made when the first search asks for it: writing loads no numpy and no model."""

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock
from typing import Any, Protocol, cast

from mnemolog.log import forks
from mnemolog.model.query import Hits, Query
from mnemolog.policy.access import Viewer
from mnemolog.ports import (
    Asked,
    Follower,
    Index,
    Listed,
    Progress,
    Unlearned,
    Wanted,
    exporter_of,
)
from mnemolog.ports.keeping import Wiped
from mnemolog.ports.looking import Counter, counter_of
from mnemolog.ports.shelf import Shelf
from mnemolog.settings import Decay


class Purged(Index, Protocol):
    """An index that can be made to forget."""

    def purge(self, gone: Wiped | str) -> bool:
        """Forget entries, or a whole log, for good; False if it could not."""


class LazyIndex:
    """Passes every call on to the real index."""

    def __init__(self, make: Callable[[], Purged], is_there: Callable[[], bool]) -> None:
        self._make = make
        self._is_there = is_there
        self._made: Purged | None = None
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Start with a mutex of its own, as a forked child must."""
        self._mutex = Lock()

    def _index(self) -> Purged:
        with self._mutex:
            if self._made is None:
                self._made = self._make()
            return self._made

    def search(
        self, query: Query, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> Hits:
        return self._index().search(query, viewer, session_id, now, decay)

    def follow(
        self, query: Query, viewer: Viewer, session_id: str | None, after: Mapping[str, int] | None
    ) -> Follower:
        return self._index().follow(query, viewer, session_id, after)

    def export(
        self, shape: str, viewer: Viewer, session_id: str | None, now: datetime, decay: Decay
    ) -> dict[str, Any]:
        return exporter_of(self._index()).export(shape, viewer, session_id, now, decay)

    def counter(self) -> Counter:
        """What shows parts of logs, and counts."""
        found = counter_of(self._index())
        assert found is not None
        return found

    def sessions(self, wanted: Wanted, viewer: Viewer) -> list[Listed]:
        return self._index().sessions(wanted, viewer)

    def unlearned(self, asked: Asked) -> list[Unlearned]:
        return self._index().unlearned(asked)

    def catch_up(self, progress: Progress | None = None) -> int:
        return self._index().catch_up(progress)

    def rebuild(self, progress: Progress | None = None) -> int:
        return self._index().rebuild(progress)

    def purge(self, gone: Wiped | str) -> bool:
        """Forget a log's rows for good; False if all of the index has to go for that."""
        return self._index().purge(gone) if self._is_there() else not isinstance(gone, str)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()


class _LazyShelf:
    """A shelf that is made at its first use: most programs never read a node, or any YAML."""

    def __init__(self, make: Callable[[], Shelf]) -> None:
        self._make = make
        self._made: Shelf | None = None
        self.forget()
        forks.watch(self)

    def forget(self) -> None:
        """Start with a mutex of its own, as a forked child must."""
        self._mutex = Lock()

    def __getattr__(self, name: str) -> Any:
        with self._mutex:
            if self._made is None:
                self._made = self._make()
        return getattr(self._made, name)


def lazy_shelf(make: Callable[[], Shelf]) -> Shelf:
    """A shelf that is made when it is asked for something."""
    return cast(Shelf, _LazyShelf(make))
