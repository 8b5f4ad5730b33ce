"""Watching: new entries as they are written, by whatever process."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from threading import Event
from typing import Any

from mnemolog.errors import InvalidQueryError, shown
from mnemolog.memory.base import Base
from mnemolog.model import query as queries
from mnemolog.model.query import Hit, Query
from mnemolog.ports import Follower

_LONGEST = 86_400.0
_MEANINGLESS = ("limit", "sort", "scorer", "kinds")


class Watching(Base):
    """The verb that waits."""

    def watch(
        self,
        query: Query | Mapping[str, Any] | None = None,
        session_id: str | None = None,
        after: Mapping[str, int] | None = None,
        poll: float = 0.2,
        stop: Event | None = None,
    ) -> Iterator[Hit]:
        """Yield what is written from now on, to one session or to all that this handle may see.

        A new revision counts as written. An entry has to pass every filter of the query, and to
        hold at least one word of its text, as a search by words would find it; `relevance` is the
        share of the words that it holds, so that `min_relevance=1` wants all of them. Everything
        that matches comes, of each session in order, without end unless `stop` is set.

        To resume, keep `entry.session_id` and `entry.seq` of what came: `after` takes the last
        number of each session, and those that it does not name are read from their beginning.
        """
        asked = _asked(query, self._clock.now())
        if session_id is not None:
            self._manifest(session_id)
        seconds = _seconds(poll)
        positions = None if after is None else _positions(after)
        # Not in the generator: "from now on" is when it was asked, not when the first hit is.
        follower = self._search_index().follow(asked, self._viewer, session_id, positions)
        return _hits(follower, seconds, stop or Event())


def _hits(follower: Follower, seconds: float, stop: Event) -> Iterator[Hit]:
    while not stop.is_set():
        news = follower.news()
        for hit in news:
            if stop.is_set():
                return
            yield hit
        if not news:
            stop.wait(seconds)


def _asked(query: Query | Mapping[str, Any] | None, now: datetime) -> Query:
    if not isinstance(query, Query | Mapping | None):
        raise InvalidQueryError(
            f"A query is a Query or a dictionary, not {shown(query)}.",
            advice="For example: {'text': 'auth*', 'types': ['decision']}.",
        )
    asked = queries.parse(queries.as_mapping(query), now)
    usual = Query()
    for name in _MEANINGLESS:
        if getattr(asked, name) != getattr(usual, name):
            raise InvalidQueryError(
                f"Watching takes no {name}: everything that matches comes as it is written."
            )
    return asked


def _positions(after: object) -> dict[str, int]:
    if not isinstance(after, Mapping):
        raise InvalidQueryError(f"after is an object from session ids to seq, not {shown(after)}.")
    for session, seq in after.items():
        is_number = isinstance(seq, int) and not isinstance(seq, bool)
        if not isinstance(session, str) or not is_number or seq < 0:
            raise InvalidQueryError(
                f"after says {shown(session)}: {shown(seq)}.",
                advice="Give the number of the last line seen for each session id.",
            )
    return dict(after)


def _seconds(poll: object) -> float:
    if isinstance(poll, int | float) and not isinstance(poll, bool) and 0 < poll <= _LONGEST:
        return float(poll)
    raise InvalidQueryError(f"poll must be a number of seconds above 0, not {shown(poll)}.")
