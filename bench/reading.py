"""Listing and loading many sessions, and reading a large one; for the record."""

from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Figure, shown
from bench.rounds import timed
from bench.stores import MESSAGE, opened, unsynced

SESSIONS = 1_000
MEGABYTES = 10
ROUNDS = 5


def measure(folder: Path) -> list[Figure]:
    return [*_many_sessions(folder / "many"), *_one_large(folder / "large")]


def _many_sessions(folder: Path) -> list[Figure]:
    filling = unsynced(folder)
    ids = [filling.create_session("u1", agent_ids=["architect"]).id for _ in range(SESSIONS)]
    for session_id in ids:
        filling.add_conversation(session_id, MESSAGE)
    filling.close()
    lists: list[float] = []
    loads: list[float] = []
    for _ in range(ROUNDS):
        with opened(folder) as memory:
            lists += [one / 1e6 for one in timed(memory.list_sessions, 1)]
            assert len(memory.list_sessions()) == SESSIONS
            start = perf_counter()
            for session_id in ids:
                memory.load_session(session_id)
            loads.append((perf_counter() - start) / SESSIONS)
    return [
        _record(f"list_sessions at {SESSIONS:,} sessions, first of all", lists[:1], "ms"),
        _record(f"list_sessions at {SESSIONS:,} sessions, later", lists[1:], "ms"),
        _record(f"load_session at {SESSIONS:,} sessions, each", [one * 1e6 for one in loads], "µs"),
    ]


def _one_large(folder: Path) -> list[Figure]:
    with unsynced(folder) as filling:
        filling.create_session("u1", agent_ids=["architect"], session_id="talk")
        wanted, wrote = MEGABYTES * 1024 * 1024, 0
        while wrote < wanted:
            receipts = filling.add_many("talk", [{"type": "conversation", **MESSAGE}] * 1000)
            wrote = filling.get_statistics("talk").size_bytes
        last = receipts[-1]
    cold: dict[str, list[float]] = {}
    warm: dict[str, list[float]] = {}
    for name in ("get_statistics", "get_memory"):
        for _ in range(ROUNDS):
            with opened(folder) as memory:
                arguments = ("talk", last.id) if name == "get_memory" else ("talk",)
                call = partial(getattr(memory, name), *arguments)
                cold.setdefault(name, []).extend(one / 1e6 for one in timed(call, 1))
                warm.setdefault(name, []).extend(one / 1e6 for one in timed(call, 20))
    what = f"of {wrote / 1024 / 1024:.0f} MiB, {last.seq:,} entries"
    return [
        _record(f"{name} {what}, {state}", found[name], "ms")
        for name in cold
        for state, found in (("first in a handle", cold), ("again", warm))
    ]


def _record(what: str, found: list[float], unit: str) -> Figure:
    return Figure(
        "reading",
        what,
        median(found),
        unit,
        beside=f"best {shown(min(found))}, worst {shown(max(found))} {unit}",
        details={"all": [round(one, 4) for one in found]},
    )
