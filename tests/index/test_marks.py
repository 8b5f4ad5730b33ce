"""Marks: what tells the index that a log has news, and what happens if one is lost or crossed."""

import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.index.searching import ids, leave_mark, marks, opened_on, reopened
from tests.log.disks import RecordingDisk
from tests.log.rewriting import rewrite


def test_every_write_leaves_a_mark_and_catching_up_removes_it(memory, sid, root):
    def has_news() -> bool:
        found = sid in marks(root)
        memory.query(None)
        assert marks(root) == []
        return found

    assert has_news(), "after a session is created"
    receipt = memory.add_memory(sid, content="x")
    assert has_news()
    memory.add_many(sid, [{"content": "y"}, {"content": "z"}])
    assert has_news()
    memory.update_memory(sid, receipt.id, tags=["t"])
    assert has_news()
    memory.update_preference(sid, key="k", value="v")
    assert has_news()
    memory.update_session(sid, metadata={"a": 1})
    assert has_news()
    memory.close_session(sid)
    assert has_news()
    memory.update_session(sid, metadata={"a": 2})
    assert marks(root) == [sid]
    memory.delete_session(sid)
    assert marks(root) == [], "what is gone takes its mark along"
    assert memory.list_sessions() == []
    assert not has_news(), "and a search alone leaves none"


@pytest.mark.parametrize("scope", ["user", "shared"])
def test_users_logs_and_the_shared_one_leave_marks_too(memory, sid, root, scope):
    memory.query(None)
    memory.add_memory(sid, id="m1", content="word", scope=scope)
    assert len(marks(root)) == 1
    assert ids(memory.query(None, text="word")) == ["m1"]
    assert marks(root) == []


def test_marks_for_what_was_never_there_do_no_harm(memory, sid, root):
    memory.add_memory(sid, id="m1", content="word")
    for name in ("never-there", "%s", "%u-nobody", "%x", ".hidden", "..."):
        leave_mark(root, name)
    assert ids(memory.query(None)) == ["m1"]
    assert marks(root) == []


def test_a_write_between_the_note_and_the_removal_of_its_mark_is_found(memory, sid, root):
    """One reader has noted the mark and is about to remove it. Meanwhile a writer appends and finds
    the mark still there, and another reader, which waits for the first, looks for it."""
    disk = RecordingDisk(root)
    slow = opened_on(disk)
    memory.add_memory(sid, id="m1", content="one")
    with ThreadPoolExecutor(1) as other:
        looks = []

        def meanwhile(name: str, path: str) -> None:
            if name == "unlink" and path == f"index/dirty/{sid}":
                disk.before = lambda *_: None
                memory.add_memory(sid, id="m2", content="two")
                looks.append(other.submit(lambda: sorted(ids(memory.query(sid)))))

        disk.before = meanwhile
        assert sorted(ids(slow.query(sid))) == ["m1", "m2"]
        assert looks[0].result() == ["m1", "m2"]


class DiedError(BaseException):
    """The reader was killed here."""


@pytest.mark.parametrize("call", ["unlink", "read", "open"])
def test_a_reader_that_dies_after_it_removed_a_mark_leaves_a_note(memory, sid, root, call):
    """Or what was written would be found only after the next write to the same session."""
    disk = RecordingDisk(root)
    dying = opened_on(disk)
    memory.add_memory(sid, id="m1", content="one")
    assert ids(memory.query(sid)) == ["m1"]
    memory.add_memory(sid, id="m2", content="two")
    unmarked: list[str] = []

    def die(name: str, path: str) -> None:
        if unmarked and name == call:
            raise DiedError
        if name == "unlink" and path == f"index/dirty/{sid}":
            (root / path).unlink()
            unmarked.append(path)
            if call == "unlink":
                raise DiedError

    disk.before = die
    with pytest.raises(DiedError):
        dying.query(sid)
    assert marks(root) == []
    assert sorted(ids(memory.query(sid))) == ["m1", "m2"]


