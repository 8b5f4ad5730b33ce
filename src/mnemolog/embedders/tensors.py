"""Model files, mapped into memory: nothing is read before it is used, and nothing is ever written.

These files come with installed wheels and lie outside every memory root, so they do not pass
through `fs`, whose door is for what mnemolog itself writes.
"""

import json
import os
from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from mnemolog.errors import CorruptionError, StorageIOError

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]
Tensors = Mapping[str, npt.NDArray[Any]]
"""Numbers of 32 bits; or of one byte, with scales for equal parts of each row under the name and
`SCALE`."""

SCALE = ".scale"
_KINDS: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I8": np.dtype("i1"),
}

_LENGTH_BYTES = 8
_ADVICE = "Install the package that brings it again."


class _Described(TypedDict):
    dtype: str
    shape: list[int]
    data_offsets: list[int]


def map_bytes(path: str) -> Bytes:
    """The bytes of a file."""
    try:
        # As a plain array: the class memmap costs microseconds at every access.
        return np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def map_array(path: str) -> npt.NDArray[Any]:
    """The array of a .npy file."""
    try:
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def read_lines(path: str) -> list[str]:
    """The lines of a UTF-8 file."""
    return map_bytes(path).tobytes().decode("utf-8").rstrip("\n").split("\n")


def map_tensors(path: str) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a safetensors file, by name; those of unknown kinds are left out."""
    content = map_bytes(path)
    start = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES].tobytes(), "little")
    try:
        if start > len(content):
            raise ValueError("its header is cut off")
        header = json.loads(content[_LENGTH_BYTES:start].tobytes())
        header.pop("__metadata__", None)
        return {
            name: _tensor(content[start:], described)
            for name, described in header.items()
            if described["dtype"] in _KINDS
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptionError(
            f"{os.path.basename(path)!r} is not a file of safetensors: {error}.",
            advice=_ADVICE,
            path=path,
        ) from error


def restored(tensors: Tensors, name: str) -> Floats:
    """A tensor as numbers of 32 bits."""
    found = tensors[name]
    return found if found.dtype != np.int8 else _scaled(found, tensors[name + SCALE])


def rows_of(tensors: Tensors, name: str, numbers: npt.NDArray[Any]) -> Floats:
    """Some rows of a tensor as numbers of 32 bits; the others are not even read."""
    found: Floats = tensors[name][numbers]
    return found if found.dtype != np.int8 else _scaled(found, tensors[name + SCALE][numbers])


def _scaled(stored: npt.NDArray[Any], scales: npt.NDArray[Any]) -> Floats:
    """Rows of bytes as numbers, each part of a row by its scale."""
    parts = stored.reshape(*scales.shape, -1)
    whole: Floats = parts * scales.astype(np.float32)[..., None]
    return whole.reshape(stored.shape)


def _unreadable(path: str, error: Exception) -> StorageIOError:
    return StorageIOError(
        f"The model file {os.path.basename(path)!r} cannot be read: {error}.",
        advice=_ADVICE,
        path=path,
    )


def _tensor(content: Bytes, described: _Described) -> npt.NDArray[Any]:
    first, end = described["data_offsets"]
    return content[first:end].view(_KINDS[described["dtype"]]).reshape(described["shape"])
