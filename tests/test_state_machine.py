"""The whole public API against plain dictionaries; see `tests/memory/machine.py`."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.memory.machine import Machine

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.req("S001-020", "S002-041", "S002-042", "S002-057")
def test_any_sequence_of_calls_leaves_what_a_dictionary_would_hold():
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=60,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=SLOW,
            derandomize=True,
            phases=[Phase.generate, Phase.shrink],
            database=None,
        ),
    )
