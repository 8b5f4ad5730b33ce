"""Columns: what a power loss or a careless hand takes from them is noticed."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.index.columns import FIELDS, Columns
from tests.index.searching import ids, searcher, some

ROWS = 50


def filled(folder: Path) -> Columns:
    columns = Columns(str(folder), "b1")
    random = np.random.default_rng(7)
    for first in (0, 20):
        count = 20 if first == 0 else ROWS - 20
        columns.write(first, {name: random.integers(0, 200, count) for name in FIELDS})
    return columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("columns")
    filled(made)
    return made


def test_what_was_written_is_whole(folder):
    assert Columns(str(folder), "b1").is_whole(ROWS)
    assert Columns(str(folder), "b1").is_whole(0)


@some
@given(name=st.sampled_from([*FIELDS, "log-check"]), row=st.integers(0, ROWS - 1),
       bit=st.integers(0, 7))  # fmt: skip
def test_one_bit_that_changed_is_noticed_unless_it_is_a_count_of_uses(folder, name, row, bit):
    path = folder / f"{name}.b1.col"
    good = path.read_bytes()
    bad = bytearray(good)
    width = np.dtype(FIELDS.get(name, "<u4")).itemsize
    bad[row * width] ^= 1 << bit
    path.write_bytes(bad)
    try:
        assert Columns(str(folder), "b1").is_whole(ROWS) == (name in ("uses", "used"))
    finally:
        path.write_bytes(good)


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in ("uses", "used")])
def test_zeros_instead_of_what_was_written_are_noticed(tmp_path, name):
    columns = Columns(str(tmp_path), "b1")
    columns.write(0, {name: np.arange(1, 11) for name in FIELDS})
    (tmp_path / f"{name}.b1.col").write_bytes(bytes(65_536 * np.dtype(FIELDS[name]).itemsize))
    assert not Columns(str(tmp_path), "b1").is_whole(10)


def test_uses_are_updated_in_place(tmp_path):
    columns = filled(tmp_path)
    columns.update("uses", [3, 30], [1000, 2000])
    assert columns.read("uses", ROWS)[[3, 30]].tolist() == [1000, 2000]
    assert columns.is_whole(ROWS)


@pytest.mark.req("S002-138")
@pytest.mark.parametrize("name", ["time", "vector", "seq"])
def test_a_column_that_is_cut_while_it_is_mapped_does_not_end_the_process(memory, sid, root, name):
    """Touching a page that is gone kills, so this needs another process."""
    memory.add_many(sid, [{"id": f"m{n}", "content": f"word {n}"} for n in range(30)])
    wanted = sorted(ids(memory.query(sid, text="word", limit=100)))
    memory.close()
    with searcher(root) as other:
        assert sorted(other.ask(sid, text="word", limit=100)) == wanted
        (path,) = (root / "index").glob(f"{name}.*.col")
        os.truncate(path, 0)
        assert sorted(other.ask(sid, text="word", limit=100)) == wanted
        assert path not in (root / "index").iterdir(), "it was built anew"


@pytest.mark.parametrize("name", ["bytes", "sign", "log-check"])
@pytest.mark.parametrize("is_cut", [True, False], ids=["cut", "removed"])
@pytest.mark.parametrize("is_open", [True, False], ids=["open", "closed"])
def test_a_write_makes_no_zeros_of_the_rows_that_a_column_lost(
    root, memory, sid, name, is_cut, is_open
):
    memory.add_many(sid, [{"id": f"m{n}", "content": f"word {n}"} for n in range(30)])
    wanted = set(ids(memory.query(sid, text="word", limit=100)))
    (path,) = (root / "index").glob(f"{name}.*.col")
    if not is_open:
        memory.close()
    if is_cut:
        os.truncate(path, 8)
    else:
        path.unlink()
    memory.add_memory(sid, id="later", content="another word")
    assert set(ids(memory.query(sid, text="word", limit=100))) == {*wanted, "later"}
    memory.close()
    assert set(ids(memory.query(sid, text="word", limit=100))) == {*wanted, "later"}
