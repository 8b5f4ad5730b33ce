"""Live events."""

import asyncio
from typing import Annotated

import msgspec
from litestar import get
from litestar.params import HeaderParameter
from litestar.response import Stream

from mnemolog.faces.http.feeds import TOPICS, lines
from mnemolog.faces.http.house import Asking
from mnemolog.faces.http.problems import RefusedError
from mnemolog.faces.http.queries import Names, names

_BEGINS = 30.0
_TYPE = "text/event-stream"
_encode = msgspec.json.Encoder().encode


@get("/events", media_type=_TYPE)
async def events(
    caller: Asking,
    topics: Names = None,
    last_event_id: Annotated[
        str | None, HeaderParameter(name="Last-Event-ID", max_length=100)
    ] = None,
) -> Stream:
    """What happens, as server-sent events that carry ids and counts."""
    wanted = frozenset(names(topics) or TOPICS)
    if unknown := wanted - set(TOPICS):
        raise RefusedError(
            400,
            "E_TOPIC",
            f"There is no topic {min(unknown)!r:.40}.",
            advice=f"Use {', '.join(TOPICS)}.",
            field="topics",
        )
    feed = caller.house.feeds.of(caller.reach)
    reader = feed.join(wanted, last_event_id)
    await asyncio.to_thread(feed.wait, _BEGINS)
    told = lines(feed, reader, _encode, lambda: caller.is_welcome)
    headers = {"X-Accel-Buffering": "no"}
    return Stream(told, headers=headers)


ROUTES = [events]