def test_a_rewrite_in_the_middle_of_catching_up_leaves_nothing_of_what_it_dropped(
    memory, sid, root
):
    """The log is read, and before the reader commits it is rewritten without a line."""
    disk = RecordingDisk(root)
    slow = opened_on(disk)
    memory.add_memory(sid, id="secret", content="hidden word")
    memory.add_memory(sid, id="kept", content="plain word")
    reads = []

    def meanwhile(name: str, path: str) -> None:
        if name == "read" and path.endswith("memory.jsonl"):
            reads.append(path)
            disk.before = lambda *_: None
            rewrite(root, sid, lambda line: b"secret" not in line)
            leave_mark(root, sid)

    disk.before = meanwhile
    found = ids(slow.query(sid, text="word"))
    assert reads
    assert "secret" not in found
    assert ids(slow.query(sid, text="word")) == ["kept"]
    assert ids(memory.query(sid, text="word")) == ["kept"]


def test_a_session_that_goes_away_while_it_is_read_is_not_found(memory, sid, root):
    """Whoever deletes it waits for the reader before it takes it out of the index."""
    disk = RecordingDisk(root)
    slow = opened_on(disk)
    memory.add_memory(sid, id="m1", content="word")
    with ThreadPoolExecutor(1) as other:
        gone = []

        def meanwhile(name: str, path: str) -> None:
            if name == "read" and path.endswith("memory.jsonl"):
                disk.before = lambda *_: None
                gone.append(other.submit(memory.delete_session, sid))
                while (root / "sessions" / sid).exists():
                    time.sleep(0.001)

        disk.before = meanwhile
        assert slow.query(None) == []
        gone[0].result()
        assert slow.query(None) == []


def test_what_was_written_is_found_although_the_marks_were_taken_away(memory, sid, root):
    """As by somebody who is deleting `index/`, and has come to the marks first."""
    memory.query(sid)
    with reopened(root) as other:
        memory.add_memory(sid, id="m1", content="word")
        shutil.rmtree(root / "index" / "dirty")
        assert ids(other.query(sid, text="word")) == ["m1"]
    memory.add_memory(sid, id="m2", content="word")
    shutil.rmtree(root / "index" / "dirty")
    memory.create_session(session_id="makes a new folder for them")
    assert sorted(ids(memory.query(sid, text="word"))) == ["m1", "m2"]
    memory.query(sid)
    assert marks(root) == []


def test_an_index_that_goes_while_marks_are_read_is_not_searched(memory, sid, root):
    """Another process has made a new one, and taken the marks for that."""
    disk = RecordingDisk(root)
    slow = opened_on(disk)
    assert ids(slow.query(sid)) == []

    def meanwhile(name: str, path: str) -> None:
        if name == "list" and path == "index/dirty":
            disk.before = lambda *_: None
            memory.add_memory(sid, id="m1", content="word")
            shutil.rmtree(root / "index")
            assert ids(memory.query(sid)) == ["m1"]

    disk.before = meanwhile
    assert ids(slow.query(sid)) == ["m1"]


def test_what_was_written_is_found_although_its_mark_alone_was_taken_away(memory, sid, root):
    """As by `rm -rf index`, which gives up where somebody leaves a mark meanwhile."""
    other = memory.create_session().id
    memory.query(None)
    memory.add_memory(sid, id="m1", content="word")
    for path in (root / "index" / "dirty").iterdir():
        path.unlink()
    memory.add_memory(other, id="m2", content="another")
    assert ids(memory.query(sid, text="word")) == ["m1"]
    with reopened(root) as again:
        memory.add_memory(sid, id="m3", content="word")
        for path in (root / "index" / "dirty").iterdir():
            path.unlink()
        assert sorted(ids(again.query(sid, text="word"))) == ["m1", "m3"]
        assert sorted(ids(memory.query(sid, text="word"))) == ["m1", "m3"]


def test_a_root_can_be_opened_while_somebody_deletes_its_index(memory, sid, root):
    memory.add_memory(sid, id="m1", content="word")
    shutil.rmtree(root / "index")
    disk = RecordingDisk(root)

    def meanwhile(name: str, path: str) -> None:
        if (name, path) == ("mkdir", "index/dirty"):
            disk.before = lambda *_: None
            raise FileNotFoundError("`index` went before `dirty` could be made in it")

    disk.before = meanwhile
    assert ids(opened_on(disk).query(sid)) == ["m1"]
