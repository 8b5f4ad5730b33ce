"""A session archived and restored again and again under ten writing processes loses nothing."""

import time
from contextlib import suppress

import pytest

from mnemolog import Memory
from mnemolog.errors import SessionExistsError, SessionNotFoundError
from tests.memory.crowds import Crowd, acknowledged, check_log, meanwhile

PATIENT = {"concurrency.lock_timeout_ms": 60_000, "search.embedder": "none"}


@pytest.fixture
def memory(root):
    with Memory.open(root, environ={}, settings=PATIENT) as opened:
        yield opened


@pytest.fixture
def sid(memory):
    return memory.create_session("u1", session_id="talk").id


@pytest.mark.req("S001-159")
def test_ten_writing_processes_lose_nothing_while_their_session_goes_and_comes_back(
    memory, sid, root, tmp_path
):
    noted = tmp_path / "noted"

    def read() -> None:
        before = len(acknowledged(noted))
        found = memory.get_entries(sid)
        assert found.warnings == ()
        assert len({one.id for one in found}) == len(found)
        assert len(found) >= before, "nothing that was acknowledged is missing at any moment"

    def search() -> None:
        for hit in memory.query(sid, text="w1", limit=5):
            assert memory.get_memory(sid, hit.entry.id) == hit.entry

    crowd = Crowd(root, sid, noted, name="w", processes=10, threads=2, count=20)
    with (
        meanwhile(lambda: memory.archive_session(sid), 0.03) as archived,
        meanwhile(lambda: memory.restore_session(sid), 0.03) as restored,
        meanwhile(read, 0.03) as readings,
        meanwhile(search, 0.05) as searches,
        meanwhile(lambda: memory.list_sessions(), 0.05) as listings,
    ):
        crowd.finish()
    assert min(archived[0], restored[0], readings[0], searches[0], listings[0]) > 2
    memory.restore_session(sid)
    found = acknowledged(noted)
    assert len(found) == 10 * 2 * 20
    check_log(root / "sessions/talk", found)
    assert len(memory.get_entries(sid)) == len(found)
    assert sorted(path.name for path in (root / "sessions").iterdir()) == [sid]
    assert [path.name for path in (root / "archive").iterdir()] == ["lock"]
    assert [path.name for path in (root / "intents").iterdir()] == ["reserve"]


def test_archivers_and_writers_killed_again_and_again_lose_nothing(memory, sid, root, tmp_path):
    noted = tmp_path / "noted"
    for number in range(3):
        before = len(acknowledged(noted))
        crowd = Crowd(root, sid, noted, name=f"r{number}w", processes=6, threads=1, count=0)
        deadline = time.monotonic() + 60
        with meanwhile(lambda: memory.archive_session(sid), 0.01):
            while len({one.writer for one in acknowledged(noted)[before:]}) < 6:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            crowd.kill()
        with Memory.open(root, environ={}, settings=PATIENT) as other:
            found = {one.id for one in other.get_entries(sid)}
            assert [one for one in acknowledged(noted) if one.id not in found] == []
            assert other.add_memory(sid, content=f"after {number}", agent_id="me").durable
    places = {path.name for path in (root / "sessions").iterdir()}
    assert (sid in places) != (root / "archive/talk.tar.gz").exists()


def test_an_id_that_is_created_deleted_and_archived_at_once_is_never_in_both_places(memory, root):
    def create() -> None:
        with suppress(SessionExistsError):
            memory.create_session(session_id="talk")

    def unless_gone(verb) -> None:
        with suppress(SessionNotFoundError):
            verb("talk")

    with (
        meanwhile(create, 0.001) as created,
        meanwhile(lambda: unless_gone(memory.archive_session), 0.001) as archived,
        meanwhile(lambda: unless_gone(memory.restore_session), 0.002),
        meanwhile(lambda: unless_gone(memory.delete_session), 0.005) as deleted,
    ):
        time.sleep(2)
    assert min(created[0], archived[0], deleted[0]) > 5
    live, packed = root / "sessions/talk", root / "archive/talk.manifest.json"
    assert not (live.exists() and packed.exists())
    assert len(memory.list_sessions()) == live.exists() + packed.exists()
