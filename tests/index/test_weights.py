"""The weights of fusion: one set for each of our embedders, and `why` adds up to the match."""

import numpy as np
import pytest

from mnemolog import Memory
from mnemolog.index import fusion
from tests.index.searching import MATCH_PARTS

SAID = [
    ("ada", "We moved the boat to the north pier."),
    ("bob", "Which pier?"),
    ("ada", "The one beside the lighthouse, until May."),
    ("bob", "Lunch was good."),
]


class Named:
    """Vectors that depend on the words alone, under a name that says which weights to take."""

    size = 64

    def __init__(self, name: str) -> None:
        self.name = name

    def embed(self, texts):
        vectors = np.zeros((len(texts), self.size), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                vector[sum(word.encode()) % self.size] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize("name", ["static-1", "small-1", "full-1", "somebody-else"])
def test_the_parts_add_up_to_the_match(tmp_path, name):
    weights = fusion.weights_of(name)
    with Memory.open(tmp_path, embedder=Named(name)) as memory:
        session = memory.create_session("u")
        memory.add_many(session.id, [{"agent_id": who, "content": what} for who, what in SAID])
        hits = list(memory.query(None, text="Where did ada put the boat?"))
    assert hits
    for hit in hits:
        total = sum(hit.why[part] for part in MATCH_PARTS)
        assert hit.why["match"] == pytest.approx(total / weights.ceiling, abs=1e-5)
    assert hits[0].why["lexical"] == pytest.approx(weights.words)
    assert hits[0].why["speaker"] == pytest.approx(weights.speaker)


@pytest.mark.parametrize("name", ["static-1", "small-1", "full-1"])
def test_a_text_that_the_embedder_cannot_read_is_ranked_as_without_one(tmp_path, name):
    class Blind(Named):
        """Reads what was said, and none of the questions."""

        def embed(self, texts):
            return super().embed(texts) * (len(texts) > 1)

    def ranked(folder, embedder):
        with Memory.open(folder, embedder=embedder) as memory:
            session = memory.create_session("u", session_id="s")
            memory.add_many(session.id, [{"agent_id": who, "content": what} for who, what in SAID])
            found = memory.query(None, text="Where did ada put the boat?")
            return [(hit.entry.content, hit.why["match"]) for hit in found]

    assert ranked(tmp_path / "blind", Blind(name)) == ranked(tmp_path / "none", "none")


def test_nothing_can_match_more_than_fully():
    for name in ("none", "static-a", "small-b", "full-c"):
        words, meaning, beside_words, beside_meaning, session, *rest = fusion.weights_of(name)
        beside = 2 * (beside_words * words + beside_meaning * meaning)
        best = (words + meaning) * (1 + session) + beside + sum(rest)
        assert fusion.weights_of(name).ceiling == pytest.approx(best)


def test_the_better_the_vectors_the_more_meaning_counts():
    shares = [
        weights.meaning / weights.words
        for weights in map(fusion.weights_of, ("somebody-else", "static-1", "small-1", "full-1"))
    ]
    assert shares == sorted(shares)
