"""The long runs: many more sequences of calls, and ten processes killed a hundred times.

`make soak` runs them; `make test` runs their short forms.
"""

import time

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from mnemolog import Memory
from tests.log.rewriting import rewrite
from tests.memory.crowds import Crowd, acknowledged, check_log, meanwhile
from tests.memory.machine import Machine

ROUNDS = 100
WANTED = 100_000


def test_thousands_of_sequences_of_calls_leave_what_a_dictionary_would_hold():
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=3000,
            stateful_step_count=60,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
            phases=[Phase.generate, Phase.shrink],
            database=None,
        ),
    )


def test_a_hundred_thousand_acknowledged_entries_survive_a_hundred_kills(tmp_path):
    root = tmp_path / "store"
    for number in range(ROUNDS):
        session = f"s{number}"
        noted = tmp_path / session
        with Memory.open(root, environ={}) as memory:
            memory.create_session(session_id=session)
        crowd = Crowd(root, session, noted, name="w", processes=10, threads=2, count=0)
        while len(acknowledged(noted)) < WANTED // ROUNDS:
            time.sleep(0.02)
        crowd.kill()
        with Memory.open(root, environ={}) as memory:
            found = {one.id for one in memory.get_entries(session)}
            assert {one.id for one in acknowledged(noted)} <= found
            assert memory.add_memory(session, content="after").durable


def test_ten_processes_of_ten_threads_write_ten_thousand_entries_under_rewrites(tmp_path):
    root, noted = tmp_path / "store", tmp_path / "noted"
    limit = {"storage.max_session_size_mb": 100}
    with Memory.open(root, environ={}) as memory:
        memory.create_session(session_id="s", settings=limit)
        crowd = Crowd(root, "s", noted, name="w", processes=10, threads=10, count=100)
        with meanwhile(lambda: rewrite(root, "s"), 0.2) as rewrites:
            crowd.finish()
        assert rewrites[0] > 5
        found = acknowledged(noted)
        assert len(found) == 10_000
        check_log(root / "sessions" / "s", found)
