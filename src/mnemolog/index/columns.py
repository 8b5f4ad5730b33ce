"""Columns: one number of each row in one file each, addressed by the row's number.

The database's commit publishes a row: a reader trusts only the rows below the count that its own
snapshot of the database gives, so bytes left by a transaction that was rolled back are overwritten
before anybody looks at them.
"""

import mmap
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FIELDS: dict[str, str] = {
    "log": "<u4",
    "kind": "<u2",
    "scope": "<u1",
    "agent": "<u4",
    "time": "<i8",
    "importance": "<f4",
    "length": "<u2",
    "previous": "<u4",
    "seq": "<u4",
    "segment": "<u2",
    "offset": "<u4",
    "bytes": "<u4",
    "uses": "<u4",
    "used": "<i8",
}

NONE = 0xFFFFFFFF

_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


# Files grow by so many rows at a time, so that a mapping lasts for many appends.
_CHUNK = 65_536


class Columns:
    """The columns of one build of the index.

    The build stands in the names, so that whoever still holds an older one open never writes into
    the files of the one that replaced it.
    """

    def __init__(
        self, folder: str, build: str, fields: Mapping[str, str] = FIELDS, width: int = 1
    ) -> None:
        self._folder = folder
        self._build = build
        self._types = {name: np.dtype(kind) for name, kind in fields.items()}
        self._width = width
        self._maps: dict[str, Array] = {}

    def write(self, first: int, values: Mapping[str, Array]) -> None:
        """Write rows from `first` on; published by the commit that follows."""
        for name, column in values.items():
            size = self._types[name].itemsize * self._width
            content = np.ascontiguousarray(column, self._types[name]).tobytes()
            fd = os.open(self._path(name), os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
            try:
                self._grow(fd, (first + len(column)) * size, size)
                os.pwrite(fd, content, first * size)
            finally:
                os.close(fd)

    def update(self, name: str, rows: list[int], values: list[int]) -> None:
        """Overwrite single rows that are published already."""
        kind = self._types[name]
        fd = os.open(self._path(name), os.O_RDWR | _FLAGS)
        try:
            for row, value in zip(rows, values, strict=True):
                os.pwrite(fd, np.array(value, kind).tobytes(), row * kind.itemsize)
        finally:
            os.close(fd)

    def read(self, name: str, rows: int) -> Array:
        """The first `rows` rows of a column, mapped, not copied."""
        held = self._maps.get(name)
        if held is None or len(held) < rows:
            held = self._maps[name] = self._map(name, rows)
        return held[:rows]

    def _grow(self, fd: int, needed: int, size: int) -> None:
        if os.fstat(fd).st_size < needed:
            os.ftruncate(fd, -(-needed // (_CHUNK * size)) * _CHUNK * size)

    def _map(self, name: str, rows: int) -> Array:
        kind = self._types[name]
        if rows == 0:
            return np.empty((0,) if self._width == 1 else (0, self._width), kind)
        fd = os.open(self._path(name), os.O_RDONLY | _FLAGS)
        try:
            mapped = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
        finally:
            os.close(fd)
        flat = np.frombuffer(mapped, kind)
        return flat if self._width == 1 else flat.reshape(-1, self._width)

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}.{self._build}.col"
