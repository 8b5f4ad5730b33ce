"""With very many rows, a first pass over signs leaves out only what is far away."""

import shutil
from random import Random

import pytest

from mnemolog.index import vectors
from tests.index.searching import assert_alike, scored, steady

THINGS = {
    "animals": "cat dog horse puppy kitten cow bird fish rabbit tiger lion mouse".split(),
    "food": "bread milk cheese apple soup rice butter sugar pepper cake onion honey".split(),
    "money": "invoice payment bank loan salary budget price credit debt tax fund coin".split(),
    "travel": "train airport hotel ticket passport luggage flight road bridge harbour map".split(),
}
ASKED = ("pets at home", "something to eat", "what does it cost", "a long journey", "feline")


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    with steady(tmp_path_factory.mktemp("signs")) as opened:
        source, kinds = Random(1), list(THINGS.values())
        for number in range(8):
            sid = opened.create_session("u1", session_id=f"s{number}").id
            texts = [" ".join(source.choices(source.choice(kinds), k=5)) for _ in range(60)]
            opened.add_many(sid, [{"content": text} for text in texts])
        yield opened


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(vectors, "EXACT", 100)
    monkeypatch.setattr(vectors, "NEAREST", 160)


def test_no_search_here_needs_the_first_pass_unless_it_is_told_so(memory):
    assert len(memory.query(None, limit=1000)) > 100
    assert vectors.EXACT > 100_000


@pytest.mark.parametrize("text", ASKED)
def test_the_nearest_are_found_and_compared_exactly(memory, text, request):
    exact = {hit.entry.id: hit.why for hit in memory.query(None, text=text, limit=300)}
    request.getfixturevalue("hasty")
    hits = memory.query(None, text=text, limit=10)
    assert len(hits) == 10
    best = sorted(exact, key=lambda one: -exact[one]["semantic"])[:40]
    assert len({hit.entry.id for hit in hits} & set(best)) >= 5
    for hit in hits:
        ours, theirs = hit.why["semantic"], exact[hit.entry.id]["semantic"]
        assert ours == pytest.approx(theirs, abs=0.01)


@pytest.mark.usefixtures("hasty")
def test_a_small_scope_is_compared_exactly_even_among_many_rows(memory, monkeypatch):
    hasty = scored(memory.query("s3", text="pets at home", limit=100))
    monkeypatch.setattr(vectors, "EXACT", 1_000_000)
    assert_alike(hasty, scored(memory.query("s3", text="pets at home", limit=100)))


@pytest.mark.usefixtures("hasty")
def test_what_stands_beside_a_hit_counts_although_it_is_far_from_the_question(memory, monkeypatch):
    hasty = {hit.entry.id: hit.why for hit in memory.query(None, text="feline", limit=10)}
    monkeypatch.setattr(vectors, "EXACT", 1_000_000)
    exact = {hit.entry.id: hit.why for hit in memory.query(None, text="feline", limit=300)}
    for identifier, why in hasty.items():
        assert why["neighbours"] == pytest.approx(exact[identifier]["neighbours"], abs=0.01)


@pytest.mark.usefixtures("hasty")
def test_a_new_index_of_very_many_rows_finds_the_same(root, monkeypatch):
    """Its rows lie in another order, log by log."""
    monkeypatch.setattr(vectors, "_SAMPLE", 60)
    source, words = Random(2), [word for kind in THINGS.values() for word in kind]
    with steady(root) as memory:
        for session in "zma":
            memory.create_session(session_id=session)
        for number in range(300):
            content = " ".join(source.choices(words, k=5))
            memory.add_memory(source.choice("zma"), id=f"e{number}", content=content)
            if number % 20 == 0:
                memory.query(None, text="nothing")
        before = [scored(memory.query(None, text=text, limit=50)) for text in ASKED]
    shutil.rmtree(root / "index")
    with steady(root) as memory:
        assert [scored(memory.query(None, text=text, limit=50)) for text in ASKED] == before


def test_of_very_many_rows_that_are_alike_a_new_index_chooses_the_same(root, monkeypatch):
    monkeypatch.setattr(vectors, "EXACT", 100)
    monkeypatch.setattr(vectors, "NEAREST", 20)
    with steady(root) as memory:
        for session in "zma":
            memory.create_session(session_id=session)
        for number in range(150):
            memory.add_memory("zma"[number % 3], id=f"e{number}", content="kitten and puppy")
            if number % 20 == 0:
                memory.query(None, text="nothing")
        before = scored(memory.query(None, text="feline", limit=50))
    shutil.rmtree(root / "index")
    with steady(root) as memory:
        assert scored(memory.query(None, text="feline", limit=50)) == before
