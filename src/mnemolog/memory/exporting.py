"""Exporting: what the index knows, as plain JSON."""

from typing import Any

from mnemolog.errors import InvalidQueryError, shown
from mnemolog.memory.base import Base
from mnemolog.ports import exporter_of

INDEX_SHAPES = ("inverted", "entries")


class Exporting(Base):
    """The verbs that hand out what is derived."""

    def export_index(self, session_id: str | None = None, shape: str = "entries") -> dict[str, Any]:
        """The index of one session, or with None of all that this handle may see, as plain JSON.

        `inverted` goes from words, topics and hours to ids; `entries` from ids to lines, bytes
        and weights, and from tags and types to ids. Built when it is asked for.
        """
        if shape not in INDEX_SHAPES:
            raise InvalidQueryError(
                f"There is no index shape {shown(shape)}.",
                advice=f"Use one of {', '.join(INDEX_SHAPES)}.",
            )
        decay = self.settings.decay
        if session_id is not None:
            decay = self._settings(self._manifest(session_id)).decay
        index = exporter_of(self._search_index())
        return index.export(shape, self._viewer, session_id, self._clock.now(), decay)
