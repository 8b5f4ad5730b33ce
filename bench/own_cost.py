"""What an append costs beside the sync, which is the disk's; for the record."""

from functools import partial
from pathlib import Path

from bench.figures import Figure
from bench.rounds import alternate, ratio_beside, timed
from bench.stores import MESSAGE, opened

ROUNDS = 20
BATCH = 50


def measure(folder: Path) -> list[Figure]:
    """Two sessions take turns: a plain one, and one that has a setting of its own."""
    own = {"storage.durability": "os"}
    with opened(folder, **own) as memory:
        memory.create_session("u1", agent_ids=["architect"], session_id="plain")
        memory.create_session("u1", agent_ids=["architect"], session_id="own", settings=own)
        appends = {
            name: partial(timed, partial(memory.add_conversation, name, MESSAGE))
            for name in ("plain", "own")
        }
        for append in appends.values():
            append(BATCH)
        times = alternate(appends, ROUNDS, BATCH)
    plain = times["plain"]
    details = {name: one.summary() for name, one in times.items()}
    return [
        Figure(
            "own cost",
            "append without its sync",
            plain.median_us,
            "µs",
            beside=f"best {plain.min_us:,.0f} µs",
            details=details,
        ),
        Figure(
            "own cost",
            "the same in a session with a setting of its own, to one without",
            times["own"].over(plain),
            "×",
            beside=ratio_beside(times["own"], plain),
        ),
    ]
