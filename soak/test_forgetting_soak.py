"""The crash tests of `tests/forgetting/`, for longer and with fresh seeds: `make soak`.

Each round tells all tales under a seed of its own. A failure names the state and so the seed;
`MNEMOLOG_CRASH_SEED=… MNEMOLOG_SOAK_ROUNDS=1` tells it again.
"""

import os
from random import Random

import pytest

from mnemolog import Memory
from tests.forgetting.tales import TALES
from tests.forgetting.test_crash_forgetting import check_audit, check_states, revisited, told
from tests.memory.crowds import Crowd, acknowledged, meanwhile

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)

ROUNDS = int(os.environ.get("MNEMOLOG_SOAK_ROUNDS", "5"))
FIRST = os.environ.get("MNEMOLOG_CRASH_SEED") or os.urandom(4).hex()
STATES = 1000


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("name", TALES)
def test_what_is_erased_stays_so_under_other_seeds(name, number, monkeypatch):
    seed = f"{FIRST}.{number}" if number else FIRST
    print(f"seed {seed}")
    monkeypatch.setattr(os, "urandom", Random(seed).randbytes)
    tale, title = TALES[name], f"{name}/{seed}"
    moments = told(tale)
    check_states(moments, title, STATES, tale.settings)
    check_states(moments, f"audit of {title}", STATES // 4, tale.settings, check_audit)
    later = [
        one
        for count, moment in enumerate(moments[::4])
        for disk in (moment.disk.kill(), moment.disk.crash(Random(f"{title}/{count}")))
        for one in revisited(disk, moment.promises, tale.settings)
    ]
    check_states(later, f"twice while {title}", STATES, tale.settings)


def test_ten_processes_of_two_threads_lose_nothing_to_compactions(tmp_path):
    root, noted = tmp_path / "store", tmp_path / "noted"
    own = {"storage.max_session_size_mb": 0.1}
    with Memory.open(root, settings={"concurrency.lock_timeout_ms": 120_000}, environ={}) as memory:
        memory.create_session(session_id="talk", settings=own)
        crowd = Crowd(root, "talk", noted, name="w", processes=10, threads=2, count=100)
        with meanwhile(lambda: memory.compact_session("talk"), 0.2) as compactions:
            crowd.finish()
        assert compactions[0] > 5
        written = acknowledged(noted)
        assert len(written) == 2000
        assert [one.id for one in written if memory.get_memory("talk", one.id) is None] == []
