"""Erasures that are interrupted, at the same time as others, or on a full disk: still erased."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    CorruptionError,
    LockTimeoutError,
    MnemologError,
    SessionNotFoundError,
    StorageFullError,
)
from mnemolog.settings import Settings
from mnemolog.stores.files import doctor
from mnemolog.testing import FixedClock, Recorder, SimulatedDisk
from mnemolog.testing.opening import open_on as open_simulated
from tests.forgetting.dying import LATER, killed_at_each_step
from tests.forgetting.planting import audited, kept_lines, opened, template, texts
from tests.forgetting.scanner import found_in, traces, word
from tests.log.disks import RecordingDisk, open_on

SECRET = word()

# --- what interrupted work left behind


class Stopped(BaseException):
    """The end of a process, as far as the disk can tell."""


def stop_at(disk: RecordingDisk, operation: str, part: str) -> None:
    def before(name: str, path: str) -> None:
        if name == operation and part in path:
            raise Stopped

    disk.before = before


@pytest.fixture
def ageing(root, clock):
    """A recorded disk and a memory on it, whose entry `old` the next compaction will move."""
    disk = RecordingDisk(root)
    memory = open_simulated(disk, Settings(), clock)
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="old", type="note", content=SECRET, importance=0.001)
    memory.add_memory("talk", id="new", type="note", content="stays")
    clock.advance(days=400)
    return memory, disk


@pytest.mark.parametrize(
    ("operation", "part"),
    [
        ("sync", "archive/"), ("rename", "archive/"), ("sync_folder", "archive"),
        ("sync", "memory.g2.1"), ("sync", "memory.g2.2"), ("rename", "manifest.json.tmp"),
        ("unlink", "memory.jsonl"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("verb", ["erase", "delete_session"])
def test_copies_that_an_interrupted_compaction_left_go_too(
    ageing, root, clock, operation, part, verb
):
    memory, disk = ageing
    stop_at(disk, operation, part)
    with suppress(Stopped):
        memory.compact_session("talk")
    with opened(root, clock) as again:
        if verb == "erase":
            done = again.erase("talk", ids=["old"])
            assert done.verification is not None
            assert done.verification.clean
        else:
            again.delete_session("talk")
        assert traces(root, [SECRET, "old-"]) == {}


def test_a_deletion_of_a_session_that_was_stopped_at_once_is_finished_or_never_happened(
    ageing, root, clock
):
    """Not the session without what its compactions moved, and an audit that says it is gone."""
    memory, disk = ageing
    memory.compact_session("talk")
    stop_at(disk, "rename", "sessions/talk")
    with pytest.raises(Stopped):
        memory.delete_session("talk")
    with opened(root, clock) as again:
        is_there = bool(again.list_sessions())
        actions = [one["action"] for one in audited(root)]
        assert ("delete session" in actions) is not is_there
        if is_there:
            assert again.get_memory("talk", "old") is not None
        else:
            assert traces(root, [SECRET]) == {}


def test_finishing_the_deletion_of_a_session_spares_a_new_one_of_the_same_name(ageing, root, clock):
    memory, disk = ageing
    with opened(root, clock) as other:
        stop_at(disk, "rmdir", "sessions/")
        with pytest.raises(Stopped):
            memory.delete_session("talk")
        other.create_session(session_id="talk")
        other.add_memory("talk", id="mine", type="note", content="kept", importance=0.001)
        clock.advance(days=400)
        assert other.compact_session("talk").archived == 1
        with opened(root, clock) as later:
            found = later.get_memory("talk", "mine")
            assert found is not None
            assert found.text == "kept"


def test_a_damaged_archive_and_an_open_intent_do_not_lock_the_root(ageing, root, clock):
    memory, disk = ageing
    memory.create_session(session_id="other")
    memory.add_memory("other", id="o", content="orange")
    memory.compact_session("talk")
    stop_at(disk, "write_at", "memory")
    with pytest.raises(Stopped):
        memory.erase("talk", ids=["new"])
    (archive,) = (root / "archive").glob("*.gz")
    archive.write_bytes(archive.read_bytes()[:20])
    with opened(root, clock) as again:
        assert texts(again, "other") == ["orange"]


def test_an_erasure_of_what_was_said_last_and_moved_is_finished_after_a_kill():
    """Its number is higher than that of any line which is left in the log."""
    disk, secret = SimulatedDisk(), word()
    memory = open_simulated(disk, Settings(), FixedClock())
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="stays", type="note", content="orange", importance=0.9)
    memory.add_memory("talk", id="the-id", type="note", content=secret, importance=0.001)
    later = simulated(disk)
    assert later.compact_session("talk").archived == 1
    recorder = Recorder(disk, lambda: None)
    later.erase("talk", ids=["the-id"])
    moments = recorder.stop()
    begun = next(n for n, one in enumerate(moments) if "rename" in one.before)
    for moment in moments[begun:]:
        simulated(moment.disk)
        assert found_in(moment.disk.tree(), [secret, "the-id"]) == {}, moment.before
        assert texts(simulated(moment.disk), "talk") == ["orange"]


RECORD = {
    "at": "2026-11-15T09:00:00.000Z", "action": "erase", "session_id": "talk", "entries": 1,
    "actor": "owner", "reason": "", "criteria": {},
}  # fmt: skip
INTENT = {
    "v": 1, "operation": "erase", "kind": "session", "log": "talk", "ids": ["the-id"],
    "limits": ["9"], "audit": json.dumps(RECORD), "audit_id": "abc",
}  # fmt: skip
REMOVAL = {
    "v": 1, "operation": "remove", "session_id": "gone", "folder": "sessions/.gone-ab",
    "created_at": "2026-11-15T09:00:00.000Z", "audit_id": "abc",
}  # fmt: skip


@pytest.mark.parametrize(
    "intent",
    [
        {**INTENT, "limits": []},
        {**INTENT, "limits": ["many"]},
        {**INTENT, "limits": "9"},
        {**INTENT, "audit": "no JSON"},
        {**INTENT, "audit": "[" * 100_000},
        {**INTENT, "audit": "{}"},
        {**INTENT, "audit": json.dumps({**RECORD, "entries": "many"})},
        {**INTENT, "audit": json.dumps({**RECORD, "more": 1})},
        {**INTENT, "audit_id": ["abc"]},
        REMOVAL,
        {**REMOVAL, "audit": "no JSON"},
    ],
    ids=lambda value: "",
)
def test_an_intent_in_a_form_that_is_not_ours_does_not_lock_the_root(root, intent):
    """Damaged, or out of a backup from anywhere: nothing of it is done, and it is not lost."""
    with opened(root) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="the-id", type="note", content="orange")
    path = root / "intents/aaaa.json"
    path.write_text(json.dumps(intent))
    with opened(root) as again:
        assert texts(again, "talk") == ["orange"]
        assert again.audit() == []
    assert path.exists()
    path.write_text(json.dumps(INTENT))
    with opened(root) as again:
        assert texts(again, "talk") == []
        assert [line.action for line in again.audit()] == ["erase"]
    assert not path.exists()


# --- a disk without a free byte


def full(disk: SimulatedDisk) -> None:
    disk.capacity = sum(len(content) for content in disk.tree().values() if content)


def simulated(disk: SimulatedDisk, moment: Any = LATER) -> Memory:
    return open_simulated(disk, Settings(), FixedClock(moment))


def full_of_entries(count: int, size: int = 20) -> tuple[SimulatedDisk, Memory, str]:
    """A disk that is full; some of the entries are in the archive, one says a secret."""
    disk, secret = SimulatedDisk(), word()
    memory = open_simulated(disk, Settings(), FixedClock())
    memory.create_session(session_id="talk")
    batch = [
        {"id": f"entry-{n:024}", "type": "note", "content": word(size), "importance": n % 2}
        for n in range(count)
    ]
    memory.add_many("talk", [*batch, {"id": "the-id", "type": "note", "content": secret}])
    return disk, memory, secret


def test_an_erasure_works_on_a_full_disk(clock):
    disk, memory, secret = full_of_entries(5)
    full(disk)
    done = memory.erase("talk", ids=["the-id"])
    assert done.erased_count == 1
    assert found_in(disk.tree(), [secret, "the-id"]) == {}
    assert len(memory.get_entries("talk")) == 5
    again = simulated(disk)
    assert len(again.get_entries("talk")) == 5
    again.delete_session("talk")
    assert again.list_sessions() == []


@pytest.mark.parametrize("which", ["moved", "kept"])
def test_an_erasure_works_on_a_full_disk_with_a_large_archive(which):
    disk, _, _ = full_of_entries(1500, size=300)
    later = simulated(disk)
    assert later.compact_session("talk").archived == 750
    full(disk)
    one = f"entry-{0 if which == 'moved' else 1:024}"
    said = later.get_memory("talk", one)
    assert said is not None
    with suppress(MnemologError):
        later.erase("talk", ids=[one])
    simulated(disk)  # whoever opens it next finishes what was not
    assert found_in(disk.tree(), [said.text, one]) == {}


@pytest.mark.parametrize("room", [0, 680_000, 1 << 20], ids=["too little", "no way back", "enough"])
def test_an_archived_session_is_unpacked_on_a_full_disk_in_the_place_of_the_index(room):
    disk, memory, secret = full_of_entries(2500)
    memory.archive_session("talk")
    disk.open("index/derived", "create").append(bytes(room))
    full(disk)
    if room:
        assert memory.erase("talk", ids=["the-id"]).erased_count == 1
        assert len(memory.get_entries("talk")) == 2500
        state = memory.load_session("talk").state
        assert state == ("archived" if room == 1 << 20 else "active")
    else:
        with pytest.raises(StorageFullError):
            memory.erase("talk", ids=["the-id"])
        disk.capacity = None
        simulated(disk)  # whoever opens it with room finishes what was not
    assert found_in(disk.tree(), [secret, "the-id"]) == {}


def test_an_erasure_of_very_many_ids_works_on_a_full_disk():
    disk, memory, _ = full_of_entries(2500)
    full(disk)
    assert memory.erase("talk", types=["note"], verify=False).erased_count == 2501
    assert memory.get_entries("talk") == []


def test_a_root_with_an_open_intent_opens_on_a_full_disk():
    disk, memory, secret = full_of_entries(5)
    disk.refuse("write_at", "sessions/*", CorruptionError("ill"))
    with pytest.raises(CorruptionError):
        memory.erase("talk", ids=["the-id"])
    disk.allow_all()
    left = disk.kill()
    full(left)
    again = simulated(left)
    assert len(again.get_entries("talk")) == 5
    assert found_in(left.tree(), [secret, "the-id"]) == {}


# --- killed at every step


@pytest.fixture
def unsynced(monkeypatch):
    """A kill keeps what was written, synced or not; power losses are simulated elsewhere."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: None, raising=False)


