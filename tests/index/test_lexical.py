"""The words of a match: BM25 over what the caller may see, computed here once more."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog import Memory
from mnemolog.testing.clock import FixedClock
from tests.index.searching import WORDS_ONLY, few, ids, lexical, scored, some, steady
from tests.memory.machine import QUICK

# Words that are their own stems, so that the test needs no stemmer.
VOCABULARY = ["alpha", "delta", "kilo", "lima", "oscar", "tango", "zulu"]
DATE = ["15", "november", "2026"]
K1, B = 1.2, 0.75

TEXTS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=9).map(" ".join)


@pytest.fixture(scope="module")
def bare() -> Iterator[Memory]:
    """A memory in which each test makes sessions of its own, and words alone decide."""
    with (
        tempfile.TemporaryDirectory(dir=QUICK) as root,
        steady(Path(root), FixedClock(), **WORDS_ONLY) as memory,
    ):
        yield memory


def bm25(documents: list[list[str]], query: list[str]) -> list[float]:
    """The textbook's formula, as a share of the best."""
    counts = [Counter(document) for document in documents]
    mean = sum(map(len, documents)) / len(documents)
    scores = [0.0] * len(documents)
    for word, times in Counter(query).items():
        holders = sum(word in count for count in counts)
        weight = times * log(1 + (len(documents) - holders + 0.5) / (holders + 0.5))
        for number, count in enumerate(counts):
            norm = K1 * (1 - B + B * len(documents[number]) / mean)
            scores[number] += weight * count[word] * (K1 + 1) / (count[word] + norm)
    best = max(scores)
    return [score / best if best else 0.0 for score in scores]


@pytest.mark.req("S001-023", "S001-039", "S001-071", "S001-073", "S002-131")
@some
@given(texts=st.lists(TEXTS, min_size=1, max_size=10), query=TEXTS)
def test_words_count_by_bm25_with_the_statistics_of_the_session(bare, texts, query):
    sid = bare.create_session().id
    bare.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(texts)])
    found = lexical(bare.query(sid, text=query, limit=100))
    bare.delete_session(sid)
    assert_counted(found, bm25([text.split() + DATE for text in texts], query.split()))


def assert_counted(found: dict[str, float], wanted: list[float]) -> None:
    """Very weak matches are a test of their own."""
    for number, score in enumerate(wanted):
        if f"m{number}" in found or score > 0.06:
            assert found.get(f"m{number}", 0.0) == pytest.approx(score, abs=1e-4)


@pytest.mark.req("S001-071")
def test_a_weak_match_is_a_match(bare):
    """A word that nearly all entries hold says little, but it was asked for."""
    sid = bare.create_session().id
    bare.add_many(sid, [{"id": f"m{n}", "content": "delta romeo"} for n in range(8)])
    bare.add_memory(sid, id="best", content="alpha alpha romeo")
    found = bare.query(sid, text="alpha romeo")
    assert ids(found)[0] == "best"
    assert set(ids(found)) == {"best", *(f"m{n}" for n in range(8))}


@few
@given(
    texts=st.lists(TEXTS, min_size=1, max_size=6),
    tags=st.lists(st.sampled_from(VOCABULARY), max_size=2, unique=True),
    agent=st.sampled_from([None, *VOCABULARY]),
    category=st.sampled_from([None, "romeo"]),
)
def test_who_tags_and_category_count_like_what_was_said(bare, texts, tags, agent, category):
    sid = bare.create_session().id
    fields = {"tags": tags} | ({"agent_id": agent} if agent else {})
    fields |= {"category": category} if category else {}
    bare.add_many(sid, [{"id": f"m{n}", "content": text, **fields} for n, text in enumerate(texts)])
    found = lexical(bare.query(sid, text="alpha romeo", limit=100))
    bare.delete_session(sid)
    around = tags + ([agent] if agent else []) + ([category] if category else []) + DATE
    assert_counted(found, bm25([text.split() + around for text in texts], ["alpha", "romeo"]))


def test_statistics_stay_exact_across_sealed_segments_and_their_merging(bare):
    """More rows than wait in the tail, in many batches, so that postings are sealed and merged."""
    sid = bare.create_session().id
    texts = [VOCABULARY[n % 7] + " " + VOCABULARY[n * n % 5] for n in range(9_300)]
    for start in range(0, len(texts), 1030):
        batch = enumerate(texts[start : start + 1030], start)
        bare.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in batch])
        bare.query(sid, limit=1)
    wanted = bm25([text.split() + DATE for text in texts], ["zulu", "delta"])
    best = sorted(range(len(texts)), key=lambda n: -wanted[n])
    found = lexical(bare.query(sid, text="zulu delta", limit=50))
    assert len(found) == 50
    for name, score in found.items():
        assert score == pytest.approx(wanted[int(name[1:])], abs=1e-4)
        assert score >= wanted[best[49]] - 1e-4
    bare.delete_session(sid)


