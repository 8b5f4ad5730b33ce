"""Figures for Prometheus: the eight that the documents name, and what the server itself does."""

import threading
from collections import Counter, deque

from mnemolog.faces.http.door import Seen
from mnemolog.memory import Memory
from mnemolog.model.observing import Fact

# The server adds the charset; said twice, it is a type that Prometheus refuses.
TYPE = "text/plain; version=0.0.4"
_BOUNDS = (1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000)
_POINTS = 1440


class Timing:
    """How long something took: a histogram in milliseconds."""

    def __init__(self) -> None:
        self.counts = [0] * (len(_BOUNDS) + 1)
        self.total = 0.0
        self.recent: deque[float] = deque(maxlen=2000)

    def add(self, milliseconds: float) -> None:
        """Take one more into account."""
        place = next((n for n, bound in enumerate(_BOUNDS) if milliseconds <= bound), len(_BOUNDS))
        self.counts[place] += 1
        self.total += milliseconds
        self.recent.append(milliseconds)

    @property
    def count(self) -> int:
        """How many there were."""
        return sum(self.counts)

    def quantile(self, share: float) -> float:
        """A quantile of the last two thousand."""
        ordered = sorted(self.recent)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


class Figures:
    """What was counted since the server began."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._timings = {"write": Timing(), "query": Timing(), "http": Timing()}
        self._counts: Counter[str] = Counter()
        self._statuses: Counter[tuple[str, str, int]] = Counter()
        self._sampling = threading.Lock()
        self._series: deque[dict[str, float]] = deque(maxlen=_POINTS)

    def note(self, fact: Fact) -> None:
        """Take a fact from the core: a name and numbers."""
        with self._mutex:
            self._counts[fact.name] += 1
            if fact.name in self._timings:
                self._timings[fact.name].add(fact.numbers.get("duration_ms", 0.0))

    def seen(self, request: Seen) -> None:
        """Take a request into account."""
        with self._mutex:
            self._timings["http"].add(request.seconds * 1000)
            self._statuses[request.method, request.route, request.status] += 1

    def count(self, name: str) -> int:
        """How often something happened."""
        with self._mutex:
            return self._counts[name]

    def now(self, memory: Memory) -> dict[str, float]:
        """The eight figures at this moment."""
        total = memory.numbers().summary
        active = len(memory.list_sessions(state="active"))
        with self._mutex:
            write, query = self._timings["write"], self._timings["query"]
            values = (
                active,
                sum(total.counts.values()),
                total.size_bytes,
                write.quantile(0.99),
                query.quantile(0.95),
                self._counts["lock.contended"],
                self._counts["compaction.ended"],
                total.damaged,
            )
        return dict(zip(FIGURES, values, strict=True))

    def sample(self, memory: Memory, at: float) -> None:
        """Keep the figures of this moment for the charts."""
        self._series.append({"at": at, **self.now(memory)})

    def series(self, memory: Memory, at: float) -> list[dict[str, float]]:
        """What was kept; the figures of this moment where nothing was, once for all who ask."""
        with self._sampling:
            if not self._series:
                self.sample(memory, at)
        return list(self._series)

    def text(self, memory: Memory) -> str:
        """Everything in Prometheus' form."""
        now = self.now(memory)
        parts = [_one(name, kind, text, now[name]) for name, kind, text in _EIGHT]
        with self._mutex:
            for name, text in _TIMINGS.items():
                parts.append(_histogram(name, text, self._timings[name]))
            parts.append(_requests(self._statuses))
        return "".join(parts)


FIGURES = (
    "memory.sessions.active",
    "memory.entries.total",
    "memory.size.bytes",
    "memory.operations.write.duration_ms",
    "memory.operations.query.duration_ms",
    "memory.locks.contention.count",
    "memory.compaction.count",
    "memory.errors.corruption.count",
)
"""The eight, by name."""
_EIGHT = (
    ("memory.sessions.active", "gauge", "Sessions that are neither idle nor archived."),
    ("memory.entries.total", "gauge", "Entries that live."),
    ("memory.size.bytes", "gauge", "Bytes of all sessions' logs."),
    ("memory.locks.contention.count", "counter", "How often a writer found a lock taken."),
    ("memory.compaction.count", "counter", "Compactions since the server began."),
    ("memory.errors.corruption.count", "gauge", "Lines that cannot be read."),
)
_TIMINGS = {
    "write": "memory_operations_write_duration_ms",
    "query": "memory_operations_query_duration_ms",
    "http": "http_request_duration_ms",
}


def _one(name: str, kind: str, text: str, value: float) -> str:
    own = name.replace(".", "_")
    own = f"{own}_total" if kind == "counter" else own
    return f"# HELP {own} {text}\n# TYPE {own} {kind}\n{own} {value}\n"


def _histogram(name: str, own: str, timing: Timing) -> str:
    rows = [f"# HELP {own} Milliseconds that a {name} took.\n# TYPE {own} histogram\n"]
    total = 0
    for bound, count in zip((*_BOUNDS, "+Inf"), timing.counts, strict=True):
        total += count
        rows.append(f'{own}_bucket{{le="{bound}"}} {total}\n')
    rows.append(f"{own}_sum {timing.total}\n{own}_count {total}\n")
    return "".join(rows)


def _requests(statuses: Counter[tuple[str, str, int]]) -> str:
    own = "http_requests_total"
    rows = [f"# HELP {own} Requests by route.\n# TYPE {own} counter\n"]
    for (method, route, status), count in sorted(statuses.items()):
        rows.append(f'{own}{{method="{method}",route="{route}",status="{status}"}} {count}\n')
    return "".join(rows)
