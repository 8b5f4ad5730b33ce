"""The loop: ticks, slow distillers, and the end."""

import sys
import time
from threading import Event, Thread

import pytest

from mnemolog import distillers
from mnemolog.errors import LockTimeoutError, SettingsError, StorageIOError
from mnemolog.model.lesson import Proposal
from mnemolog.settings import Settings
from mnemolog.worker import Distillers, Outcome, Worker
from tests.worker.scribes import Scribe, Slow, open_memory, said, talk, working


@pytest.mark.req("S003-09", "S003-23", "S003-24")
def test_it_ticks_every_thirty_seconds_and_takes_ten_sessions():
    knowledge = Settings().knowledge
    assert (knowledge.tick_seconds, knowledge.sessions_per_tick) == (30.0, 10)


@pytest.mark.req("S003-09", "S003-23")
def test_it_ticks_again_and_again_until_it_is_stopped(root):
    with open_memory(root, tick_seconds=0.01) as memory:
        enough, outcomes = Event(), []

        def told(outcome: Outcome) -> None:
            outcomes.append(outcome)
            if len(outcomes) == 2:
                enough.set()

        distillers = Distillers(memory.settings.knowledge, lambda agent, settings: Scribe())
        worker = Worker(memory, distillers, told)
        running = Thread(target=worker.run)
        running.start()
        memory.reset_session(talk(memory, "s1", "one"))
        memory.reset_session(talk(memory, "s2", "two"))
        assert enough.wait(60)
        worker.stop()
        running.join(60)
        assert not running.is_alive()
        assert sorted(said(memory)) == ["- one", "- two"]
        ticks = worker.ticks
        assert (worker.tick(), worker.ticks) == ([], ticks)


def test_no_tick_comes_after_stop(root):
    with open_memory(root, tick_seconds=3600) as memory:
        worker = working(memory, Scribe())
        running = Thread(target=worker.run)
        running.start()
        while not worker.ticks:
            time.sleep(0.01)
        worker.stop()
        running.join(60)
        assert (running.is_alive(), worker.ticks) == (False, 1)
        memory.reset_session(talk(memory, "s1", "late"))
        worker.run()
        assert (said(memory), worker.ticks) == ([], 1)


def test_a_disk_that_fails_for_a_while_does_not_end_it(root, monkeypatch):
    with open_memory(root, tick_seconds=0.01) as memory:
        memory.reset_session(talk(memory, "s1", "one"))
        worker = working(memory, Scribe())
        real, failures = memory.due_sessions, [StorageIOError("x"), LockTimeoutError("x")]

        def failing(limit):
            if failures:
                raise failures.pop()
            return real(limit)

        monkeypatch.setattr(memory, "due_sessions", failing)
        running = Thread(target=worker.run)
        running.start()
        while not said(memory):
            time.sleep(0.01)
        worker.stop()
        running.join(60)
        assert failures == []


def test_a_slow_distiller_delays_only_its_own_session(memory):
    memory.reset_session(talk(memory, "slow", "at last", user="u2"))
    slow = Slow("slow")
    worker = working(memory, slow)
    assert worker.tick(0.01) == []
    assert slow.begun.wait(30)
    assert worker.busy == ["slow"]
    for number in range(20):
        memory.reset_session(talk(memory, f"s{number}", f"fact {number}"))
        worker.tick(60) if number % 10 == 9 else None
    assert len(said(memory)) == 20
    assert (worker.busy, said(memory, "u2")) == (["slow"], [])
    other = working(memory, slow)
    assert other.tick() == []  # the lease is held, so nobody else begins with it
    slow.go.set()
    while worker.busy:
        time.sleep(0.01)
    assert [one.session_id for one in worker.tick(0.01)] == ["slow"]
    assert said(memory, "u2") == ["- at last"]


