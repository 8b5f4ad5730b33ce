"""The training conversations are whole, ours alone, and a part of them is never trained on."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from retriever import check_data
from retriever.conversations import DATA, files, is_held_out, read, split, spoken

CONVERSATIONS = read(files())


def conversation(name: str = "c-1", **changes):
    turn = {
        "id": "1:1",
        "session": "1",
        "speaker": "Ada",
        "time": "2025-03-01T09:00:00Z",
        "text": "I moved the boat to the north pier, because the south one is closed until May.",
    }
    asked = {"question": "Where is the boat?", "type": "single", "evidence": ["1:1"]}
    whole = {"id": name, "domain": "life", "turns": [turn], "questions": [asked]}
    whole["turns"] = [turn | changes.pop("turn", {})]
    whole["questions"] = [asked | changes.pop("question", {})]
    return whole


def test_every_file_is_without_faults():
    assert check_data.all_faults(CONVERSATIONS) == []


def test_there_are_more_conversations_than_before_and_all_kinds_of_questions():
    assert len(CONVERSATIONS) >= 200
    questions = [each for one in CONVERSATIONS for each in one["questions"]]
    assert {each["type"] for each in questions} == check_data.TYPES
    assert sum(len(each["evidence"]) > 2 for each in questions) >= 500


def test_a_part_is_held_out_by_name():
    trained, held_out = split(CONVERSATIONS)
    assert 0.05 * len(CONVERSATIONS) <= len(held_out) <= 0.15 * len(CONVERSATIONS)
    assert not {one["id"] for one in trained} & {one["id"] for one in held_out}
    assert [is_held_out(one) for one in reversed(held_out)] == [True] * len(held_out)


def test_a_turn_is_read_as_the_index_gives_it_to_an_embedder():
    assert spoken(conversation()["turns"][0]).startswith("Ada I moved the boat")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"turn": {"time": "yesterday"}}, "time 'yesterday'"),
        ({"turn": {"text": " "}}, "says nothing"),
        ({"turn": {"mood": "good"}}, "keys"),
        ({"question": {"evidence": []}}, "no evidence"),
        ({"question": {"evidence": ["9:9"]}}, "not there"),
        ({"question": {"type": "riddle"}}, "type 'riddle'"),
    ],
)
def test_a_fault_is_named(changes, said):
    (fault,) = check_data.all_faults([conversation(**changes)])
    assert fault.startswith("c-1: ")
    assert said in fault


def test_a_name_that_is_there_twice_is_a_fault():
    twice = [conversation(turn={"text": "Yes."}), conversation(turn={"text": "No."})]
    assert check_data.all_faults(twice) == ["c-1: this name is there twice"]


def test_almost_the_same_turn_in_two_conversations_is_a_fault():
    text = conversation()["turns"][0]["text"]
    other = conversation("c-2", turn={"text": text.replace("May", "June, they say")})
    (fault,) = check_data.all_faults([conversation(), other])
    assert fault == "c-2 1:1: almost the same as c-1 1:1"


def test_a_sentence_of_a_benchmark_is_a_fault(tmp_path):
    foreign = conversation("b-1", turn={"text": "Oh! " + conversation()["turns"][0]["text"]})
    (tmp_path / "bench.json").write_text(json.dumps([foreign]))
    (found,) = check_data.all_faults([conversation()], tmp_path)
    assert found.startswith("c-1: also in the benchmark: ")


def test_the_command_prints_the_counts_and_fails_on_a_fault(tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(conversation(question={"evidence": ["9:9"]})) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "retriever.check_data", str(path)],
        cwd=Path(DATA).parent.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "1 conversations" in done.stdout
    assert "not there" in done.stdout
