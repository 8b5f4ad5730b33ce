"""An append to a long session beside one to a short one, and the calls that it makes."""

from functools import partial
from pathlib import Path

from bench.figures import Figure
from bench.rounds import Times, alternate, ratio_beside, timed
from bench.stores import MESSAGE, CountedDisk, filled, on_disk, opened
from mnemolog.fs.real import RealDisk

LONG = 100_000
SHORT = 1_000
ROUNDS = 50
BATCH = 12
LOWEST, HIGHEST = 0.9, 1.1


def measure(folder: Path) -> list[Figure]:
    filled(folder, LONG, "long")
    filled(folder, SHORT, "short")
    return [
        _ratio("with its sync", _alternated(folder, "always")),
        _ratio("without the sync", _alternated(folder, "os")),
        _calls(folder),
    ]


def _alternated(folder: Path, durability: str) -> dict[str, Times]:
    with opened(folder, **{"storage.durability": durability}) as memory:
        appends = {
            name: partial(timed, partial(memory.add_conversation, name, MESSAGE))
            for name in ("long", "short")
        }
        for append in appends.values():
            append(BATCH)
        return alternate(appends, ROUNDS, BATCH)


def _ratio(what: str, times: dict[str, Times]) -> Figure:
    ratio = times["long"].over(times["short"])
    return Figure(
        "growth",
        f"append at {LONG:,} entries to one at {SHORT:,}, {what}",
        ratio,
        "×",
        "1.0 ± 0.1",
        LOWEST <= ratio <= HIGHEST,
        ratio_beside(times["long"], times["short"]),
        {name: one.summary() for name, one in times.items()},
    )


def _calls(folder: Path) -> Figure:
    disk = CountedDisk(RealDisk(str(folder)))
    memory = on_disk(disk)
    memory.add_conversation("long", MESSAGE)
    disk.calls.clear()
    memory.add_conversation("long", MESSAGE)
    calls = {name: disk.calls[name] for name in ("append", "sync", "rename", "sync_folder")}
    return Figure(
        "growth",
        f"writes and syncs of one append at {LONG:,} entries",
        calls["append"] + calls["sync"],
        "calls",
        "1 write + 1 sync, 0 renames",
        calls == {"append": 1, "sync": 1, "rename": 0, "sync_folder": 0},
        f"{calls['append']} write, {calls['sync']} fdatasync, {calls['rename']} renames",
        dict(disk.calls),
    )
