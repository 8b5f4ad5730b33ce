"""When a session is due, what is learned from it, and what its markers promise."""

import json
import shutil
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import DistillerError, NotAllowedError, SessionNotFoundError
from mnemolog.fs.real import RealDisk
from mnemolog.model.lesson import Due
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on


@pytest.fixture
def memory(root, clock):
    settings = {"search": {"embedder": "none"}}
    with Memory.open(root, clock=clock, environ={}, settings=settings) as opened:
        yield opened


def say(memory: Memory, sid: str, text: str = "hello", **fields: Any) -> str:
    return memory.add_conversation(sid, role="user", content=text, **fields).id


def answer(memory: Memory, sid: str, **fields: Any) -> str:
    return memory.add_conversation(sid, role="assistant", content="yes", **fields).id


def due(memory: Memory) -> list[tuple[str, str]]:
    return [(one.session_id, one.cause) for one in memory.due_sessions()]


def markers(folder) -> dict:
    return json.loads((folder / "manifest.json").read_text()).get("markers", {})


def learn(memory: Memory) -> bool:
    """Learn from the one session that is due."""
    (one,) = memory.due_sessions()
    lesson = memory.lesson_of(one)
    assert lesson is not None
    return memory.mark_processed(one, lesson.until, lesson.until_sum)


# --- the four moments


@pytest.mark.req("S003-02", "S003-18", "S003-03")
def test_the_fifth_completed_turn_makes_a_session_due(memory, sid):
    say(memory, sid)
    assert [memory.end_turn(sid) for _ in range(5)] == [False] * 4 + [True]
    assert due(memory) == [(sid, "turns")]


def test_after_it_was_learned_from_five_more_turns_are_needed(memory, sid):
    say(memory, sid)
    for _ in range(5):
        memory.end_turn(sid)
    assert learn(memory)
    for _ in range(4):
        say(memory, sid)
        memory.end_turn(sid)
    assert due(memory) == []
    memory.end_turn(sid)
    assert due(memory) == [(sid, "turns")]


def test_ending_a_turn_writes_the_manifest_once_and_no_line(memory, sid, folder):
    say(memory, sid)
    size = (folder / "memory.jsonl").stat().st_size
    memory.end_turn(sid)
    before = (folder / "manifest.json").stat().st_ino
    assert markers(folder)["turns"] == 1
    memory.end_turn(sid)
    assert (folder / "manifest.json").stat().st_ino != before
    assert (folder / "memory.jsonl").stat().st_size == size


@pytest.mark.req("S003-02", "S003-19", "S003-20", "S003-21")
@pytest.mark.parametrize(
    ("verb", "cause"),
    [("reset_session", "reset"), ("context_compacted", "compacted"), ("sleep_session", "sleep")],
)
def test_each_of_the_other_moments_makes_a_session_due(memory, sid, verb, cause):
    assert getattr(memory, verb)(sid) is False  # there is nothing to learn from
    say(memory, sid)
    assert due(memory) == []
    assert getattr(memory, verb)(sid) is True
    assert due(memory) == [(sid, cause)]


@pytest.mark.req("S003-21")
def test_half_an_hour_without_an_entry_makes_a_session_due(memory, sid, clock):
    say(memory, sid)
    clock.advance(minutes=29, seconds=59)
    assert due(memory) == []
    clock.advance(seconds=1)
    assert due(memory) == [(sid, "idle")]


def test_where_nobody_ends_turns_an_answer_does(memory, sid):
    for _ in range(4):
        answer(memory, sid)
    assert due(memory) == []
    answer(memory, sid)
    assert due(memory) == [(sid, "turns")]


def test_a_message_that_grows_is_one_turn(memory, sid):
    for length in range(9):
        answer(memory, sid, id="growing", tags=[f"v{length}"])
    assert due(memory) == []


def test_where_turns_are_ended_answers_do_not_count(memory, sid):
    memory.end_turn(sid)
    for _ in range(9):
        answer(memory, sid)
    assert due(memory) == []


def test_answers_after_the_marker_count_from_there(memory, sid):
    for _ in range(6):
        answer(memory, sid)
    assert learn(memory)
    for _ in range(4):
        answer(memory, sid)
    assert due(memory) == []
    answer(memory, sid)
    assert due(memory) == [(sid, "turns")]


