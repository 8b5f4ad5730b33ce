"""Sessions in the archive: listed, read and searched as before; a write brings them back."""

import asyncio
import json
import threading
from datetime import timedelta

import pytest

from mnemolog import AsyncMemory, Memory
from mnemolog.errors import (
    NotAllowedError,
    SessionArchivedError,
    SessionExistsError,
    SessionNotFoundError,
)
from mnemolog.log import members
from tests.log.rewriting import rewrite

WORDS_ONLY = {"search.embedder": "none"}


def open_words(root, clock, **settings):
    return Memory.open(root, clock=clock, environ={}, settings={**WORDS_ONLY, **settings})


@pytest.fixture
def memory(root, clock):
    with open_words(root, clock) as opened:
        yield opened


@pytest.fixture
def archived(memory, sid, clock):
    """The id of an archived session; its entries were written a minute before."""
    for text in ("We need ACID.", "Use PostgreSQL then.", "And a queue?"):
        memory.add_conversation(sid, role="user", content=text, agent_id="architect")
    memory.add_decision(sid, made_by="architect", decision="PostgreSQL", rationale="ACID")
    clock.advance(minutes=1)
    memory.archive_session(sid)
    return sid


def holding(memory, word, session_id=None):
    """The ids of the hits that hold a word; others are found because they stand beside them."""
    hits = memory.query(session_id, text=word, limit=1000)
    return [hit.entry.id for hit in hits if word.lower() in hit.entry.text.lower()]


def is_archived(root, sid="talk"):
    live, packed = root / "sessions" / sid, root / "archive" / f"{sid}.tar.gz"
    assert live.exists() != packed.exists()
    return packed.exists()


@pytest.mark.req("S001-100", "S001-109", "S001-119")
@pytest.mark.parametrize("is_indexed", [True, False])
def test_an_archived_session_is_listed_as_such_with_all_its_facts(
    memory, archived, root, clock, is_indexed
):
    if not is_indexed:
        memory = Memory(memory._store, memory.settings, clock)
    memory.create_session("u2", session_id="busy")
    (found,) = memory.list_sessions(state="archived")
    assert (found.id, found.state, found.user_id) == ("talk", "archived", "u1")
    assert found.agent_ids == ("architect", "analyst")
    assert found.updated_at < memory.load_session("busy").created_at
    assert found == memory.load_session("talk")
    assert [one.id for one in memory.list_sessions()] == ["busy", "talk"]
    assert [one.id for one in memory.list_sessions(state="active")] == ["busy"]
    assert memory.list_sessions(state="idle") == []
    assert [one.id for one in memory.list_sessions(user_id="u1")] == ["talk"]


def test_a_closed_session_that_is_archived_is_archived_and_idle_again_after_that(memory, sid):
    memory.add_memory(sid, content="x")
    memory.close_session(sid)
    memory.archive_session(sid)
    assert memory.list_sessions(state="idle") == []
    assert memory.restore_session(sid).state == "idle"
    assert [one.id for one in memory.list_sessions(state="idle")] == [sid]


@pytest.mark.req("S001-159")
def test_reading_an_archived_session_never_restores_it(memory, archived, root, clock):
    before = memory.get_entries(archived)
    assert [entry.seq for entry in before] == [1, 2, 3, 4]
    with open_words(root, clock) as other:
        first = before[0]
        assert other.get_memory(archived, first.id) == first
        assert other.get_entries(archived, last=2) == before[-2:]
        assert [one.id for one in other.get_decisions(archived)] == [before[3].id]
        assert other.get_statistics(archived).total_entries == 4
        assert other.get_global_statistics().total_entries == 4
        assert len(holding(other, "PostgreSQL", archived)) == 2
        assert len(holding(other, "queue")) == 1
        assert other.rebuild_index() == 4
        assert len(holding(other, "queue")) == 1
        assert len(other.export_index(archived)["entries"]) == 4
    assert is_archived(root)


def test_an_index_made_from_archives_alone_finds_what_it_found_before(memory, archived, root):
    def found():
        hits = memory.query(None, text="acid postgresql")
        return [(hit.entry.id, round(hit.relevance, 6)) for hit in hits]

    before = found()
    assert len(before) > 2
    memory.rebuild_index()
    assert found() == before
    assert [one.state for one in memory.list_sessions()] == ["archived"]


