"""Uses: searches note what they returned, relaxed and beside the log."""

import json
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import StorageIOError
from tests.index.searching import ids, leave_mark, opened_on, reopened, steady
from tests.log.disks import RecordingDisk

NAME = "access.jsonl"


def noted(folder: Path) -> list[dict[str, object]]:
    path = folder / NAME
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.req("S001-037")
def test_what_a_search_returned_is_noted_beside_the_log(memory, sid, folder):
    memory.add_many(sid, [{"id": f"m{n}", "content": f"word{n}"} for n in range(3)])
    memory.query(sid, limit=2, sort="time_asc")
    memory.query(sid, text="word2", limit=1)
    memory.close()
    found = noted(folder)
    assert [one["id"] for one in found] == ["m0", "m1", "m2"]
    assert {one["at"] for one in found} == {"2026-11-15T09:00:00.000Z"}
    assert all(one["v"] == 1 for one in found)


@pytest.mark.req("S001-037", "S001-075", "S001-081")
def test_uses_count_once_they_are_folded_in(memory, sid, root, clock):
    memory.add_memory(sid, id="m1", content="x", timestamp="2026-11-01T09:00:00Z")
    before = memory.query(sid)[0].why
    assert before["access"] == 0.5
    memory.close()
    clock.advance(hours=10)
    with steady(root, clock) as later:
        after = later.query(sid)[0].why
        assert after["access"] == pytest.approx(0.606531, abs=1e-6), "exp(-0.05 * 10)"
        assert after["decay"] / before["decay"] == pytest.approx(
            (1 + 0.1 + 0.1) / (1 + 0.1) * 0.5 ** (10 / 168), abs=1e-5
        )


def test_a_use_is_counted_once_however_often_the_index_is_read_or_rebuilt(memory, sid, root, clock):
    memory.add_memory(sid, id="m1", content="x", timestamp="2026-11-01T09:00:00Z")
    memory.query(sid)
    memory.close()
    with steady(root, clock) as later:
        once = later.query(sid)[0].why
        for _ in range(3):
            later.add_memory(sid, content="more")
            leave_mark(root, sid)
            assert later.query(sid, text="x", limit=1)[0].why["decay"] == once["decay"]
        later.rebuild_index()
        assert later.query(sid, types=["conversation"], sort="time_asc")[0].why == once


def test_a_revision_keeps_the_uses_of_its_entry(memory, sid, root, clock):
    memory.add_memory(sid, id="m1", content="x")
    memory.query(sid)
    memory.close()
    with steady(root, clock) as later:
        later.query(sid)
        later.update_memory(sid, "m1", content="y")
        assert later.query(sid)[0].why["access"] == 1.0
        later.rebuild_index()
        assert later.query(sid)[0].why["access"] == 1.0


def test_searching_never_writes_to_a_log_never_syncs_and_takes_no_lock(root, clock):
    disk = RecordingDisk(root)
    memory = opened_on(disk, clock=clock)
    sid = memory.create_session(session_id="talk").id
    memory.add_many(sid, [{"id": f"m{n}", "content": f"word {n}"} for n in range(30)])
    folder = root / "sessions" / sid
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    disk.calls.clear()
    for _ in range(30):
        assert len(memory.query(sid, text="word", limit=20)) == 20
    memory.close()
    assert disk.names("sync", "sync_folder", "rename", "truncate", "write_at", "try_lock") == []
    appended = [path for name, path in disk.calls if name == "append"]
    assert appended, "uses were noted"
    assert set(appended) == {f"sessions/{sid}/{NAME}"}
    assert len(appended) <= 4, "many at a time"
    after = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {NAME}
    assert len(noted(folder)) == 600


def test_losing_the_notes_of_use_loses_nothing_else(memory, sid, folder, root, clock):
    memory.add_memory(sid, id="m1", content="x")
    memory.query(sid)
    memory.close()
    (folder / NAME).unlink()
    leave_mark(root, sid)
    with reopened(root, clock) as later:
        assert ids(later.query(sid)) == ["m1"]


@pytest.mark.parametrize(
    "content",
    [b"garbage\n", b'{"v":1}\n', b'{"v":1,"id":5,"at":null}\n', b'{"v":1,"id":"m1"', b"[1]\n\n",
     b'{"v":1,"id":"m1","at":"not a time"}\n', b'{"v":1,"id":"gone","at":"2026-11-15T09:00:00Z"}\n',
     b"\xff\xfe\n", b'{"v":1,"id":"m1","at":"9999-99-99"}\n', b"null\n", b'"x"\n'],
)  # fmt: skip
def test_a_damaged_note_of_use_is_passed_over(memory, sid, folder, root, content):
    memory.add_memory(sid, id="m1", content="x")
    good = b'{"v":1,"id":"m1","at":"2026-11-15T09:00:00.000Z"}\n'
    (folder / NAME).write_bytes(good + content)
    leave_mark(root, sid)
    with steady(root, memory._clock) as later:
        assert later.query(sid)[0].why["access"] == 1.0


def test_a_disk_that_takes_no_notes_is_no_error(root, clock):
    disk = RecordingDisk(root)
    memory = opened_on(disk, clock=clock)
    sid = memory.create_session(session_id="talk").id
    memory.add_many(sid, [{"content": "x"}] * 20)

    def refuse(name: str, path: str) -> None:
        if path.endswith(NAME) and name in ("append", "open"):
            raise StorageIOError(f"Could not {name} {path}.")

    memory.query(sid)
    disk.before = refuse
    for _ in range(300):
        assert len(memory.query(sid)) == 20
    memory.close()
    assert not noted(root / "sessions" / sid)


def test_notes_for_a_session_that_is_gone_bring_nothing_back(memory, sid, root):
    memory.add_memory(sid, content="x")
    memory.query(sid)
    with Memory.open(root, environ={}) as other:
        other.delete_session(sid)
    memory.close()
    assert not (root / "sessions" / sid).exists()
    assert memory.query(None) == []


def test_notes_of_use_that_became_shorter_are_read_from_their_new_end(
    memory, sid, folder, root, clock
):
    """They are not synced: a power loss may take some, and a backup brings older ones back."""
    memory.add_many(sid, [{"content": f"harbour {n}"} for n in range(20)])
    memory.query(sid, text="harbour", limit=20)
    memory.close()
    with reopened(root, clock) as later:
        later.add_memory(sid, content="so that they are read")
        later.query(sid, text="harbour", limit=1)
    (folder / NAME).write_bytes(b"")
    with reopened(root, clock) as later:
        later.add_memory(sid, content="a zebra")
        later.query(sid, text="zebra", limit=1)
    with reopened(root, clock) as later:
        later.add_memory(sid, content="so that they are read again")
        assert later.query(sid, text="zebra", limit=1)[0].why["access"] == 1.0
