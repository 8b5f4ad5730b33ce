"""The benchmark of search asks each question as if it were the only one."""

from bench import retrieval
from bench.retrieval import LastTurn
from mnemolog import Memory
from mnemolog.stores.files import uses

TEXTS = ("We chose PostgreSQL.", "The boat is at the pier.", "Which database? We chose it late.")
TALK = {
    "id": "talk",
    "turns": [
        {"id": f"1:{number}", "session": "1", "speaker": "Ada", "text": text,
         "time": "2025-03-01T09:00:00Z"}
        for number, text in enumerate(TEXTS)
    ],
}  # fmt: skip
QUESTION = {"question": "Which database was chosen?", "type": "single", "evidence": ["1:0"]}


def test_what_a_question_finds_is_no_use_that_moves_the_next(root, monkeypatch):
    monkeypatch.setattr(uses, "_SECONDS", -1.0)  # else it would show after half a minute only
    clock = LastTurn()
    with Memory.open(root, clock=clock, environ={}) as memory:
        retrieval.load(memory, TALK, clock)
        first = retrieval.ask(memory, TALK, QUESTION)
        assert first is not None
        assert "1:0" in first["hits"]
        assert [retrieval.ask(memory, TALK, QUESTION) for _ in range(3)] == [first] * 3
        hits = memory.query(None, text="PostgreSQL")
        assert {hit.why["access"] for hit in hits} == {0.5}, "nothing was used before"
