"""Model files, mapped into memory: nothing is read before it is used, and nothing is ever written.

These files come with installed wheels and lie outside every memory root, so they do not pass
through `fs`, whose door is for what mnemolog itself writes.
"""

import json
import os
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from mnemolog.errors import CorruptionError, StorageIOError

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

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


def map_tensors(path: str) -> dict[str, Floats]:
    """The 32-bit tensors of a safetensors file, by name; those of other kinds are left out."""
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
            if described["dtype"] == "F32"
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptionError(
            f"{os.path.basename(path)!r} is not a file of safetensors: {error}.",
            advice=_ADVICE,
            path=path,
        ) from error


def _unreadable(path: str, error: Exception) -> StorageIOError:
    return StorageIOError(
        f"The model file {os.path.basename(path)!r} cannot be read: {error}.",
        advice=_ADVICE,
        path=path,
    )


def _tensor(content: Bytes, described: _Described) -> Floats:
    first, end = described["data_offsets"]
    return content[first:end].view(np.dtype("<f4")).reshape(described["shape"])
