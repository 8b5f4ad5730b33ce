"""The gate: whoever throws the index away is alone with it."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mnemolog.index.gate import Gate

PATIENCE = 10.0


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path)


def test_users_go_through_together(folder):
    with Gate(folder).together(), Gate(folder).together(), Gate(folder).together():
        pass


@pytest.mark.parametrize("holder", ["together", "alone"])
def test_whoever_is_alone_waits_for_those_inside_and_they_for_it(folder, holder):
    first, second = Gate(folder), Gate(folder)
    waiter = second.alone if holder == "together" else second.together
    order = []

    def wait() -> None:
        with waiter():
            order.append("second")

    thread = threading.Thread(target=wait)
    with getattr(first, holder)():
        thread.start()
        thread.join(0.1)
        order.append("first")
    thread.join(PATIENCE)
    assert order == ["first", "second"]


def test_a_stream_of_users_keeps_nobody_out(folder):
    """There is always somebody inside: without a queue the one who waits would wait for ever."""
    stop = threading.Event()
    barrier = threading.Barrier(3)
    entered = [0, 0]

    def use(number: int) -> None:
        gate = Gate(folder)
        barrier.wait()
        while not stop.is_set():
            with gate.together():
                entered[number] += 1
                stop.wait(0.002)

    with ThreadPoolExecutor(2) as pool:
        users = [pool.submit(use, number) for number in range(2)]
        barrier.wait()
        while min(entered) < 2:
            time.sleep(0.001)
        alone = 0
        for _ in range(20):
            with Gate(folder).alone():
                alone += 1
        stop.set()
        for user in users:
            user.result(PATIENCE)
    assert alone == 20


def test_a_gate_whose_files_were_removed_is_no_gate_to_the_others(folder):
    """Whoever deletes `index/` deletes the locks too: they are made anew, and checked."""
    old = Gate(folder)
    with old.together():
        pass
    for name in ("lock", "queue"):
        (Path(folder) / name).unlink()
    with old.together():
        assert sorted(path.name for path in Path(folder).iterdir()) == ["lock", "queue"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("holder", ["together", "alone"])
def test_a_killed_holder_holds_nothing_back(folder, holder):
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        with getattr(Gate(folder), holder)():
            os.write(tell, b"x")
            signal.pause()
        os._exit(1)
    assert os.read(ready, 1) == b"x"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with Gate(folder).alone():
        pass
    os.close(ready)
    os.close(tell)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_takes_no_lock_of_its_parents_along(folder):
    gate = Gate(folder)
    with gate.together():
        child = os.fork()
        if child == 0:
            gate.forget()
            signal.pause()
            os._exit(0)
    try:
        with Gate(folder).alone():
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
