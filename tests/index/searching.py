"""What the tests of searching share: short forms of hits, lines by hand, other processes."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as examples

from mnemolog import Memory
from mnemolog.embedders import open_embedder
from mnemolog.fs.real import RealDisk
from mnemolog.model.query import Hit
from mnemolog.settings import Settings
from mnemolog.stores import make_redactor
from mnemolog.stores.files import FilesStore
from mnemolog.stores.files.finder import FilesFinder, make_finder
from mnemolog.stores.files.keeper import FilesKeeper

HERE = Path(__file__).parent
PAGE = HERE.parent.parent / "docs" / "search.md"

# Words alone decide: what a test computes by hand is not mixed with meaning.
WORDS_ONLY = {"search.embedder": "none"}

# How long an example takes is the machine's affair.
some = examples(deadline=None, max_examples=60)
few = examples(deadline=None, max_examples=20)

MATCH_PARTS = ("lexical", "semantic", "neighbours", "session", "speaker", "lasting", "brief")
PARTS = (*MATCH_PARTS, "match", "decay", "importance", "access", "final")


Ranking = list[tuple[str, float, dict[str, float]]]


def ids(hits: Iterable[Hit]) -> list[str]:
    """The ids of hits, in their order."""
    return [hit.entry.id for hit in hits]


def scored(hits: Iterable[Hit]) -> Ranking:
    """Everything that a ranking says: the order, the relevance and why."""
    return [(hit.entry.id, hit.relevance, hit.why) for hit in hits]


def assert_alike(one: Ranking, other: Ranking, rough: float = 1e-6) -> None:
    """The same hits in the same order, and the same scores but for the last digits."""
    assert [hit[0] for hit in one] == [hit[0] for hit in other]
    for (_, ours, our_why), (_, theirs, their_why) in zip(one, other, strict=True):
        assert ours == pytest.approx(theirs, abs=rough)
        assert our_why == pytest.approx(their_why, abs=4 * rough)


def lexical(hits: Iterable[Hit]) -> dict[str, float]:
    """The hits that words speak for, and how much."""
    return {hit.entry.id: hit.why["lexical"] for hit in hits if hit.why["lexical"] > 0}


def weight_of(part: str, embedder: str = "static") -> float:
    """How much a part counts with an embedder, as the page on search says."""
    parts = (
        "lexical", "semantic", "beside by words", "beside by meaning", "session", "speaker",
        "lasting",
    )  # fmt: skip
    number = r"([0-9.]+)"
    cells = rf"{number} \| {number} \| {number}, {number} \| {number} \| {number} \| {number}"
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^\| [^|]*`{embedder}`[^|]* \| {cells} \|$", page, re.MULTILINE)
    assert found is not None, f"{PAGE.name} no longer says what {part} is worth"
    return float(found[1 + parts.index(part)])


def by_hand(root: Path, session: str, *lines: bytes) -> None:
    """Append lines as a writer would: to the log, then a mark for the index."""
    with (root / "sessions" / session / "memory.jsonl").open("ab") as file:
        file.write(b"".join(lines))
    leave_mark(root, session)


def leave_mark(root: Path, session: str) -> None:
    """Say that a session has news."""
    folder = root / "index" / "dirty"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / session).touch()


def marks(root: Path) -> list[str]:
    """The logs that are marked."""
    found = {path.name for path in (root / "index" / "dirty").glob("*")}
    return sorted(found - {"%0"})


@contextmanager
def reopened(root: Path, clock: Any = None, **settings: object) -> Iterator[Memory]:
    """Another memory on the same root, as another program would open it."""
    with Memory.open(root, clock=clock, settings=settings, environ={}) as memory:
        yield memory


class Unnoticed(FilesFinder):
    """A finder that takes no notes of what was used."""

    def _flush(self) -> None:
        self._uses.forget()


@contextmanager
def steady(root: Path, clock: Any = None, **chosen: object) -> Iterator[Memory]:
    """A memory in which looking changes nothing, so that two looks can be compared."""
    disk, effective = RealDisk(str(root)), Settings().changed(chosen)
    name = effective.search.embedder
    embedder = None if name == "none" else open_embedder(name)
    with found_by(Unnoticed(disk, str(root), embedder), disk, clock, effective) as memory:
        yield memory


def opened_on(disk: Any, clock: Any = None) -> Memory:
    """A memory and its index on this disk."""
    return found_by(make_finder(disk, Settings()), disk, clock)


def found_by(
    finder: FilesFinder, disk: Any, clock: Any = None, settings: Settings | None = None
) -> Memory:
    """A memory that searches with this finder."""
    effective = settings or Settings()
    store = FilesStore(disk, effective)
    keeper = FilesKeeper(disk, store.held, finder.purge, make_redactor)
    return Memory(store, effective, clock, index=finder, keeper=keeper)


class Searcher:
    """Another process that searches when it is told to."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "searchers.py"), str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, session: str | None = None, **query: Any) -> list[str]:
        """The ids that it finds."""
        self.send(session, **query)
        return self.answer()

    def send(self, session: str | None = None, **query: Any) -> None:
        """Ask, without waiting for the answer."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps([session, query]) + "\n")
        self._process.stdin.flush()

    def answer(self) -> list[str]:
        """What was found; an error over there is an error here."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(self._process.communicate(timeout=30)[1])
        found: list[str] = json.loads(line)
        return found

    def close(self) -> None:
        """Let it come to its end, which must be without an error."""
        _, errors = self._process.communicate(timeout=60)
        assert (self._process.returncode, errors) == (0, "")

    def stop(self) -> None:
        """End it wherever it stands."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate(timeout=60)


@contextmanager
def searcher(root: Path) -> Iterator[Searcher]:
    """Another process that searches this root for as long as the block runs."""
    started = Searcher(root)
    try:
        yield started
        started.close()
    finally:
        started.stop()
