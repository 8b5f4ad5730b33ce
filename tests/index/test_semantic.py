"""Meaning: compared where there is an embedder, left out where there is none."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.fs.real import RealDisk
from mnemolog.index import fusion
from mnemolog.index.vectors import average
from mnemolog.stores.files.finder import FilesFinder
from tests.index.searching import (
    WORDS_ONLY,
    few,
    found_by,
    ids,
    reopened,
    scored,
    steady,
    weight_of,
)  # fmt: skip

SAID = [
    "The cat sat on the mat", "Kittens love warm milk", "We chose PostgreSQL as our database",
    "The invoice is due on Friday", "My car broke down on the motorway", "Bake the bread slowly",
]  # fmt: skip


def talk_of(memory: Memory, session: str = "talk") -> str:
    sid = memory.create_session(session_id=session).id
    memory.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(SAID)])
    return sid


@pytest.mark.req("S001-005", "S001-021")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [("feline pets", {"m0", "m1"}), ("relational storage system", {"m2"}),
     ("vehicle trouble", {"m4"}), ("payment deadline", {"m3"})],
)  # fmt: skip
def test_other_words_of_the_same_meaning_find_it_in_the_first_second(memory, text, wanted):
    found = memory.query(talk_of(memory), text=text)
    assert found.semantic == "ready"
    assert ids(found)[0] in wanted
    assert found[0].why["lexical"] == 0
    assert found[0].why["semantic"] > 0


def test_a_single_entry_is_found_by_its_meaning_too(memory):
    sid = memory.create_session().id
    memory.add_memory(sid, content="We chose PostgreSQL for the ledger")
    (hit,) = memory.query(sid, text="which database did you choose?")
    assert hit.why["lexical"] == 0
    assert hit.why["semantic"] > 0
    assert not memory.query(sid, text="zebra stripes")


def test_entries_that_all_say_the_same_are_found_by_their_meaning(memory):
    sid = memory.create_session().id
    memory.add_many(sid, [{"content": "We chose PostgreSQL for the ledger"}] * 3)
    assert len(memory.query(sid, text="which database did you choose?")) == 3


def test_without_an_embedder_words_alone_decide_and_the_hits_say_so(root, clock):
    with reopened(root, clock, **WORDS_ONLY) as memory:
        found = memory.query(talk_of(memory), text="the cat of the motorway")
        assert found.semantic == "off"
        assert found
        assert all(hit.why["semantic"] == 0 for hit in found)
        assert memory.query("talk", text="vehicle").semantic == "off"
        assert memory.query("talk").semantic == "off"


def test_without_a_word_in_common_and_without_meaning_nothing_is_found(root, clock):
    with reopened(root, clock, **WORDS_ONLY) as memory:
        assert memory.query(talk_of(memory), text="feline pets") == []


@few
@given(
    text=st.lists(st.sampled_from("cat database milk friday car feline slowly".split()), min_size=1)
    .map(" ".join)
)  # fmt: skip
def test_with_and_without_an_embedder_words_count_the_same(both, text):
    static, none = (
        {hit.entry.id: hit.why["lexical"] for hit in memory.query("talk", text=text, limit=100)}
        for memory in both
    )
    assert {name: value for name, value in static.items() if value} == {
        name: value for name, value in none.items() if value
    }


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    roots = [tmp_path_factory.mktemp(name) for name in ("static", "none")]
    with steady(roots[0]) as static, steady(roots[1], **WORDS_ONLY) as none:
        for memory in (static, none):
            talk_of(memory)
        yield static, none


def test_what_says_the_same_is_worth_the_same_wherever_it_lies(root, clock):
    """Or a rebuilt index, in which the rows lie elsewhere, would rank near-ties differently."""
    with steady(root, clock) as memory:
        talk_of(memory)
        for number in range(15):
            other = memory.create_session(session_id=f"t{number}").id
            memory.add_memory(other, id=f"x{number}", content="A dog barked at the postman")
            for text in ("barking animals", "letters and parcels", "a noise in the street", "dog"):
                hits = memory.query(None, text=text, limit=100)
                found = {hit.entry.id: hit.relevance for hit in hits}
                assert len({found.get(f"x{one}") for one in range(number + 1)}) == 1


class Counting:
    """An embedder of one's own: how many vowels and how many other letters a text has."""

    size = 2

    def __init__(self, name: str = "vowels") -> None:
        self.name = name
        self.embedded: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.embedded += texts
        vowels = np.array([sum(c in "aeiou" for c in text) for text in texts], np.float32)
        others = np.array([len(text) for text in texts], np.float32) - vowels
        found = np.stack([vowels, others], axis=1)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


