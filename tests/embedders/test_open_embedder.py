"""Opening embedders by name: own ones, those of other packages, objects."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mnemolog.embedders import open_embedder
from mnemolog.embedders.static import StaticEmbedder
from mnemolog.errors import SettingsError

LENGTHS = """
import numpy as np

class Lengths:
    name = "lengths"
    size = 1
    def embed(self, texts):
        return np.ones((len(texts), 1), np.float32)
"""

Offer = Callable[[str], None]


@pytest.fixture
def offer(tmp_path, monkeypatch) -> Iterator[Offer]:
    """Installs a package that offers embedders by these lines of its entry points."""

    def install(lines: str) -> None:
        described = tmp_path / "others_embedders-1.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: others-embedders\n")
        (described / "entry_points.txt").write_text(f"[mnemolog.embedders]\n{lines}\n")
        (tmp_path / "others_embedders.py").write_text(LENGTHS)
        monkeypatch.syspath_prepend(tmp_path)

    yield install
    sys.modules.pop("others_embedders", None)


def test_the_static_one_is_opened_by_name():
    assert isinstance(open_embedder("static"), StaticEmbedder)


def test_none_gives_vectors_of_no_size():
    none = open_embedder("none")
    assert (none.name, none.size, none.embed(["a", "b"]).shape) == ("none", 0, (2, 0))


def test_an_object_is_taken_as_it_is():
    chosen = StaticEmbedder()
    assert open_embedder(chosen) is chosen


@pytest.mark.parametrize("chosen", [None, 7, object(), b"static"])
def test_what_is_no_embedder_is_refused(chosen):
    with pytest.raises(SettingsError, match=type(chosen).__name__):
        open_embedder(chosen)


def test_another_package_offers_one_by_an_entry_point(offer):
    offer("lengths = others_embedders:Lengths")
    found = open_embedder("lengths")
    assert found.name == "lengths"
    assert found.embed(["a"]).tolist() == [[1]]


def test_own_names_cannot_be_taken_over(offer):
    offer("static = others_embedders:Lengths")
    assert isinstance(open_embedder("static"), StaticEmbedder)


@pytest.mark.parametrize("target", ["no_such_module:Thing", "others_embedders:Missing"])
def test_a_broken_offer_is_named(offer, target):
    offer(f"broken = {target}")
    with pytest.raises(SettingsError, match=f"'broken' cannot be loaded from '{target}'"):
        open_embedder("broken")


def test_an_offer_that_is_no_embedder_is_refused(offer):
    offer("shape = others_embedders:np.float32")
    with pytest.raises(SettingsError, match="float32 is not an embedder"):
        open_embedder("shape")


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(SettingsError, match=r"no embedder 'statik'\. Did you mean 'static'\?"):
        open_embedder("statik")
    with pytest.raises(SettingsError, match=r"Known are: full, full-numpy, minilm, none, small"):
        open_embedder("word2vec")


def run(source: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_room_imports_no_model_code():
    source = "import sys, mnemolog.embedders; print('numpy' in sys.modules)"
    assert run(source) == "False"


WATCHED = """
import sys, os
from mnemolog.embedders import open_embedder
from mnemolog.embedders.static import StaticEmbedder
touched = []
def watch(event, arguments):
    if event.startswith("socket."):
        touched.append(event)
    if event == "open" and (arguments[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        touched.append(arguments[0])
    if event == "open" and "table" in str(arguments[0]):
        opened.append(os.path.basename(arguments[0]))
opened = []
sys.addaudithook(watch)
embedder = open_embedder("static")
assert opened == [], opened
embedder.embed(["a cat"])
assert set(opened) == {"rows.npy", "scales.npy", "vocab.txt"}, opened
print(touched)
"""


def test_embedding_reads_its_own_files_late_and_touches_nothing_else():
    assert run(WATCHED) == "[]"


def test_the_example_of_the_page_runs():
    page = Path(__file__).parents[2] / "docs" / "embedders.md"
    example = page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    name, *shape, cosine = run(example).split()
    assert (name, shape) == (StaticEmbedder().name, ["(2,", "256)"])
    assert float(cosine) > 0.2
