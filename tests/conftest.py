"""What many tests share: a root in a fresh folder, a memory opened on it, a clock that is set."""

import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemolog import Memory

# Who starts the tests in the background may have had Ctrl-C ignored; what they start must hear it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
