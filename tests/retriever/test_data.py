"""The training conversations are whole, ours alone, and a part of them is never trained on."""

import json
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from retriever import check_data, form
from retriever.conversations import DATA, files, is_held_out, read, split, spoken

CONVERSATIONS = read(files())
# Beside a checkout, where somebody laid it: the texts of a benchmark, which may not be shipped.
BENCH = Path(__file__).parents[3] / "shared" / "bench"


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
    assert {each["type"] for each in questions} == form.TYPES
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
        ({"turn": {"time": "yesterday"}}, "the turn 1:1 has the time 'yesterday'"),
        ({"turn": {"time": "2025-99-99T99:99:99Z"}}, "the turn 1:1 has the time '2025-99-99"),
        ({"turn": {"time": "2025-02-29T09:00:00Z"}}, "the turn 1:1 has the time '2025-02-29"),
        ({"turn": {"text": " "}}, "the turn number 1 has nothing as its text"),
        ({"turn": {"id": 7}}, "the turn number 1 has 7 as its id"),
        ({"turn": {"mood": "good"}}, "the turn number 1 has the keys"),
        ({"question": {"question": ""}}, "the question number 1 has nothing as its question"),
        ({"question": {"answer": "no"}}, "the question number 1 has the keys"),
        ({"question": {"evidence": []}}, "no evidence"),
        ({"question": {"evidence": ["9:9"]}}, "not there"),
        ({"turn": {"id": "7"}, "question": {"evidence": [7]}}, "by what is no text, [7]"),
        ({"question": {"type": "riddle"}}, "type 'riddle'"),
    ],
)
def test_a_fault_is_named(changes, said):
    (fault,) = check_data.all_faults([conversation(**changes)])
    assert fault.startswith("c-1: ")
    assert said in fault


def test_a_turn_without_its_id_is_a_fault_and_the_others_are_still_looked_at():
    broken, sound = conversation(), conversation("c-2", question={"type": "riddle"})
    del broken["turns"][0]["id"]
    first, second = check_data.all_faults([broken, sound])
    assert first.startswith("c-1: the turn number 1 has the keys ['session', ")
    assert "c-2: the question number 1 (Where is the boat?) has the type 'riddle'" in second


@pytest.mark.parametrize("broken", [{}, [], None, {"id": "", "turns": 3}])
def test_what_is_no_conversation_is_a_fault_with_its_number(broken):
    (fault,) = check_data.all_faults([conversation(), broken])
    assert fault.startswith("conversation number 2: the conversation ")


def test_a_turn_earlier_than_the_one_before_it_in_its_session_is_a_fault():
    told = conversation()
    first = told["turns"][0]
    told["turns"] += [
        first | {"id": "2:1", "session": "2", "time": "2025-02-01T09:00:00Z"},
        first | {"id": "1:2", "time": "2025-03-01T08:59:59Z"},
    ]
    assert check_data.all_faults([told]) == [
        "c-1: the turn 1:2 is earlier than 1:1, which it follows"
    ]


def test_a_name_that_is_there_twice_is_a_fault():
    twice = [conversation(turn={"text": "Yes."}), conversation(turn={"text": "No."})]
    assert check_data.all_faults(twice) == ["c-1: this name is there twice"]


def test_almost_the_same_turn_in_two_conversations_is_a_fault():
    text = conversation()["turns"][0]["text"]
    other = conversation("c-2", turn={"text": text.replace("May", "June, they say")})
    (fault,) = check_data.all_faults([conversation(), other])
    assert fault == "c-2 1:1: almost the same as c-1 1:1"


@pytest.mark.parametrize("order", [1, -1])
def test_a_turn_within_a_longer_one_is_a_fault_whichever_comes_first(order):
    more = " After that nobody came for weeks, and the harbour master rang twice about the noise."
    short = conversation("c-short")
    long = conversation("c-long", turn={"text": short["turns"][0]["text"] + more * 2})
    (fault,) = check_data.all_faults([short, long][::order])
    assert "1:1: almost the same as c-" in fault


def test_a_sentence_of_a_benchmark_is_a_fault(tmp_path):
    foreign = conversation("b-1", turn={"text": "Oh! " + conversation()["turns"][0]["text"]})
    (tmp_path / "bench.json").write_text(json.dumps([foreign]))
    (found,) = check_data.all_faults([conversation()], tmp_path)
    assert found.startswith("c-1: also in the benchmark: ")


def test_a_sentence_of_a_benchmark_in_other_signs_is_a_fault(tmp_path):
    text = "We don't know what's in José's café, and they'll say it isn't open"
    (tmp_path / "bench.json").write_text(json.dumps([conversation("b-1", turn={"text": text})]))
    copied = unicodedata.normalize("NFD", text.replace("'", "\u2019"))
    (found,) = check_data.all_faults([conversation(turn={"text": copied})], tmp_path)
    assert found.startswith("c-1: also in the benchmark: ")


def test_a_sentence_without_spaces_of_a_benchmark_is_a_fault(tmp_path):
    foreign = conversation("b-1", turn={"text": "对了,我把船移到了北边的码头,因为南边的关到五月。"})
    (tmp_path / "bench.json").write_text(json.dumps([foreign]))
    copied = conversation(turn={"text": "我把船移到了北边的码头，因为南边的关到五月了"})
    other = conversation("c-2", turn={"text": "我把车停在了西边的车库里，因为那里没有雨水也没有雪"})
    (found,) = check_data.all_faults([copied, other], tmp_path)
    assert found.startswith("c-1: also in the benchmark: ")


@pytest.mark.skipif(not BENCH.is_dir(), reason="no benchmark lies beside this checkout")
def test_nothing_of_the_benchmark_is_in_the_data():
    assert list(BENCH.glob("*.json")) != []
    assert list(check_data.leaks(CONVERSATIONS, BENCH)) == []


def checked(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "retriever.check_data", *words],
        cwd=DATA.parent.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_the_command_prints_the_counts_and_fails_on_a_fault(tmp_path):
    unfounded = conversation(question={"evidence": ["9:9"]})
    done = checked(written(tmp_path / "bad.jsonl", json.dumps(unfounded)))
    assert done.returncode == 1
    assert "1 conversations" in done.stdout
    assert "not there" in done.stdout


def test_the_command_names_the_line_that_cannot_be_read(tmp_path):
    done = checked(written(tmp_path / "bad.jsonl", json.dumps(conversation()), '{"id": '))
    assert done.returncode == 1
    assert "bad.jsonl, line 2: " in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_does_not_pass_what_it_was_to_hold_against_nothing(tmp_path):
    path = written(tmp_path / "good.jsonl", json.dumps(conversation()))
    assert checked(path).returncode == 0
    done = checked(path, "--bench", tmp_path / "nowhere")
    assert done.returncode == 2
    assert "there is no benchmark in " in done.stderr


def test_a_text_may_hold_what_ends_a_line_elsewhere(tmp_path):
    told = conversation(turn={"text": "Yes.\u2028It is\x85there now."})
    path = written(tmp_path / "good.jsonl", json.dumps(told, ensure_ascii=False))
    assert read([path]) == [told]
