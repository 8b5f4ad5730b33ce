"""An embedder of one's own: handed over, or chosen by the name of an entry point."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnemolog import Memory
from mnemolog.embedders import open_embedder
from mnemolog.errors import SettingsError
from tests.index.searching import ids

COLOURS = ["ruby scarlet crimson", "navy azure sky", "moss lime fern"]
NEAREST = {"red": "m0", "blue": "m1", "green": "m2"}


class Colours:
    """Knows three colours and nothing else."""

    size = 3

    def __init__(self, name: str = "colours") -> None:
        self.name = name
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.embedded += texts
        families = zip(COLOURS, NEAREST, strict=True)
        known = [{*family.split(), name} for family, name in families]
        found = [[len(names & set(text.split())) for names in known] for text in texts]
        vectors = np.array(found, np.float32)
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def told(memory: Memory) -> str:
    sid = memory.create_session(session_id="talk").id
    memory.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(COLOURS)])
    return sid


def opened(root: Path, embedder: Any, **settings: object) -> Memory:
    return Memory.open(root, settings=settings, environ={}, embedder=embedder)


@pytest.mark.parametrize("colour", NEAREST)
def test_an_embedder_that_is_handed_over_decides_what_is_alike(root, colour):
    with opened(root, Colours()) as memory:
        found = memory.query(told(memory), text=colour)
        assert (found.semantic, ids(found)[0]) == ("ready", NEAREST[colour])
        assert found[0].why["lexical"] == 0 < found[0].why["semantic"]


def test_what_is_handed_over_stands_above_the_settings(root):
    with opened(root, Colours(), **{"search.embedder": "none"}) as memory:
        assert memory.query(told(memory), text="red").semantic == "ready"
    with opened(root, "none") as memory:
        assert memory.query("talk", text="red").semantic == "off"


def test_every_view_of_the_handle_has_it_too(root):
    with opened(root, Colours()) as memory:
        sid = memory.create_session("u1", agent_ids=["painter"], session_id="talk").id
        memory.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(COLOURS)])
        assert ids(memory.for_agent("painter").query(None, text="blue"))[0] == "m1"


def test_another_model_embeds_everything_anew_and_the_same_one_nothing(root):
    first, same, other = Colours("one"), Colours("one"), Colours("two")
    for embedder in (first, same, other):
        with opened(root, embedder) as memory:
            if embedder is first:
                told(memory)
            assert ids(memory.query("talk", text="green"))[0] == "m2"
    assert sorted(first.embedded) == sorted([*COLOURS, "green"])
    assert same.embedded == ["green"]
    assert sorted(other.embedded) == sorted([*COLOURS, "green"])


def test_a_change_from_the_own_one_to_the_default_and_back_finds_what_was_embedded(root):
    own = Colours()
    with opened(root, own) as memory:
        told(memory)
        memory.query("talk", text="green")
    with opened(root, None) as memory:
        found = memory.query("talk", text="gemstone")
        assert (found.semantic, ids(found)[0]) == ("ready", "m0")
    with opened(root, own) as memory:
        assert memory.query("talk", text="gemstone").semantic == "ready"
    assert own.embedded.count(COLOURS[0]) == 1


@pytest.mark.parametrize("wrong", [object(), "no-such-embedder"])
def test_what_is_no_embedder_is_refused_by_the_first_search(root, wrong):
    with opened(root, wrong) as memory:
        memory.create_session(session_id="talk")
        with pytest.raises(SettingsError, match="embedder"):
            memory.query("talk", text="red")


def test_a_package_offers_one_under_a_name_that_settings_choose(root, tmp_path):
    offer(tmp_path)
    script = (
        "import sys; from mnemolog import Memory\n"
        "settings = {'search.embedder': 'lengths'}\n"
        "with Memory.open(sys.argv[1], settings=settings, environ={}) as memory:\n"
        "    memory.create_session(session_id='talk')\n"
        "    memory.add_many('talk', [{'id': 'short', 'content': 'ab'},"
        " {'id': 'long', 'content': 'c' * 300}])\n"
        "    print(memory.query('talk', text='z' * 400)[0].entry.id)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(root)],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(tmp_path)},
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "long\n", "")


def offer(folder: Path) -> None:
    """A package as installers lay it down: a module, and what its entry points are."""
    (folder / "lengths.py").write_text(
        "import numpy as np\n"
        "class Lengths:\n"
        "    name, size = 'lengths', 2\n"
        "    def embed(self, texts):\n"
        "        long = [min(len(text) / 200, 1.0) for text in texts]\n"
        "        return np.array([[np.sin(x), np.cos(x)] for x in long], np.float32)\n",
        encoding="utf-8",
    )
    about = folder / "lengths-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lengths\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[mnemolog.embedders]\nlengths = lengths:Lengths\n")


def test_an_embedder_of_size_0_leaves_all_to_words(root):
    class Nothing(Colours):
        size = 0

    for embedder in (open_embedder("none"), Nothing("nothing")):
        with opened(root, embedder) as memory:
            sid = memory.create_session().id
            memory.add_memory(sid, id="m1", content="ruby")
            memory.add_memory(sid, id="m2", content="navy")
            hits = memory.query(sid, text="ruby")
            assert (hits.semantic, ids(hits)[0], hits.notes) == ("off", "m1", ())
            assert memory.rebuild_index() > 0
            memory.erase(sid, ids=["m1"])
            assert ids(memory.query(sid, text="ruby navy")) == ["m2"]
