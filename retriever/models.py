"""Model files: weights rounded to one byte each, with a scale for every row, as safetensors."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import SCALE, restored

Arrays = dict[str, npt.NDArray[Any]]

_KINDS = {"float32": "F32", "int8": "I8"}


def rounded(weights: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Matrices as bytes with a scale for each row; what is only a row stays as it is."""
    made: Arrays = {}
    for name, one in weights.items():
        if one.ndim == 1:
            made[name] = one.astype(np.float32)
            continue
        scales = np.maximum(np.abs(one).max(axis=1), 1e-12) / 127
        made[name] = np.rint(one / scales[:, None]).astype(np.int8)
        made[name + SCALE] = scales.astype(np.float32)
    return made


def exact(stored: Arrays) -> Arrays:
    """The weights that rounded ones stand for."""
    return {name: restored(stored, name) for name in stored if not name.endswith(SCALE)}


def write(path: Path, arrays: Arrays) -> None:
    """The length of a JSON header, the header, the bytes of the tensors: those of 4 bytes first, so
    that all lie at multiples of their size."""
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