def test_the_index_and_a_look_at_every_session_agree(memory, clock):
    for number in range(5):
        sid = memory.create_session(session_id=f"s{number}").id
        for _ in range(number + 2):
            answer(memory, sid)
        clock.advance(minutes=8)
    memory.reset_session("s0")
    memory.end_turn("s4")
    bare = Memory(memory._store, memory.settings, clock, keeper=memory._kept_by)
    assert [bare.due_sessions(), bare.due_sessions(2)] == [
        memory.due_sessions(),
        memory.due_sessions(2),
    ]
    assert len(memory.due_sessions()) == 3


@pytest.mark.req("S003-24")
def test_the_oldest_come_first_and_no_more_than_asked_for(memory, clock):
    for name in ("b", "a", "c"):
        memory.create_session(session_id=name)
        say(memory, name)
        memory.reset_session(name)
        clock.advance(minutes=1)
    assert [one.session_id for one in memory.due_sessions(2)] == ["b", "a"]


# --- markers


def test_the_marker_only_grows(memory, sid, folder, clock):
    say(memory, sid)
    say(memory, sid)
    memory.reset_session(sid)
    first = markers(folder)
    clock.advance(minutes=3)
    memory.sleep_session(sid)
    assert markers(folder) == first
    say(memory, sid)
    memory.context_compacted(sid)
    assert markers(folder)["invalidated"] == 3
    assert markers(folder)["invalidated_at"] == first["invalidated_at"]


@pytest.mark.req("S003-08", "S003-29", "S003-26")
def test_what_was_learned_from_is_not_offered_again(memory, sid, folder):
    say(memory, sid, "old")
    memory.reset_session(sid)
    assert learn(memory)
    assert due(memory) == []
    assert markers(folder)["processed_until"] == 1
    assert markers(folder)["processed_sum"].startswith("sha256:")
    say(memory, sid, "new")
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    assert [entry.content for entry in memory.lesson_of(one).entries] == ["new"]


@pytest.mark.req("S003-29")
def test_what_came_meanwhile_stays_due(memory, sid):
    say(memory, sid)
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    lesson = memory.lesson_of(one)
    say(memory, sid, "meanwhile")
    memory.reset_session(sid)
    assert memory.mark_processed(one, lesson.until, lesson.until_sum)
    (again,) = memory.due_sessions()
    assert (again.cause, again.processed_until) == ("reset", 1)
    assert [entry.content for entry in memory.lesson_of(again).entries] == ["meanwhile"]


def test_of_two_who_learned_the_same_only_one_moves_the_marker(memory, sid, folder):
    say(memory, sid)
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    lesson = memory.lesson_of(one)
    assert memory.mark_processed(one, lesson.until, lesson.until_sum)
    say(memory, sid)
    memory.reset_session(sid)
    before = markers(folder)
    assert memory.mark_processed(one, 2, "sha256:other") is False
    assert memory.lesson_of(one) is None
    memory.note_failure(one, DistillerError("late"))
    assert markers(folder) == before
    assert due(memory) == [(sid, "reset")]


def test_markers_leave_other_facts_alone(memory, sid, folder):
    say(memory, sid)
    memory.close_session(sid)
    memory.end_turn(sid)
    memory.reset_session(sid)
    assert markers(folder)["closed_seq"] == 1
    assert memory.load_session(sid).state == "idle"


def test_a_marker_that_somebody_broke_counts_as_unset(memory, sid):
    say(memory, sid)
    memory._store.change(
        sid, lambda manifest: type(manifest)(**{**_fields(manifest), "markers": {"turns": "x"}})
    )
    assert memory.reset_session(sid) is True


def _fields(manifest):
    return {name: getattr(manifest, name) for name in manifest.__struct_fields__}


def test_a_position_is_remembered_only_once_its_line_is_durable():
    """With lines that nobody syncs, a power loss takes them, unless somebody built on them."""
    for number in range(30):
        disk = SimulatedDisk()
        settings = Settings().changed({"storage": {"durability": "os"}})
        memory = open_on(disk, settings, FixedClock())
        memory.create_session(session_id="talk")
        memory.add_conversation("talk", role="user", content="hello")
        memory.reset_session("talk")
        survived = open_on(disk.crash(Random(number)), settings, FixedClock())
        assert [one.session_id for one in survived.due_sessions()] == ["talk"]
        (one,) = survived.due_sessions()
        lesson = survived.lesson_of(one)
        assert lesson is not None
        assert [entry.content for entry in lesson.entries] == ["hello"]


