"""A shelf on a simulated disk, and one on a real one."""

from pathlib import Path

import pytest

from mnemolog.fs.real import RealDisk
from mnemolog.graph.shelf import FilesShelf
from mnemolog.testing import SimulatedDisk


@pytest.fixture
def disk() -> SimulatedDisk:
    return SimulatedDisk()


@pytest.fixture
def shelf(disk: SimulatedDisk) -> FilesShelf:
    return FilesShelf(disk)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the user `ann`, on the real disk."""
    return tmp_path / "users" / "ann"


@pytest.fixture
def real(tmp_path: Path) -> FilesShelf:
    return FilesShelf(RealDisk(str(tmp_path)))
