"""Erasing one entry of a long session, the proof, a compaction, and appends with redaction."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import Figure
from bench.rounds import alternate, ratio_beside, timed
from bench.stores import MESSAGE, filled, opened

LONG = 100_000
ERASE_LIMIT = 1.0
ROUNDS = 20
BATCH = 50


def measure(folder: Path) -> list[Figure]:
    filled(folder, LONG, "long")
    with opened(folder) as memory:
        memory.query("long", text="payments", limit=1)
        ids = [entry.id for entry in memory.get_entries("long", last=4)]
        figures = [
            _erasing("one entry", partial(memory.erase, "long", ids=ids[:1], verify=False)),
            _erasing("the next one", partial(memory.erase, "long", ids=ids[1:2], verify=False)),
        ]
        proof = _seconds(partial(memory.verify_erasure, ids=ids[:2]))
        found = _seconds(partial(memory.query, "long", text="payments", limit=1))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        rewritten = _seconds(partial(memory.compact_session, "long"))
    return [
        *figures,
        Figure("forgetting", "the first search after it", found * 1000, "ms"),
        Figure("forgetting", f"looking into all {size / 1e6:,.0f} MB for two ids", proof, "s"),
        Figure("forgetting", f"compacting {LONG:,} entries", rewritten, "s"),
        _redaction(folder),
    ]


def _seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _erasing(what: str, call: Callable[[], Any]) -> Figure:
    took = _seconds(call)
    name = f"erasing {what} of {LONG:,}, without the proof"
    return Figure("forgetting", name, took, "s", f"≤ {ERASE_LIMIT} s", took <= ERASE_LIMIT)


def _redaction(folder: Path) -> Figure:
    """Two sessions take turns: one with redaction, one without."""
    with opened(folder, **{"storage.durability": "os"}) as memory:
        off = {"privacy.redaction": False}
        memory.create_session(session_id="on", agent_ids=["architect"])
        memory.create_session(session_id="off", agent_ids=["architect"], settings=off)
        appends = {
            name: partial(timed, partial(memory.add_conversation, name, MESSAGE))
            for name in ("on", "off")
        }
        for append in appends.values():
            append(BATCH)
        times = alternate(appends, ROUNDS, BATCH)
    return Figure(
        "forgetting",
        "append with redaction to one without, both without their sync",
        times["on"].over(times["off"]),
        "×",
        beside=ratio_beside(times["on"], times["off"]),
    )
