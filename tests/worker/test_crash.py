"""Killed at any step and started again, a worker leaves what one that lived would have."""

import subprocess
import sys
from collections import Counter
from random import Random
from typing import Any

import pytest

from mnemolog.memory import Memory
from mnemolog.settings import Settings
from mnemolog.stores import make_redactor
from mnemolog.stores.files import FilesStore
from mnemolog.stores.files.keeper import FilesKeeper
from mnemolog.stores.files.shelves import make_shelf
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.crash import Recorder
from mnemolog.worker import Worker
from tests.worker.dying import ADDRESSES, POINTS
from tests.worker.scribes import Scribe, open_memory, said, talk, working
from tests.worker.sharing import set_off

TEXTS = ("one", "two", "three")
WRITTEN = ADDRESSES[:3]


def check_whole(memory: Memory, texts=TEXTS) -> None:
    """Every fact stands in every node once, every node has one version, and nothing is left."""
    for address in WRITTEN:
        assert said(memory, address=address) == [f"- {text}" for text in texts], address
        plans = Counter(one.plan for one in memory.node_versions(address, user_id="u1"))
        assert set(plans.values()) == {1}
    assert [one.edit.address for one in memory.proposals("u1")] == ["SOUL.md"]
    assert (memory.kept_plans(), memory.due_sessions()) == ([], [])


@pytest.mark.req("S003-08")
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_is_killed_and_started_again_doubles_and_loses_nothing(root, point):
    with open_memory(root) as memory:
        memory.reset_session(talk(memory, "s1", *TEXTS))
    done = subprocess.run(
        [sys.executable, "-m", "tests.worker.dying", str(root), point], timeout=120, check=False
    )
    assert done.returncode == -9
    with open_memory(root) as memory:
        for _ in range(3):
            working(memory, Scribe(*ADDRESSES)).tick()
        check_whole(memory)


def write_a_day(root) -> None:
    with open_memory(root) as memory:
        talk(memory, "s1", "I live in Lisbon.", "My name is Ann.")
        given: Any = {"made_by": "guide", "tags": ["projects.pay"], "impact": "high"}
        memory.add_decision("s1", id="d1", decision="Use PostgreSQL", rationale="ACID", **given)
        memory.add_decision("s1", id="d2", decision="Deploy on Fridays", rationale="calm", **given)
        memory.update_preference("s1", id="p1", key="style", value="brief")
        memory.add_finding("s1", id="f1", description="git gc is slow", tags=["tools.git"])
        memory.reset_session("s1")


def known(memory: Memory) -> dict[str, str]:
    found = {}
    for leaf in memory.tree("u1"):
        found[leaf.address] = memory.read_node(leaf.address, user_id="u1").body
    return found


@pytest.mark.parametrize(
    "point", ["after keep_plan", "after second write_node", "after apply_plan"]
)
def test_rules_make_the_same_of_a_session_whether_they_are_killed_or_not(tmp_path, point):
    for name in ("calm", "killed"):
        write_a_day(tmp_path / name)
    given = [sys.executable, "-m", "tests.worker.dying", str(tmp_path / "killed"), point, "rules"]
    assert subprocess.run(given, timeout=120, check=False).returncode == -9
    graphs = []
    for name in ("calm", "killed"):
        with open_memory(tmp_path / name) as memory:
            for _ in range(2):
                Worker(memory).tick()
            graphs.append(known(memory))
            assert (memory.due_sessions(), memory.kept_plans()) == ([], [])
    assert graphs[0] == graphs[1]
    assert len(graphs[0]) >= 3


def test_what_is_said_after_the_kill_comes_on_top(root):
    with open_memory(root) as memory:
        memory.reset_session(talk(memory, "s1", *TEXTS))
    subprocess.run(
        [sys.executable, "-m", "tests.worker.dying", str(root), "after write_node"],
        timeout=120,
        check=False,
    )
    with open_memory(root) as memory:
        memory.add_conversation("s1", role="user", content="four")
        memory.reset_session("s1")
        for _ in range(3):
            working(memory, Scribe(*WRITTEN)).tick()
        for address in WRITTEN:
            assert said(memory, address=address) == ["- one", "- two", "- three", "- four"]


def open_simulated(disk: SimulatedDisk) -> Memory:
    settings = Settings()
    store = FilesStore(disk, settings)
    keeper = FilesKeeper(disk, store.held, lambda gone: False, make_redactor)
    return Memory(store, settings, FixedClock(), keeper=keeper, shelf=make_shelf(disk, settings))


def simulated_states(count: int, seed: str):
    """States that a power loss may leave of a root on which a worker was at work."""
    disk = SimulatedDisk()
    memory = open_simulated(disk)
    memory.reset_session(talk(memory, "s1", *TEXTS))
    recorder = Recorder(disk, lambda: None)
    working(memory, Scribe(*ADDRESSES)).tick()
    moments = recorder.stop()
    check_whole(memory)
    assert len(moments) > 30
    rng = Random(seed)
    for number in range(count):
        moment = moments[number % len(moments)]
        yield moment.before, moment.disk.crash(Random(f"{seed}/{number}/{rng.random()}"))


def check_power_losses(count: int, seed: str) -> None:
    for before, disk in simulated_states(count, seed):
        tick_and_check(disk, f"power lost before {before}")


def tick_and_check(disk: SimulatedDisk, story: str) -> None:
    memory = open_simulated(disk)
    for _ in range(3):
        working(memory, Scribe(*ADDRESSES)).tick()
    try:
        check_whole(memory)
    except AssertionError as error:
        raise AssertionError(story) from error


def test_a_power_loss_at_any_moment_doubles_and_loses_nothing():
    check_power_losses(120, "worker")


def check_kills_and_power_losses(step: int, losses: int) -> None:
    """Killed, started again, finished; then the power fails before anything else is synced."""
    disk = SimulatedDisk()
    memory = open_simulated(disk)
    memory.reset_session(talk(memory, "s1", *TEXTS))
    recorder = Recorder(disk, lambda: None)
    working(memory, Scribe(*ADDRESSES)).tick()
    for moment in recorder.stop()[::step]:
        killed = moment.disk.kill()
        tick_and_check(killed, f"killed before {moment.before}")
        for number in range(losses):
            survived = killed.crash(Random(f"{moment.before}/{number}"))
            tick_and_check(survived, f"killed before {moment.before}, then power lost")


def test_what_was_finished_after_a_kill_survives_a_power_loss():
    check_kills_and_power_losses(3, 2)


def test_two_workers_share_forty_sessions(root):
    with open_memory(root) as memory:
        for number in range(40):
            memory.reset_session(talk(memory, f"s{number}", f"fact {number}", user="u1"))
        workers = set_off(root, "ann", "bob")
        told = [one.communicate(timeout=240)[0].split("\n") for one in workers]
        assert [one.returncode for one in workers] == [0, 0]
        learned = [line.split()[0] for lines in told for line in lines if "learned" in line]
        assert sorted(learned) == sorted(f"s{number}" for number in range(40))
        assert all(any("learned" in line for line in lines) for lines in told)
        assert sorted(said(memory)) == sorted(f"- fact {number}" for number in range(40))
        assert (memory.due_sessions(), memory.parked_sessions()) == ([], [])
