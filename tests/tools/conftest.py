"""A run of the agent `architect` on the session `sid`, and its tools."""

from collections.abc import Iterator

import pytest

from mnemolog import Memory
from mnemolog.memory.running import Run
from mnemolog.tools import BoundTools, bind


@pytest.fixture
def run(memory: Memory, sid: str) -> Iterator[Run]:
    with memory.run(sid, agent_id="architect") as opened:
        yield opened


@pytest.fixture
def tools(run: Run) -> BoundTools:
    return bind(run)
