"""Power loss before every operation of every write path.

A story is told on a simulated disk through the real store and `Memory`. Before each operation the
disk is kept together with a ledger of what had been acknowledged by then; from these moments many
states are drawn that a power loss may leave. Each one is opened and held against its ledger.

Everything follows from the seed: a failure names the state it met as story/seed/moment/draw, and
happens again when the test is run again. `MNEMOLOG_CRASH_SEED=7` draws other states.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from mnemolog import Memory, fs, paths
from mnemolog.errors import SessionNotFoundError
from mnemolog.fs import Mode
from mnemolog.log import manifests, sessions
from mnemolog.model.session import Manifest
from mnemolog.settings import Settings
from mnemolog.testing import Moment, Recorder, SimulatedDisk, SimulatedFile, sampled
from tests.crash_stories import (
    SEED,
    STORIES,
    USER,
    Book,
    Caller,
    Key,
    Ledger,
    Story,
    opened,
    shown,
    valid_lines,
)

AFTER_A_KILL = 800
AFTER_A_SECOND_LOSS = 500


def told(story: Story) -> list[Moment[Ledger]]:
    """Every moment of a story, from the first opening of the root on."""
    disk, book = SimulatedDisk(), Book({})
    recorder = Recorder(disk, book.now)
    story.tell(Caller(disk, book, story.settings))
    return recorder.stop()


def revisited(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> list[Moment[Ledger]]:
    """Every moment of another program's visit: it opens what it finds, and adds to everything."""
    disk.capacity = None  # if it was full, somebody has made room
    book = Book(ledger)
    recorder = Recorder(disk, book.now)
    caller = Caller(disk, book, settings)
    for session in caller.memory.list_sessions():
        caller.add(session.id, "visited")
        if session.id == "spare":
            caller.delete("spare")
    caller.create("late")
    if any(key[0] == "preference" for key in ledger):
        caller.prefer("shared", "shared visit", "short")
        caller.prefer("user", "own visit", "long")
    caller.memory.close()
    caller.settle_all()
    return recorder.stop()


def told_after_a_kill(story: Story) -> list[Moment[Ledger]]:
    """At every moment the program is killed, and another one visits: every moment of that."""
    return [
        later
        for moment in told(story)
        for later in revisited(moment.disk.kill(), moment.promises, story.settings)
    ]


def lost_twice(story: Story, seed: str) -> list[Moment[Ledger]]:
    """At every moment the power fails, and a program visits what is left: every moment of that."""
    return [
        later
        for number, moment in enumerate(told(story))
        for later in revisited(
            moment.disk.crash(Random(f"{seed}/{number}")), moment.promises, story.settings
        )
    ]


# --- what has to hold


def segments_of(disk: SimulatedDisk, session: str) -> list[bytes]:
    folder = paths.session_folder(session)
    names = [segment.name for segment in manifest_of(disk, session).segments]
    return [fs.read_all(disk, f"{folder}/{name}") for name in names]


def manifest_of(disk: SimulatedDisk, session: str) -> Manifest:
    folder = paths.session_folder(session)
    return manifests.parse(fs.read_all(disk, f"{folder}/{manifests.NAME}"), folder)


def found_on(memory: Memory, disk: SimulatedDisk) -> dict[Key, str]:
    """Every session with everything in it, by the keys of the ledger; nothing is there twice."""
    found: dict[Key, str] = {}
    for session in memory.list_sessions():
        found["session", session.id] = shown(session.metadata)
        if "closed_seq" in manifest_of(disk, session.id).markers:
            found["closed", session.id] = "yes"
        for entry in memory.get_entries(session.id):
            label = entry.text.partition(":")[0]
            assert ("entry", session.id, label) not in found
            found["entry", session.id, label] = entry.text
    return found