def test_stopping_is_prompt_and_what_is_thought_after_it_is_not_written(memory):
    memory.reset_session(talk(memory, "s1", "too late"))
    slow = Slow("s1")
    worker = working(memory, slow)
    worker.tick(0.01)
    assert slow.begun.wait(30)
    worker.stop()  # returns although the distiller still thinks
    slow.go.set()
    while worker.busy:
        time.sleep(0.01)
    assert (said(memory), memory.kept_plans()) == ([], [])
    working(memory, Scribe()).tick()
    assert said(memory) == ["- too late"]


def test_with_the_distiller_none_nothing_is_taken(root):
    with open_memory(root, distiller="none") as memory:
        memory.reset_session(talk(memory, "s1", "kept"))
        assert Worker(memory).tick() == []
        assert len(memory.due_sessions()) == 1


def test_the_default_distiller_is_rules(memory):
    made = Distillers(memory.settings.knowledge).of("guide")
    assert made.name == "rules"


def test_a_distiller_that_nobody_has_is_an_error_and_no_failure(root):
    with open_memory(root, distiller="clairvoyant") as memory:
        memory.reset_session(talk(memory, "s1", "x"))
        with pytest.raises(SettingsError, match="clairvoyant"):
            Worker(memory).tick()
        assert [one.attempts for one in memory.due_sessions()] == [0]
        with memory.lease_session("s1") as is_free:
            assert is_free


def test_a_distiller_without_its_extra_is_told_and_no_session_pays_for_it(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)  # as if it were not installed
    for name in [name for name in sys.modules if name.startswith("mnemolog.distillers.llm")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(distillers, "llm", raising=False)
    with open_memory(root, distiller="llm") as memory:
        memory.reset_session(talk(memory, "s1", "x"))
        with pytest.raises(SettingsError, match="needs an extra"):
            Worker(memory).tick()
        assert [one.attempts for one in memory.due_sessions()] == [0]


def test_a_distiller_may_come_by_an_entry_point(root, tmp_path, monkeypatch):
    package = tmp_path / "installed"
    facts = package / "own_distiller-1.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: own-distiller\nVersion: 1\n")
    (facts / "entry_points.txt").write_text("[mnemolog.distillers]\nown = own_distiller:make\n")
    (package / "own_distiller.py").write_text(
        "from mnemolog.model.lesson import Edit, Proposal\n"
        "class Own:\n"
        "    name = 'own'\n"
        "    def __init__(self, agent): self.agent = agent\n"
        "    def distil(self, lesson, nodes):\n"
        "        return Proposal(edits=(Edit(address='topics/own', body=self.agent + '\\n'),))\n"
        "def make(agent_id, settings): return Own(agent_id)\n"
    )
    monkeypatch.syspath_prepend(str(package))
    with open_memory(root, distiller="own") as memory:
        memory.reset_session(talk(memory, "s1", "x"))
        (done,) = Worker(memory).tick()
        assert (done.status, said(memory, address="topics/own")) == ("learned", ["guide"])


def test_remarks_of_a_distiller_are_passed_on(memory):
    class Silent(Scribe):
        def distil(self, lesson, nodes):
            return Proposal(remarks=("nothing new",))

    memory.reset_session(talk(memory, "s1", "x"))
    (done,) = working(memory, Silent()).tick()
    assert (done.status, done.remarks) == ("nothing", ("nothing new",))


def test_many_sessions_of_a_person_are_learned_in_their_order(memory, monkeypatch):
    monkeypatch.setattr("mnemolog.worker.loop._TURN_SECONDS", 0.5)

    class Thoughtful(Scribe):
        def distil(self, lesson, nodes):
            time.sleep(0.15)  # each is quick enough; all of them together take longer than a turn
            return super().distil(lesson, nodes)

    names = [f"s{number}" for number in range(8)]
    for name in names:
        memory.reset_session(talk(memory, name, f"said in {name}"))
    scribe = Thoughtful()
    working(memory, scribe).tick()
    assert [lesson.session_id for lesson in scribe.lessons] == names
