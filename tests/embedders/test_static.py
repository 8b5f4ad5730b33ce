"""The static table: what every embedder promises, and what this one does besides."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.embedders import static
from mnemolog.embedders.static import StaticEmbedder
from mnemolog.errors import StorageIOError

TABLE = Path(static.__file__).parent / "table"

TEXTS = [
    "We need ACID transactions, so let us use PostgreSQL.",
    "Caroline went to the support group on 7 May.",
    "我将要参加金融科技精英论坛。",
    "so good 😀 👍🏽",
    "",
    "x" * 500,
]
READ = [TEXTS[0], TEXTS[1], TEXTS[3]]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def test_rows_are_single_precision_and_of_length_one(embedder):
    vectors = embedder.embed(READ)
    assert (vectors.dtype, vectors.shape) == (np.float32, (3, embedder.size))
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)


@pytest.mark.parametrize(
    "text", ["我将要参加金融科技精英论坛。", "Иван сказал, что придёт", "user 明天"]
)
def test_a_text_in_another_script_has_no_direction(embedder, text):
    assert not embedder.embed([text]).any()


@pytest.mark.parametrize(
    "text", ["Łukasz aß Æbleskiver – «oui»", "meet Иван at the pier", "naïve 5 €"]
)
def test_latin_letters_and_signs_are_read(embedder, text):
    assert np.linalg.norm(embedder.embed([text])) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("text", ["", " \n\t", "\0\0", "\ud800", "x" * 101, "\U0001fae8"])
def test_a_text_without_a_known_piece_has_no_direction(embedder, text):
    assert not embedder.embed([text]).any()


def test_no_texts_give_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.size)


def test_a_vector_depends_on_its_text_alone(embedder):
    together = embedder.embed(TEXTS)
    assert [row.tobytes() for row in together] == [
        StaticEmbedder().embed([text]).tobytes() for text in TEXTS
    ]


def test_case_and_accents_do_not_matter(embedder):
    one, other = embedder.embed(["ZÜRICH Café", "zurich cafe"])
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("text", ["a", "!", "中", "😀", "\0", "\ud800", "é", " ", "a ", "\u0301"])
def test_a_megabyte_of_one_character_is_embedded(embedder, text):
    vectors = embedder.embed([text * 1_000_000, text])
    assert np.isfinite(vectors).all()
    is_word = text in {"a", "é"}  # a word of a million letters is unknown
    assert vectors[0] == pytest.approx(vectors[1] * (not is_word), abs=1e-4)


def test_only_the_first_pieces_of_a_long_text_are_read(embedder):
    text = "cat " * (static.MOST_PIECES - 1)
    whole, longer, other = embedder.embed([f"{text} boat", f"{text} boat dog " * 9, f"{text} dog"])
    assert whole.tobytes() == longer.tobytes()
    assert np.abs(whole - other).max() > 1e-3


@given(st.lists(st.text(st.characters(exclude_categories=())), max_size=4))
def test_every_string_is_accepted(texts):
    lengths = np.linalg.norm(SHARED.embed(texts), axis=1)
    assert len(lengths) == len(texts)
    assert all(length == 0 or abs(length - 1) < 1e-5 for length in lengths)


SHARED = StaticEmbedder()

ALIKE = [
    ("Which database did we choose?", "We decided to use PostgreSQL.", "The cat is asleep."),
    ("When is the doctor's appointment?", "I see my physician on Monday.", "Deploy the server."),
    ("She adopted a puppy", "Her new dog is very playful", "The invoice is overdue"),
    ("He plays the guitar", "Music is his hobby", "The tests fail on Windows"),
    ("login is broken", "Users cannot sign in since the release", "We ate pizza for lunch"),
]


@pytest.mark.parametrize(("text", "near", "far"), ALIKE)
def test_what_is_alike_lies_closer_than_what_is_not(embedder, text, near, far):
    asked, close, distant = embedder.embed([text, near, far])
    assert asked @ close > asked @ distant + 0.05


def test_threads_that_start_together_get_the_same_bytes():
    expected = StaticEmbedder().embed(TEXTS).tobytes()
    fresh, together = StaticEmbedder(), Barrier(8)

    def embed(_: int) -> set[bytes]:
        together.wait()
        return {fresh.embed(TEXTS).tobytes() for _ in range(20)}

    with ThreadPoolExecutor(8) as pool:
        assert set.union(*pool.map(embed, range(8))) == {expected}


def test_the_table_is_small_and_whole():
    rows, scales = np.load(TABLE / "rows.npy"), np.load(TABLE / "scales.npy")
    vocabulary = (TABLE / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    assert sum(path.stat().st_size for path in TABLE.iterdir()) <= 8_000_000
    assert (rows.dtype, rows.shape) == (np.int8, (len(vocabulary), 256))
    assert (scales.dtype, scales.shape) == (np.float32, (len(vocabulary),))
    # Every piece but the unknown one has a direction and uses the whole range of a byte.
    unknown = vocabulary.index("[UNK]")
    assert np.flatnonzero(np.abs(rows.astype(int)).max(axis=1) != 127).tolist() == [unknown]


def test_a_vector_is_the_weighted_sum_of_its_pieces(embedder):
    rows, scales = np.load(TABLE / "rows.npy"), np.load(TABLE / "scales.npy")
    vocabulary = (TABLE / "vocab.txt").read_text(encoding="utf-8").split("\n")
    numbers = [vocabulary.index(piece) for piece in ("the", "cat", "em", "##bed", "##ding", "##s")]
    total = (rows[numbers] * scales[numbers][:, None]).sum(axis=0)
    found = embedder.embed(["The cat embeddings"])[0]
    assert found == pytest.approx(total / np.linalg.norm(total), abs=1e-6)


def test_frequent_pieces_weigh_less_than_rare_ones(embedder):
    both, rare, frequent = embedder.embed(["the cat", "cat", "the"])
    assert both @ rare > both @ frequent + 0.3


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_table_is_mapped_and_not_read():
    embedder = StaticEmbedder()
    assert embedder.size == 256
    assert str(TABLE / "rows.npy") in Path("/proc/self/maps").read_text()


def copied(folder: Path) -> Path:
    folder.mkdir()
    for path in TABLE.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_the_name_follows_the_table(tmp_path):
    folder = copied(tmp_path / "table")
    assert StaticEmbedder(folder).name == StaticEmbedder().name
    scales = np.load(folder / "scales.npy")
    np.save(folder / "scales.npy", scales * np.float32(1.5))
    assert StaticEmbedder(folder).name != StaticEmbedder().name


def test_files_are_opened_with_the_first_text_only(tmp_path):
    embedder = StaticEmbedder(tmp_path / "nowhere")
    with pytest.raises(StorageIOError, match=r"rows\.npy"):
        embedder.embed(["a"])
