"""An embedder that takes as long as it likes holds up nobody but those who embed."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemolog import Memory
from tests.index.blocked import Blocked
from tests.index.searching import HERE, ids
from tests.index.test_models import vectors

PLACES = {"entries": "harbour 3", "a question": "question"}


@pytest.fixture
def pipes(tmp_path):
    folder = tmp_path / "pipes"
    folder.mkdir()
    for name in ("began", "go"):
        os.mkfifo(folder / name)
    return folder


def loaded(memory: Memory, entries: int = 10) -> str:
    sid = memory.create_session(session_id="talk").id
    memory.add_many(sid, [{"id": f"e{n}", "content": f"harbour {n}"} for n in range(entries)])
    return sid


@contextmanager
def blocked(root: Path, pipes: Path, what: str) -> Iterator["subprocess.Popen[str]"]:
    """Another process in the middle of a search, until its pipe is closed."""
    paths = [str(pipes / name) for name in ("began", "go")]
    started = subprocess.Popen(
        [sys.executable, str(HERE / "blocked.py"), str(root), *paths, what],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(HERE.parent.parent)},
    )
    try:
        (pipes / "began").read_text()
        yield started
    finally:
        started.kill()
        started.communicate(timeout=60)


def let_go(pipes: Path) -> None:
    (pipes / "go").write_text("")


@pytest.mark.parametrize("place", PLACES)
def test_another_program_searches_writes_and_erases_meanwhile(root, pipes, place):
    with Memory.open(root, environ={}) as memory:
        sid = loaded(memory)
        with blocked(root, pipes, PLACES[place]) as other:
            assert ids(memory.query(sid, text="harbour 7", limit=1)) == ["e7"]
            assert memory.query(sid, text="harbour").semantic == "ready"
            assert [one.id for one in memory.list_sessions(limit=1)] == [sid]
            memory.add_memory(sid, id="late", content="a lighthouse")
            assert ids(memory.query(None, text="lighthouse", limit=1)) == ["late"]
            proof = memory.erase(sid, ids=["e3"]).verification
            assert proof is not None
            assert proof.clean
            let_go(pipes)
            answer, _ = other.communicate(timeout=60)
        semantic, *found = answer.split()
        assert semantic in ("ready", "pending")
        assert "e3" not in found
        assert {f"e{n}" for n in range(10) if n != 3} <= set(found)


@pytest.mark.parametrize("place", PLACES)
def test_another_thread_searches_by_filters_and_erases_meanwhile(root, pipes, place):
    embedder = Blocked(str(pipes / "began"), str(pipes / "go"), PLACES[place])
    with Memory.open(root, environ={}, embedder=embedder) as memory:
        sid = loaded(memory)
        asking = threading.Thread(target=memory.query, args=(sid,), kwargs={"text": "question"})
        asking.start()
        (pipes / "began").read_text()
        memory.add_memory(sid, id="late", content="an anchor")
        assert ids(memory.query(sid, sort="time_desc", limit=1)) == ["late"]
        memory.erase(sid, ids=["e3"])
        assert "e3" not in ids(memory.query(sid, limit=100))
        let_go(pipes)
        asking.join(60)
        assert not asking.is_alive()
        assert memory.query(sid, text="question").semantic == "ready"


def test_a_memory_that_is_closed_meanwhile_stays_closed_once_the_search_is_answered(root, pipes):
    embedder = Blocked(str(pipes / "began"), str(pipes / "go"), PLACES["entries"])
    with Memory.open(root, environ={}, embedder=embedder) as memory:
        loaded(memory)
        found: list[str] = []
        asking = threading.Thread(
            target=lambda: found.extend(ids(memory.query("talk", text="harbour")))
        )
        asking.start()
        (pipes / "began").read_text()
        memory.close()
        let_go(pipes)
        asking.join(60)
        assert len(found) == 10
        journal = root / "index" / "index.db-wal"
        assert not journal.exists(), "who closes the database last removes it"


def test_what_was_erased_while_it_was_embedded_has_no_vector(root, pipes):
    with Memory.open(root, environ={}) as memory:
        sid = loaded(memory)
        with blocked(root, pipes, PLACES["entries"]) as other:
            memory.erase(sid, ids=["e3"])
            let_go(pipes)
            other.communicate(timeout=60)
        assert memory.verify_erasure(text="harbour 3").clean
    rows = vectors(root, "blocked", Blocked.size)[:10]
    assert [number for number, row in enumerate(rows) if not any(row)] == [3]
