"""The layers through onnxruntime: numpy's vectors under the same name, and nothing is sent."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from mnemolog.embedders import messages, onnx, open_embedder
from mnemolog.embedders.encoders import EncoderEmbedder
from mnemolog.embedders.transformer import Encoder
from mnemolog.embedders.tuned import FullEmbedder, FullOnNumpyEmbedder
from mnemolog.errors import CorruptionError
from tests.embedders.tiny import safetensors, tensors, write_model

FULL = Path(__file__).parents[2] / "wheels" / "mnemolog-full" / "src" / "mnemolog_full"
TEXTS = [
    "Which database did we choose?",
    "We decided to use PostgreSQL, because the reports need window functions.",
    "no",
    "",
    "我将要参加金融科技精英论坛",
    "The cat is asleep on the warm stones behind the house. " * 20,
]

# Not by importorskip: onnxruntime must first be told to be silent.
installed = pytest.mark.skipif(
    find_spec(onnx.RUNTIME) is None, reason="needs onnxruntime: pip install 'mnemolog[onnx]'"
)


def run(source: str, **environment: str) -> str:
    """What a fresh process prints in which nobody has asked onnxruntime for anything yet."""
    without = {name: value for name, value in os.environ.items() if name != onnx.SILENT}
    done = subprocess.run(
        [sys.executable, "-c", source, str(FULL)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=without | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def runs_on(embedder: EncoderEmbedder) -> str:
    return type(embedder._model.encoder._run).__name__


@pytest.fixture(scope="module")
def full() -> FullEmbedder:
    return FullEmbedder(FULL)


@pytest.fixture(scope="module")
def on_numpy() -> FullOnNumpyEmbedder:
    return FullOnNumpyEmbedder(FULL)


@installed
def test_where_it_is_installed_full_runs_through_it(full, on_numpy):
    assert (runs_on(full), runs_on(on_numpy)) == ("_Session", "function")


@installed
def test_the_vectors_are_those_of_numpy(full, on_numpy):
    ours, theirs = on_numpy.embed(TEXTS), full.embed(TEXTS)
    assert theirs.dtype == np.float32
    assert (ours * theirs).sum(axis=1) == pytest.approx([1, 1, 1, 0, 0, 1], abs=1e-5)
    assert theirs == pytest.approx(ours, abs=1e-5)


@installed
def test_a_text_alone_has_the_vector_that_it_has_among_others(full):
    alone = np.concatenate([full.embed([text]) for text in TEXTS])
    assert full.embed(TEXTS) == pytest.approx(alone, abs=1e-5)


@installed
def test_the_same_call_gives_the_same_bytes(full):
    assert full.embed(TEXTS).tobytes() == FullEmbedder(FULL).embed(TEXTS).tobytes()


@installed
def test_any_encoder_can_run_through_it():
    ids, lengths = np.array([[2, 4, 5, 6, 3], [2, 7, 3, 0, 0]]), np.array([5, 3])
    expected = Encoder(tensors())(ids, lengths)
    assert Encoder(tensors(), onnx.through_onnx)(ids, lengths) == pytest.approx(expected, abs=1e-5)


def test_both_ways_have_one_name_so_that_a_change_embeds_nothing_anew(full, on_numpy):
    assert full.name == on_numpy.name


def test_numpy_can_be_chosen_by_name(monkeypatch):
    monkeypatch.setattr("mnemolog.embedders.encoders.installed_folder", lambda *_: str(FULL))
    chosen = open_embedder("full-numpy")
    assert isinstance(chosen, FullOnNumpyEmbedder)
    assert runs_on(chosen) == "function"


def test_without_onnxruntime_it_is_numpy(monkeypatch, on_numpy):
    monkeypatch.setitem(sys.modules, onnx.RUNTIME, None)
    embedder = FullEmbedder(FULL)
    assert runs_on(embedder) == "function"
    assert embedder.embed(TEXTS).tobytes() == on_numpy.embed(TEXTS).tobytes()


def test_an_onnxruntime_that_cannot_be_loaded_is_left_alone(monkeypatch, tmp_path):
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('built for another numpy')\n")
    monkeypatch.delitem(sys.modules, onnx.RUNTIME, raising=False)
    monkeypatch.setenv(onnx.SILENT, "1")
    monkeypatch.syspath_prepend(tmp_path)
    assert runs_on(FullEmbedder(FULL)) == "function"


def test_one_that_was_loaded_with_its_reports_is_left_alone():
    # A stand-in: the real one would send them.
    source = (
        "import sys, types, importlib.machinery as machinery\n"
        "there = types.ModuleType('onnxruntime')\n"
        "there.__spec__ = machinery.ModuleSpec('onnxruntime', None)\n"
        "sys.modules['onnxruntime'] = there\n"
        "from mnemolog.embedders.tuned import FullEmbedder\n"
        "print(FullEmbedder(sys.argv[1]).embed(['a cat']).shape)"
    )
    assert run(source) == "(1, 384)"


@installed
def test_it_sends_nothing_and_writes_nothing(tmp_path):
    source = (
        "import os, sys\n"
        "from mnemolog.embedders.tuned import FullEmbedder\n"
        "embedder = FullEmbedder(sys.argv[1])\n"
        "assert 'onnxruntime' not in sys.modules\n"
        "embedder.embed(['a cat'])\n"
        "assert 'onnxruntime' in sys.modules\n"
        "tasks = '/proc/self/task'\n"
        "print(len(os.listdir(tasks)) if os.path.isdir(tasks) else 1)"
    )
    # Its reports have a thread of their own, and an identity and a queue below the home folder.
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "TMPDIR"), str(tmp_path))
    assert run(source, OPENBLAS_NUM_THREADS="1", **places) == "1"
    assert list(tmp_path.iterdir()) == []


@installed
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_embeds_and_ends():
    source = (
        "import os, signal, sys\n"
        "from mnemolog.embedders.tuned import FullEmbedder\n"
        "embedder = FullEmbedder(sys.argv[1])\n"
        "first = embedder.embed(['a cat']).tobytes()\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(30)\n"
        "    sys.exit(0 if embedder.embed(['a cat']).tobytes() == first else 1)\n"
        "print(os.waitpid(child, 0)[1])"
    )
    assert run(source) == "0"


@installed
def test_a_folder_without_layers_is_refused_by_name(tmp_path):
    folder = write_model(tmp_path / "model")
    kept = {name: each for name, each in tensors().items() if name.startswith("embeddings.")}
    (folder / "model.safetensors").write_bytes(safetensors(kept))
    with pytest.raises(CorruptionError, match="another model than 'full'"):
        FullEmbedder(folder).embed(["the cat"])


def test_messages_are_those_of_protocol_buffers():
    # The examples of the format's own description: 150 in field 1, "testing" in field 2.
    assert messages.message((1, 150)).hex() == "089601"
    assert messages.message((2, "testing")).hex() == "120774657374696e67"
    assert messages.message((1, -1)).hex() == "08" + "ff" * 9 + "01"
    assert messages.message((2, 1.0)).hex() == "150000803f"
    assert messages.message(*messages.each(1, [b"", b"a"])).hex() == "0a000a0161"