def preferences_on(memory: Memory) -> dict[Key, str]:
    """The preferences of the user and those shared, by the keys of the ledger."""
    found: dict[Key, str] = {}
    for entry in memory.get_preferences(user_id=USER):
        assert isinstance(entry.content, dict)
        found["preference", entry.scope, entry.content["key"]] = entry.content["value"]
    return found


def hold_against(found: Mapping[Key, str], ledger: Ledger, memory: Memory) -> None:
    strangers = found.keys() - ledger.keys()
    assert not strangers, f"nobody wrote {strangers}"
    for key, values in ledger.items():
        owner = ("session", key[1])
        if key != owner and owner in ledger and owner not in found:
            continue  # whether the session may be missing is checked under its own key
        assert found.get(key) in values, f"{key} is {found.get(key)!r}, not one of {set(values)}"
    for kind, name, *_ in ledger.keys() - found.keys():
        if kind == "session":
            with pytest.raises(SessionNotFoundError):
                memory.load_session(name)


def go_on_writing(memory: Memory, disk: SimulatedDisk, session: str, texts: Sequence[str]) -> None:
    """A new entry is stored and read back, and takes nothing away from what is there."""
    receipt = memory.add_memory(session, type="note", content="after: all")
    (back,) = memory.get_entries(session, after=receipt.seq - 1)
    assert (back.id, back.seq, back.text) == (receipt.id, receipt.seq, "after: all")
    found = [pair for content in segments_of(disk, session) for pair in valid_lines(content)]
    numbers = [header.seq for _, header in found]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == receipt.seq
    assert_each_once([header.id for _, header in found])
    everything = b"\n".join(line for line, _ in found)
    assert all(text.encode() in everything for text in texts)


def assert_each_once(ids: Sequence[str]) -> None:
    repeated = {each for each, count in Counter(ids).items() if count > 1}
    assert all(each.startswith("rev-") for each in repeated), "only these were revised"


def go_on_preferring(memory: Memory, scope: str) -> None:
    wanted = {"scope": scope, "key": f"{scope} after", "value": "all"}
    memory.update_preference(None, wanted | ({"user_id": USER} if scope == "user" else {}))
    assert preferences_on(memory)["preference", scope, f"{scope} after"] == "all"


def check(disk: SimulatedDisk, ledger: Ledger, settings: Settings) -> None:
    disk.capacity = None  # if it was full, somebody has made room
    memory = opened(disk, settings)
    folders = disk.list("sessions")
    assert not [name for name in folders if name.startswith(sessions.GONE)]
    scopes = {key[1] for key in ledger if key[0] == "preference"}
    found = found_on(memory, disk) | (preferences_on(memory) if scopes else {})
    hold_against(found, ledger, memory)
    names = [name for kind, name, *_ in found if kind == "session"]
    assert len(names) == sum(not name.startswith(".") for name in folders)
    for name in names:
        texts = [text for key, text in found.items() if key[:2] == ("entry", name)]
        go_on_writing(memory, disk, name, texts)
    for scope in scopes:
        go_on_preferring(memory, scope)


def described(disk: SimulatedDisk) -> str:
    sizes = {path: "folder" if text is None else len(text) for path, text in disk.tree().items()}
    return "\n".join(f"{path}: {size}" for path, size in sizes.items())


def check_states(
    moments: Sequence[Moment[Ledger]], name: str, wanted: int, settings: Settings
) -> int:
    """Draw at least so many different states and check them all; how many there were."""
    states = set()
    for sample in sampled(moments, name, wanted):
        states.add(sample.fingerprint)
        before = sample.disk.kill()
        try:
            check(sample.disk, sample.promises, settings)
        except BaseException as error:
            error.add_note(f"In the state {sample.name}: {described(before)}")
            raise
    return len(states)


@pytest.fixture(autouse=True)
def _the_same_names_every_time(monkeypatch):
    monkeypatch.setattr(os, "urandom", Random(SEED).randbytes)


every_story = pytest.mark.parametrize("name", STORIES)