def test_uses_noted_before_archiving_count_in_an_index_made_after_it(memory, archived, root):
    memory.restore_session(archived)
    chosen = memory.get_entries(archived)[2].id
    line = json.dumps({"v": 1, "id": chosen, "at": "2026-11-15T09:00:30.000Z"}) + "\n"
    (root / "sessions/talk/access.jsonl").write_text(line * 3)
    memory.archive_session(archived)
    memory.rebuild_index()
    used = {hit.entry.id: hit.why["access"] for hit in memory.query(None, text="acid queue")}
    assert used[chosen] > max(value for one, value in used.items() if one != chosen)


def test_a_hit_in_the_archive_costs_unpacking_one_member(memory, sid, root, monkeypatch):
    texts = [f"entry {n} word{n} " + f"{n * 7919:x} " * 60 for n in range(2000)]
    memory.add_many(sid, [{"content": text} for text in texts])
    memory.query(sid, text="word1")
    memory.archive_session(sid)
    assert [one.state for one in memory.list_sessions()] == ["archived"]
    unpacked = []
    plain = members.unpack

    def counted(raw: bytes, length: int) -> bytes | None:
        unpacked.append(length)
        return plain(raw, length)

    monkeypatch.setattr(members, "unpack", counted)
    hits = memory.query(sid, text="word1234")
    assert [hit.entry.text.split()[1] for hit in hits[:1]] == ["1234"]
    assert 1 <= len(unpacked) <= 2
    unpacked.clear()
    assert memory.list_sessions()[0].state == "archived"
    assert memory.load_session(sid).state == "archived"
    assert unpacked == []


@pytest.mark.req("S001-159")
@pytest.mark.parametrize(
    "write",
    [
        lambda memory, sid: memory.add_memory(sid, content="more"),
        lambda memory, sid: memory.add_many(sid, [{"content": "a"}, {"content": "b"}]),
        lambda memory, sid: memory.update_session(sid, metadata={"a": 1}),
        lambda memory, sid: memory.close_session(sid),
        lambda memory, sid: memory.update_memory(sid, memory.get_entries(sid)[0].id, tags=["x"]),
        lambda memory, sid: memory.delete(sid, types=["decision"]),
        lambda memory, sid: memory.update_preference(sid, key="k", value="v"),
    ],
)
def test_a_write_restores_the_session_first(memory, archived, root, write):
    before = {entry.id for entry in memory.get_entries(archived)}
    write(memory, archived)
    assert not is_archived(root)
    assert len(before & {entry.id for entry in memory.get_entries(archived)}) >= 3
    assert memory.load_session(archived).state in ("active", "idle")
    assert [one.state for one in memory.list_sessions()] != ["archived"]
    assert len(holding(memory, "queue")) == 1


@pytest.mark.req("S001-151")
def test_with_automatic_restoring_off_a_write_is_an_error_that_says_what_to_do(
    memory, archived, root, clock
):
    with open_words(root, clock, **{"archive.auto_restore": False}) as strict:
        with pytest.raises(SessionArchivedError, match="archive") as caught:
            strict.add_memory(archived, content="more")
        assert caught.value.code == "E_SESSION_ARCHIVED"
        assert "mnemolog restore" in caught.value.advice
        with pytest.raises(SessionArchivedError):
            strict.update_session(archived, metadata={"a": 1})
        assert is_archived(root)
        assert len(strict.get_entries(archived)) == 4
        assert strict.restore_session(archived).state == "active"
        assert strict.add_memory(archived, content="more").durable


def test_every_open_handle_notices_that_a_session_went_and_came_back(memory, archived, root, clock):
    with open_words(root, clock) as other:
        for number in range(5, 9):
            assert len(other.get_entries(archived)) == number - 1
            assert other.load_session(archived).state == "archived"
            other.add_memory(archived, content=f"by another, number {number}")
            assert memory.load_session(archived).state == "active"
            assert len(memory.get_entries(archived)) == number
            assert len(holding(memory, "another", archived)) == number - 4
            memory.archive_session(archived)
            assert len(holding(other, "another", archived)) == number - 4
            assert len(holding(memory, "another")) == number - 4


def test_the_id_of_an_archived_session_is_taken(memory, archived, root):
    with pytest.raises(SessionExistsError):
        memory.create_session(session_id=archived)
    assert is_archived(root)
    assert len(memory.get_entries(archived)) == 4


def test_an_archived_session_is_deleted_with_everything_in_it(memory, archived, root):
    memory.query(None, text="queue")
    memory.delete_session(archived)
    with pytest.raises(SessionNotFoundError):
        memory.load_session(archived)
    assert memory.list_sessions() == []
    assert list(memory.query(None, text="queue")) == []
    assert [path.name for path in (root / "archive").iterdir()] == ["lock"]
    assert memory.verify_erasure(text="And a queue?").clean
    assert memory.create_session(session_id=archived).id == archived
    assert list(memory.get_entries(archived)) == []


