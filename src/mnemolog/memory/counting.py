"""Counting: sessions in numbers, by way of the index or, without one, by reading them."""

from contextlib import suppress

from mnemolog.errors import InvalidQueryError, StorageError
from mnemolog.memory.forgetting import Forgetting
from mnemolog.model import shapes
from mnemolog.model.inspecting import Numbered
from mnemolog.model.session import together
from mnemolog.ports import LogKey
from mnemolog.ports.looking import UNITS, Counter, Span, counter_of, looker_of


class Counting(Forgetting):
    """The verbs that count; with an index they read no line."""

    def numbers(self, session_id: str | None = None) -> Numbered:
        """A session in numbers, or all that this handle may see."""
        limit = 0
        if session_id is not None:
            limit = self._settings(self._manifest(session_id)).storage.max_session_bytes
        with suppress(StorageError):  # derived, so it may be missing
            found = self._counter.numbers(session_id, self._viewer)
            return found._replace(limit_bytes=limit)
        return self._read_numbers(session_id)._replace(limit_bytes=limit)

    def growth(self, unit: str) -> dict[str, dict[str, int]]:
        """How many entries of each type were said in each `hour`, `day` or `month`."""
        return self._counter.growth(self._viewer, shapes.one_of(unit, UNITS, "unit"))

    @property
    def _counter(self) -> Counter:
        found = counter_of(self._index)
        if found is None:
            raise InvalidQueryError("This handle was made without an index.")
        return found

    def _read_numbers(self, session_id: str | None) -> Numbered:
        names = self._names() if session_id is None else [session_id]
        read = [self._read(name, last=0).summary for name in names]
        begun = [self._manifest(name).created_at for name in names]
        hidden = [
            looker_of(self._store)
            .part(LogKey("session", name), self._viewer, Span(only_hidden=True), 0)
            .total
            for name in names
        ]
        return Numbered(together(read), sum(hidden), len(names), min(begun, default=None))
