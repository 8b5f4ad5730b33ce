"""What moves, vanishes or stands in the way while something is forgotten, changed or looked for."""

import os
import threading
from contextlib import suppress
from functools import partial

import pytest

from mnemolog.errors import (
    ConcurrentModificationError,
    CorruptionError,
    SettingsError,
    StorageIOError,
)
from mnemolog.fs.real import RealDisk
from mnemolog.index.gate import Gate
from mnemolog.testing import FixedClock
from mnemolog.testing.opening import open_on as open_simulated
from tests.forgetting.dying import LATER
from tests.forgetting.planting import opened, texts
from tests.forgetting.scanner import traces, word
from tests.log.disks import RecordingDisk, open_on


@pytest.fixture
def faded(memory, sid, clock):
    """A session out of which the entry `old` was moved; its number there."""
    memory.add_memory(sid, id="old", type="note", content="faded", importance=0.001, tags=["a"])
    memory.add_memory(sid, id="new", type="note", content="stays")
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 1
    return 1


# --- entries that a compaction moved out


def test_what_a_compaction_moved_out_comes_back_with_its_next_revision(memory, sid, faded, root):
    receipt = memory.update_memory(sid, "old", content="revived", expected_seq=faded)
    assert receipt.status == "revised"
    found = memory.get_memory(sid, "old")
    assert found is not None
    assert (found.text, found.tags, found.timestamp) == (
        "revived", ("a",), "2026-11-15T09:00:00.000Z",
    )  # fmt: skip
    assert texts(memory, sid) == ["revived", "stays"], "where it stood"
    hit = memory.query(sid, text="revived")[0]
    assert hit.entry.timestamp == found.timestamp
    assert not list((root / "archive").glob("*.gz")), "it is in one place"
    assert memory.query(sid, text="revived")[0].entry.id == "old"


def test_a_revision_of_what_was_moved_out_holds_to_the_number_that_is_expected(memory, sid, faded):
    with pytest.raises(ConcurrentModificationError):
        memory.update_memory(sid, "old", content="revived", expected_seq=7)
    found = memory.get_memory(sid, "old")
    assert found is not None
    assert found.text == "faded"


def test_what_a_compaction_moved_out_can_be_deleted_and_brought_back(memory, sid, faded):
    assert memory.delete_memory(sid, "old")
    assert memory.get_memory(sid, "old") is None
    assert memory.undelete(sid, ["old"]).ids == ("old",)
    assert texts(memory, sid) == ["faded", "stays"]


# --- sessions in the archive


def test_an_erasure_in_an_archived_session_leaves_it_archived(memory, sid, faded, root, clock):
    secret = word()
    memory.add_memory(sid, id="gone", type="note", content=secret)
    at = memory.archive_session(sid).archived_at
    clock.advance(days=3)
    done = memory.erase(sid, ids=["gone", "old"])
    assert done.verification is not None
    assert done.verification.clean
    assert traces(root, [secret, "faded"]) == {}
    assert memory.load_session(sid).state == "archived"
    assert not (root / "sessions" / sid).exists()
    assert memory._keeper.archive(sid, "x").archived_at == at, "since when, it keeps"
    assert texts(memory, sid) == ["stays"]


def test_redacting_leaves_an_archived_session_archived(memory, sid, root):
    address = "ann@" + "example.org"
    memory.update_session(sid, settings={"privacy.redaction": False})
    memory.add_memory(sid, id="one", type="note", content=f"mail {address}")
    memory.update_session(sid, settings={"privacy.redaction": True})
    memory.archive_session(sid)
    assert memory.redact().entries == 1
    assert memory.load_session(sid).state == "archived"
    assert traces(root, [address]) == {}


class Restless(RecordingDisk):
    """A disk on which somebody archives the session again, as soon as it was brought back."""

    def restlessly(self, archive, times):
        self.left = times

        def before(operation, path):
            if self.left and operation == "open" and path.endswith("talk/lock"):
                self.left -= 1
                archive()

        self.before = before


