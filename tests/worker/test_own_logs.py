"""What users and all share outside of sessions becomes knowledge too, exactly once."""

from datetime import timedelta
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.distillers.rules import Rules
from mnemolog.errors import DistillerError
from mnemolog.fs.real import RealDisk
from mnemolog.stores.files.doctor.learning import check_own_logs
from mnemolog.worker import Worker
from tests.worker.scribes import Failing, open_memory, working


def prefer(memory: Memory, key: str, value: str, user: str | None = "ann") -> str:
    given: Any = {"scope": "user", "user_id": user} if user else {"scope": "shared"}
    return memory.update_preference(None, key=key, value=value, **given).id


def later(clock, minutes: float = 61) -> None:
    clock.moment += timedelta(minutes=minutes)


def known(memory: Memory, user: str = "ann", address: str = "USER.md") -> list[str]:
    """The lines of a node, without their sources and dates."""
    body = memory.read_node(address, user_id=user).body
    rows = (row.partition("<!--")[0].partition("(")[0].strip() for row in body.splitlines())
    return [row for row in rows if row.startswith("-")]


def test_a_preference_outside_of_sessions_is_learned_when_it_has_rested(memory, clock):
    source = prefer(memory, "editor", "vim")
    assert memory.due_sessions() == []
    later(clock)
    (due,) = memory.due_sessions()
    assert (due.session_id, due.user_id, due.log, due.cause) == ("@ann", "ann", "user", "idle")
    (done,) = Worker(memory).tick()
    assert (done.session_id, done.status, done.written) == ("@ann", "learned", 1)
    assert known(memory) == ["- **editor**: vim"]
    assert memory.read_node("USER.md", user_id="ann").sources == (f"@ann/{source}",)
    assert (memory.due_sessions(), Worker(memory).tick()) == ([], [])


def test_many_of_them_are_learned_without_waiting(memory):
    for number in range(4):
        prefer(memory, f"key {number}", "yes")
    assert memory.due_sessions() == []
    prefer(memory, "key 4", "yes")
    assert [one.cause for one in memory.due_sessions()] == ["turns"]


def test_a_later_value_takes_the_place_of_the_one_before_it(memory, clock):
    for value in ("vim", "emacs"):
        prefer(memory, "editor", value)
        later(clock)
        assert [one.status for one in Worker(memory).tick()] == ["learned"]
    assert known(memory) == ["- **editor**: emacs"]
    assert len(memory.node_versions("USER.md", user_id="ann")) == 2


def test_a_note_with_scope_user_written_in_a_session_is_learned_from_the_users_log(memory, clock):
    session = memory.create_session(user_id="ann").id
    memory.add_memory(session, type="note", scope="user", content="The garage code is on the wall.",
                      tags=["topics.home"])  # fmt: skip
    later(clock)
    assert [one.session_id for one in memory.due_sessions()] == ["@ann"]
    Worker(memory).tick()
    assert known(memory, address="topics/home") == ["- The garage code is on the wall."]


def test_what_a_memory_agent_writes_outside_of_its_session_is_not_learned_either(memory, clock):
    agent = {"agent": {"type": "memory-agent", "id": "guide"}}
    memory.create_session("ann", session_id="own", agent_ids=["guide"], metadata=agent)
    memory.create_session("ann", session_id="talk", agent_ids=["guide"])
    for session, value in (("own", "two"), ("talk", "three")):
        for scope in ("user", "shared"):
            content = f"The build needs {value} reviewers"
            tags = [f"topics.{session}"]
            memory.add_memory(session, type="note", scope=scope, content=content, tags=tags)
    later(clock)
    done = {one.session_id: one.status for one in Worker(memory).tick()}
    assert (done["@ann"], done["@"]) == ("learned", "learned")
    for user in ("ann", "default"):
        assert [leaf.address for leaf in memory.tree(user)] == ["topics/talk"]


def test_what_is_shared_belongs_to_the_default_user(memory, clock):
    prefer(memory, "language", "English", user=None)
    later(clock)
    (due,) = memory.due_sessions()
    assert (due.session_id, due.user_id, due.log) == ("@", "default", "shared")
    Worker(memory).tick()
    assert known(memory, user="default") == ["- **language**: English"]


