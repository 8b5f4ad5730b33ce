"""The crash tests of `tests/test_crash.py`, for longer and with fresh seeds: `make soak`.

Each round tells all stories, and one of calls in any order, under a seed of its own. A failure
names the state and so the seed; `MNEMOLOG_CRASH_SEED=… MNEMOLOG_SOAK_ROUNDS=1` tells it again.
"""

import os
from random import Random

import pytest

from tests.crash_stories import STORIES, Story, anything, tiny_segments
from tests.test_crash import check_states, lost_twice, told, told_after_a_kill

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)

ROUNDS = int(os.environ.get("MNEMOLOG_SOAK_ROUNDS", "10"))
FIRST = os.environ.get("MNEMOLOG_CRASH_SEED") or os.urandom(4).hex()
STATES = 20_000


def seed_of(number: int) -> str:
    return FIRST if number == 0 else f"{FIRST}.{number}"


def stories(seed: str) -> dict[str, Story]:
    wild = Story(anything(seed, steps=20), STATES, tiny_segments(700))
    return STORIES | {"doing anything": wild}


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("name", STORIES)
def test_nothing_acknowledged_is_lost_under_other_seeds(name, number, monkeypatch):
    seed = seed_of(number)
    print(f"seed {seed}")
    monkeypatch.setattr(os, "urandom", Random(seed).randbytes)
    story = stories(seed)[name]
    total = 0
    for moments, title in (
        (told(story), name),
        (told_after_a_kill(story), f"killed while {name}"),
        (lost_twice(story, f"{name}/{seed}"), f"twice while {name}"),
    ):
        wanted = story.states // 2
        found = check_states(moments, f"{title}/{seed}", wanted, story.settings)
        assert found >= wanted
        total += found
    print(f"{total} states")