VERBS = {
    "compact": lambda memory: memory.compact_session("talk"),
    "redact": lambda memory: memory.redact("talk"),
    "run": lambda memory: memory.run("talk").end(),
    "erase": lambda memory: memory.erase("talk", ids=["one"]),
    "update": lambda memory: memory.update_memory("talk", "old", content="x"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_session_that_is_archived_again_and_again_is_never_said_to_be_missing(root, clock, verb):
    disk = Restless(root)
    address = "ann@" + "example.org"
    with opened(root, clock) as other:
        other.create_session(session_id="talk", settings={"privacy.redaction": False})
        other.add_memory("talk", id="old", type="note", content="faded", importance=0.001)
        other.add_memory("talk", id="one", type="note", content=f"mail {address}")
        clock.advance(days=400)
        other.compact_session("talk")
        other.update_session("talk", settings={"privacy.redaction": True})
        other.archive_session("talk")
        memory = open_simulated(disk, None, clock)
        disk.restlessly(lambda: other.archive_session("talk"), 5)
        VERBS[verb](memory)
        assert disk.left == 0
        assert [one.id for one in other.list_sessions()] == ["talk"]


LOOKS = {
    "load": lambda memory: memory.load_session("talk").id,
    "read": lambda memory: memory.get_entries("talk")[0].session_id,
    "list": lambda memory: memory.list_sessions()[0].id,
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("is_archived", [False, True], ids=["live", "archived"])
def test_facts_that_were_overwritten_before_they_were_read_are_looked_up_where_they_are(
    root, clock, look, is_archived
):
    with opened(root, clock) as other:
        other.create_session(session_id="talk")
        other.add_memory("talk", content="x")
        if is_archived:
            other.archive_session("talk")
        disk = RecordingDisk(root)
        memory = open_simulated(disk, None, clock)
        moves = [other.restore_session if is_archived else other.archive_session]

        def before(operation, path):
            if moves and operation == "size" and path.endswith("manifest.json"):
                moves.pop()("talk")

        disk.before = before
        assert LOOKS[look](memory) == "talk"
        assert moves == []


# --- what is no file


@pytest.mark.parametrize("name", ["manifest.json", "memory.jsonl", "lock"])
def test_a_pipe_in_the_place_of_a_file_is_refused_and_not_waited_for(memory, sid, folder, name):
    memory.add_memory(sid, content="x")
    memory.close()
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(StorageIOError, match=f"{name} is no plain file"):
        memory.add_memory(sid, content="y")


def test_a_pipe_in_the_place_of_a_sidecar_is_refused_too(memory, sid, root):
    memory.add_memory(sid, content="x")
    memory.archive_session(sid)
    (root / f"archive/{sid}.manifest.json").unlink()
    os.mkfifo(root / f"archive/{sid}.manifest.json")
    with pytest.raises(StorageIOError, match="no plain file"):
        memory.load_session(sid)


def test_a_device_is_no_file_either():
    with pytest.raises(StorageIOError, match="null is no plain file"):
        RealDisk("/dev").open("null", "read")


def test_a_proof_and_a_removal_pass_by_a_pipe(memory, sid, root, folder):
    os.mkfifo(root / "pipe")
    os.mkfifo(folder / "pipe")
    assert memory.verify_erasure(text="nobody said this").clean
    memory.delete_session(sid)
    assert not folder.exists()


# --- the index that is thrown away


class Stopped(BaseException):
    """The end of a process."""


def test_who_throws_the_index_away_waits_for_those_who_use_it(root):
    with opened(root) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="one", type="note", content="quetzal")
        memory.query("talk", text="quetzal")
    disk = RecordingDisk(root)

    def stop(operation, path):
        if operation == "write_at" and "memory" in path:
            raise Stopped

    broken = open_on(disk)
    disk.before = stop
    with suppress(Stopped):
        broken.erase("talk", ids=["one"])
    gate = Gate(str(root / "index"))
    opener = threading.Thread(target=lambda: opened(root).__enter__().close())
    with gate.together():
        opener.start()
        opener.join(0.5)
        assert opener.is_alive()
        assert (root / "index/index.db").exists()
    opener.join()
    gate.forget()
    assert not (root / "index/index.db").exists()
    assert traces(root, ["quetzal"]) == {}


# --- whose trace it is


def test_a_trace_in_an_archive_is_told_with_its_session(root):
    secret = word(20)
    with opened(root, FixedClock(LATER)) as memory:
        memory.create_session(session_id="Über all")
        memory.add_memory("Über all", id="a", type="note", content=secret)
        memory.archive_session("Über all")
        found = memory.verify_erasure(text=secret)
        (trace,) = found.traces
        assert trace.startswith("archive/%c3%9cber%20all.tar.gz (unpacked), of the session")
        assert "'Über all'" in trace


def test_what_an_archived_session_says_too_is_told_as_said_elsewhere(root):
    said = word(20)
    with opened(root, FixedClock(LATER)) as memory:
        for name in ("talk", "other"):
            memory.create_session(session_id=name)
            memory.add_memory(name, id=f"of-{name}", type="note", content=said)
        memory.archive_session("other")
        proof = memory.erase("talk", ids=["of-talk"]).verification
        assert proof is not None
        assert (proof.clean, proof.traces, proof.elsewhere) == (True, (), 1)


# --- settings that hold secrets


def test_a_pattern_of_a_session_is_kept_word_for_word(memory, sid):
    own = {"type": "ticket", "regex": "TICKET-[0-9]+ of (?P<secret>[a-z]{1,20})"}
    memory.update_session(sid, settings={"privacy.redaction_patterns": [own]})
    assert memory.load_session(sid).settings == {"privacy.redaction_patterns": [own]}
    receipt = memory.add_memory(sid, content="TICKET-7 of ann")
    assert receipt.redactions == ("ticket",)


@pytest.mark.parametrize("is_new", [True, False], ids=["a new session", "a session"])
@pytest.mark.parametrize("form", ["a known secret", "its own words"])
def test_a_pattern_that_spells_a_secret_out_is_refused(memory, sid, root, is_new, form):
    secret = f"ghp_{word(4)}" + "A7b" * 12 if form == "a known secret" else f"swordfish {word()}"
    given = {"privacy.redaction_patterns": [{"type": "mine", "regex": secret}]}
    store = memory.create_session if is_new else partial(memory.update_session, sid)
    with pytest.raises(SettingsError, match="looks like a secret"):
        store(settings=given)
    assert traces(root, [secret]) == {}


def test_redacting_what_is_deleted_reads_each_line_a_few_times_however_many_there_are(tmp_path):
    secret = "gh" + "p_" + "0Aq9" * 9

    def reads(count: int) -> float:
        disk = RecordingDisk(tmp_path / str(count))
        plain = open_on(disk, **{"privacy.redaction": False})
        plain.create_session(session_id="talk")
        plain.add_many("talk", [{"type": "note", "content": secret} for _ in range(count)])
        plain.clear_session("talk")
        disk.calls.clear()
        assert open_on(disk).redact().entries == count
        return disk.count("read", "memory.jsonl") / count

    assert reads(80) <= reads(20) + 1
    assert traces(tmp_path, [secret]) == {}


def test_damage_in_what_was_moved_out_keeps_nobody_from_writing_and_forgetting_the_rest(
    memory, sid, faded, root
):
    (packed,) = (root / "archive").glob("*.gz")
    content = packed.read_bytes()
    packed.unlink()
    packed.write_bytes(content[:40] + b"damaged" + content[47:])
    memory.close()
    assert memory.add_memory(sid, id="fresh", content="a fresh one").status == "stored"
    assert memory.delete(sid, ids=["fresh"]).deleted_count == 1
    assert memory.undelete(sid, ["fresh"]).ids == ("fresh",)
    with pytest.raises(CorruptionError, match="cannot be unpacked"):
        memory.query(sid, text="faded", include_archived=True)
    assert memory.erase(sid, ids=["fresh"]).verification.clean
    assert texts(memory, sid) == ["stays"]
