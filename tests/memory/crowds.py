"""Crowds of writing processes, what they were promised, and whether it was kept."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.log.independent import records

WRITERS = Path(__file__).parent / "writers.py"


class Noted(NamedTuple):
    """An entry that was acknowledged."""

    id: str
    seq: int
    writer: str
    number: int


def acknowledged(path: Path) -> list[Noted]:
    """What the writers noted; the last line may be half written if its writer was killed."""
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    rows = [line.split(" ") for line in lines]
    return [Noted(one, int(seq), writer, int(number)) for one, seq, writer, number in rows]


class Crowd:
    """Ten writing processes, or as many as are wanted."""

    def __init__(self, root: Path, session_id: str, noted: Path, **wanted: Any) -> None:
        names = ("name", "processes", "threads", "count")
        arguments = [str(root), session_id, *(str(wanted[name]) for name in names), str(noted)]
        self._process = subprocess.Popen(
            [sys.executable, str(WRITERS), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._ids = [int(one) for one in self._process.stdout.readline().split()]
        assert len(self._ids) == wanted["processes"]

    def finish(self) -> None:
        """Wait for them; all must have come to their end without an error."""
        _, errors = self._process.communicate(timeout=120)
        assert (self._process.returncode, errors) == (0, "")

    def kill(self) -> None:
        """Kill them all, where they stand."""
        for one in self._ids:
            os.kill(one, signal.SIGKILL)
        self._process.communicate(timeout=60)
        assert self._process.returncode == signal.SIGKILL


def check_log(folder: Path, noted: list[Noted]) -> None:
    """Every acknowledged entry is there once, under its number, in the order of its writer."""
    lines = [one for one in records(folder) if one["type"] == "conversation"]
    seqs = [one["seq"] for one in lines]
    assert seqs == sorted(set(seqs)), "numbers rise strictly"
    written = {one["id"]: (one["seq"], one["content"]) for one in lines}
    assert len(written) == len(lines), "no entry is there twice"
    for one in noted:
        assert written.get(one.id) == (one.seq, f"{one.writer} {one.number}")
    for writer in {one["agent_id"] for one in lines}:
        numbers = [int(one["content"].split()[1]) for one in lines if one["agent_id"] == writer]
        assert numbers == sorted(set(numbers)), f"{writer} wrote in this order"


@contextmanager
def meanwhile(work: Callable[[], object], pause: float = 0.01) -> Iterator[list[int]]:
    """Repeat something in a thread while the block runs; gives how often it was done."""
    done, failures, stop = [0], [], threading.Event()

    def repeat() -> None:
        try:
            while not stop.is_set():
                work()
                done[0] += 1
                time.sleep(pause)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()
        assert not failures