def test_what_is_erased_leaves_the_archive_too(memory, archived):
    secret = memory.get_entries(archived)[2]
    memory.erase(archived, ids=[secret.id])
    memory.archive_session(archived)
    assert memory.verify_erasure(ids=[secret.id], text="And a queue?").clean
    assert [entry.seq for entry in memory.get_entries(archived)] == [1, 2, 4]


def test_a_rewritten_session_keeps_its_generation_in_the_archive(memory, sid, root):
    memory.add_many(sid, [{"content": f"entry {n}"} for n in range(5)])
    rewrite(root, sid)
    memory.update_session(sid, metadata={"rewritten": True})
    before = memory.get_entries(sid)
    memory.archive_session(sid)
    assert memory.get_entries(sid) == before
    assert memory.restore_session(sid).metadata == {"rewritten": True}
    assert memory.add_memory(sid, content="next").seq == 6


@pytest.mark.req("S001-119")
def test_archiving_twice_and_restoring_twice_do_nothing_the_second_time(memory, archived, root):
    first = memory.archive_session(archived)
    assert first == memory.archive_session(archived)
    assert memory.restore_session(archived) == memory.restore_session(archived)
    assert not is_archived(root)
    for verb in (memory.archive_session, memory.restore_session):
        with pytest.raises(SessionNotFoundError):
            verb("nobody")


def test_only_the_owner_archives_and_whoever_sees_a_session_restores_it(memory, archived):
    agent = memory.for_agent("architect")
    for view in (agent, memory.for_user("u1")):
        with pytest.raises(NotAllowedError):
            view.archive_session(archived)
        with pytest.raises(NotAllowedError):
            view.archive_idle()
        assert [one.state for one in view.list_sessions()] == ["archived"]
    with pytest.raises(SessionNotFoundError):
        memory.for_agent("stranger").restore_session(archived)
    assert memory.for_agent("stranger").list_sessions() == []
    assert list(memory.for_agent("stranger").query(None, text="queue")) == []
    assert agent.restore_session(archived).state == "active"


@pytest.mark.req("S001-101", "S002-011")
def test_sessions_that_were_idle_for_more_than_thirty_days_are_archived(memory, clock):
    memory.create_session(session_id="old")
    memory.add_memory("old", content="x")
    clock.advance(days=30)
    memory.create_session(session_id="young")
    assert memory.archive_idle().archived == ()
    clock.advance(seconds=1)
    progress = []
    done = memory.archive_idle(progress=lambda *told: progress.append(told))
    assert [one.session_id for one in done.archived] == ["old"]
    assert (done.failed, progress) == ({}, [(1, 1)])
    assert memory.archive_idle().archived == ()
    later = clock.now() + timedelta(days=31)
    assert {one.session_id for one in memory.archive_idle(later).archived} == {"young"}
    assert memory.add_memory("old", content="y").durable


def test_one_session_that_cannot_be_archived_does_not_keep_the_others(memory, root, clock):
    for name in ("a", "b", "c"):
        memory.create_session(session_id=name)
    (root / "sessions/b/mine.txt").write_text("x")
    clock.advance(days=31)
    done = memory.archive_idle()
    assert sorted(one.session_id for one in done.archived) == ["a", "c"]
    assert list(done.failed) == ["b"]
    assert "mine.txt" in done.failed["b"]


def test_a_reader_in_the_middle_of_a_session_reads_on_while_it_moves(memory, sid):
    memory.add_many(sid, [{"content": f"entry {n}"} for n in range(300)])
    failures, stop = [], threading.Event()

    def read() -> None:
        while not stop.is_set():
            found = memory.get_entries(sid)
            hits = holding(memory, "entry", sid)
            if [len(found), len(hits), found.warnings] != [300, 300, ()]:
                failures.append((len(found), len(hits), found.warnings))

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        memory.archive_session(sid)
        memory.restore_session(sid)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_verbs_are_there_for_those_who_await_them(root, clock):
    async def story() -> list[str]:
        async with await AsyncMemory.open(root, clock=clock, environ={}) as memory:
            await memory.create_session(session_id="talk")
            await memory.archive_session("talk")
            before = (await memory.load_session("talk")).state
            return [before, (await memory.restore_session("talk")).state]

    assert asyncio.run(story()) == ["archived", "active"]
