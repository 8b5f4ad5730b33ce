"""What was erased leaves the index without a trace, and the rest of it stays as it was."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from mnemolog import Memory
from mnemolog.index import tokens

RARE = "xylocarp"


@pytest.fixture
def memory(tmp_path):
    with Memory.open(tmp_path, environ={}) as memory:
        memory.create_session(session_id="talk")
        yield memory


def rows_of(folder, query, *values):
    """What the database of an index answers."""
    with closing(sqlite3.connect(f"file:{folder}/index/index.db?mode=ro", uri=True)) as db:
        return db.execute(query, values).fetchall()


def stored_terms(folder):
    """Every term that stands in the tail or in a sealed segment."""
    found = {key & 0xFFFFFFFF for (key,) in rows_of(folder, "SELECT id FROM post")}
    for (blob,) in rows_of(folder, "SELECT terms FROM tail"):
        found |= set(np.frombuffer(blob, np.uint32, len(blob) // 5).tolist())
    return found


def filled(memory, count):
    records = [{"content": f"common words number {n}", "id": f"e{n}"} for n in range(count)]
    memory.add_many("talk", records)
    memory.add_memory("talk", id="rare", content=f"{RARE} beside common words", tags=["secretive"])
    assert memory.query("talk", text=RARE, limit=1)[0].entry.id == "rare"


@pytest.mark.parametrize("count", [10, 3000])  # in the tail, and in sealed segments
def test_the_terms_of_an_erased_entry_leave_the_postings_and_the_word_list(memory, tmp_path, count):
    filled(memory, count)
    (rare,) = tokens.hashes_of(RARE)
    assert rare in stored_terms(tmp_path)
    memory.erase("talk", ids=["rare"])
    assert rare not in stored_terms(tmp_path)
    query = "SELECT count(*) FROM term WHERE hash = ? OR word = ?"
    assert rows_of(tmp_path, query, rare, RARE) == [(0,)]
    for table, column in (("entry", "id"), ("tag", "tag")):
        rows = set(rows_of(tmp_path, f"SELECT {column} FROM {table}"))
        assert not {("rare",), ("secretive",)} & rows


@pytest.mark.parametrize("count", [10, 3000])
def test_everything_else_is_found_as_before_without_reading_the_log_again(memory, tmp_path, count):
    filled(memory, count)
    rows = "SELECT value FROM meta WHERE key = 'rows'"
    before = rows_of(tmp_path, rows)
    memory.erase("talk", ids=["rare"])
    hits = memory.query("talk", text="common words number", limit=1000)
    assert {hit.entry.id for hit in hits} <= {f"e{n}" for n in range(count)}
    assert len(hits) == min(count, 1000)
    assert rows_of(tmp_path, rows) == before
    memory.add_memory("talk", id="later", content="an afterthought")
    assert memory.query("talk", text="afterthought")[0].entry.id == "later"


def test_the_vector_of_an_erased_entry_is_zeroed(memory, tmp_path):
    filled(memory, 10)
    ((row,),) = rows_of(tmp_path, "SELECT row FROM entry WHERE id = 'rare'")
    (file,) = (tmp_path / "index").glob("vector.*.col")
    size = 256

    def vector():
        return file.read_bytes()[row * size : (row + 1) * size]

    assert any(vector())
    memory.erase("talk", ids=["rare"])
    assert not any(vector())


def test_what_earlier_revisions_said_leaves_the_index_too(memory, tmp_path):
    filled(memory, 10)
    memory.update_memory("talk", "rare", content="harmless by now")
    memory.query("talk", text="harmless")
    (rare,) = tokens.hashes_of(RARE)
    assert rare in stored_terms(tmp_path)
    memory.erase("talk", ids=["rare"])
    assert rare not in stored_terms(tmp_path)


def test_a_deleted_entry_can_still_be_brought_back_and_found_after_another_was_erased(memory):
    filled(memory, 10)
    memory.add_memory("talk", id="hidden", content="quetzal in the garden")
    memory.query("talk", text="quetzal")
    memory.delete("talk", ids=["hidden"])
    memory.erase("talk", ids=["rare"])
    memory.undelete("talk", ["hidden"])
    assert memory.query("talk", text="quetzal")[0].entry.id == "hidden"


def test_the_journal_is_empty_after_an_erasure(memory, tmp_path):
    filled(memory, 10)
    memory.erase("talk", ids=["rare"], verify=False)
    assert (tmp_path / "index" / "index.db-wal").stat().st_size == 0


def test_a_removed_session_leaves_no_row_and_no_fact_in_the_index(memory, tmp_path):
    filled(memory, 3000)
    memory.create_session(session_id="other")
    memory.add_memory("other", id="kept", content="common words elsewhere")
    memory.query(None, text="common")
    memory.delete_session("talk")
    assert rows_of(tmp_path, "SELECT name FROM log") == [("sessions/other",)]
    assert rows_of(tmp_path, "SELECT id FROM entry") == [("kept",)]
    (rare,) = tokens.hashes_of(RARE)
    assert rare not in stored_terms(tmp_path)
    assert memory.query(None, text="common words")[0].entry.id == "kept"


AGENT, OWN_TYPE = "agent-" + "qxvzjkw", "kind-" + "wvqzxkj"


def names(folder):
    return {text for (text,) in rows_of(folder, "SELECT text FROM word")}


@pytest.mark.parametrize("count", [10, 3000])
def test_the_names_of_an_agent_and_of_a_type_go_with_the_last_entry_that_has_them(
    memory, tmp_path, count
):
    filled(memory, count)
    for n in range(2):
        memory.add_memory("talk", id=f"o{n}", type=OWN_TYPE, agent_id=AGENT, content="common")
    memory.update_memory("talk", "o1", content="common, revised")
    memory.query("talk", text="common")
    memory.erase("talk", ids=["o0"])
    assert {AGENT, OWN_TYPE} <= names(tmp_path)
    memory.delete("talk", ids=["o1"])
    memory.query("talk", text="common")
    memory.erase("talk", ids=["rare"])
    assert {AGENT, OWN_TYPE} <= names(tmp_path), "what is hidden may come back"
    memory.erase("talk", ids=["o1"])
    assert names(tmp_path).isdisjoint({AGENT, OWN_TYPE})
    memory.close()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [one for one in files if AGENT.encode() in one or OWN_TYPE.encode() in one]
    memory.add_memory("talk", id="back", type=OWN_TYPE, agent_id=AGENT, content="common once more")
    memory.add_memory("talk", id="other", type="other-kind", agent_id="else", content="common")
    for wanted in ({"types": [OWN_TYPE]}, {"agents": [AGENT]}):
        assert [hit.entry.id for hit in memory.query("talk", text="common", **wanted)] == ["back"]


ANOTHER = """
import sys
from mnemolog import Memory
with Memory.open(sys.argv[1], environ={}) as memory:
    print(len(memory.query(sys.argv[2], text="afterthought", limit=100)))