@every_story
@pytest.mark.req("S002-137", "S001-022", "S001-048", "S001-049")
def test_nothing_acknowledged_is_lost_and_nothing_deleted_comes_back(name):
    story = STORIES[name]
    assert check_states(told(story), f"{name}/{SEED}", story.states, story.settings) >= story.states


@every_story
@pytest.mark.req("S002-137")
def test_what_is_acknowledged_after_a_kill_survives_a_power_loss(name):
    story, title = STORIES[name], f"killed while {name}/{SEED}"
    found = check_states(told_after_a_kill(story), title, AFTER_A_KILL, story.settings)
    assert found >= AFTER_A_KILL


@every_story
@pytest.mark.req("S002-137")
def test_a_second_power_loss_while_the_first_is_mended_does_no_harm(name):
    story, title = STORIES[name], f"twice while {name}/{SEED}"
    found = check_states(lost_twice(story, title), title, AFTER_A_SECOND_LOSS, story.settings)
    assert found >= AFTER_A_SECOND_LOSS


@pytest.mark.req("S002-137")
def test_a_torn_tail_is_ignored_and_then_sealed_by_the_next_writer():
    disk, log = SimulatedDisk(), "sessions/talk/memory.jsonl"
    memory = opened(disk, Settings())
    memory.create_session(session_id="talk")
    memory.add_memory("talk", type="note", content="first")
    torn = fs.read_all(disk, log)[:-20]
    disk.open(log, "append").append(torn)
    assert [entry.text for entry in memory.get_entries("talk")] == ["first"]
    memory.add_memory("talk", type="note", content="second")
    found = memory.get_entries("talk")
    assert [(entry.text, entry.seq) for entry in found] == [("first", 1), ("second", 3)]
    assert len(found.warnings) == 1
    assert fs.read_all(disk, log).split(b"\n")[1] == torn


@pytest.mark.req("S002-137")
def test_what_was_written_in_batches_over_many_segments_is_safe_once_it_is_closed():
    disk = SimulatedDisk()
    settings = {"storage.durability": "batch", "storage.segment_size_mb": 600 / 1024 / 1024}
    memory = opened(disk, Settings().changed(settings))
    memory.create_session(session_id="talk")
    texts = [f"number {number}" for number in range(20)]
    for text in texts:
        assert not memory.add_memory("talk", type="note", content=text).durable
    assert len(manifest_of(disk, "talk").segments) > 3
    memory.close()
    for number in range(200):
        after = opened(disk.crash(Random(number)), Settings())
        assert [entry.text for entry in after.get_entries("talk")] == texts


class Killed(BaseException):
    """The end of a process."""


class Visited(SimulatedDisk):
    """Somebody opens the root just after the first intent was created, before it is locked."""

    visits = 0

    def open(self, path: str, mode: Mode) -> SimulatedFile:
        file = super().open(path, mode)
        is_intent = path.startswith("intents/") and path.endswith(".json")
        if mode == "create" and is_intent and not self.visits:
            self.visits += 1
            opened(self, Settings())
        return file


def test_a_removal_is_finished_though_the_root_was_opened_while_it_was_noted():
    disk = Visited()
    memory = opened(disk, Settings())
    memory.create_session(session_id="talk")

    def die(operation: str, path: str) -> None:
        if operation == "unlink" and sessions.GONE in path:
            raise Killed

    disk.before_operation = die
    with pytest.raises(Killed):
        memory.delete_session("talk")
    left = disk.kill()
    assert left.list("sessions")[0].startswith(sessions.GONE)
    opened(left, Settings())
    assert disk.visits == 1
    assert left.list("sessions") == []


def test_the_suite_checks_fifty_thousand_states():
    once = sum(story.states for story in STORIES.values())
    assert once + len(STORIES) * (AFTER_A_KILL + AFTER_A_SECOND_LOSS) >= 50_000
