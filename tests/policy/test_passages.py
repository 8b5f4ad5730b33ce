"""Passages: what a long text has to say on a question, verbatim, in order, within the room."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.policy.passages import GAP, passages

LINES = [f"Step {number}: paint plank {number} of the boat." for number in range(40)]
LINES[0] = "How to paint the boat:"
LINES[27] = "The keel needs red lead before anything else."
TEXT = "\n".join(LINES)


def test_the_beginning_and_what_the_question_asks_for_are_kept():
    shown = passages(TEXT, "What does the keel need first?", 140).split("\n")
    assert shown[0] == LINES[0]
    assert LINES[27] in shown
    assert shown[-1] == GAP
    assert shown.count(GAP) >= 2


def test_a_word_that_stands_everywhere_counts_less_than_one_that_does_not():
    assert LINES[27] in passages(TEXT, "paint plank of the boat keel", 140)


def test_forms_of_a_word_are_one_word():
    text = "\n".join([*["nothing here"] * 40, "the gardens close at nine", *["nor here"] * 40])
    assert "gardens" in passages(text, "gardening hours", 120)


def test_text_without_spaces_is_compared_by_pairs():
    text = "\n".join(["关于天气的说明", *["今天天气很好"] * 60, "会议在星期五举行"])
    assert "会议在星期五举行" in passages(text, "会议是什么时候", 120)


def test_of_one_line_without_end_the_passage_is_kept():
    text = f"{'so it goes on and on ' * 60}until the lighthouse is repainted {'and on ' * 90}"
    shown = passages(text, "lighthouse", 420)
    assert "lighthouse" in shown
    assert len(shown.encode()) <= 420


def test_one_line_of_text_without_spaces_is_cut_where_a_sentence_ends():
    filler = "关于天气的说明每天晚上都很长，" * 40
    shown = passages(f"{filler}会议在星期五举行。{filler}", "会议是什么时候", 200)
    assert "会议在星期五举行。" in shown
    assert shown.startswith(GAP)
    assert len(shown.encode()) <= 200


@pytest.mark.parametrize(
    ("filler", "answer", "question"),
    [
        ("आज मौसम बहुत अच्छा है और हम बाग में बैठे हैं। ", "किताब मेज पर है।", "किताब कहाँ है"),
        ("اليوم الطقس جميل ونحن في الحديقة. ", "الكِتَاب على الطاولة.", "أين الكتاب"),
        ("วันนี้อากาศดีมากและเรานั่งอยู่ในสวน ", "หนังสืออยู่บนโต๊ะ", "หนังสืออยู่ที่ไหน"),
    ],
)
def test_marks_between_letters_end_no_word(filler, answer, question):
    shown = passages(f"{filler * 30}{answer} {filler * 30}", question, 400)
    assert answer in shown


def test_a_name_within_text_without_spaces_is_found():
    filler = "关于天气的说明每天晚上都很长，" * 40
    shown = passages(f"{filler}我们使用PostgreSQL数据库。{filler}", "PostgreSQL", 200)
    assert "PostgreSQL" in shown


@pytest.mark.parametrize(
    "drawn", ["ที่", "कि", "e\u0301", "👩\u200d🔬", "👍\U0001f3fd", "❤\ufe0f", "نَ"]
)
def test_nothing_is_cut_within_a_character_as_it_is_drawn(drawn):
    shown = passages(drawn * 900, drawn, 700)
    parts = [part.strip("\n") for part in shown.split(GAP)]
    assert any(parts)
    assert all(part.replace(drawn, "") == "" for part in parts)


def test_what_is_asked_for_goes_before_the_beginning_where_both_are_too_much():
    opening = "we spoke of the weather and of the garden and of the harvest " * 2
    text = "\n".join([opening, *["nothing here"] * 30, f"{'so ' * 40}the lighthouse is red"])
    assert "lighthouse is red" in passages(text, "lighthouse", 200)


@pytest.mark.parametrize("before", [5_000, 40_000, 70_000, 400_000])
@pytest.mark.parametrize("after", [0, 20, 200_000])
def test_of_a_very_long_text_the_part_that_is_asked_for_is_looked_through(before, after):
    """A rare word is looked for in all of it; what is left out between is marked."""
    filler = "the harvest of the year was good. "
    text = f"Report\n{filler * (before // 34)}The lighthouse is red.{filler * (after // 34)}"
    shown = passages(text, "What colour is the lighthouse?", 400)
    assert "lighthouse is red" in shown
    assert shown.startswith("Report\n")
    assert len(shown.encode()) <= 400
    kept = [part.strip("\n") for part in shown.split(GAP)]
    assert all(part in text for part in kept)
    assert sum(map(len, kept)) < 400 < len(text)


def test_the_end_of_a_very_long_text_without_spaces_is_found():
    text = f"{'关于天气的说明每天晚上都很长，' * 9000}会议在星期五举行。"
    assert "会议在星期五举行" in passages(text, "会议举行", 400)


def test_without_a_word_in_common_the_beginning_is_kept():
    assert passages(TEXT, "zebra", 120).startswith("\n".join(LINES[:2]))


@given(
    text=st.text(max_size=600) | st.text(alphabet="ab \n\r\u2028é会", max_size=600),
    question=st.text(max_size=60),
    most=st.integers(6, 500),
)
def test_it_is_never_longer_and_says_nothing_that_the_text_does_not(text, question, most):
    shown = passages(text, question, most)
    assert len(shown.encode()) <= most
    at = 0
    for part in shown.split(GAP) if GAP not in text else ():
        for line in part.strip("\n").split("\n"):
            assert line in text[at:]
            at = text.index(line, at) + len(line)


def seconds(text):
    def once():
        began = time.thread_time()
        passages(text, "which word", 2000)
        return time.thread_time() - began

    return min(once() for _ in range(3))


@pytest.mark.parametrize(
    "piece", [" ", "\t", "a", "a ", "\u3002", "क़", "\u200d", "\n", " \n", "。a"]
)
def test_time_grows_with_the_length_of_a_hostile_text(piece):
    small, large = (seconds((piece * size)[:size]) for size in (16_000, 64_000))
    # Four times the text takes about four times as long, not sixteen.
    assert large < max(10 * small, 0.05)
