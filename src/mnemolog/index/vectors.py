"""Vectors: what each row means, one byte for each dimension, compared exactly."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from mnemolog.index.columns import Columns
from mnemolog.index.snapshot import Mask

Floats = NDArray[np.float32]

_CHUNK = 4096


class Embedder(Protocol):
    """Turns texts into vectors of length 1 (or 0, for a text without a known word)."""

    @property
    def name(self) -> str:
        """What it is; another name means that everything is embedded anew."""

    @property
    def size(self) -> int:
        """How many dimensions a vector has."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row for each text."""


class Vectors:
    """The vectors of all rows, in two files: bytes, and what each row's bytes are worth."""

    def __init__(self, folder: str, build: str, embedder: Embedder) -> None:
        self._embedder = embedder
        self._bytes = Columns(folder, build, {"vector": "i1"}, embedder.size)
        self._worth = Columns(folder, build, {"worth": "<f4"})
        self._threads = ThreadpoolController()

    def write(self, first: int, texts: Sequence[str]) -> None:
        """Embed and store rows from `first` on."""
        vectors = self._embedder.embed(texts)
        largest = np.abs(vectors).max(axis=1, initial=0.0)
        worth = np.where(largest > 0, largest / 127, 1).astype(np.float32)
        self._bytes.write(first, {"vector": np.rint(vectors / worth[:, None])})
        self._worth.write(first, {"worth": worth})

    def embed(self, text: str) -> Floats:
        """The vector of a query."""
        return np.asarray(self._embedder.embed([text])[0], np.float32)

    def compare(self, query: Floats, rows: int, mask: Mask) -> Floats:
        """The cosine of the query with each row inside the mask; 0 elsewhere."""
        scores = np.zeros(rows, np.float32)
        chosen = np.flatnonzero(mask[:rows])
        if len(chosen) == 0 or not query.any():
            return scores
        stored = self._bytes.read("vector", rows)
        worth = self._worth.read("worth", rows)
        if len(chosen) * 2 > rows:
            chosen = np.arange(rows)
        with self._threads.limit(limits=1):  # for so little, waking other cores costs more
            for start in range(0, len(chosen), _CHUNK):
                part = chosen[start : start + _CHUNK]
                block = stored[part[0] : part[-1] + 1] if len(chosen) == rows else stored[part]
                scores[part] = block.astype(np.float32) @ query
        scores = np.round(scores * worth, 5)  # the last digits depend on where a row lies
        scores[~mask[:rows]] = 0
        return scores