def test_what_a_tool_said_to_all_waits_for_a_person_wherever_it_goes(memory, clock):
    session = memory.create_session(user_id="ann").id
    memory.add_memory(session, type="note", scope="shared", origin="tool", content="Port is 5432.",
                      tags=["topics.db"])  # fmt: skip
    later(clock)
    (done,) = Worker(memory).tick()
    assert (done.written, done.waiting) == (0, 1)
    assert [one.edit.address for one in memory.proposals()] == ["topics/db"]


def test_the_same_key_of_two_users_is_two_things_and_erasing_one_keeps_the_other(memory, clock):
    sources = {user: prefer(memory, "editor", "vim", user) for user in ("ann", "bob")}
    assert len(set(sources.values())) == 1
    later(clock)
    Worker(memory).tick()
    assert known(memory, "ann") == known(memory, "bob") == ["- **editor**: vim"]
    session = memory.create_session(user_id="ann").id
    memory.erase(session, ids=[sources["ann"]])
    assert [one for one in memory.node_users() if memory.tree(one)] == ["bob"]
    assert known(memory, "bob") == ["- **editor**: vim"]


def test_a_session_that_is_named_like_such_a_log_is_another_thing(memory, clock):
    prefer(memory, "editor", "vim")
    memory.create_session(session_id="@ann", user_id="ann")
    memory.add_decision("@ann", made_by="x", decision="Use PostgreSQL", tags=["database"])
    memory.reset_session("@ann")
    later(clock)
    assert sorted(one.log for one in memory.due_sessions()) == ["session", "user"]
    for _ in range(2):
        Worker(memory).tick()
    memory.delete_session("@ann")
    assert [leaf.address for leaf in memory.tree("ann")] == ["USER.md"]
    assert memory.due_sessions() == []


def test_without_an_index_the_same_logs_are_due(memory, clock):
    prefer(memory, "editor", "vim")
    prefer(memory, "language", "English", user=None)
    later(clock)
    found = memory.due_sessions()
    memory._index = None
    assert memory.due_sessions() == found
    assert len(found) == 2


def test_the_marker_survives_a_rebuild_of_the_index(root, memory, clock):
    prefer(memory, "editor", "vim")
    later(clock)
    Worker(memory).tick()
    memory.rebuild_index()
    assert memory.due_sessions() == []
    prefer(memory, "editor", "emacs")
    later(clock)
    assert [one.processed_until for one in memory.due_sessions()] == [1]


def test_one_that_fails_is_tried_again_parked_and_taken_up_again(memory, clock, root):
    prefer(memory, "editor", "vim")
    later(clock)
    worker = working(memory, Failing("@ann", error=DistillerError("no")))
    for _ in range(memory.settings.knowledge.max_attempts):
        (done,) = worker.tick()
        later(clock, 10**6)
    assert (done.status, memory.due_sessions()) == ("parked", [])
    assert [one.session_id for one in memory.parked_sessions()] == ["@ann"]
    told = [one.finding.code for one in check_own_logs(RealDisk(str(root)))]
    assert told == ["log_parked"]
    assert memory.retry_session("@ann")
    assert [one.session_id for one in memory.due_sessions()] == ["@ann"]


@pytest.mark.parametrize("gone", ["erased", "revised"])
def test_what_goes_while_a_distiller_works_is_not_learned(memory, clock, gone):
    source = prefer(memory, "editor", "vim")
    later(clock)
    (due,) = memory.due_sessions()
    lesson = memory.lesson_of(due)
    session = memory.create_session(user_id="ann").id
    if gone == "erased":
        memory.erase(session, ids=[source])
    else:
        prefer(memory, "editor", "emacs")
    made = Rules().distil(lesson, memory.node_reader("ann"))
    plan = memory.keep_plan(lesson, made, "rules")
    assert plan is not None
    assert plan.edits == ()


def test_a_plan_that_a_crash_left_is_finished_and_says_nothing_twice(root, clock):
    with open_memory(root, clock) as memory:
        prefer(memory, "editor", "vim")
        later(clock)
        (due,) = memory.due_sessions()
        lesson = memory.lesson_of(due)
        assert lesson is not None
        plan = memory.keep_plan(lesson, Rules().distil(lesson, memory.node_reader("ann")), "rules")
        assert plan is not None
        memory.apply_plan(plan)  # and then the process dies, before the marker moves
    with open_memory(root, clock) as memory:
        outcomes = Worker(memory).tick()
        assert [one.status for one in outcomes] == ["learned"]
        assert (memory.kept_plans(), memory.due_sessions()) == ([], [])
        assert known(memory) == ["- **editor**: vim"]
        assert len(memory.node_versions("USER.md", user_id="ann")) == 1
