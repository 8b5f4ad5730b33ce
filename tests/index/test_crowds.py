"""Where more rows are worth the same than are looked at, which of them are does not change."""

import shutil

import pytest

from mnemolog.index import fusion, lexical, vectors
from tests.index.searching import WORDS_ONLY, ids, scored, steady

SETTINGS = pytest.mark.parametrize("settings", [WORDS_ONLY, {}], ids=["words", "static"])
LINE = "deploy finished without errors"
ASKED = [
    {"text": "deploy errors", "limit": 10},
    {"text": "deploy", "limit": 10, "scorer": "weighted"},
    {"text": "deploy", "limit": 10, "types": ["note"]},
]


def crowd(memory, sessions, minutes=lambda number: number):
    """More equal lines than fit into a pool, of several sessions by turns."""
    for session in sessions:
        memory.create_session("u1", session_id=session)
    for part in (3, 14, 8, 0, 11, 5, 13, 1, 9, 6, 2, 12, 4, 10, 7):
        lines = [
            {"id": f"e{number:04}", "type": "note", "content": LINE,
             "timestamp": f"2026-11-{1 + minutes(number) // 1440:02}"
             f"T{minutes(number) // 60 % 24:02}:{minutes(number) % 60:02}:00Z"}
            for number in range(part * 100, part * 100 + 100)
        ]  # fmt: skip
        memory.add_many(sessions[part % len(sessions)], lines)
        memory.query(None, text="nothing")


@SETTINGS
@pytest.mark.parametrize(
    "minutes", [lambda number: number, lambda number: 0], ids=["one by one", "at once"]
)
def test_a_new_index_finds_the_same_of_many_equal_lines(root, clock, settings, minutes):
    with steady(root, clock, **settings) as memory:
        crowd(memory, ["z", "m", "a"], minutes)
        before = [scored(memory.query(None, asked)) for asked in ASKED]
        assert 3 * fusion.pool_size(1500, 10) < 1500
    shutil.rmtree(root / "index")
    with steady(root, clock, **settings) as memory:
        assert [scored(memory.query(None, asked)) for asked in ASKED] == before


@SETTINGS
def test_of_many_equal_lines_the_newest_are_found(root, clock, settings):
    with steady(root, clock, **settings) as memory:
        crowd(memory, ["z", "m", "a"])
        found = ids(memory.query(None, text="deploy", limit=10))
        assert found == [f"e{number}" for number in range(1499, 1489, -1)]


@pytest.mark.parametrize("scorer", ["weighted", "product"])
def test_the_first_of_a_crowd_are_those_that_the_scorer_puts_first(root, clock, scorer):
    """What matches little may still come first by age, weight and use."""
    with steady(root, clock, **WORDS_ONLY) as memory:
        memory.create_session(session_id="s")
        lines = [f"deploy {'and so on for ever ' * 12}"] * 20 + [f"deploy {n}" for n in range(1500)]
        old = {"timestamp": "2026-01-01T00:00:00Z", "importance": 0.1}
        memory.add_many("s", [{"content": line, **old} for line in reversed(lines)])
        memory.add_memory("s", id="new", content=lines[0], importance=1.0)
        memory.add_many("s", [{"content": line, **old} for line in lines])
        hits = [memory.query("s", text="deploy", scorer=scorer, limit=most) for most in (3, 1000)]
        assert scored(hits[0]) == scored(hits[1][:3])
        assert hits[0][0].entry.id == "new"


def test_what_is_near_is_compared_although_a_crowd_is_as_far_as_the_last(root, clock, monkeypatch):
    monkeypatch.setattr(vectors, "EXACT", 20)
    monkeypatch.setattr(vectors, "NEAREST", 5)
    with steady(root, clock) as memory:
        memory.create_session(session_id="s")
        memory.add_many("s", [{"content": "invoice payment bank loan"}] * 60)
        memory.add_memory("s", id="cat", content="kitten")
        memory.add_many("s", [{"content": "invoice payment bank loan"}] * 60)
        assert ids(memory.query("s", text="feline", limit=1)) == ["cat"]


@pytest.mark.req("S002-066")
def test_a_wildcard_matches_however_many_words(root, clock, monkeypatch):
    monkeypatch.setattr(lexical, "_FORMS", 7)
    with steady(root, clock, **WORDS_ONLY) as memory:
        memory.create_session(session_id="s")
        memory.add_many("s", [{"content": f"w{n:02}x and w{n % 7}y"} for n in range(30)])
        found = memory.query("s", text="w*", limit=100)
        assert len(found) == 30
        assert {hit.why["lexical"] for hit in found} == {1.0}