def with_embedder(root: Path, embedder: Counting, clock: Any) -> Memory:
    disk = RealDisk(str(root))
    return found_by(FilesFinder(disk, str(root), embedder), disk, clock)


def test_each_entry_is_embedded_once_and_by_the_reader(root, clock):
    embedder = Counting()
    memory = with_embedder(root, embedder, clock)
    sid = talk_of(memory)
    assert embedder.embedded == [], "a write never waits for an embedder"
    memory.query(sid, text="question")
    assert embedder.embedded == [*SAID, "question"]
    memory.add_memory(sid, content="one more")
    memory.query(sid, text="again")
    assert embedder.embedded[len(SAID) + 1 :] == ["one more", "again"]
    memory.query(sid, types=["decision"])
    assert len(embedder.embedded) == len(SAID) + 3, "filters alone need no meaning"


def test_another_embedder_embeds_everything_anew(root, clock):
    first, second = Counting("one"), Counting("two")
    memory = with_embedder(root, first, clock)
    sid = talk_of(memory)
    before = scored(memory.query(sid, text="banana"))
    memory.close()
    other = with_embedder(root, second, clock)
    other.query(sid, text="banana")
    assert sorted(second.embedded) == sorted([*SAID, "banana"])
    other.close()
    again = with_embedder(root, Counting("two"), clock)
    assert ids(again.query(sid, text="banana")) == [one[0] for one in before]


@few
@given(texts=st.lists(st.text("aeiouxyz", min_size=1, max_size=12), max_size=8))
def test_meaning_is_the_share_of_the_best_above_the_average(embedding, texts):
    embedder, memory = embedding
    texts = ["aeiou", *["xyz"] * (1 + len(texts)), *texts]
    sid = memory.create_session().id
    memory.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(texts)])
    hits = memory.query(sid, text="aeiou", limit=100)
    memory.delete_session(sid)
    cosines = embedder.embed(texts) @ embedder.embed(["aeiou"])[0]
    usual = (cosines.sum() + fusion.UNSEEN * fusion.UNLIKE) / (len(cosines) + fusion.UNSEEN)
    above = [float(value) for value in cosines - usual]
    found = {hit.entry.id: hit.why["semantic"] for hit in hits}
    for number, value in enumerate(above):
        worth = found.get(f"m{number}", 0.0)
        if value > 0.12:  # One byte for each dimension is not exact.
            wanted = weight_of("semantic") * value / max(above)
            assert worth == pytest.approx(wanted, abs=0.02)
        elif value < -0.02:
            assert worth == 0


def test_the_only_entry_counts_by_its_likeness_to_the_text(tmp_path, clock):
    memory = with_embedder(tmp_path / "store", Counting(), clock)
    sid = memory.create_session().id
    memory.add_many(sid, [{"id": "same", "content": "aeiou"}])
    (hit,) = memory.query(sid, text="aeiuo")
    assert hit.why["lexical"] == 0
    assert hit.why["semantic"] > 0.9 * weight_of("semantic")
    memory.close()


@pytest.fixture(scope="module")
def embedding(tmp_path_factory):
    embedder = Counting()
    memory = with_embedder(tmp_path_factory.mktemp("own"), embedder, None)
    yield embedder, memory
    memory.close()


def test_the_average_is_the_same_in_whatever_order_the_rows_lie():
    rng = np.random.default_rng(7)
    cosines = rng.normal(size=5000).astype(np.float32).round(5)
    assert len({average(rng.permutation(cosines)) for _ in range(50)}) == 1