def each_of(steps: list[tuple[str, Path]], check: Callable[[Path, int], None]) -> None:
    """Check the root that every kill left; one error tells them all."""
    wrong = []
    for number, (step, copy) in enumerate(steps, 1):
        try:
            check(copy, number)
        except (AssertionError, MnemologError) as error:
            wrong.append(f"killed before step {number}, {step}: {str(error).splitlines()[0]}")
    assert not wrong, "\n".join([f"{len(wrong)} of {len(steps)}:", *wrong])


def erased_in(copy: Path, secret: str, wanted: list[bytes], number: int, begun: list[int]) -> None:
    with opened(copy, FixedClock(LATER)) as memory:
        if memory.get_memory("talk", "the-id") is not None:
            assert not begun, "an erasure that was noted is not finished"
            memory.erase("talk", ids=["the-id"], reason="asked for", verify=False)
        else:
            begun.append(number)
        assert [one.id for one in memory.get_entries("talk")] == ["keep-1", "keep-2", "keep-3"]
        assert kept_lines(copy) == wanted, "other lines changed"
        assert memory.add_memory("talk", id="keep-4", content="after").durable
        if number % 6 == 0:
            found = {hit.entry.id for hit in memory.query("talk", text="stays")}
            assert found >= {"keep-1", "keep-2", "keep-3"}
    assert [one["action"] for one in audited(copy)] == ["compact", "erase"]
    assert traces(copy, [secret, "the-id"]) == {}


