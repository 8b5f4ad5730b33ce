"""A memory with a graph, without an embedder: what the worker does needs none."""

from collections.abc import Iterator

import pytest

from mnemolog import Memory
from tests.worker.scribes import open_memory


@pytest.fixture
def memory(root, clock) -> Iterator[Memory]:
    with open_memory(root, clock) as opened:
        yield opened
