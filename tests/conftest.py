"""What many tests share: a root in a fresh folder, a memory opened on it, a clock that is set."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemolog import Memory

# Checks of search that do not hold yet: `make pending` runs them, and nothing else runs them.
PENDING = Path(__file__).parent / "pending.txt"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--pending", action="store_true", help="run what does not hold yet")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    named = {line.strip() for line in PENDING.read_text(encoding="utf-8").splitlines()}
    pending = [item for item in items if item.nodeid in named]
    others = [item for item in items if item.nodeid not in named]
    items[:], left_out = (pending, others) if config.getoption("--pending") else (others, pending)
    config.hook.pytest_deselected(items=left_out)


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 11, 15, 9, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def advance(self, **amount: float) -> None:
        self.moment += timedelta(**amount)


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def memory(root: Path, clock: SetClock) -> Iterator[Memory]:
    with Memory.open(root, clock=clock, environ={}) as opened:
        yield opened


@pytest.fixture
def sid(memory: Memory) -> str:
    """The id of a session of user `u1` for the agents `architect` and `analyst`."""
    session = memory.create_session("u1", agent_ids=["architect", "analyst"], session_id="talk")
    return session.id


@pytest.fixture
def folder(root: Path, sid: str) -> Path:
    """The folder of the session `sid`."""
    return root / "sessions" / sid