@few
@given(
    texts=st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=4, max_size=4).map(" ".join),
                   min_size=1, max_size=8),
    more=st.integers(1, 3),
    scorer=st.sampled_from(["recall", "weighted", "product"]),
)  # fmt: skip
def test_with_frozen_statistics_an_unrelated_entry_only_inserts_itself(bare, texts, more, scorer):
    """Asked for one word, among entries of one length, and with the unrelated entry in a session
    of its own: the mean length stays what it was, the rarity of the word is a factor common to
    all and gone with the share of the best, and nothing stands beside a match that did not
    before. So nothing that was found may move or change."""
    user = bare.create_session().id
    sid, other = bare.create_session(user).id, bare.create_session(user).id
    view = bare.for_user(user)
    bare.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(texts)])
    asked = {"text": "alpha", "scorer": scorer, "limit": 100}
    before = scored(view.query(None, asked))
    bare.add_many(other, [{"content": "one two three four"} for _ in range(more)])
    after = scored(view.query(None, asked))
    bare.delete_session(sid)
    bare.delete_session(other)
    assert [one[0] for one in after] == [one[0] for one in before]
    for (_, old, old_why), (_, new, new_why) in zip(before, after, strict=True):
        assert new == pytest.approx(old, abs=1e-6)
        assert new_why == pytest.approx(old_why, abs=2e-6)


def test_a_turn_beside_a_match_is_found_for_its_neighbours_sake(bare):
    sid = bare.create_session().id
    said = ["good morning", "alpha", "it is the third shelf", "unrelated", "unrelated too"]
    bare.add_many(sid, [{"id": f"m{n}", "content": text} for n, text in enumerate(said)])
    found = bare.query(sid, text="alpha")
    assert ids(found)[0] == "m1"
    assert set(ids(found)) == {"m0", "m1", "m2"}


def test_a_filter_takes_no_neighbour_and_no_session_away(bare):
    """What a filter excludes is not found, but it still speaks for what is beside it."""
    sid = bare.create_session().id
    bare.add_memory(sid, id="asked", content="alpha")
    bare.add_decision(sid, id="answered", decision="the third shelf")
    bare.add_memory(sid, content="unrelated")
    bare.add_decision(sid, id="far", decision="something of alpha at last")
    every = {hit.entry.id: hit.why for hit in bare.query(sid, text="alpha")}
    found = {hit.entry.id: hit.why for hit in bare.query(sid, text="alpha", types=["decision"])}
    assert set(found) == {"answered", "far"}
    assert found == {name: every[name] for name in found}


def test_a_turn_that_was_revised_still_stands_beside_its_neighbours(bare):
    """Frameworks save a growing message several times: it is one turn all the same."""

    def ask(revisions: int) -> list[str]:
        sid = bare.create_session().id
        bare.add_memory(sid, id="m0", content="good morning")
        for number in range(revisions):
            bare.add_memory(sid, id="m1", content="alpha" if number == revisions - 1 else "draft")
        bare.add_memory(sid, id="m2", content="it is the third shelf")
        found = sorted(ids(bare.query(sid, text="alpha")))
        bare.delete_session(sid)
        return found

    assert ask(revisions=1) == ["m0", "m1", "m2"]
    assert ask(revisions=3) == ["m0", "m1", "m2"]


def test_a_turn_revised_later_still_stands_beside_its_neighbours(bare):
    sid = bare.create_session().id
    for number, text in enumerate(["good morning", "draft", "it is the third shelf"]):
        bare.add_memory(sid, id=f"m{number}", content=text)
    bare.update_memory(sid, "m1", content="alpha")
    assert sorted(ids(bare.query(sid, text="alpha"))) == ["m0", "m1", "m2"]


def test_the_speaker_is_known_by_any_part_of_the_name(bare):
    sid = bare.create_session().id
    for agent in ("lead-architect", "analyst"):
        bare.add_memory(sid, id=agent, content="we said alpha", agent_id=agent)
    hits = {hit.entry.id: hit.why for hit in bare.query(sid, text="what did the architect say")}
    assert hits["lead-architect"]["speaker"] > 0
    assert hits.get("analyst", {}).get("speaker", 0) == 0


@pytest.mark.parametrize(
    "question", ["Where did I leave the boat?", "the boat, tell ME", "my boat"]
)
def test_who_asks_of_oneself_means_what_the_user_said(bare, question):
    session = bare.create_session().id
    bare.add_memory(session, role="user", content="the boat is at the pier")
    bare.add_memory(session, agent_id="user", content="a boat needs paint")
    bare.add_memory(session, role="assistant", content="a boat wants care")
    bare.add_memory(session, agent_id="analyst", content="one boat costs much")
    hits = {hit.entry.content: hit.why["speaker"] for hit in bare.query(session, text=question)}
    assert len(hits) == 4
    spoken = {content for content, weight in hits.items() if weight > 0}
    assert spoken == {"the boat is at the pier", "a boat needs paint"}
    others = bare.query(session, text="Where did she leave the boat?")
    assert not any(hit.why["speaker"] for hit in others)
