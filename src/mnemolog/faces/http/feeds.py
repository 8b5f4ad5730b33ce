"""Feeds: what happens in a memory, as events that carry ids and numbers, never content.

There is one feed for each scope that somebody follows, made by the memory as that scope may see
it, so that nobody hears of what they may not read.
"""

import asyncio
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple
from weakref import WeakSet

from mnemolog.errors import MnemologError
from mnemolog.faces.http.passes import Scope
from mnemolog.faces.http.problems import RefusedError
from mnemolog.memory import Memory

TOPICS = ("entry", "session", "hidden", "node", "review", "job", "worker", "health")
RESYNC = "resync"

_KEPT = 2048
_WAITING = 256
_MOST_FEEDS = 16
_MOST_READERS = 64
_POLL = 0.2
_SESSIONS_POLL = 1.0
_IDLE_SECONDS = 300.0
_SESSIONS = 200


Sessions = dict[str, tuple[str, str]]
"""The state of each session, and when it was changed last."""


class Event(NamedTuple):
    """Something that happened."""

    number: int
    topic: str
    body: dict[str, Any]


class Reader:
    """One stream: a short queue; who does not keep up is told to start over."""

    def __init__(self, topics: frozenset[str], loop: asyncio.AbstractEventLoop) -> None:
        self._topics = topics
        self._loop = loop
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()

    def offer(self, event: Event) -> None:
        """Hand over an event, from any thread."""
        if event.topic in self._topics or event.topic == RESYNC:
            self._loop.call_soon_threadsafe(self._put, event)

    def end(self) -> None:
        """Let the stream end."""
        self._loop.call_soon_threadsafe(self._queue.put_nowait, None)

    def _put(self, event: Event) -> None:
        if self._queue.qsize() >= _WAITING:
            while not self._queue.empty():
                self._queue.get_nowait()
            event = Event(event.number, RESYNC, {"reason": "slow"})
        self._queue.put_nowait(event)

    async def next(self, seconds: float) -> Event | None:
        """The next event; None when the stream is over. Raises TimeoutError."""
        return await asyncio.wait_for(self._queue.get(), seconds)


