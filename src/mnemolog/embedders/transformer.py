"""The encoder of BERT in numpy: padded batches of piece numbers to one vector per text."""

from collections.abc import Callable, Iterable, Sequence
from itertools import count, takewhile
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mnemolog.embedders.tensors import Floats, Tensors, restored, rows_of

HEADS = 12

_WORDS = "embeddings.word_embeddings.weight"

EPSILON = 1e-12
_MASKED = np.float32(-1e9)
# So many activations at a time, so that the steps of one function find them in the cache.
_CACHED = 1 << 15


class Linear(NamedTuple):
    """A matrix and what is added after it."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        # One large product; for three axes numpy would make many small ones.
        y: Floats = x.reshape(-1, x.shape[-1]) @ self.weight.T
        y += self.bias
        return y.reshape(*x.shape[:-1], -1)


class Norm(NamedTuple):
    """Brings every row to mean 0 and variance 1, then to a learned scale and shift; in place."""

    weight: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        x -= x.mean(axis=-1, keepdims=True)
        variance = np.einsum("...i,...i->...", x, x)[..., None] / x.shape[-1]
        x /= np.sqrt(variance + np.float32(EPSILON))
        x *= self.weight
        x += self.bias
        return x


class Layer(NamedTuple):
    """One block of attention and feed-forward."""

    looking: Linear
    """Queries, keys and values in one."""
    mixed: Linear
    attended: Norm
    wide: Linear
    narrow: Linear
    finished: Norm

    def __call__(self, x: Floats, mask: Floats | None) -> Floats:
        query, key, value = _split(self.looking(x))
        mixed = self.mixed(_attention(query, key, value, mask))
        mixed += x
        x = self.attended(mixed)
        narrow = self.narrow(gelu(self.wide(x)))
        narrow += x
        return self.finished(narrow)


Run = Callable[[Floats, Floats | None], Floats]
"""All layers, one after the other, from the first vectors of the pieces and the mask."""


def through_numpy(layers: Sequence[Layer]) -> Run:
    """The layers as they are."""

    def run(x: Floats, mask: Floats | None) -> Floats:
        for layer in layers:
            x = layer(x, mask)
        return x

    return run


class Encoder:
    """Piece numbers to sentence vectors, by mean pooling."""

    def __init__(
        self, tensors: Tensors, through: Callable[[Sequence[Layer]], Run] = through_numpy
    ) -> None:
        self._tensors = tensors
        self._places = restored(tensors, "embeddings.position_embeddings.weight")
        self._kind = restored(tensors, "embeddings.token_type_embeddings.weight")[0]
        self._norm = Norm(*_pair(tensors, "embeddings.LayerNorm"))
        names = (f"encoder.layer.{number}." for number in count())
        present = takewhile(lambda name: f"{name}output.dense.weight" in tensors, names)
        self._run = through([_layer(tensors, name) for name in present])

    @property
    def size(self) -> int:
        """How many numbers a vector has."""
        return int(self._tensors[_WORDS].shape[1])

    def __call__(self, ids: npt.NDArray[np.intp], lengths: npt.NDArray[np.intp]) -> Floats:
        """The mean vector of each row's first so many pieces; what follows them is padding."""
        present = np.arange(ids.shape[1]) < lengths[:, None]
        states = self.states(ids, present)
        states *= present[:, :, None]
        pooled: Floats = states.sum(axis=1)
        pooled /= lengths[:, None]
        return pooled

    def states(self, ids: npt.NDArray[np.intp], present: npt.NDArray[np.bool_]) -> Floats:
        """The last layer's vector of every piece."""
        words = rows_of(self._tensors, _WORDS, ids)
        x = self._norm(words + self._places[: ids.shape[1]] + self._kind)
        mask = None
        if not present.all():
            mask = np.where(present, np.float32(0), _MASKED)[:, None, None, :]
        return self._run(x, mask)


def gelu(x: Floats) -> Floats:
    """x times the share of the normal distribution that lies below x; in place."""
    flat = x.reshape(-1)
    for start in range(0, len(flat), _CACHED):
        part = flat[start : start + _CACHED]
        lost = _lost(np.abs(part))
        np.maximum(part, 0, out=part)
        part -= lost
    return x


def _lost(size: Floats) -> Floats:
    """A distance from 0 times the share of the normal distribution that lies beyond it; right to
    1e-7 (Abramowitz and Stegun, 7.1.26, halved)."""
    t = size * np.float32(0.3275911 * 0.5**0.5)
    t += 1
    np.reciprocal(t, out=t)
    beyond = t * np.float32(1.061405429 / 2)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        beyond += np.float32(factor / 2)
        beyond *= t
    beyond *= size
    size *= size
    size *= np.float32(-0.5)
    beyond *= np.exp(size, out=size)
    return beyond


def _attention(query: Floats, key: Floats, value: Floats, mask: Floats | None) -> Floats:
    scores: Floats = query @ key.swapaxes(-1, -2)
    if mask is not None:
        scores += mask
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = (scores @ value).swapaxes(1, 2)
    return mixed.reshape(*mixed.shape[:2], -1)


def _split(x: Floats) -> Iterable[Floats]:
    """(texts, pieces, 3 x hidden) to three of (texts, heads, pieces, hidden / heads)."""
    return x.reshape(*x.shape[:2], 3, HEADS, -1).transpose(2, 0, 3, 1, 4)


def _layer(tensors: Tensors, name: str) -> Layer:
    attention = f"{name}attention."
    return Layer(
        looking=_looking(tensors, f"{attention}self."),
        mixed=Linear(*_pair(tensors, f"{attention}output.dense")),
        attended=Norm(*_pair(tensors, f"{attention}output.LayerNorm")),
        wide=Linear(*_pair(tensors, f"{name}intermediate.dense")),
        narrow=Linear(*_pair(tensors, f"{name}output.dense")),
        finished=Norm(*_pair(tensors, f"{name}output.LayerNorm")),
    )


def _looking(tensors: Tensors, name: str) -> Linear:
    """Queries, keys and values as one product, the scale of the scores with them."""
    parts = [Linear(*_pair(tensors, f"{name}{part}")) for part in ("query", "key", "value")]
    scale = np.float32((len(parts[0].bias) // HEADS) ** -0.5)
    parts[0] = Linear(parts[0].weight * scale, parts[0].bias * scale)
    return Linear(*(np.concatenate(one) for one in zip(*parts, strict=True)))


def _pair(tensors: Tensors, name: str) -> tuple[Floats, Floats]:
    return restored(tensors, f"{name}.weight"), restored(tensors, f"{name}.bias")
