"""Searching while others write, rewrite and delete: no error, nothing foreign, nothing erased."""

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.index import lexical
from tests.index.searching import HERE, WORDS_ONLY, ids, leave_mark, scored, searcher, steady
from tests.log.rewriting import rewrite
from tests.memory.crowds import Crowd, acknowledged, meanwhile

QUERIES: list[dict[str, Any]] = [
    {"limit": 1000},
    {"text": "w0 word", "limit": 50},
    {"text": "w*"},
    {"types": ["conversation"], "sort": "time_desc", "limit": 100},
    {"references": ["first"], "max_depth": 3},
    {"tags": ["t"], "text": "word"},
]


@contextmanager
def looking(count: int, look: Callable[[int], None]) -> Iterator[None]:
    """So many threads look for as long as the block runs; an error of one is an error here."""
    stop, failures = threading.Event(), []

    def repeat(number: int) -> None:
        try:
            while not stop.is_set():
                look(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=repeat, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]


@pytest.mark.req("S002-111")
def test_searches_beside_ten_writing_processes_and_rewrites_never_fail_nor_tell_too_much(
    memory, sid, root, tmp_path
):
    noted = tmp_path / "noted"
    memory.add_memory(sid, id="first", content="the first word", tags=["t"])
    theirs = memory.create_session("u2", agent_ids=["stranger"], session_id="theirs").id
    view = memory.for_agent("architect")
    searches, gone, numbers = itertools.count(), set[str](), itertools.count()

    def look(number: int) -> None:
        banned = set(gone)
        found = view.query(None if number % 2 else sid, QUERIES[next(searches) % len(QUERIES)])
        assert len(set(ids(found))) == len(found)
        assert not banned & set(ids(found)), "what was erased before the search began"
        assert all(hit.entry.session_id == sid for hit in found)
        assert not any(hit.entry.scope == "agent" for hit in found)

    def erase() -> None:
        number = next(numbers)
        secret = memory.add_memory(sid, id=f"secret{number}", content="a secret word").id
        memory.add_memory(sid, content="for me", agent_id="analyst", scope="agent")
        memory.add_memory(theirs, content="a foreign word")
        rewrite(root, sid, lambda line: f'"{secret}"'.encode() not in line)
        leave_mark(root, sid)
        gone.add(secret)

    with looking(3, look), meanwhile(erase, 0.05) as erasures, searcher(root) as other:
        asked = len(other.ask(None, limit=1))
        crowd = Crowd(root, sid, noted, name="w", processes=10, threads=1, count=12)
        while len(acknowledged(noted)) < 120:
            other.ask(None, **QUERIES[asked % len(QUERIES)])
            asked += 1
        crowd.finish()
    assert min(erasures[0], asked, next(searches)) > 2
    written = {one.id for one in acknowledged(noted)}
    assert len(written) == 120
    found = set(ids(memory.query(sid, limit=1000)))
    assert written <= found
    assert not found & gone


def test_what_was_acknowledged_is_found_although_its_log_is_being_rewritten(memory, sid, root):
    wanted = sorted(one.id for one in memory.add_many(sid, [{"content": "word"}] * 40))

    def look(_: int) -> None:
        assert sorted(ids(memory.query(sid, limit=100))) == wanted
        assert len(memory.query(sid, text="word", limit=100)) == 40

    def again() -> None:
        rewrite(root, sid)
        leave_mark(root, sid)

    with looking(2, look):
        for _ in range(20):
            again()
            time.sleep(0.05)


@pytest.mark.req("S001-046")
def test_every_writer_finds_its_own_write_at_once(memory, sid, root):
    with Memory.open(root, environ={}) as other:

        def write_and_find(number: int) -> None:
            writer, reader = (memory, other) if number % 2 else (other, memory)
            for step in range(8):
                word = f"unique{number}x{step}"
                receipt = writer.add_memory(sid, content=f"the {word} word")
                assert ids(reader.query(sid, text=word, limit=1)) == [receipt.id]
                assert ids(writer.query(None, text=word, limit=1)) == [receipt.id]

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write_and_find, range(8)))


def test_many_threads_may_search_with_one_memory(root, clock):
    with steady(root, clock) as memory:
        for session in ("s1", "s2"):
            memory.create_session("u1", agent_ids=["a"], session_id=session)
            memory.add_many(session, [{"content": f"word {n} of {session}"} for n in range(60)])
        asked = [(s, q) for s in (None, "s1", "s2") for q in QUERIES] * 6
        alone = [scored(memory.query(session, query)) for session, query in asked]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(lambda one: scored(memory.query(*one)), asked))
        assert together == alone


def test_the_first_search_may_come_from_many_threads_at_once(root, clock):
    with Memory.open(root, clock=clock, environ={}) as memory:
        sid = memory.create_session().id
        memory.add_many(sid, [{"content": f"word {n}"} for n in range(50)])
        barrier = threading.Barrier(8)

        def look(_: int) -> int:
            barrier.wait()
            return len(memory.query(sid, text="word", limit=100))

        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(look, range(8))) == [50] * 8


def test_a_memory_may_be_closed_while_others_search_with_it(memory, sid):
    memory.add_many(sid, [{"content": "word"}] * 20)

    def look(_: int) -> None:
        assert len(memory.query(sid, text="word")) == 20

    with looking(3, look):
        for _ in range(20):
            memory.close()
            time.sleep(0.005)


def test_sessions_come_and_go_while_all_are_searched(memory, sid):
    memory.add_memory(sid, id="stays", content="word")

    def look(_: int) -> None:
        found = memory.query(None, text="word", limit=100)
        assert "stays" in ids(found)
        assert sid in {one.id for one in memory.list_sessions()}

    with looking(2, look):
        for _ in range(15):
            other = memory.create_session().id
            memory.add_memory(other, content="another word")
            memory.delete_session(other)
    assert ids(memory.query(None)) == ["stays"]


def test_a_search_is_not_disturbed_by_another_ones_sealing_and_merging(root, clock, monkeypatch):
    """What a search began with stays true to its end: it sees the index as of one moment."""
    fast = {**WORDS_ONLY, "storage.durability": "os"}
    with steady(root, clock, **fast) as memory, steady(root, clock, **fast) as other:
        sid = memory.create_session().id

        def add_batch(number: int) -> None:
            other.add_many(sid, [{"content": f"word{number} alpha"}] * 1030)
            other.query(sid, limit=1)

        for number in range(7):
            add_batch(number)
        assert len(memory.query(sid, text="word3", limit=1000)) == 1000
        looked_up = lexical.wanted

        def meanwhile_merged(*args: Any) -> Any:
            monkeypatch.undo()
            add_batch(7)
            return looked_up(*args)

        monkeypatch.setattr(lexical, "wanted", meanwhile_merged)
        assert len(memory.query(sid, text="word3", limit=1000)) == 1000
        assert lexical.wanted is looked_up, "the other one did come between"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("embedder", ["none", "static"])
def test_a_child_forked_while_its_parent_searches_can_search(tmp_path, embedder):
    """In a process of its own: if it fails, it hangs."""
    done = subprocess.run(
        [sys.executable, str(HERE / "forked.py"), str(tmp_path / "store"), embedder],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == (["child", "0"] * 4 + ["parent", "goes", "on"], "")