# --- what is learned


@pytest.mark.req("S003-04", "S003-26")
def test_only_what_may_be_learned_is_in_a_lesson(memory, sid):
    say(memory, sid, "said")
    say(memory, sid, "from memory", origin="recall")
    say(memory, sid, "of the agent alone", scope="agent", agent_id="architect")
    say(memory, sid, "a record of ours", metadata={"internal": True})
    say(memory, sid, "another", category="internal")
    gone = say(memory, sid, "hidden")
    memory.delete_memory(sid, gone)
    memory.add_decision(sid, made_by="architect", decision="Use PostgreSQL")
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    lesson = memory.lesson_of(one)
    assert [entry.text for entry in lesson.entries] == ["said", "Use PostgreSQL"]
    assert lesson.transcript == "## User\nsaid\n\n**Decision** (architect) Use PostgreSQL"
    assert (lesson.user_id, lesson.agent_id, lesson.until) == ("u1", "architect", 8)


def test_a_revised_entry_is_learned_in_its_last_revision(memory, sid):
    say(memory, sid, "first", id="m1")
    memory.update_memory(sid, "m1", content="last")
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    assert [(e.content, e.seq) for e in memory.lesson_of(one).entries] == [("last", 2)]


def test_a_session_without_user_and_agents_is_the_default_ones(memory):
    memory.create_session(session_id="bare")
    say(memory, "bare")
    memory.reset_session("bare")
    (one,) = memory.due_sessions()
    assert (one.user_id, one.agent_id) == ("default", "default")


def test_what_a_compaction_moved_out_is_learned_all_the_same(memory, sid, clock):
    say(memory, sid, "old and irrelevant", importance=0.1)
    memory.reset_session(sid)
    clock.advance(days=400)
    for _ in range(3):
        say(memory, sid, "new")
    done = memory.compact_session(sid)
    assert done.archived == 1
    (one,) = memory.due_sessions()
    assert [e.content for e in memory.lesson_of(one).entries] == ["old and irrelevant"] + [
        "new"
    ] * 3


def test_an_archived_session_that_is_due_is_still_learned_from(memory, sid):
    say(memory, sid, "kept")
    memory.context_compacted(sid)
    memory.archive_session(sid)
    (one,) = memory.due_sessions()
    lesson = memory.lesson_of(one)
    assert [entry.content for entry in lesson.entries] == ["kept"]
    with memory.brought_back(sid):
        assert memory.mark_processed(one, lesson.until, lesson.until_sum)
    assert memory.load_session(sid).state == "archived"
    assert memory.due_sessions() == []


def test_a_deleted_session_is_not_due_and_gives_no_lesson(memory, sid):
    say(memory, sid)
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    memory.delete_session(sid)
    assert memory.due_sessions() == []
    assert memory.lesson_of(one) is None
    assert memory.mark_processed(one, 1, "sha256:x") is False


@pytest.mark.req("S003-16", "S003-22", "S003-25", "S003-13")
def test_a_memory_agents_own_session_is_never_invalidated(memory, folder, sid, clock):
    agent = {"type": "memory-agent", "id": "architect"}
    own = memory.create_session(session_id="own", metadata={"agent": agent}).id
    for _ in range(6):
        answer(memory, own)
        assert memory.end_turn(own) is False
    assert [memory.reset_session(own), memory.context_compacted(own)] == [False, False]
    assert memory.sleep_session(own) is False
    assert "invalidated" not in markers(folder.parent / "own")
    clock.advance(hours=1)
    (one,) = memory.due_sessions()
    assert one.cause == "exempt"
    lesson = memory.lesson_of(one)
    assert (lesson.entries, lesson.transcript) == ((), "")
    assert memory.mark_processed(one, lesson.until, lesson.until_sum)
    assert memory.due_sessions() == []


# --- failures


