"""What a search does when the system is short of something, or a log cannot be read."""

import errno
import os

import pytest

from mnemolog.errors import StorageFullError, StorageIOError
from mnemolog.index import database
from tests.index.searching import ids, leave_mark


@pytest.fixture
def two(memory):
    """Two sessions for the agent `a`, and an index of both."""
    for session in ("s1", "s2"):
        memory.create_session(agent_ids=["a"], session_id=session)
        memory.add_memory(session, id=f"in {session}", content="word")
    assert len(memory.query(None, text="word")) == 2
    return memory


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StorageFullError), (errno.EDQUOT, StorageFullError),
        (errno.EMFILE, StorageIOError), (errno.ENFILE, StorageIOError),
        (errno.ENOMEM, StorageIOError),
    ],
)  # fmt: skip
def test_the_index_is_not_thrown_away_for_what_a_new_one_would_be_short_of_too(
    two, root, monkeypatch, number, kind
):
    before, plain = database.ident(f"{root}/index"), os.open

    def refused(path, *args, **more):
        if str(path).endswith(".col"):
            raise OSError(number, os.strerror(number), path)
        return plain(path, *args, **more)

    two.add_memory("s1", id="later", content="word")
    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(kind):
        two.query(None, text="word")
    monkeypatch.undo()
    assert database.ident(f"{root}/index") == before
    assert set(ids(two.query(None, text="word"))) == {"in s1", "in s2", "later"}
    assert database.ident(f"{root}/index") == before


def test_a_log_that_cannot_be_read_is_left_out_and_told_of(two, root):
    manifest = root / "sessions" / "s2" / "manifest.json"
    good = manifest.read_bytes()
    manifest.write_bytes(b"garbage")
    leave_mark(root, "s2")
    for _ in range(2):
        hits = two.query(None, text="word")
        assert ids(hits) == ["in s1"]
        (note,) = hits.notes
        assert "sessions/s2" in note
    assert two.query("s1", text="word").notes == ()
    assert two.for_agent("a").query(None, text="word").notes == ()
    manifest.write_bytes(good)
    hits = two.query(None, text="word")
    assert (len(hits), hits.notes) == (2, ())
