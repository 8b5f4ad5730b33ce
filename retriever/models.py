"""Model files: weights rounded to one byte each, with scales for parts of rows, as safetensors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import SCALE

Arrays = dict[str, npt.NDArray[Any]]

_KINDS = {"float32": "F32", "float16": "F16", "int8": "I8"}
# So many numbers of a row share a scale: with one for a whole row, single large weights would make
# all others coarse.
GROUP = 128
# Scales are kept in 16 bits, of which smaller ones would have too few.
_LEAST = 1e-6


def rounded(weights: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Matrices as bytes with their scales; what is only a row stays as it is."""
    made: Arrays = {}
    for name, one in weights.items():
        if one.ndim == 1:
            made[name] = one.astype(np.float32)
        else:
            made[name], made[name + SCALE] = in_bytes(one)
    return made


def in_bytes(matrix: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    """A matrix as bytes, and a scale for each group of a row."""
    rows, width = matrix.shape
    parts = matrix.reshape(rows, -1, width if width % GROUP else GROUP)
    scales = np.maximum(np.abs(parts).max(axis=2) / 127, _LEAST).astype(np.float16)
    stored = np.clip(np.rint(parts / scales[:, :, None].astype(np.float32)), -127, 127)
    return stored.astype(np.int8).reshape(rows, width), scales


def write(path: Path, arrays: Arrays) -> None:
    """The length of a JSON header, the header, the bytes of the tensors: those of the longest
    numbers first, so that all lie at multiples of their size."""
    ordered = dict(sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0])))
    header: dict[str, object] = {"__metadata__": {"format": "np"}}
    end = 0
    for name, array in ordered.items():
        start, end = end, end + array.nbytes
        kind = _KINDS[array.dtype.name]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, end]}
    encoded = json.dumps(header).encode()
    encoded += b" " * (-len(encoded) % 8)
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in ordered.values())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(len(encoded).to_bytes(8, "little") + encoded + body)
