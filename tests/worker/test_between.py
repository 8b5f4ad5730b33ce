"""What people and erasures do at the very moment in which something is being written."""

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import NodeNotFoundError
from mnemolog.graph.shelf import FilesShelf
from mnemolog.worker import Worker
from tests.worker.scribes import SAID, Scribe, open_memory, said, talk, working
from tests.worker.sharing import set_off

SECRET = "the gate code is seven"


def once_before(monkeypatch, name: str, work) -> None:
    """Do something the first time before the shelf does this."""
    real = getattr(FilesShelf, name)

    def first(self, *given, **more):
        monkeypatch.setattr(FilesShelf, name, real)
        work()
        return real(self, *given, **more)

    monkeypatch.setattr(FilesShelf, name, first)


def traces(root: Path, text: str) -> list[str]:
    """The files below the users' folders and the plans that hold a text."""
    rooms = [root / "users", root / "intents"]
    paths = [path for room in rooms for path in room.rglob("*") if path.is_file()]
    return [path.name for path in paths if text.encode() in path.read_bytes()]


def test_a_proposal_whose_source_is_erased_while_it_is_accepted_is_not_written(
    memory, root, monkeypatch
):
    session = talk(memory, "s1", SECRET)
    (entry,) = memory.get_entries(session)
    memory.reset_session(session)
    working(memory, Scribe("SOUL.md")).tick()
    (waiting,) = memory.proposals()
    once_before(monkeypatch, "write", lambda: memory.erase(session, ids=[entry.id]))
    with pytest.raises(NodeNotFoundError, match="waits"):
        memory.accept_proposal(waiting.id)
    assert traces(root, SECRET) == []


def test_a_version_whose_source_is_erased_while_it_is_brought_back_stays_gone(
    memory, root, monkeypatch
):
    session = talk(memory, "s1", SECRET, "kept")
    gone = memory.get_entries(session)[0]
    memory.reset_session(session)
    working(memory, Scribe()).tick()
    memory.append_node(SAID, "- more", user_id="u1")
    once_before(monkeypatch, "write", lambda: memory.erase(session, ids=[gone.id]))
    with suppress(NodeNotFoundError):
        memory.revert_node(SAID, 1, user_id="u1")
    assert traces(root, SECRET) == []
    assert "- kept" in said(memory)


def test_a_proposal_that_two_people_accept_is_written_once(memory, monkeypatch):
    memory.reset_session(talk(memory, "s1", "be kind"))
    working(memory, Scribe("SOUL.md")).tick()
    (waiting,) = memory.proposals()
    once_before(monkeypatch, "write", lambda: memory.accept_proposal(waiting.id))
    assert memory.accept_proposal(waiting.id).status == "unchanged"
    assert said(memory, address="SOUL.md") == ["- be kind"]
    assert (len(memory.node_versions("SOUL.md", user_id="u1")), memory.proposals()) == (1, [])


def test_a_worker_that_writes_while_a_proposal_is_accepted_is_not_overwritten(memory, monkeypatch):
    memory.reset_session(talk(memory, "s1", "one"))
    working(memory, Scribe("SOUL.md")).tick()
    (waiting,) = memory.proposals()
    other = lambda: memory.write_node("SOUL.md", "by hand\n", user_id="u1")  # noqa: E731
    once_before(monkeypatch, "write", other)
    with pytest.raises(Exception, match="not what this write was made against"):
        memory.accept_proposal(waiting.id)
    assert memory.read_node("SOUL.md", user_id="u1").body == "by hand\n"
    assert [one.id for one in memory.proposals()] == [waiting.id]


