"""An embedder of one's own that fails, or answers nonsense: words go on, and nothing is lost."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mnemolog import Memory
from mnemolog.errors import SettingsError, StorageIOError
from tests.index.searching import ids
from tests.index.test_models import facts, loaded

SIZE = 8


class Odd:
    """Gives vectors to a function that does something to them."""

    name, size = "odd", SIZE

    def __init__(self, change: Callable[[Any], Any], at_once: int | None = None) -> None:
        self.change = change
        self.at_once = at_once

    def embed(self, texts: Sequence[str]) -> Any:
        found = np.zeros((len(texts), SIZE), np.float32)
        for row, text in enumerate(texts):
            found[row, len(text) % SIZE] = 1
        return self.change(found)


def raising(error: Exception) -> Callable[[Any], Any]:
    def fail(_: Any) -> Any:
        raise error

    return fail


def same(vectors: Any) -> Any:
    return vectors


WRONG = {
    "a value": raising(ValueError("zebra")),
    "a connection": raising(ConnectionError("zebra")),
    "a type": raising(TypeError("zebra")),
    "anything": raising(RuntimeError("zebra")),
    "an error of ours": raising(StorageIOError("zebra")),
    "no numbers": lambda vectors: vectors * np.nan,
    "endless": lambda vectors: np.where(vectors > 0, np.inf, 0),
    "huge": lambda vectors: vectors * np.float32(1e30),
    "wider": lambda vectors: np.hstack([vectors, vectors]),
    "narrower": lambda vectors: vectors[:, :4],
    "flat": lambda vectors: vectors.ravel(),
    "more rows": lambda vectors: np.vstack([vectors, vectors]),
    "no rows": lambda vectors: vectors[:0],
    "nothing": lambda _: None,
}


@pytest.mark.parametrize("at_once", [None, 4])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_failing_embedder_leaves_the_words_and_the_search_says_so(root, clock, wrong, at_once):
    embedder = Odd(WRONG[wrong], at_once)
    with Memory.open(root, clock=clock, environ={}, embedder=embedder) as memory:
        sid = loaded(memory)
        found = memory.query(sid, text="word7")
        before = facts(root)
        assert (found.semantic, ids(found)[0]) == ("off", "talk-7")
        assert "The embedder, a Odd, failed" in found.notes[0]
        assert "zebra" not in found.notes[0], "an error may quote what was said"
        assert all(0 <= hit.relevance <= 1 for hit in found)
        assert len(memory.query(sid, limit=100)) == 40
        memory.erase(sid, ids=["talk-7"])
        assert "talk-7" not in ids(memory.query(sid, text="word7"))
        assert facts(root)["build"] == before["build"], "nothing was built anew"
        with pytest.raises(SettingsError, match="failed"):
            memory.rebuild_index()
        embedder.change = same
        memory.rebuild_index()
        found = memory.query(sid, text="word8")
        assert (found.semantic, found.notes) == ("ready", ())


def test_what_waits_since_the_embedder_failed_is_embedded_once_it_works(root, clock):
    embedder = Odd(same)
    with Memory.open(root, clock=clock, environ={}, embedder=embedder) as memory:
        sid = loaded(memory)
        assert memory.query(sid, text="word7").semantic == "ready"
        embedder.change = raising(ConnectionError("zebra"))
        memory.add_memory(sid, id="late", content="word99")
        assert ids(memory.query(sid, text="word99"))[0] == "late"
        embedder.change = same
        assert memory.query(sid, text="question").semantic == "ready"


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", None), ("name", ""), ("name", "a\0\ud800"), ("size", -1), ("size", "8"),
     ("at_once", "5")],
)  # fmt: skip
def test_an_embedder_that_cannot_be_told_from_others_is_refused(root, clock, field, value):
    embedder = Odd(same)
    setattr(embedder, field, value)
    with Memory.open(root, clock=clock, environ={}, embedder=embedder) as memory:
        sid = loaded(memory)
        with pytest.raises(SettingsError, match=field):
            memory.query(sid, text="word7")
    with Memory.open(root, clock=clock, environ={}) as memory:
        assert ids(memory.query("talk", text="word7"))[0] == "talk-7"