@pytest.mark.usefixtures("unsynced")
def test_killed_at_each_step_of_an_erasure_nothing_is_left_once_the_root_is_opened(root, tmp_path):
    secret, copies, begun = word(), tmp_path / "copies", list[int]()
    copies.mkdir()
    template(root, secret)
    wanted = kept_lines(root)
    steps = killed_at_each_step(
        root, copies, "erase", ids=["the-id"], reason="asked for", verify=False
    )
    assert len(steps) > 20
    each_of(steps, lambda copy, number: erased_in(copy, secret, wanted, number, begun))
    assert begun[0] <= 4, "from the note on it is always finished"


def removed_from(copy: Path, secret: str) -> None:
    with opened(copy, FixedClock(LATER)) as memory:
        is_there = bool(memory.list_sessions())
        assert ("delete session" in [one["action"] for one in audited(copy)]) is not is_there
        if is_there:
            found = memory.get_memory("talk", "the-id")
            assert found is not None
            assert found.text == f"once more {secret}"
            done = memory.erase("talk", ids=["the-id"], verify=False)
            assert done.places.get("archive") == 1, "what was moved is missing"
            memory.delete_session("talk")
        with pytest.raises(SessionNotFoundError):
            memory.load_session("talk")
        memory.create_session(session_id="talk")
        assert memory.get_entries("talk") == []
    assert traces(copy, [secret, "the-id"]) == {}


