"""A forked child searches with a database and files of its own."""

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mnemolog import Memory


def test_a_forked_child_searches_and_so_does_its_parent(memory, sid):
    memory.add_memory(sid, content="the harbour is closed")
    assert len(memory.query(sid, text="harbour")) == 1
    child = os.fork()
    if child == 0:
        found = 1
        try:
            memory.add_memory(sid, content="the harbour is open again")
            found = len(memory.query(sid, text="harbour"))
        finally:
            os._exit(0 if found == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert len(memory.query(sid, text="harbour")) == 2


def forked(work: Callable[[], bool]) -> int:
    """A child that ends with 0 if it was right, and by a signal if it hangs."""
    child = os.fork()
    if child == 0:
        is_right = False
        try:
            signal.alarm(10)
            is_right = work()
        finally:
            os._exit(0 if is_right else 1)
    return child


def ended(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def found(memory: Memory, text: str) -> list[Any]:
    return [hit.entry.content for hit in memory.query(None, text=text) if hit.why["lexical"]]


def test_what_a_child_writes_once_its_parent_is_gone_is_found_by_everybody(root):
    (heard, told), (heard_again, told_again) = os.pipe(), os.pipe()

    def write() -> bool:
        is_right = found(memory, "harbour") == ["the harbour is closed"]
        os.write(told_again, b"x")
        os.read(heard, 1)
        sid = memory.create_session(session_id="child").id
        memory.add_memory(sid, content="a lighthouse")
        return is_right and found(memory, "lighthouse") == ["a lighthouse"]

    with Memory.open(root, environ={}) as memory:
        memory.add_memory(memory.create_session().id, content="the harbour is closed")
        assert found(memory, "harbour")
        child = forked(write)
        os.read(heard_again, 1)
    os.write(told, b"x")
    assert ended(child) == 0
    with Memory.open(root, environ={}) as memory:
        assert found(memory, "lighthouse") == ["a lighthouse"]


class Patient:
    """Says when it is asked, and takes its time."""

    name, size = "patient", 2

    def __init__(self) -> None:
        self.is_asked = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        self.is_asked.set()
        time.sleep(0.2)
        return np.ones((len(texts), 2), np.float32)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # of threads: the point here
def test_a_child_that_is_forked_while_others_embed_does_not_wait_for_them(root):
    patient = Patient()
    with Memory.open(root, environ={}, embedder=patient) as memory:
        sid = memory.create_session().id
        memory.add_memory(sid, content="the harbour is closed")
        thread = threading.Thread(target=memory.query, args=(sid,), kwargs={"text": "harbour"})
        thread.start()
        assert patient.is_asked.wait(20)

        def write() -> bool:
            memory.add_memory(sid, content="a lighthouse")
            return found(memory, "lighthouse") == ["a lighthouse"]

        child = forked(write)
        thread.join()
        assert ended(child) == 0
        assert found(memory, "lighthouse") == ["a lighthouse"]
