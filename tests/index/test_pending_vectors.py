"""A slow embedder never holds up a search: what is not embedded yet is found by its words."""

import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mnemolog import Memory
from tests.index.searching import assert_alike, ids, reopened, scored

AT_ONCE = 4


class Slow:
    """Counts vowels and other letters, and says that no search should wait for many texts."""

    name = "slow-vowels"
    size = 2
    at_once = AT_ONCE

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    @property
    def embedded(self) -> list[str]:
        """Every text that was embedded, in order."""
        return [text for call in self.calls for text in call]

    def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        vowels = [sum(letter in "aeiou" for letter in text) for text in texts]
        others = [len(text) - found for text, found in zip(texts, vowels, strict=True)]
        found = np.array([vowels, others], np.float32).T
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


class Held(Slow):
    """The same, and whoever embeds behind the searches is held up until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.is_free = threading.Event()
        self.is_asked = False

    def embed(self, texts: Sequence[str]) -> Any:
        if threading.current_thread().name == "mnemolog-embedding":
            self.is_asked = True
            assert self.is_free.wait(20)
        return super().embed(texts)


class Twin(Slow):
    """The same, and fast enough for any number of texts."""

    at_once = None  # type: ignore[assignment]


@pytest.fixture
def slow():
    return Slow()


@pytest.fixture
def held():
    one = Held()
    yield one
    one.is_free.set()


@pytest.fixture
def waiting(root, clock, held):
    with Memory.open(root, clock=clock, environ={}, embedder=held) as opened:
        yield opened
        held.is_free.set()


@pytest.fixture
def memory(root, clock, slow):
    with Memory.open(root, clock=clock, environ={}, embedder=slow) as opened:
        yield opened


def loaded(memory: Memory, entries: int = 10, session: str = "talk") -> str:
    sid = memory.create_session(session_id=session).id
    texts = [f"word{n} " + "aeiou"[: n % 5] * 9 for n in range(entries)]
    memory.add_many(
        sid, [{"id": f"{session}-{n}", "content": text} for n, text in enumerate(texts)]
    )
    return sid


def test_a_search_before_a_bulk_load_is_embedded_says_so_and_finds_by_words(waiting, held):
    sid = loaded(waiting)
    found = waiting.query(sid, text="word9")
    assert found.semantic == "pending"
    assert ids(found)[0] == "talk-9"
    assert len(held.calls[0]) == AT_ONCE, "a few of the texts; the others follow"


class Sorting(Held):
    """Knows what is about flowers from what is not."""

    def embed(self, texts: Sequence[str]) -> Any:
        super().embed(texts)
        return np.array([[1, 0] if "rose" in text else [0, 1] for text in texts], np.float32)


def test_what_waits_for_its_vector_does_not_come_after_all_that_has_one(root, clock):
    """It holds every word that is asked for, and the others, which mean the same, but one."""
    held = Sorting()
    with Memory.open(root, clock=clock, environ={}, embedder=held) as memory:
        sid = memory.create_session().id
        memory.add_many(sid, [{"content": text} for text in ("a rose bed", "something else") * 2])
        assert memory.query(sid, text="rose").semantic == "ready"
        memory.add_many(sid, [{"content": "something else"}] * AT_ONCE)
        memory.add_memory(sid, id="new", content="a rose bed like a zebra")
        found = memory.query(sid, text="rose bed zebra")
        held.is_free.set()
        assert found.semantic == "pending"
        assert ids(found)[0] == "new"
        until_ready(memory, sid)
        assert ids(memory.query(sid, text="rose bed zebra"))[0] == "new"


def words(*embedders: Slow) -> list[str]:
    """The first words of what was embedded, but for questions."""
    texts = [text for one in embedders for text in one.embedded]
    return [text.split()[0] for text in texts if text and text != "question"]


def until_ready(memory: Memory, sid: str | None) -> None:
    ends = time.monotonic() + 20
    while memory.query(sid, text="question").semantic != "ready":
        assert time.monotonic() < ends
        time.sleep(0.002)


def test_the_rest_is_embedded_behind_the_searches_in_order_until_meaning_is_ready(memory, slow):
    sid = loaded(memory, 40)
    until_ready(memory, sid)
    assert words(slow) == [f"word{n}" for n in range(40)]
    assert memory.query(sid, text="question").semantic == "ready"


def test_searches_go_on_and_embed_nothing_while_somebody_else_is_at_it(waiting, held):
    sid = loaded(waiting)
    for _ in range(5):
        found = waiting.query(sid, text="question")
        assert found.semantic == "pending"
        assert len(found) > 0
    assert words(held) == [f"word{n}" for n in range(AT_ONCE)]
    held.is_free.set()
    until_ready(waiting, sid)
    assert words(held) == [f"word{n}" for n in range(10)]


def test_closing_waits_for_what_is_being_embedded_and_no_longer(waiting, held):
    waiting.query(loaded(waiting, 400), text="question")
    while not held.is_asked:
        time.sleep(0.002)
    closing = threading.Thread(target=waiting.close)
    closing.start()
    closing.join(0.2)
    assert closing.is_alive()
    held.is_free.set()
    closing.join(20)
    assert "mnemolog-embedding" not in {one.name for one in threading.enumerate()}
    assert len(words(held)) < 400


def test_filters_alone_embed_nothing(memory, slow):
    sid = loaded(memory)
    assert len(memory.query(sid, types=["conversation"], limit=100)) == 10
    assert slow.embedded == []


def test_a_few_new_entries_are_embedded_by_the_search_that_follows_them(memory, slow):
    sid = loaded(memory, AT_ONCE)
    assert memory.query(sid, text="question").semantic == "ready"
    memory.add_memory(sid, content="one more")
    assert memory.query(sid, text="again").semantic == "ready"
    assert slow.embedded[AT_ONCE:] == ["question", "one more", "again"]


@pytest.mark.parametrize("verb", ["rebuild", "wait"])
def test_rebuilding_embeds_everything_before_it_returns(memory, slow, verb):
    sid = loaded(memory, 600)
    if verb == "wait":
        memory.query(sid, text="question")
    seen: list[tuple[int, int]] = []
    assert memory.rebuild_index(progress=lambda done, total: seen.append((done, total))) == 600
    assert memory.query(sid, text="question").semantic == "ready"
    assert all(0 < done <= total for done, total in seen)
    assert seen[-1] == (600, 600)


def test_what_came_piece_by_piece_ranks_as_what_came_at_once(memory, root, clock, tmp_path):
    sid = loaded(memory)
    while memory.query(sid, text="question").semantic == "pending":
        pass
    with Memory.open(tmp_path / "twin", clock=clock, environ={}, embedder=Twin()) as twin:
        loaded(twin)
        for text in ("word3", "aaaa", "xyz eee"):
            ours, theirs = (one.query(sid, text=text, limit=100) for one in (memory, twin))
            assert_alike(scored(ours), scored(theirs), 1e-3)


def test_another_process_goes_on_where_the_first_one_stopped(memory, slow, root, clock):
    sid = loaded(memory, 40)
    memory.query(sid, text="question")
    memory.close()
    later = Slow()
    with Memory.open(root, clock=clock, environ={}, embedder=later) as again:
        until_ready(again, sid)
    assert later.embedded
    assert words(slow, later) == [f"word{n}" for n in range(40)]


def test_pending_is_said_only_to_whom_it_concerns(waiting):
    first = loaded(waiting, AT_ONCE, "first")
    assert waiting.query(first, text="question").semantic == "ready"
    loaded(waiting, 20, "second")
    assert waiting.query(first, text="question").semantic == "ready"
    assert waiting.query(None, text="question").semantic == "pending"


def test_what_is_erased_while_it_waits_is_never_embedded(waiting, held):
    sid = loaded(waiting, 20)
    assert waiting.query(sid, text="question").semantic == "pending"
    waiting.erase(sid, ids=["talk-15"])
    waiting.delete_session(loaded(waiting, 10, "other"))
    held.is_free.set()
    until_ready(waiting, None)
    assert set(words(held)) == {f"word{n}" for n in range(20)} - {"word15"}


def meant(memory: Memory, sid: str) -> dict[str, float]:
    """What each entry's meaning is worth to a question that shares no word with any."""
    hits = memory.query(sid, text="question", limit=100)
    return {hit.entry.id: hit.why["semantic"] for hit in hits}