@pytest.mark.req("S001-091")
@pytest.mark.usefixtures("unsynced")
def test_killed_at_each_step_of_deleting_a_session_it_is_gone_or_whole(root, tmp_path):
    secret, copies = word(), tmp_path / "copies"
    copies.mkdir()
    template(root, secret)
    steps = killed_at_each_step(root, copies, "delete_session")
    assert len(steps) > 20
    each_of(steps, lambda copy, number: removed_from(copy, secret))


# --- a session that is damaged as well


def _no_manifest(session: Path) -> None:
    (session / "manifest.json").unlink()


def _torn_manifest(session: Path) -> None:
    (session / "manifest.json").write_text("{")


def _no_segment(session: Path) -> None:
    (session / "memory.jsonl").rename(session / "elsewhere")


def _newer(session: Path) -> None:
    manifest = session / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"v": 1', '"v": 9'))


def _undamaged(session: Path, damage: Callable[[Path], None], manifest: str) -> None:
    if damage in (_no_manifest, _torn_manifest):
        list(doctor.repair(doctor.visit_root(str(session.parents[1]), {})))
    elif damage is _no_segment:
        (session / "elsewhere").rename(session / "memory.jsonl")
    else:
        (session / "manifest.json").write_text(manifest)


@pytest.mark.parametrize("damage", [_no_manifest, _torn_manifest, _no_segment, _newer])
def test_an_erasure_waits_for_a_damaged_session_and_keeps_nobody_out(ageing, root, clock, damage):
    memory, disk = ageing
    memory.create_session(session_id="other")
    memory.add_memory("other", content="unharmed")
    stop_at(disk, "write_at", "memory.jsonl")
    with suppress(Stopped):
        memory.erase("talk", ids=["old"], verify=False)
    session = root / "sessions" / "talk"
    manifest = (session / "manifest.json").read_text()
    damage(session)
    with opened(root, clock) as again:
        assert texts(again, "other") == ["unharmed"]
    assert list((root / "intents").glob("*.json"))
    _undamaged(session, damage, manifest)
    with opened(root, clock) as again:
        assert texts(again) == ["stays"]
    assert traces(root, [SECRET]) == {}
    assert not list((root / "intents").glob("*.json"))


# --- the archive file has two readers and writers


def test_an_undelete_at_the_same_time_does_not_bring_back_what_is_erased(root, clock):
    """Both rewrite the same file of the archive."""
    quick = {"concurrency.lock_timeout_ms": 50}
    disk, secret = RecordingDisk(root), word()
    memory = open_on(disk, **quick)
    memory._clock = clock
    memory.create_session(session_id="talk")
    for name, text in (("a", secret), ("b", "comes back")):
        memory.add_memory("talk", id=name, type="note", content=text, importance=0.001)
    clock.advance(days=400)
    assert memory.compact_session("talk").archived == 2
    with opened(root, clock, **quick) as other:

        def meanwhile(name: str, path: str) -> None:
            if name == "rename" and path.startswith("archive/"):
                disk.before = lambda name, path: None
                with suppress(LockTimeoutError):
                    other.erase("talk", ids=["a"], verify=False)

        disk.before = meanwhile
        assert memory.undelete("talk", ["b"]).ids == ("b",)
        other.erase("talk", ids=["a"], verify=False)
        other.erase("talk", ids=["nothing"])
    assert traces(root, [secret]) == {}
