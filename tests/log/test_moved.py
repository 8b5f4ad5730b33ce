"""What compactions moved out: one packed file for each of them."""

import pytest

from mnemolog import fs
from mnemolog.errors import CorruptionError
from mnemolog.log import moved
from mnemolog.log.lines import Draft
from mnemolog.model.entry import Entry
from mnemolog.testing import SimulatedDisk

PATH = moved.path_of("talk", 2)


def line(number: int) -> bytes:
    stamp = "2026-11-15T09:00:00.000Z"
    entry = Entry(v=1, id=f"m{number}", timestamp=stamp, type="note", origin="agent", content="x")
    return Draft(entry).line(number)


def test_a_damaged_file_is_written_anew_by_any_erasure_for_nobody_knows_what_it_held():
    disk = SimulatedDisk()
    moved.keep(disk, PATH, [line(number) for number in range(1, 2000)])
    whole = fs.read_all(disk, PATH)
    fs.replace(disk, PATH, whole[: len(whole) // 2])
    with pytest.raises(CorruptionError, match="ends too early"):
        moved.read(disk, PATH)
    assert moved.forget(disk, "talk", {"m9999": 99}) == 0
    left = [entry.id for _, entry in moved.read(disk, PATH)]
    assert 0 < len(left) < 1999
    assert left[0] == "m1"
