"""Model files: mapped, read by hand, and refused with a reason when damaged."""

import json

import numpy as np
import pytest

from mnemolog.embedders.tensors import (
    map_array,
    map_bytes,
    map_tensors,
    read_lines,
    restored,
    rows_of,
)
from mnemolog.errors import CorruptionError, StorageIOError
from retriever import models
from tests.embedders.tiny import safetensors


def test_tensors_come_back_by_name_with_their_shape(tmp_path):
    arrays: dict[str, np.ndarray] = {
        "a": np.arange(6, dtype=np.float32).reshape(2, 3),
        "whole": np.arange(3),
        "b": np.array([1.5], np.float32),
    }
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors(arrays))
    found = map_tensors(str(path))
    assert set(found) == {"a", "b"}, "whole numbers are left out"
    assert found["a"].tolist() == arrays["a"].tolist()
    assert found["b"].tolist() == [1.5]


def test_a_mapped_tensor_cannot_be_written(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(safetensors({"a": np.zeros(4, np.float32)}))
    with pytest.raises(ValueError, match="read-only"):
        map_tensors(str(path))["a"][0] = 1


def test_bytes_come_back_as_numbers_by_the_scale_of_their_row(tmp_path):
    drawn = np.random.default_rng(1).normal(0, [[0.01], [1.0], [50.0]], (3, 64)).astype(np.float32)
    path = tmp_path / "model.safetensors"
    models.write(path, models.rounded({"a.weight": drawn, "a.bias": drawn[0]}))
    found = map_tensors(str(path))
    assert found["a.weight"].dtype == np.int8
    assert restored(found, "a.bias").tolist() == drawn[0].tolist()
    whole = restored(found, "a.weight")
    assert (np.abs(whole - drawn) <= np.abs(drawn).max(axis=1, keepdims=True) / 253).all()
    assert rows_of(found, "a.weight", np.array([2, 0])).tolist() == whole[[2, 0]].tolist()


def test_a_large_number_makes_only_its_own_part_of_a_row_coarse(tmp_path):
    drawn = np.random.default_rng(2).normal(0, 0.01, (2, 2 * models.GROUP)).astype(np.float32)
    drawn[1, 0] = 50
    path = tmp_path / "model.safetensors"
    models.write(path, models.rounded({"a.weight": drawn}))
    lost = np.abs(restored(map_tensors(str(path)), "a.weight") - drawn)
    assert lost[1, : models.GROUP].max() > 0.01
    assert lost[1, models.GROUP :].max() < 0.001
    assert lost[0].max() < 0.001


def damaged(header: object, length: int | None = None) -> bytes:
    encoded = json.dumps(header).encode()
    return (len(encoded) if length is None else length).to_bytes(8, "little") + encoded


@pytest.mark.parametrize(
    "content",
    [
        b"\x00",
        b"not a model at all",
        damaged({}, length=2**63),
        damaged([1, 2]),
        damaged({"a": {"dtype": "F32"}}),
        damaged({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}),
        damaged({"a": 7}),
    ],
    ids=["short", "text", "endless", "list", "bare", "cut off", "number"],
)
def test_a_damaged_file_is_named(tmp_path, content):
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(CorruptionError, match=r"model\.safetensors"):
        map_tensors(str(path))


@pytest.mark.parametrize("read", [map_bytes, map_array, read_lines, map_tensors])
@pytest.mark.parametrize("is_empty", [True, False], ids=["empty", "missing"])
def test_a_missing_or_empty_file_is_named(tmp_path, read, is_empty):
    path = tmp_path / "rows.npy"
    if is_empty:
        path.touch()
    with pytest.raises(StorageIOError, match=r"rows\.npy"):
        read(str(path))


def test_an_array_that_would_run_code_is_refused(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(StorageIOError):
        map_array(str(path))
