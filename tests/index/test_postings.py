"""Postings: whatever is sealed and merged, each term still names exactly its rows."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemolog.index import postings
from mnemolog.index.postings import Segment

SIZES = st.sampled_from([1, 7, 1024, 1500, 8192, 20_000])


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE segment (id INTEGER PRIMARY KEY, base INTEGER, rows INTEGER)")
        db.execute("CREATE TABLE post (id INTEGER PRIMARY KEY, rows BLOB NOT NULL)")
        yield db


def found(db: sqlite3.Connection, term: int) -> list[tuple[int, int]]:
    segments = [Segment(*row) for row in db.execute("SELECT id, base, rows FROM segment")]
    held = postings.look_up(db, segments, [term])
    assert not held.terms.any()
    return sorted(zip(held.rows.tolist(), held.counts.tolist(), strict=True))


@pytest.mark.req("S001-039")
@settings(deadline=None, max_examples=15)
@given(sizes=st.lists(SIZES, min_size=1, max_size=12))
@example(sizes=[1024] * 20)
@example(sizes=[1024] * 4 + [65_536] + [1024] * 4)
def test_every_term_names_its_rows_after_any_sealing_and_merging(sizes):
    base = 0
    with database() as db:
        for size in sizes:
            # Each row holds one of three terms, once or twice, so that every posting is long.
            packed = [postings.pack({row % 3: 1 + row % 2}) for row in range(base, base + size)]
            postings.seal(db, base, postings.unpacked(packed), len(packed))
            postings.merge(db)
            base += size
        for term in range(3):
            assert found(db, term) == [(row, 1 + row % 2) for row in range(term, base, 3)]


def test_the_number_of_segments_stays_small():
    packed = [postings.pack({1: 1})] * 1024
    with database() as db:
        for number in range(200):
            postings.seal(db, number * 1024, postings.unpacked(packed), len(packed))
            postings.merge(db)
        (segments,) = db.execute("SELECT count(*) FROM segment").fetchone()
        assert segments < 30
        assert len(found(db, 1)) == 200 * 1024


def test_a_count_beyond_255_is_the_largest_that_is_kept():
    hashes, counts = postings.unpack(postings.pack({5: 1, 6: 255, 7: 100_000}))
    assert list(hashes) == [5, 6, 7]
    assert list(counts) == [1, 255, 255]
    assert counts.dtype == np.uint8