class Feed:
    """The events of one scope."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._mutex = threading.Lock()
        self._kept: deque[Event] = deque(maxlen=_KEPT)
        # Weakly: a stream whose client went away before it began is never told to leave.
        self._readers: WeakSet[Reader] = WeakSet()
        self._number = 0
        self._stop = threading.Event()
        self._boot = secrets.token_hex(4)
        self._follows = threading.Event()
        self._left = time.monotonic()
        self._threads = [
            threading.Thread(target=call, name="mnemolog-feed", daemon=True)
            for call in (self._follow_entries, self._follow_sessions)
        ]
        for thread in self._threads:
            thread.start()

    def publish(self, topic: str, **body: Any) -> None:
        """Tell all readers that something happened."""
        with self._mutex:
            self._number += 1
            event = Event(self._number, topic, body)
            self._kept.append(event)
            readers = list(self._readers)
        for reader in readers:
            reader.offer(event)

    def wait(self, seconds: float) -> None:
        """Wait until nothing that is written from now on goes unnoticed."""
        self._follows.wait(seconds)

    def idle_since(self) -> float | None:
        """When the last reader left; None while there is one."""
        with self._mutex:
            return None if self._readers else self._left

    def name_of(self, event: Event) -> str:
        """What an event goes by in `Last-Event-ID`."""
        return f"{self._boot}-{event.number}"

    def join(self, topics: frozenset[str], last: str | None) -> Reader:
        """Begin to read: from the event after the one that was seen last, or from now on.

        Raises a 503 where too many read already.
        """
        reader = Reader(topics, asyncio.get_running_loop())
        with self._mutex:
            if len(self._readers) >= _MOST_READERS:
                raise RefusedError(
                    503, "E_BUSY", "Too many streams are open already.", retry_after=5
                )
            missed = self._since(last)
            self._readers.add(reader)
        for event in missed:
            reader.offer(event)
        return reader

    def leave(self, reader: Reader) -> None:
        """Read no more."""
        with self._mutex:
            self._readers.discard(reader)
            self._left = time.monotonic()

    def _since(self, last: str | None) -> list[Event]:
        if last is None:
            return []
        boot, _, number = last.partition("-")
        first = self._kept[0].number if self._kept else self._number + 1
        if boot == self._boot and number.isdecimal() and first - 1 <= int(number) <= self._number:
            return [event for event in self._kept if event.number > int(number)]
        return [Event(self._number, RESYNC, {"reason": "gap"})]

    def _follow_entries(self) -> None:
        while not self._stop.is_set():
            try:
                news = self._memory.watch(poll=_POLL, stop=self._stop)
                self._follows.set()
                for hit in news:
                    entry = hit.entry
                    self.publish(
                        "entry",
                        session_id=entry.session_id,
                        id=entry.id,
                        seq=entry.seq,
                        type=entry.type,
                        agent_id=entry.agent_id,
                    )
            except MnemologError:  # the disk, or a log that is rewritten: readers look again
                self._follows.set()
                self.publish(RESYNC, reason="lost")
                self._stop.wait(_SESSIONS_POLL)

    def _follow_sessions(self) -> None:
        known = self._sessions()
        while not self._stop.wait(_SESSIONS_POLL):
            now = self._sessions()
            if known is not None and now is not None:
                self._compare(known, now)
            known = known if now is None else now

    def _compare(self, known: Sessions, now: Sessions) -> None:
        """Tell what became of the sessions since the last look."""
        for session_id, state in now.items():
            if known.get(session_id) != state:
                self.publish("session", session_id=session_id, state=state[0])
        for session_id in known.keys() - now.keys() if len(now) < _SESSIONS else ():
            self.publish("session", session_id=session_id, state="deleted")

    def _sessions(self) -> Sessions | None:
        """The sessions changed last; None while nobody can tell."""
        try:
            found = self._memory.list_sessions(limit=_SESSIONS)
        except MnemologError:
            return None
        return {one.id: (one.state, one.updated_at) for one in found}

    def close(self) -> None:
        """End all streams, and stop looking."""
        self._stop.set()
        with self._mutex:
            readers = list(self._readers)
        for reader in readers:
            reader.end()

    def join_threads(self) -> None:
        """Wait until nothing reads the memory any more."""
        for thread in self._threads:
            thread.join(timeout=5)


class Feeds:
    """The feeds of all scopes that are followed."""

    def __init__(self, view: Callable[[Scope], Memory]) -> None:
        self._view = view
        self._mutex = threading.Lock()
        self._feeds: OrderedDict[Scope, Feed] = OrderedDict()
        self._is_closed = False

    def of(self, scope: Scope) -> Feed:
        """The feed of a scope; it begins when it is first asked for."""
        with self._mutex:
            if self._is_closed:
                raise RefusedError(503, "E_CLOSING", "The server is about to end.")
            if scope not in self._feeds:
                # Others cannot keep out whoever sees everything.
                is_full = len(self._feeds) >= _MOST_FEEDS and scope != Scope()
                if is_full and not self._drop(time.monotonic()):
                    raise RefusedError(503, "E_BUSY", "Too many scopes are followed at once.")
                self._feeds[scope] = Feed(self._view(scope))
            return self._feeds[scope]

    def sweep(self) -> None:
        """Stop to look for what nobody has followed for a while."""
        with self._mutex:
            self._drop(time.monotonic() - _IDLE_SECONDS)

    def _drop(self, before: float) -> int:
        """Close the feeds that nobody has followed since a moment; says how many."""
        idle = {scope: feed.idle_since() for scope, feed in self._feeds.items()}
        gone = [scope for scope, since in idle.items() if since is not None and since <= before]
        for scope in gone:
            self._feeds.pop(scope).close()
        return len(gone)

    def publish(self, topic: str, scope: Scope, **body: Any) -> None:
        """Tell the scope in which it happened, and all that this one is within."""
        with self._mutex:
            feeds = [feed for own, feed in self._feeds.items() if own.covers(scope)]
        for feed in feeds:
            feed.publish(topic, **body)

    def close(self) -> None:
        """End every stream."""
        with self._mutex:
            self._is_closed = True
            feeds = list(self._feeds.values())
        for feed in feeds:
            feed.close()
        for feed in feeds:
            feed.join_threads()


async def lines(
    feed: Feed, reader: Reader, encode: Callable[[Any], bytes], is_welcome: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """A stream as server-sent events, with a comment every 15 s so that nobody thinks it dead.

    It ends with the first word after its reader is no longer welcome, which is not said any more.
    """
    try:
        yield b"retry: 1000\n\n"
        while (told := await _next(feed, reader, encode)) is not None and is_welcome():
            yield told
    finally:
        feed.leave(reader)


async def _next(feed: Feed, reader: Reader, encode: Callable[[Any], bytes]) -> bytes | None:
    """What is said next; None when the stream is over."""
    try:
        event = await reader.next(15.0)
    except TimeoutError:
        return b": still here\n\n"
    if event is None:
        return None
    name, body = feed.name_of(event), encode(event.body)
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (name.encode(), event.topic.encode(), body)
