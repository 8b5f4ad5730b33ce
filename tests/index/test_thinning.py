"""Rows that stand for nothing any more do not slow down searches for ever."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mnemolog.index import thinning, tokens
from tests.index.searching import ids, opened_on, scored, steady
from tests.log.disks import RecordingDisk

ENTRIES = 40


@pytest.fixture
def few(monkeypatch: Any) -> None:
    monkeypatch.setattr(thinning, "LEAST", 20)


def revise(memory: Any, sid: str, word: str) -> None:
    """Write every entry of a session, with an id of its own, once more."""
    entries = [{"id": f"m{n}", "content": f"common {word} w{n}", "tags": [f"t{word}"],
                "references": ["m0"]} for n in range(ENTRIES)]  # fmt: skip
    memory.add_many(sid, entries)
    memory.query(None, limit=0)


def counts(root: Path) -> dict[str, int]:
    """How many rows each table has, and how many rows hold a word that is in every entry."""
    term = tokens.hash_of("common")
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        found = {
            table: int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in ("dead", "tag", "link", "entry")
        }
        held = sum(term in _hashes(blob) for (blob,) in db.execute("SELECT terms FROM tail"))
        for key, blob in db.execute("SELECT id, rows FROM post"):
            held += len(blob) // 3 if key & 0xFFFFFFFF == term else 0
    return {**found, "common": held}


def _hashes(blob: bytes) -> set[int]:
    size = len(blob) // 5
    return {int.from_bytes(blob[4 * n : 4 * n + 4], "little") for n in range(size)}


def test_rows_that_revisions_replaced_leave_the_postings(root, clock, few):
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        for number in range(10):
            revise(memory, sid, f"word{number}")
        hits = memory.query(None, text="common word9", limit=100)
    assert len(hits) == ENTRIES
    found = counts(root)
    assert found["entry"] == ENTRIES
    for table in ("common", "tag", "link"):
        assert ENTRIES <= found[table] <= 3 * ENTRIES, "of 400 lines"
    assert found["dead"] <= 2 * ENTRIES


def test_thinning_changes_no_hit_and_no_score(root, clock, few, monkeypatch):
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        for number in range(4):
            revise(memory, sid, f"word{number}")
        assert counts(root)["dead"] < 2 * ENTRIES
        texts = ("common word3", "word0 w7", "word*", "w3")
        thinned = [scored(memory.query(sid, text=text, limit=100)) for text in texts]
        monkeypatch.setattr(thinning, "LEAST", 1_000_000)
        memory.rebuild_index()
        assert counts(root)["dead"] == 3 * ENTRIES
        assert [scored(memory.query(sid, text=text, limit=100)) for text in texts] == thinned


def test_it_happens_the_more_seldom_the_more_there_is(root, clock, few, monkeypatch):
    taken: list[int] = []
    thin = thinning.thin
    monkeypatch.setattr(thinning, "thin", lambda build: taken.append(thin(build)))
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        memory.add_many(sid, [{"content": f"common {n}"} for n in range(600)])
        for number in range(30):
            revise(memory, sid, f"word{number}")
    thinned = [rows for rows in taken if rows]
    assert len(taken) >= 30
    assert 1 <= len(thinned) <= 30 * ENTRIES / (600 / 3), "a third has to die in between"
    assert min(thinned) >= 200


def test_what_a_tombstone_hides_can_still_come_back(root, clock, few):
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        revise(memory, sid, "first")
        memory.add_memory(sid, id="gone", content="a pelican")
        memory.delete_memory(sid, "gone")
        for number in range(3):
            revise(memory, sid, f"word{number}")
        assert counts(root)["dead"] < 2 * ENTRIES
        assert "gone" not in ids(memory.query(sid, text="pelican", limit=100))
        memory.undelete(sid, ids=["gone"])
        assert ids(memory.query(sid, text="pelican", limit=1)) == ["gone"]


def test_a_word_of_a_replaced_revision_is_not_remembered(root, clock, few):
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        for word in ("quetzal", "ibis", "heron"):
            revise(memory, sid, word)
        assert len(memory.query(sid, text="her*", limit=100)) == ENTRIES
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        assert db.execute("SELECT 1 FROM term WHERE word = 'quetzal'").fetchone() is None
        assert db.execute("SELECT 1 FROM term WHERE word = 'heron'").fetchone() is not None


def test_rows_of_a_log_that_was_rewritten_go_too(root, clock, few):
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        revise(memory, sid, "word")
        for _ in range(4):
            memory.compact_session(sid)
            assert len(memory.query(sid, text="common", limit=100)) == ENTRIES
    assert counts(root)["common"] <= 3 * ENTRIES


def test_what_was_thinned_out_in_the_middle_of_an_erasure_leaves_no_name_behind(root, clock, few):
    """Others may write and search between the blanking of the log and the purge of the index."""
    disk = RecordingDisk(root)
    with steady(root, clock) as reader, opened_on(disk, clock) as memory:
        sid = memory.create_session().id
        memory.add_memory(sid, {"id": "m", "type": "ofjanedoe", "content": "gone"})
        memory.add_many(sid, [{"content": f"word {number}"} for number in range(ENTRIES)])
        reader.query(None, limit=0)
        seen: list[int] = []

        def before(name: str, path: str) -> None:
            if not seen and name == "list" and path == "quarantine":
                seen.append(1)
                reader.add_memory(sid, {"content": "and others go on writing"})
                reader.query(None, limit=0)
                assert counts(root)["dead"] == 0, "all rows were void, and are thinned out"

        disk.before = before
        assert memory.erase(sid, ids=["m"], verify=False).erased_count == 1
        assert seen
    assert not [path for path in (root / "index").iterdir() if holds(path, b"ofjanedoe")]


def holds(path: Path, needle: bytes) -> bool:
    return path.is_file() and needle in path.read_bytes()


def test_the_names_that_only_replaced_revisions_had_go_with_them(root, clock, few):
    with steady(root, clock) as memory:
        sid = memory.create_session().id
        for number in range(ENTRIES):
            memory.add_memory(sid, id=f"m{number}", content="x", type="riddle", agent_id="sphinx")
        memory.query(None, limit=0)
        for number in range(ENTRIES):
            memory.add_memory(sid, id=f"m{number}", content="y", type="note", agent_id="oedipus")
        memory.query(None, limit=0)
        assert ids(memory.query(None, types=["riddle"], agents=["sphinx"])) == []
        assert len(memory.query(None, types=["note"], agents=["oedipus"], limit=100)) == ENTRIES
    with closing(sqlite3.connect(root / "index" / "index.db")) as db, db:
        known = {text for (text,) in db.execute("SELECT text FROM word")}
    assert known == {"note", "oedipus"}
