"""Another model embeds behind the searches; words stay, and vectors of the one before too."""

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mnemolog import Memory
from mnemolog.index import models, thinning, waiting
from mnemolog.index.vectors import Vectors
from tests.index.searching import ids, scored

LETTERS = "aeioun"


class Letters:
    """How often some letters occur in a text, each model of its own size."""

    def __init__(self, name: str, at_once: int | None = None) -> None:
        self.name = name
        self.size = 8 * (1 + len(name))
        self.at_once = at_once
        self.embedded: list[str] = []
        self.may_follow = threading.Event()
        self.may_follow.set()

    def embed(self, texts: Sequence[str]) -> Any:
        if threading.current_thread().name == "mnemolog-embedding":
            assert self.may_follow.wait(20)
        self.embedded += texts
        found = np.zeros((len(texts), self.size), np.float32)
        for row, text in enumerate(texts):
            found[row, : len(LETTERS)] = [text.count(letter) for letter in LETTERS]
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def opened(root: Path, embedder: Letters | str, clock: Any) -> Memory:
    return Memory.open(root, clock=clock, environ={}, embedder=embedder)


def loaded(memory: Memory, entries: int = 40, session: str = "talk") -> str:
    sid = memory.create_session(session_id=session).id
    memory.add_many(sid, [{"id": f"{session}-{n}", "content": text_of(n)} for n in range(entries)])
    return sid


def text_of(number: int) -> str:
    return f"word{number} " + LETTERS[number % 5] * 9


def until_ready(memory: Memory, sid: str | None = None) -> None:
    ends = time.monotonic() + 20
    while memory.query(sid, text="question").semantic != "ready":
        assert time.monotonic() < ends
        time.sleep(0.002)


def meant(memory: Memory, text: str) -> dict[str, float]:
    """What each entry's meaning is worth to a question."""
    hits = memory.query(None, text=text, limit=100)
    return {hit.entry.id: hit.why["semantic"] for hit in hits}


