"""The encoder in numpy, on a small random model."""

import math

import numpy as np
import pytest

from mnemolog.embedders.transformer import Encoder, gelu
from tests.embedders.tiny import HIDDEN, tensors

TEXT = [2, 4, 5, 6, 7, 8, 9, 3]


def encoded(encoder: Encoder, *rows: list[int]) -> np.ndarray:
    lengths = np.array([len(row) for row in rows])
    ids = np.zeros((len(rows), lengths.max()), np.intp)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
    return encoder(ids, lengths)


def norm(x, weight, bias):
    centred = x - x.mean()
    return centred / math.sqrt((centred**2).mean() + 1e-12) * weight + bias


def word_by_word(t: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The same arithmetic as a plain reading of the paper: one piece, one head at a time."""
    t = {name: array.astype(np.float64) for name, array in t.items()}

    def linear(name, x):
        return t[f"{name}.weight"] @ x + t[f"{name}.bias"]

    def normed(name, x):
        return norm(x, t[f"{name}.weight"], t[f"{name}.bias"])

    kinds = t["embeddings.token_type_embeddings.weight"][0]
    words, places = (t[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position"))
    states = [
        normed("embeddings.LayerNorm", words[piece] + places[place] + kinds)
        for place, piece in enumerate(ids)
    ]
    for number in range(2):
        layer = f"encoder.layer.{number}."
        q, k, v = (
            [linear(f"{layer}attention.self.{part}", x) for x in states]
            for part in ("query", "key", "value")
        )
        after = []
        for place, x in enumerate(states):
            heads = []
            for head in (slice(start, start + 2) for start in range(0, HIDDEN, 2)):
                weights = np.array([math.exp(q[place][head] @ other[head] / 2**0.5) for other in k])
                values = np.array([other[head] for other in v])
                heads.append(weights @ values / weights.sum())
            mixed = linear(f"{layer}attention.output.dense", np.concatenate(heads))
            x = normed(f"{layer}attention.output.LayerNorm", x + mixed)
            wide = linear(f"{layer}intermediate.dense", x)
            wide = np.array([each * (1 + math.erf(each / 2**0.5)) / 2 for each in wide])
            after.append(
                normed(f"{layer}output.LayerNorm", x + linear(f"{layer}output.dense", wide))
            )
        states = after
    return np.mean(states, axis=0)


def test_it_computes_what_a_plain_reading_computes():
    found = encoded(Encoder(tensors()), TEXT)[0]
    assert found == pytest.approx(word_by_word(tensors(), TEXT), abs=1e-4)


def test_padding_does_not_change_a_vector():
    encoder = Encoder(tensors())
    alone = encoded(encoder, TEXT)[0]
    among = encoded(encoder, TEXT, TEXT * 9, TEXT[:3])[0]
    assert among == pytest.approx(alone, abs=1e-5)


def test_the_order_of_pieces_matters():
    encoder = Encoder(tensors())
    turned = [TEXT[0], *TEXT[-2:0:-1], TEXT[-1]]
    assert np.abs(encoded(encoder, TEXT) - encoded(encoder, turned)).max() > 1e-3


def test_gelu_is_exact_to_single_precision():
    x = np.concatenate([np.linspace(-12, 12, 100_001), [-1e4, 0, 1e4]]).astype(np.float32)
    expected = [each * (1 + math.erf(each / 2**0.5)) / 2 for each in x.tolist()]
    assert np.abs(gelu(x.copy()) - expected).max() < 2e-6


def test_gelu_works_in_place_on_more_than_one_part():
    x = np.full((300, 1000), 2, np.float32)
    assert gelu(x) is x
    assert np.unique(x).tolist() == pytest.approx([1.9544997], abs=1e-6)