def test_what_is_hidden_while_it_waits_means_the_same_when_it_comes_back(waiting, held):
    sid = loaded(waiting, 20)
    assert waiting.query(sid, text="question").semantic == "pending"
    waiting.delete_memory(sid, "talk-16")
    held.is_free.set()
    until_ready(waiting, sid)
    assert "talk-16" not in meant(waiting, sid)
    waiting.undelete(sid, ["talk-16"])
    found = meant(waiting, sid)
    waiting.rebuild_index()
    assert meant(waiting, sid) == found
    assert found["talk-16"] == found["talk-11"] > 0


@pytest.mark.parametrize("erased", [6, 9, 16])
def test_an_erasure_while_others_are_embedded_takes_nothing_from_them(waiting, held, erased):
    sid = loaded(waiting, 20)
    assert waiting.query(sid, text="question").semantic == "pending"
    while not held.is_asked:
        time.sleep(0.002)
    waiting.erase(sid, ids=[f"talk-{erased}"])
    held.is_free.set()
    until_ready(waiting, sid)
    found = meant(waiting, sid)
    waiting.rebuild_index()
    assert meant(waiting, sid) == found
    assert {f"talk-{n}" for n in (1, 6, 11, 16)} - found.keys() <= {f"talk-{erased}"}


def test_a_log_rewritten_while_it_waits_is_embedded_as_it_is_now(memory, slow, root):
    sid = loaded(memory)
    memory.query(sid, text="question")
    log = root / "sessions" / sid / "memory.jsonl"
    kept = log.read_bytes().splitlines(keepends=True)[:6]
    log.write_bytes(b"".join(kept))
    (root / "index" / "dirty" / sid).touch()
    while memory.query(sid, text="question").semantic == "pending":
        pass
    assert len(memory.query(sid, limit=100)) == 6


