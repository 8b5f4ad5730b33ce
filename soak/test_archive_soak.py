"""The crash tests of `tests/test_archive_crash.py` from every moment: `make soak`."""

import os

import pytest

from tests.test_archive_crash import TALES, after_a_kill, check_states, lost_twice

pytestmark = pytest.mark.skipif(
    os.environ.get("MNEMOLOG_SOAK") != "1", reason="takes minutes; `make soak` runs it"
)

STATES = 200


@pytest.mark.parametrize("name", TALES)
def test_what_is_acknowledged_after_a_kill_at_any_moment_survives_a_power_loss(name):
    check_states(after_a_kill(name, 1), f"killed while {name}", STATES, TALES[name][1])


@pytest.mark.parametrize("name", TALES)
def test_a_second_power_loss_at_any_moment_does_no_harm(name):
    check_states(lost_twice(name, 1), f"twice while {name}", STATES, TALES[name][1])