def test_failures_wait_longer_each_time_and_park_in_the_end(memory, sid, folder, clock):
    say(memory, sid)
    memory.reset_session(sid)
    for number, minutes in enumerate([1, 4, 16, 64], 1):
        (one,) = memory.due_sessions()
        assert one.attempts == number - 1
        assert memory.note_failure(one, DistillerError("what was said")) is False
        clock.advance(minutes=minutes, seconds=-1)
        assert due(memory) == []
        clock.advance(seconds=1)
    (one,) = memory.due_sessions()
    assert memory.note_failure(one, ValueError("what was said")) is True
    clock.advance(days=365)
    say(memory, sid)
    memory.reset_session(sid)
    assert due(memory) == []
    (parked,) = memory.parked_sessions()
    assert (parked.session_id, parked.cause, parked.attempts) == (sid, "parked", 5)
    assert parked.error == "ValueError"
    assert "what was said" not in (folder / "manifest.json").read_text()
    assert memory.retry_session(sid) is True
    assert memory.parked_sessions() == []
    assert [one.attempts for one in memory.due_sessions()] == [0]


def test_success_forgets_failures(memory, sid, folder, clock):
    say(memory, sid)
    memory.reset_session(sid)
    (one,) = memory.due_sessions()
    memory.note_failure(one, DistillerError(""))
    assert markers(folder)["error"] == "E_DISTILLER"
    clock.advance(minutes=1)
    assert learn(memory)
    assert not {"attempts", "error", "next_try"} & set(markers(folder))


# --- cost and access


@pytest.mark.req("S003-03")
def test_three_due_sessions_among_a_thousand_are_found_without_looking_at_the_others(
    root, clock, monkeypatch
):
    settings = {"search": {"embedder": "none"}}
    with Memory.open(root, clock=clock, environ={}, settings=settings) as memory:
        names = ["s7", "s500", "s999"]
        for name in names:
            memory.create_session(session_id=name)
            say(memory, name)
        _copy(root, "s7", {f"s{number}" for number in range(1000)} - set(names))
        for name in names:
            memory.reset_session(name)
        assert len(memory.list_sessions()) == 1000
        opened: list[str] = []
        real = RealDisk.open

        def noted(disk, path, mode):
            opened.append(path)
            return real(disk, path, mode)

        monkeypatch.setattr(RealDisk, "open", noted)
        assert [one.session_id for one in memory.due_sessions(10)] == ["s500", "s7", "s999"]
        assert opened == []
        (one,) = memory.due_sessions(1)
        assert memory.lesson_of(one) is not None
        assert {path.split("/")[1] for path in opened} == {one.session_id}


def _copy(root, name: str, others: set[str]) -> None:
    """Sessions like another one, as files: making each by its verb takes long."""
    template = root / "sessions" / name
    manifest = (template / "manifest.json").read_text()
    for other in others:
        shutil.copytree(template, root / "sessions" / other)
        told = manifest.replace(f'"{name}"', f'"{other}"')
        (root / "sessions" / other / "manifest.json").write_text(told)
        (root / "index" / "dirty" / other).touch(0o600)


def test_an_agents_view_ends_turns_of_its_own_sessions_only(memory, sid):
    say(memory, sid)
    view = memory.for_agent("architect")
    assert [view.end_turn(sid) for _ in range(5)][-1] is True
    with pytest.raises(SessionNotFoundError):
        memory.for_agent("stranger").reset_session(sid)


@pytest.mark.parametrize("view", ["for_agent", "for_user"])
def test_learning_is_for_the_owner_alone(memory, sid, view):
    handle = getattr(memory, view)("u1" if view == "for_user" else "architect")
    nothing = Due(
        session_id=sid, user_id="u1", agent_id="a", cause="idle", invalidated=0,
        processed_until=0, since="",
    )  # fmt: skip
    for refused in (
        handle.due_sessions,
        handle.parked_sessions,
        lambda: handle.lesson_of(nothing),
        lambda: handle.mark_processed(nothing, 1, ""),
        lambda: handle.note_failure(nothing, ValueError()),
        lambda: handle.retry_session(sid),
        handle.kept_plans,
    ):
        with pytest.raises(NotAllowedError):
            refused()


def test_the_moment_may_be_given(memory, sid, clock):
    say(memory, sid)
    assert memory.due_sessions(now=clock.now()) == []
    later = clock.now() + timedelta(hours=1)
    assert [one.cause for one in memory.due_sessions(now=later)] == ["idle"]