def test_an_embedder_that_says_nothing_is_asked_for_all_at_once(root, clock):
    twin = Twin()
    with Memory.open(root, clock=clock, environ={}, embedder=twin) as memory:
        sid = loaded(memory, 600)
        assert memory.query(sid, text="question").semantic == "ready"
        assert len(twin.embedded) == 601


def test_without_an_embedder_nothing_is_ever_pending(root, clock):
    with reopened(root, clock, **{"search.embedder": "none"}) as memory:
        assert memory.query(loaded(memory, 600), text="question").semantic == "off"


class Failing(Slow):
    """Works for whoever searches, and fails behind them."""

    def __init__(self) -> None:
        super().__init__()
        self.has_failed = threading.Event()

    def embed(self, texts: Sequence[str]) -> Any:
        if threading.current_thread().name == "mnemolog-embedding":
            self.has_failed.set()
            raise RuntimeError("zebra")
        return super().embed(texts)


def test_an_embedder_that_fails_behind_the_searches_is_told_of_and_stops_none(root, clock, caplog):
    failing = Failing()
    with Memory.open(root, clock=clock, environ={}, embedder=failing) as memory:
        sid = loaded(memory)
        assert memory.query(sid, text="question").semantic == "pending"
        assert failing.has_failed.wait(20)
        until_ready(memory, sid)  # each search embeds a few, and wakes another thread
    assert "RuntimeError" in caplog.text
    assert "zebra" not in caplog.text, "an error may quote what was said"
