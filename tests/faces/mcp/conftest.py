"""One HTTP server that many of these tests share; nothing they do to it is in the others' way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faces.mcp.clients import Address, http_server


@pytest.fixture(scope="session")
def shared_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp") / "store"


@pytest.fixture(scope="session")
def address(shared_root: Path) -> Iterator[Address]:
    with http_server(shared_root) as address:
        yield address