def facts(root: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        found = dict(db.execute("SELECT key, value FROM meta").fetchall())
    db.close()
    return found


def kept(root: Path) -> dict[str, str]:
    """The models that the index knows, each with its number."""
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        found = dict(db.execute("SELECT name, number FROM model").fetchall())
    db.close()
    return found


def vector_files(root: Path) -> set[str]:
    """The numbers of the models that have files."""
    return {path.name.split(".")[2] for path in (root / "index").glob("vector.*.col")}


def vectors(root: Path, name: str, size: int) -> list[bytes]:
    """The vector of each row, as the file of a model has it."""
    (path,) = (root / "index").glob(f"vector.*.{kept(root)[name]}.col")
    content = path.read_bytes()
    return [content[at : at + size] for at in range(0, len(content), size)]


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(waiting, "_QUICK", 4)


@pytest.mark.parametrize("at_once", [None, 4])
def test_another_model_leaves_the_words_and_embeds_behind_the_searches(root, clock, few, at_once):
    with opened(root, Letters("one"), clock) as memory:
        sid = loaded(memory)
        until_ready(memory)
        before = facts(root)
    other = Letters("other", at_once)
    other.may_follow.clear()
    with opened(root, other, clock) as memory:
        found = memory.query(sid, text="word7")
        assert (found.semantic, ids(found)[0]) == ("pending", "talk-7")
        assert len(other.embedded) >= 4
        other.may_follow.set()
        until_ready(memory)
    assert facts(root) == before, "the same build, and no row was added"
    told = [text for text in other.embedded if text not in ("question", "word7")]
    assert told == [text_of(number) for number in range(40)]


def test_what_another_model_finds_is_what_an_index_of_its_own_finds(root, clock, few):
    with opened(root, Letters("one"), clock) as memory:
        sid = loaded(memory)
        until_ready(memory)
    with opened(root, Letters("other"), clock) as memory:
        until_ready(memory)
        texts = ("word7", "aaa", "ooo word3")
        found = [scored(memory.query(sid, text=text, limit=100)) for text in texts]
        memory.rebuild_index()
        assert [scored(memory.query(sid, text=text, limit=100)) for text in texts] == found


def test_the_model_before_finds_its_vectors_again(root, clock):
    first = Letters("one")
    with opened(root, first, clock) as memory:
        sid = loaded(memory)
        until_ready(memory)
    with opened(root, Letters("other"), clock) as memory:
        until_ready(memory)
        memory.add_memory(sid, id="late", content="word99 uuuu")
    first.embedded.clear()
    with opened(root, first, clock) as memory:
        assert memory.query(sid, text="uuu").semantic == "ready"
        assert first.embedded == ["word99 uuuu", "uuu"]


def test_without_a_model_the_vectors_stay_for_the_one_that_comes_back(root, clock):
    first = Letters("one")
    with opened(root, first, clock) as memory:
        sid = loaded(memory)
        until_ready(memory)
    with opened(root, "none", clock) as memory:
        assert memory.query(sid, text="word7").semantic == "off"
    first.embedded.clear()
    with opened(root, first, clock) as memory:
        assert memory.query(sid, text="uuu").semantic == "ready"
    assert first.embedded == ["uuu"]


def test_of_the_models_that_are_not_asked_for_one_is_kept(root, clock):
    for name in ("a", "bb", "ccc", "dddd"):
        with opened(root, Letters(name), clock) as memory:
            if name == "a":
                loaded(memory)
            until_ready(memory)
    assert set(kept(root)) == {"ccc", "dddd"}
    assert vector_files(root) == set(kept(root).values())


def test_a_model_that_embedded_nothing_displaces_none(root, clock):
    with opened(root, Letters("a"), clock) as memory:
        loaded(memory)
        until_ready(memory)
    for name in ("bb", "ccc"):
        with opened(root, Letters(name), clock) as memory:
            memory.query("talk")
    assert "a" in kept(root)


def test_a_model_of_the_same_name_and_another_size_is_another(root, clock):
    first, other = Letters("one"), Letters("one")
    other.size = 64
    with opened(root, first, clock) as memory:
        loaded(memory)
        until_ready(memory)
    with opened(root, other, clock) as memory:
        until_ready(memory)
        assert ids(memory.query("talk", text="word7"))[0] == "talk-7"
    assert len(kept(root)) == len(vector_files(root)) == 1


def test_who_holds_vectors_that_were_thrown_away_goes_on_with_new_ones(root, clock):
    first = Letters("a")
    with opened(root, first, clock) as memory:
        sid = loaded(memory)
        until_ready(memory)
        before = meant(memory, "ooo")
        for name in ("bb", "ccc"):
            with opened(root, Letters(name), clock) as other:
                until_ready(other)
        assert "a" not in kept(root)
        first.embedded.clear()
        until_ready(memory)
        assert len(first.embedded) > 40
        assert meant(memory, "ooo") == before
        memory.add_memory(sid, id="late", content="word99 uuuu")
        assert ids(memory.query(sid, text="word99"))[0] == "late"
    assert vector_files(root) == set(kept(root).values())


def test_two_that_write_and_search_with_models_of_their_own_find_all(root, clock):
    one, other = Letters("a"), Letters("bb")
    with opened(root, one, clock) as first, opened(root, other, clock) as second:
        sid = first.create_session(session_id="talk").id
        for number in range(20):
            writer, reader = (first, second) if number % 2 else (second, first)
            writer.add_memory(sid, id=f"talk-{number}", content=text_of(number))
            found = reader.query(sid, text=f"word{number}")
            assert (found.semantic, ids(found)[0]) == ("ready", f"talk-{number}")
        until_ready(first)
        until_ready(second)
    assert [len([text for text in own.embedded if text == text_of(7)]) for own in (one, other)] \
        == [1, 1]  # fmt: skip
    assert len(vector_files(root)) == 2


def test_an_erasure_reaches_the_vectors_of_every_model(root, clock):
    one, other = Letters("a"), Letters("bb")
    for embedder in (one, other):
        with opened(root, embedder, clock) as memory:
            if embedder is one:
                loaded(memory)
            until_ready(memory)
    assert all(any(vectors(root, own.name, own.size)[7]) for own in (one, other))
    with opened(root, "none", clock) as memory:
        memory.erase("talk", ids=["talk-7", "talk-8", "talk-20"])
    for own in (one, other):
        blank = [row for row in range(40) if not any(vectors(root, own.name, own.size)[row])]
        assert blank == [7, 8, 20]


def test_an_erasure_reaches_vectors_that_were_written_and_never_published(root, clock, monkeypatch):
    own = Letters("a")
    with opened(root, own, clock) as memory:
        loaded(memory)
        with monkeypatch.context() as patch:
            patch.setattr(models, "note", broken)
            with pytest.raises(RuntimeError):
                memory.query("talk", text="question")
    with opened(root, "none", clock) as memory:
        memory.query("talk", text="word7")
        assert any(vectors(root, own.name, own.size)[7])
        memory.erase("talk", ids=["talk-7"])
    assert not any(vectors(root, own.name, own.size)[7])


def broken(*_: Any) -> None:
    raise RuntimeError("killed here")


@pytest.mark.parametrize("after", ["opening", "erasing"])
def test_vectors_that_a_crash_kept_from_being_removed_go_later(root, clock, monkeypatch, after):
    for name in ("a", "bb"):
        with opened(root, Letters(name), clock) as memory:
            if name == "a":
                loaded(memory)
            until_ready(memory)
    gone = kept(root)["a"]
    with opened(root, Letters("bb"), clock) as memory:
        memory.query("talk", text="word7")
        with monkeypatch.context() as patch:
            patch.setattr(models, "sweep", broken)
            with pytest.raises(RuntimeError), opened(root, Letters("ccc"), clock) as other:
                other.query("talk", text="word7")
        assert "a" not in kept(root)
        assert gone in vector_files(root)
        if after == "erasing":
            memory.erase("talk", ids=["talk-7"])
    with opened(root, Letters("bb"), clock) as memory:
        if after == "opening":
            memory.query("talk", text="word7")
    assert gone not in vector_files(root)


def test_rows_that_were_thinned_out_while_a_model_rested_are_not_embedded(root, clock, monkeypatch):
    monkeypatch.setattr(thinning, "LEAST", 20)
    one, other = Letters("a"), Letters("bb")
    with opened(root, one, clock) as memory:
        sid = memory.create_session(session_id="talk").id
        memory.add_memory(sid, id="first", content="word")
        until_ready(memory)
    with opened(root, other, clock) as memory:
        for turn in range(3):
            entries = [{"id": f"m{n}", "content": f"turn{turn} word{n}"} for n in range(40)]
            memory.add_many(sid, entries)
            memory.query(sid, text="word")
    assert facts(root).get("husks", 0) >= 40
    one.embedded.clear()
    with opened(root, one, clock) as memory:
        until_ready(memory)
        assert len(memory.query(sid, text="turn2", limit=100)) >= 40
    assert not [text for text in one.embedded if text.startswith("turn0")]


def test_a_sweep_leaves_files_that_are_not_vectors_alone(root, clock):
    with opened(root, Letters("a"), clock) as memory:
        loaded(memory)
        until_ready(memory)
    names = set(os.listdir(root / "index"))
    with opened(root, Letters("a"), clock) as memory:
        memory.query("talk", text="word7")
        assert names <= set(os.listdir(root / "index"))


def test_vectors_that_are_held_in_memory_follow_every_change(root, clock, monkeypatch):
    """Whoever asks again and again finds what somebody finds who has just come."""
    monkeypatch.setattr("mnemolog.index.vectors._CHUNK", 8)  # so that what is held has to grow
    with opened(root, Letters("a"), clock) as memory, opened(root, Letters("a"), clock) as other:
        sid = loaded(memory)

        def agree() -> dict[str, float]:
            found = [meant(memory, "ooo aaa") for _ in range(3)]
            with opened(root, Letters("a"), clock) as fresh:
                assert found == [meant(fresh, "ooo aaa")] * 3
            return found[0]

        assert "talk-5" in agree()
        memory.add_many(sid, [{"id": f"new{n}", "content": text_of(n)} for n in range(30)])
        assert "new5" in agree()
        other.erase(sid, ids=["talk-5", "new5"])
        assert not {"talk-5", "new5"} & agree().keys()
        memory.erase(sid, ids=["talk-10"])
        memory.delete_memory(sid, "talk-0")
        memory.undelete(sid, ["talk-0"])
        assert "talk-0" in agree()


def test_what_is_overwritten_is_not_held_in_memory(tmp_path):
    texts = [text_of(number) for number in range(20)]
    found = Vectors(str(tmp_path), "b1", "m1", Letters("a"))
    found.write(0, found.made_of(texts))
    query = Letters("a").embed(["ooo"])[0]
    before = [found.cosines(query, 20) for _ in range(3)]
    assert np.array_equal(before[0], before[1])
    assert before[2][3] > 0
    found.blank(np.array([3]))
    found.look(1)
    after = found.cosines(query, 20)
    assert np.array_equal(np.flatnonzero(before[2] != after), [3])
    assert after[3] == 0


class Disturbed(Letters):
    """While it embeds a question, something happens."""

    happens: Any = None

    def embed(self, texts: Sequence[str]) -> Any:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        return super().embed(texts)


def test_a_search_whose_vectors_are_thrown_away_meanwhile_keeps_the_words(root, clock):
    def another() -> None:
        with opened(root, Letters("ccc"), clock) as other:
            until_ready(other)

    with opened(root, Letters("a"), clock) as memory:
        loaded(memory)
        until_ready(memory)
    with opened(root, Letters("bb"), clock) as memory:
        until_ready(memory)
        before = facts(root)
    disturbed = Disturbed("a")
    with opened(root, disturbed, clock) as memory:
        disturbed.happens = another
        assert ids(memory.query("talk", text="word7"))[0] == "talk-7"
        until_ready(memory)
    assert facts(root) == before, "the same build"


def test_who_finds_that_others_embedded_all_is_done(root, clock, monkeypatch):
    with opened(root, Letters("a"), clock) as memory:
        sid = loaded(memory)
        until_ready(memory)
        before = facts(root)
        monkeypatch.setattr("mnemolog.index.build.Build.waiting", lambda self: 1)
        memory.add_memory(sid, id="late", content="word99 uuuu")
        assert ids(memory.query(sid, text="word99"))[0] == "late"
        monkeypatch.undo()
        assert facts(root)["build"] == before["build"]


def test_with_most_rows_in_sight_the_others_are_compared_too_and_count_for_nothing(
    tmp_path, monkeypatch
):
    found = Vectors(str(tmp_path), "b1", "m1", Letters("a"))
    found.write(0, found.made_of([text_of(number) for number in range(20)]))
    query = Letters("a").embed(["ooo"])[0]
    each = found.cosines(query, 20)
    assert each.all()
    asked: list[object] = []
    compared = Vectors.cosines

    def noted(self: Vectors, query: Any, rows: int, chosen: Any = None) -> Any:
        asked.append(chosen)
        return compared(self, query, rows, chosen)

    monkeypatch.setattr(Vectors, "cosines", noted)
    for hidden, is_chosen in (([], False), ([3, 7], False), (range(12), True)):
        mask = np.ones(20, bool)
        mask[list(hidden)] = False
        likeness = found.likeness(query, 20, mask, lambda: np.arange(20, dtype=np.uint32))
        assert likeness is not None
        assert np.array_equal(likeness.scores, np.where(mask, each, 0).astype(np.float32))
        assert likeness.average == pytest.approx(each[mask].mean(), abs=1e-6)
        assert (asked.pop() is not None) == is_chosen, "by rows only where most are out of sight"