def test_a_node_whose_name_a_hand_wrote_in_another_case_is_the_one_that_is_learned_into(
    memory, root
):
    path = root / "users/u1/memory/People/Ann.md"
    path.parent.mkdir(parents=True)
    path.write_text("# Ann\n- Likes tea.\n")
    memory.create_session("u1", agent_ids=["guide"], session_id="s1")
    memory.add_conversation("s1", role="user", content="Ann leads the payment team.")
    memory.reset_session("s1")
    (done,) = Worker(memory).tick()
    assert (done.status, done.written) == ("learned", 1)
    (leaf,) = memory.tree("u1")
    assert leaf.address == "People/Ann"
    body = memory.read_node("People/Ann", user_id="u1").body
    assert "Likes tea." in body
    assert "payment team" in body


def test_a_name_may_be_written_in_another_case(memory):
    memory.write_node("people/Ann", "text\n", user_id="u1")
    memory.write_node("team", "[[people/Ann]]\n", user_id="u1")
    assert memory.move_node("people/Ann", "people/ann", user_id="u1").status == "moved"
    assert [leaf.address for leaf in memory.tree("u1")] == ["people/ann", "team"]
    assert memory.read_node("team", user_id="u1").body == "[[people/ann]]\n"


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox. " * 45_000,
        "a" * 950_000,
        "we decided to use it\n" * 45_000,
        "word " * 190_000,
        '<memory kind="data" ' * 45_000,
        "- (" * 200_000 + "2026-01-01",
        "x" + " " * 900_000 + "y",
    ],
    ids=["sentences", "one word", "lines", "words", "openings", "brackets", "spaces"],
)
def test_an_entry_of_a_megabyte_is_learned_from_in_time(memory, text):
    """What it takes is bounded by the test's own limit; what went wrong would take hours."""
    memory.create_session("u1", agent_ids=["guide"], session_id="s1")
    memory.add_memory("s1", type="note", content=text[:990_000], tags=["topics.long"])
    memory.add_conversation("s1", role="assistant", content=text[:990_000])
    memory.reset_session("s1")
    (done,) = Worker(memory).tick()
    assert (done.status, done.error) == ("learned", "")
    assert len(memory.read_node("topics/long", user_id="u1").text) < 2000


def test_two_workers_a_hand_and_an_erasure_at_once_lose_nothing_and_bring_nothing_back(root):
    """Every fact stands in the node or in one of its versions, none twice; what was erased in
    neither, nor anywhere else."""
    with open_memory(root) as memory:
        for number in range(24):
            memory.reset_session(talk(memory, f"s{number}", f"fact {number}", f"gone {number}."))
        workers = set_off(root, "ann", "bob")
        path, added = root / f"users/u1/memory/{SAID}.md", 0
        for number in range(24):
            gone = memory.get_entries(f"s{number}")[1]
            memory.erase(f"s{number}", ids=[gone.id])
            if path.exists():  # as an editor that loads, adds a line and saves
                new = path.with_name(".draft")
                new.write_text(f"{path.read_text()}- by hand {number}\n")
                new.rename(path)
                added += 1
        for one in workers:
            one.communicate(timeout=240)
        assert [one.returncode for one in workers] == [0, 0]
        settle(memory, root)
        check(memory, root, added)


def settle(memory: Memory, root: Path) -> None:
    """What was disturbed too often is put off; then the clock of the tests moves on."""
    later = memory._clock.now() + timedelta(days=2)
    with open_memory(root, _Later(later)) as again:
        for _ in range(8):
            working(again, Scribe()).tick()
        assert (again.due_sessions(), again.parked_sessions()) == ([], [])


class _Later:
    def __init__(self, moment) -> None:
        self.moment = moment

    def now(self):
        return self.moment


def check(memory: Memory, root: Path, added: int) -> None:
    now = said(memory)
    past = [one.text or "" for one in memory.node_versions(SAID, user_id="u1")]
    for number in range(24):
        assert now.count(f"- fact {number}") <= 1
        assert any(f"- fact {number} " in text for text in past), number
        assert traces(root, f"gone {number}.") == []
    assert added
    assert sum(any(f"- by hand {n}\n" in text for text in past) for n in range(24)) == added
    assert memory.kept_plans() == []
