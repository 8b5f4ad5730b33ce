"""A durable append beside a bare loop of write and fdatasync of the same bytes.

Between the two stands the protocol: the system calls that a safe append needs (design section 4),
in one function without checks, records or errors. What it costs is the floor for any program in
Python, so it tells how much of the distance can be gained at all.
"""

import fcntl
import os
import time
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from bench.figures import Figure
from bench.rounds import Times, Turn, alternate, ratio_beside, timed
from bench.stores import MESSAGE, opened

LIMIT = 1.15
ROUNDS = 50
BATCH = 12


class BareLoop:
    """The least that a durable append can be."""

    def __init__(self, path: Path, lines: Sequence[bytes]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._lines = lines

    def __call__(self, count: int) -> list[int]:
        found = []
        for number in range(count):
            line = self._lines[number % len(self._lines)]
            start = time.perf_counter_ns()
            self.write(line)
            self.sync()
            found.append(time.perf_counter_ns() - start)
        return found

    def write(self, line: bytes) -> None:
        os.write(self._file, line)

    def sync(self) -> None:
        os.fdatasync(self._file)

    def size(self) -> int:
        return os.fstat(self._file).st_size

    def close(self) -> None:
        os.close(self._file)


class Protocol:
    """The system calls of a safe append and the hash of its line, and nothing else."""

    def __init__(self, folder: Path, lines: Sequence[bytes]) -> None:
        self._paths = [str(folder / name) for name in ("p-lock", "p-guard", "p-mark")]
        self._lock, *rest = (os.open(path, os.O_RDWR | os.O_CREAT, 0o600) for path in self._paths)
        self._bare = BareLoop(folder / "p-log", lines)
        self._open = [self._lock, *rest]
        self._lines = lines

    def __call__(self, count: int) -> list[int]:
        return timed(self._append, count)

    def _append(self) -> None:
        lock, guard, mark = self._paths
        digest = sha256(self._lines[0])
        os.stat(guard)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.stat(lock)
        os.stat(guard)
        self._bare.size()
        self._bare.write(self._lines[0] if digest.digest() else b"")
        fcntl.flock(self._lock, fcntl.LOCK_UN)
        os.stat(mark)
        self._bare.sync()

    def close(self) -> None:
        self._bare.close()
        for descriptor in self._open:
            os.close(descriptor)


def measure(folder: Path) -> list[Figure]:
    with opened(folder) as memory:
        session = memory.create_session("u1", agent_ids=["architect"])
        append = partial(memory.add_conversation, session.id, MESSAGE)
        timed(append, BATCH)
        log = folder / "sessions" / session.id / "memory.jsonl"
        lines = log.read_bytes().splitlines(keepends=True)
        bare = BareLoop(folder / "sessions" / session.id / "bare", lines)
        protocol = Protocol(folder / "sessions" / session.id, lines)
        rivals: dict[str, Turn] = {
            "mnemolog": partial(timed, append),
            "protocol": protocol,
            "bare": bare,
        }
        for rival in rivals.values():
            rival(BATCH)
        times = alternate(rivals, ROUNDS, BATCH)
        protocol.close()
        bare.close()
    found = _figures(times["mnemolog"], times["bare"], len(lines[0]))
    beside = ratio_beside(times["protocol"], times["bare"])
    floor = times["protocol"].over(times["bare"])
    what = "the floor: only its system calls and hash, to a bare write + fdatasync"
    return [*found, Figure("one writer", what, floor, "×", beside=beside)]


def _figures(ours: Times, bare: Times, length: int) -> list[Figure]:
    """Two verdicts: a slow disk hides our own part in the medians, the best cases show it."""
    what = f"durable append of {length} bytes to a bare write + fdatasync"
    ratios = {
        what: (ours.over(bare), f"{ours.median_us:,.0f} µs to {bare.median_us:,.0f} µs"),
        "the same, best case to best case": (
            ours.min_us / bare.min_us,
            f"{ours.min_us:,.0f} µs to {bare.min_us:,.0f} µs",
        ),
    }
    details = {"mnemolog": ours.summary(), "bare": bare.summary()}
    return [
        Figure("one writer", name, ratio, "×", f"≤ {LIMIT} ×", ratio <= LIMIT, beside, details)
        for name, (ratio, beside) in ratios.items()
    ]
