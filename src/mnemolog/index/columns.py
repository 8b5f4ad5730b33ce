"""Columns: one number of each row in one file each, addressed by the row's number.

The database's commit publishes a row: a reader trusts only the rows below the count that its own
snapshot of the database gives, so bytes left by a transaction that was rolled back are overwritten
before anybody looks at them.

Nothing here is synced, for that would cost every search that catches up one sync for each file.
Instead each row has a check, a number made of all its others, so that a later start of the machine
notices what a power loss took.
"""

import mmap
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FIELDS: dict[str, str] = {
    "log": "<u4",
    "home": "<u4",
    "kind": "<u4",
    "scope": "<u1",
    "agent": "<u4",
    "voice": "<u1",
    "lasting": "<u1",
    "time": "<i8",
    "importance": "<f4",
    "length": "<u2",
    "turn": "<u4",
    "previous": "<u4",
    "seq": "<u4",
    "place": "<u4",
    "revisions": "<u4",
    "segment": "<u2",
    "offset": "<u4",
    "bytes": "<u4",
    "uses": "<u4",
    "used": "<i8",
}

NONE = 0xFFFFFFFF

# Overwritten in place, and allowed to be lost.
_RELAXED = ("uses", "used")

# A pipe in the place of a file must not make anybody wait.
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

# Files grow by so many rows at a time, so that a mapping lasts for many appends.
_CHUNK = 65_536

# Of the name of a file of a model: what it holds, the build, the model, the ending.
_PARTS = 4

_CHECK = np.dtype("<u4")
_MIX = np.uint64(0x9E3779B97F4A7C15)


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
        self._checked = [name for name in fields if name not in _RELAXED]
        self._check = f"{self._checked[0]}-check"
        self._types = {name: np.dtype(kind) for name, kind in fields.items()}
        self._types[self._check] = _CHECK
        self._widths = dict.fromkeys(fields, width) | {self._check: 1}
        self._maps: dict[str, tuple[Array, mmap.mmap | None]] = {}

    def write(self, first: int, values: Mapping[str, Array]) -> None:
        """Write all fields of rows from `first` on; published by the commit that follows."""
        typed = {
            name: np.ascontiguousarray(column, self._types[name]) for name, column in values.items()
        }
        # Whoever made a file anew would make zeros of all rows before these.
        flags = os.O_RDWR | _FLAGS | (0 if first else os.O_CREAT)
        for name, column in (*typed.items(), (self._check, self._sums(typed))):
            size = self._types[name].itemsize * self._widths[name]
            fd = os.open(self._path(name), flags, 0o600)
            try:
                self._grow(fd, first * size, (first + len(column)) * size, size)
                _write(fd, column.tobytes(), first * size)
            finally:
                os.close(fd)

    def update(self, name: str, rows: list[int], values: list[int]) -> None:
        """Overwrite single rows of a relaxed column that are published already."""
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
        if held is None or len(held[0]) < rows or _is_cut(*held):
            self._maps.pop(name, None)
            held = self._maps[name] = self._map(name, rows)
        return held[0][:rows]

    def room(self, name: str) -> int:
        """How many rows a file has room for, be they published or not; none if there is none."""
        try:
            size = os.stat(self._path(name)).st_size
        except FileNotFoundError:
            return 0
        return size // (self._types[name].itemsize * self._widths[name])

    def is_cut(self) -> bool:
        """Whether a file lost what is mapped of it."""
        for held, mapped in self._maps.values():
            if mapped is not None and mapped.size() < held.nbytes:
                return True
        return False

    def is_whole(self, rows: int) -> bool:
        """Whether every row still is what was written."""
        for start in range(0, rows, _CHUNK):
            end = min(start + _CHUNK, rows)
            part = {name: self.read(name, rows)[start:end] for name in self._checked}
            if not np.array_equal(self._sums(part), self.read(self._check, rows)[start:end]):
                return False
        return True

    def _sums(self, values: Mapping[str, Array]) -> Array:
        """For each row a number that depends on every bit of it; not 0 for a row of zeros."""
        total = np.full(len(values[self._checked[0]]), _MIX)
        for name in self._checked:
            words = _words(values[name])
            factors = np.arange(1, 2 * words.shape[1], 2, dtype=np.uint64) * _MIX
            total = total * _MIX + (words * factors).sum(axis=1, dtype=np.uint64)
        return np.asarray(total >> np.uint64(32), _CHECK)

    def _grow(self, fd: int, there: int, needed: int, size: int) -> None:
        found = os.fstat(fd).st_size
        if found < there:
            raise ValueError("a column lost some of its rows")
        if found < needed:
            os.ftruncate(fd, -(-needed // (_CHUNK * size)) * _CHUNK * size)

    def _map(self, name: str, rows: int) -> tuple[Array, mmap.mmap | None]:
        kind, width = self._types[name], self._widths[name]
        if rows == 0:
            return np.empty((0,) if width == 1 else (0, width), kind), None
        fd = os.open(self._path(name), os.O_RDONLY | _FLAGS)
        try:
            mapped = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
        finally:
            os.close(fd)
        flat = np.frombuffer(mapped, kind)
        if len(flat) < rows * width:
            raise ValueError(f"{name} has fewer than {rows} rows")
        return flat if width == 1 else flat.reshape(-1, width), mapped

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}.{self._build}.col"


def of_models(folder: str) -> dict[str, str]:
    """The files whose columns are those of a model, each with the model's number."""
    parts = {name: name.split(".") for name in os.listdir(folder)}
    return {name: found[2] for name, found in parts.items() if len(found) == _PARTS}


def remove(folder: str, names: Iterable[str]) -> None:
    """Remove files; another may have been there first."""
    for name in names:
        with suppress(FileNotFoundError):
            os.unlink(f"{folder}/{name}")


def _is_cut(held: Array, mapped: mmap.mmap | None) -> bool:
    """Whether the file lost what is mapped of it: touching that would end the process."""
    return mapped is not None and mapped.size() < held.nbytes


def _write(fd: int, content: bytes, offset: int) -> None:
    """Write all of it; a disk that takes only a part is full, which the next attempt says."""
    while content:
        taken = os.pwrite(fd, content, offset)
        content, offset = content[taken:], offset + taken


def _words(column: Array) -> NDArray[np.uint64]:
    """The bytes of each row, eight at a time."""
    content = np.ascontiguousarray(column).view(np.uint8).reshape(len(column), -1)
    if content.shape[1] % 8:
        whole = np.zeros((len(content), -(-content.shape[1] // 8) * 8), np.uint8)
        whole[:, : content.shape[1]] = content
        content = whole
    return content.view("<u8")
