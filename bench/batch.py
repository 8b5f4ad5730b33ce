"""A hundred entries at once beside a hundred single ones."""

from functools import partial
from pathlib import Path

from bench.figures import Figure
from bench.rounds import alternate, timed
from bench.stores import MESSAGE, CountedDisk, on_disk
from mnemolog.fs.real import RealDisk

SIZE = 100
ROUNDS = 8
RECORD = {"type": "conversation", **MESSAGE}


def measure(folder: Path) -> list[Figure]:
    disk = CountedDisk(RealDisk(str(folder)))
    memory = on_disk(disk)
    memory.create_session("u1", agent_ids=["architect"], session_id="talk")
    memory.add_many("talk", [RECORD])
    disk.calls.clear()
    memory.add_many("talk", [RECORD] * SIZE)
    syncs, writes = disk.calls["sync"], disk.calls["append"]
    batch = partial(memory.add_many, "talk", [RECORD] * SIZE)
    single = partial(memory.add_conversation, "talk", MESSAGE)
    rivals = {
        "batch": lambda _: timed(batch, 3),
        "single": lambda _: timed(single, 30),
    }
    times = alternate(rivals, ROUNDS, 1)
    memory.close()
    each = times["batch"].median_us / SIZE
    return [
        Figure(
            "batch",
            f"fdatasyncs of {SIZE} entries at once",
            syncs,
            "",
            "1",
            syncs == 1,
            f"{writes} write",
        ),
        Figure(
            "batch",
            f"one of {SIZE} entries at once to a single one",
            times["batch"].over(times["single"]) / SIZE,
            "×",
            beside=f"{each:,.0f} µs to {times['single'].median_us:,.0f} µs for each entry",
            details={name: one.summary() for name, one in times.items()},
        ),
    ]
