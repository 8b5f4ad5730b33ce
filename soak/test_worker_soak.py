"""The worker, for as long as it takes: kills and power losses at every moment, many writers."""

import os
import random
from threading import Event, Thread

import pytest

from tests.worker.scribes import Scribe, open_memory, said, talk, working
from tests.worker.test_crash import check_kills_and_power_losses, check_power_losses

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)


def test_thousands_of_power_losses_double_and_lose_nothing():
    check_power_losses(5_000, "soak")


def test_every_kill_followed_by_many_power_losses():
    check_kills_and_power_losses(1, 20)


def test_writers_erasers_and_two_workers_agree_in_the_end(tmp_path):
    """What lives at the end is known once; what was erased is not, learned before or not."""
    with open_memory(tmp_path / "store") as memory:
        sessions = [talk(memory, f"s{number}", user=f"u{number % 5}") for number in range(20)]
        stop = Event()
        workers = [working(memory, Scribe()) for _ in range(2)]
        threads = [Thread(target=_work, args=(one, stop)) for one in workers]
        for thread in threads:
            thread.start()
        expected = _write(memory, sessions, random.Random(7))
        stop.set()
        for thread in threads:
            thread.join(600)
        _learn_the_rest(memory, sessions, workers[0])
        told = [line for number in range(5) for line in said(memory, f"u{number}")]
        assert sorted(told) == sorted(expected)


def _work(worker, stop: Event) -> None:
    while not stop.is_set():
        worker.tick()


def _write(memory, sessions: list[str], rng: random.Random) -> list[str]:
    kept = []
    for number in range(1_500):
        session = rng.choice(sessions)
        wrote = memory.add_conversation(session, role="user", content=f"fact {number}")
        if rng.random() < 0.1:
            memory.erase(session, {"ids": [wrote.id]})
        else:
            kept.append(f"- fact {number}")
        if rng.random() < 0.3:
            memory.reset_session(session)
    return kept


def _learn_the_rest(memory, sessions: list[str], worker) -> None:
    for session in sessions:
        memory.retry_session(session)
        memory.reset_session(session)
    while memory.due_sessions(1):
        worker.tick()