"""


def another(root, session):
    """What another process finds, which opens the index and closes it again."""
    asked = [sys.executable, "-c", ANOTHER, str(root), session]
    return int(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)


def test_a_name_that_took_the_number_of_one_that_went_stays(memory):
    def types():
        return {hit.entry.id for hit in memory.query("talk", types=["decision"])}

    memory.add_memory("talk", id="first", type="note", agent_id="carol", content="x")
    memory.query("talk")
    memory.erase("talk", ids=["first"])
    memory.add_memory("talk", id="kept", type="decision", content="x")
    memory.add_memory("talk", id="second", type="note", content="x")
    assert types() == {"kept"}
    memory.erase("talk", ids=["second"])
    assert types() == {"kept"}


def test_an_erasure_keeps_the_locks_of_the_database(memory, tmp_path):
    """Closing any descriptor of a file gives up the locks of the whole process on it."""
    filled(memory, 10)
    memory.erase("talk", ids=["rare"])
    memory.query("talk", text="common")
    journal = tmp_path / "index" / "index.db-shm"
    before = journal.stat().st_ino
    assert another(tmp_path, "talk") == 0
    assert journal.stat().st_ino == before, "whoever closes it last removes it, and we are there"
    memory.add_many("talk", [{"id": f"l{n}", "content": f"afterthought {n}"} for n in range(9)])
    found = len(memory.query("talk", text="afterthought", limit=100))
    assert another(tmp_path, "talk") == found >= 9
