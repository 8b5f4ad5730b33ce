"""Searching: queries over one session or all, and the source documents' shorter forms of them."""

from collections.abc import Mapping
from typing import Any

import msgspec

from mnemolog.errors import InvalidQueryError
from mnemolog.memory.base import Base
from mnemolog.model import query as queries
from mnemolog.model.observing import timed
from mnemolog.model.query import Hits, Query
from mnemolog.model.shapes import doubt_of, snake
from mnemolog.policy.access import may_see
from mnemolog.policy.recalling import ordered, recalled
from mnemolog.ports import Progress, exporter_of

_DEEP = "include_archived"


class Searching(Base):
    """The verbs that search."""

    def query(
        self,
        session_id: str | None = None,
        query: Query | Mapping[str, Any] | str | None = None,
        /,
        **filters: Any,
    ) -> Hits:
        """Search one session, or with None all that this handle may see.

        Takes `text`, `types`, `tags`, `agents`, `users`, `time_range`, `references` with
        `max_depth`, `min_relevance`, `min_importance`, `limit`, `sort` and `scorer`; `kinds` says
        whether entries are searched, nodes, or both. So many of the first hits as `recalls` says
        count as recalled: all, or with 0 none. With `include_archived`, one session's entries that
        compactions moved out are searched too.
        """
        now = self._clock.now()
        given, is_deep = _depth({**queries.as_mapping(query), **filters})
        asked = queries.parse(given, now)
        if "node" in asked.kinds:
            asked = msgspec.structs.replace(asked, unowned=self.settings.knowledge.default_user)
        decay = self.settings.decay
        if session_id is not None:
            decay = self._settings(self._manifest(session_id)).decay
        with timed("query", session_id) as numbers:
            hits = self._search_index().search(asked, self._viewer, session_id, now, decay)
            numbers["hits"] = len(hits)
        if is_deep:
            hits = self._with_moved(hits, asked, session_id)
        return hits if hits else _doubted(hits, asked)

    def _with_moved(self, hits: Hits, asked: Query, session_id: str | None) -> Hits:
        if session_id is None:
            raise InvalidQueryError(
                "Archived entries are searched in one session at a time.",
                advice="Give the session, or leave include_archived out.",
            )
        user = self._manifest(session_id).user_id
        if "entry" not in asked.kinds or (asked.users and user not in asked.users):
            return hits
        moved = self._moved_out(
            session_id, lambda one: one.died is None and may_see(self._viewer, one.entry)
        )
        found = [hit for one in moved if (hit := recalled(one.entry, asked)) is not None]
        return Hits(ordered([*hits, *found], asked), hits.semantic, hits.missing, hits.notes)

    query_memories = query

    def search_by_topic(self, session_id: str | None, topic: str, **filters: Any) -> Hits:
        """Entries with this tag, with a tag below it, or with this topic in their context."""
        return self.query(session_id, tags=[topic], **filters)

    def search_by_type(self, session_id: str | None, type: str, **filters: Any) -> Hits:
        """Entries of one type."""
        return self.query(session_id, types=[type], **filters)

    def search_by_time_range(
        self, session_id: str | None, start: Any, end: Any, **filters: Any
    ) -> Hits:
        """Entries between two moments, both included, newest first unless `sort` says otherwise."""
        filters.setdefault("sort", "time_desc")
        return self.query(session_id, time_range={"start": start, "end": end}, **filters)

    def update_decay_factors(self, session_id: str) -> dict[str, float]:
        """The decay of each of a session's entries as of now; computed, never stored."""
        decay = self._settings(self._manifest(session_id)).decay
        index = exporter_of(self._search_index())
        return index.export("decays", self._viewer, session_id, self._clock.now(), decay)

    def rebuild_index(
        self, session_id: str | None = None, *, progress: Progress | None = None
    ) -> int:
        """Throw the index away and read all logs again; says how many entries it holds."""
        if session_id is not None:
            self._manifest(session_id)
        self.check_allowed("rebuild_index")
        return self._search_index().rebuild(progress)


def _doubted(nothing: Hits, asked: Query) -> Hits:
    """No hits, with a note on each type that may be a slip of the pen."""
    nothing.notes += tuple(filter(None, map(doubt_of, asked.types)))
    return nothing


def _depth(given: Mapping[Any, Any]) -> tuple[dict[Any, Any], bool]:
    """A query without the word on what was moved out, and whether that is searched too."""
    words = [key for key in given if snake(str(key)) == _DEEP]
    chosen = {given[key] for key in words if isinstance(given[key], bool | None)}
    if len(words) > 1 or len(chosen) < len(words):
        raise InvalidQueryError(f"{_DEEP} must be true or false, said once.")
    return {key: given[key] for key in given if key not in words}, True in chosen
