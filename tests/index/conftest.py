"""A memory in which words alone decide."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemolog import Memory
from tests.conftest import SetClock
from tests.index.searching import WORDS_ONLY


@pytest.fixture
def words(root: Path, clock: SetClock) -> Iterator[Memory]:
    with Memory.open(root, clock=clock, settings=WORDS_ONLY, environ={}) as opened:
        yield opened


@pytest.fixture
def talk(words: Memory) -> str:
    """The id of a session of user `u1` for the agents `architect` and `analyst`."""
    return words.create_session("u1", agent_ids=["architect", "analyst"], session_id="talk").id
