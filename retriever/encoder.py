"""The encoder of `mnemolog.embedders.transformer` in torch, for training: the same tensors by the
same names, the same vectors."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch  # type: ignore[import-not-found]
from torch.nn import functional as F  # type: ignore[import-not-found]  # noqa: N812

from mnemolog.embedders.wordpiece import WordPiece

Tensor = Any  # torch is not installed where types are checked
Weights = dict[str, Tensor]

HEADS = 12
EPSILON = 1e-12
DROPOUT = 0.1


class Pieces(NamedTuple):
    """Texts as padded piece numbers, and how many of each row count."""

    ids: Tensor
    lengths: Tensor


class Cutter:
    """Cuts texts into at most so many pieces, between the two marks that the encoder expects."""

    def __init__(self, vocabulary: Sequence[str], most: int, device: str) -> None:
        self._wordpiece = WordPiece(vocabulary)
        self._first, self._last = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
        self.device, self._most = device, most
        self._known: dict[str, list[int]] = {}

    def one(self, text: str) -> list[int]:
        """The numbers of one text's pieces."""
        if text not in self._known:
            found = self._wordpiece.ids(text)[: self._most - 2].tolist()
            self._known[text] = [self._first, *found, self._last]
        return self._known[text]

    def __call__(self, texts: Sequence[str]) -> Pieces:
        return padded([self.one(text) for text in texts], self.device)


def padded(pieces: Sequence[Sequence[int]], device: str) -> Pieces:
    """Rows of one length, zeros at their ends."""
    lengths = np.array([len(each) for each in pieces], np.int64)
    ids = np.zeros((len(pieces), lengths.max()), np.int64)
    for row, each in zip(ids, pieces, strict=True):
        row[: len(each)] = each
    return Pieces(torch.from_numpy(ids).to(device), torch.from_numpy(lengths).to(device))


def encode(weights: Weights, pieces: Pieces, dropout: float = 0.0) -> Tensor:
    """One vector of length 1 for each text, by mean pooling."""
    present = torch.arange(pieces.ids.shape[1], device=pieces.ids.device) < pieces.lengths[:, None]
    x = _embedded(weights, pieces.ids, dropout)
    for number in range(depth(weights)):
        x = _layer(weights, f"encoder.layer.{number}.", x, present, dropout)
    pooled = (x * present[:, :, None]).sum(1).float() / pieces.lengths[:, None]
    return F.normalize(pooled, dim=1)


def depth(weights: Mapping[str, object]) -> int:
    """How many layers there are."""
    return sum(name.endswith("intermediate.dense.weight") for name in weights)


def _embedded(weights: Weights, ids: Tensor, dropout: float) -> Tensor:
    x = F.embedding(ids, weights["embeddings.word_embeddings.weight"])
    x = x + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    return F.dropout(_norm(weights, "embeddings.LayerNorm", x), dropout)


def _layer(weights: Weights, name: str, x: Tensor, present: Tensor, dropout: float) -> Tensor:
    own = f"{name}attention."
    query, key, value = (
        _linear(weights, f"{own}self.{part}", x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
        for part in ("query", "key", "value")
    )
    mixed = F.scaled_dot_product_attention(
        query, key, value, attn_mask=present[:, None, None, :], dropout_p=dropout
    )
    mixed = _linear(weights, f"{own}output.dense", mixed.transpose(1, 2).flatten(2))
    x = _norm(weights, f"{own}output.LayerNorm", x + F.dropout(mixed, dropout))
    wide = F.gelu(_linear(weights, f"{name}intermediate.dense", x))
    narrow = F.dropout(_linear(weights, f"{name}output.dense", wide), dropout)
    return _norm(weights, f"{name}output.LayerNorm", x + narrow)


def _linear(weights: Weights, name: str, x: Tensor) -> Tensor:
    return F.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def _norm(weights: Weights, name: str, x: Tensor) -> Tensor:
    scale, shift = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return F.layer_norm(x, x.shape[-1:], scale, shift, EPSILON)
