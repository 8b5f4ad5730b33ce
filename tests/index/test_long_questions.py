"""A question of any length costs the work of a few hundred terms: those that tell most."""

import random
import sqlite3
from contextlib import closing

import pytest

from mnemolog import Memory
from mnemolog.index import lexical
from mnemolog.index.search import CUT

HAN = [chr(code) for code in range(0x4E00, 0x9FA5)]
COMMON = [f"common{number}" for number in range(700)]


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path, environ={}) as memory:
        memory.create_session(session_id="talk")
        yield memory


def han(length: int, seed: int) -> str:
    return "".join(random.Random(seed).choices(HAN, k=length))


@pytest.fixture
def looked_for(memory, monkeypatch):
    """What a search looks for, beside what it finds."""
    noted, plain = [], lexical.score

    def score(snapshot, mask, asked):
        noted.append(asked)
        return plain(snapshot, mask, asked)

    monkeypatch.setattr(lexical, "score", score)

    def ask(text):
        memory.query("talk", text=text)
        return noted[-1]

    return ask


def test_a_question_of_100_000_chinese_characters_looks_for_512_terms(memory, looked_for):
    memory.add_many("talk", [{"content": han(200, seed)} for seed in range(50)])
    question = han(100_000, 7)
    hits = memory.query("talk", text=question)
    assert hits.notes == (CUT,)
    short = lexical.shortened(question)
    assert len(short) == lexical.MOST_CHARACTERS + 1
    asked = looked_for(question)
    assert len(asked) == lexical.MOST_TERMS == 512
    assert len({one.terms for one in asked}) == 512


def test_of_a_long_question_the_rarest_words_count_and_not_the_first(memory, tmp_path, looked_for):
    records = [{"id": f"e{n}", "content": " ".join(COMMON[:300])} for n in range(2100)]
    memory.add_many("talk", records)
    memory.add_memory("talk", id="rare", content="xylocarp", type="note")
    memory.add_many("talk", [{"content": "filler"} for _ in range(2100)])
    memory.query("talk", text="filler")
    question = " ".join([*COMMON, "xylocarp"])
    with closing(sqlite3.connect(f"file:{tmp_path}/index/index.db?mode=ro", uri=True)) as database:
        assert database.execute("SELECT count(*) FROM segment").fetchone()[0] > 0
    (rare,) = looked_for("xylocarp")
    assert rare in looked_for(question)
    (hit,) = memory.query("talk", text=question, types=["note"])
    assert (hit.entry.id, hit.why["lexical"] > 0) == ("rare", True)


@pytest.mark.parametrize("count", [64, 65])
def test_of_many_wildcards_64_are_looked_for(memory, looked_for, count):
    memory.add_memory("talk", content="word00 word01")
    question = " ".join(f"word{number:02}*" for number in range(count))
    hits = memory.query("talk", text=question)
    assert len(hits) == 1
    assert hits.notes == ((CUT,) if count > 64 else ())
    assert len(looked_for(question)) == 64


def test_of_a_text_that_is_too_long_the_beginning_and_the_end_are_looked_at(memory):
    for word in ("xylocarp", "quetzal", "zugzwang"):
        memory.add_memory("talk", id=word, type="note", content=word)
    question = f"xylocarp {han(20_000, 1)} quetzal {han(20_000, 2)} zugzwang"
    assert {hit.entry.id for hit in memory.query("talk", text=question)} >= {"xylocarp", "zugzwang"}
    for where, found in (("begin", "xylocarp"), ("end", "zugzwang")):
        hit = next(one for one in memory.query("talk", text=question) if one.entry.id == found)
        assert hit.why["lexical"] > 0, where


def test_an_ordinary_question_is_looked_for_whole(memory, looked_for):
    memory.add_memory("talk", content="which database did we choose")
    assert memory.query("talk", text=" ".join(COMMON[:512])).notes == ()
    assert memory.query("talk", text="which database?").notes == ()
    assert len(looked_for(" ".join(COMMON[:512]))) == 512


@pytest.mark.parametrize("between", [" ", "_", "的"])
def test_wildcards_that_stand_in_one_name_are_counted_one_by_one(memory, between):
    for count, notes in ((64, ()), (65, (CUT,))):
        name = between.join(f"w{number}x*" for number in range(count))
        assert memory.query("talk", text=name).notes == notes
