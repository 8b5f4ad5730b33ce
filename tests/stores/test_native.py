"""Export and import in our own form: everything comes back as it was, and nothing else gets in."""

import gzip
import json
import shutil
import signal
import subprocess
import sys
from hashlib import sha256

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError, MnemologError, NotAllowedError
from mnemolog.ports import SHARED, LogKey
from tests.log import independent
from tests.stores.native_files import held

TALK = LogKey("session", "talk")
SMALL = {"storage.segment_size_mb": 600 / 1024 / 1024}


def fill(memory: Memory) -> None:
    """Two sessions of several segments with revisions and tombstones, and both other logs."""
    for name in ("talk", "Über ../all"):
        memory.create_session("u1", agent_ids=["architect"], session_id=name, metadata={"x": 1.5})
        for number in range(8):
            memory.add_memory(name, content=f"line {number} 日本", id=f"m{number}", tags=["a.b"])
        memory.update_memory(name, "m1", content="revised")
        memory.delete(name, ids=["m2", "m3"])
        memory.undelete(name, ["m3"])
    memory.close_session("talk")
    memory.update_preference(None, scope="user", user_id="u1", key="k", value="v")
    memory.update_preference(None, scope="shared", key="k", value="w")


@pytest.fixture
def filled(root, clock):
    with Memory.open(root, clock=clock, environ={}, settings=SMALL) as memory:
        fill(memory)
        yield memory


@pytest.fixture
def other(tmp_path, clock):
    with Memory.open(tmp_path / "other", clock=clock, environ={}) as memory:
        yield memory


def statuses(report):
    return [(one.log, one.status, one.lines) for one in report.logs]


@pytest.mark.req("S002-100")
@pytest.mark.parametrize("name", ["all.jsonl", "all.jsonl.gz"])
def test_export_wipe_import_gives_an_identical_store(filled, root, tmp_path, name):
    before = held(root)
    assert len(before) > 12, "several segments in each session"
    exported = filled.export_native(tmp_path / name)
    assert (exported.logs, exported.damaged, exported.left_out) == (4, 0, ())
    filled.close()
    shutil.rmtree(root)
    with Memory.open(root, environ={}) as fresh:
        report = fresh.import_native(tmp_path / name)
        assert {one.status for one in report.logs} == {"stored"}
        assert report.lines == exported.lines
        assert held(root) == before
        assert fresh.load_session("talk").state == "idle"
        assert fresh.query("talk", text="revised")[0].entry.id == "m1"
        assert fresh.add_memory("talk", content="more").seq == 13


def test_the_file_is_lines_that_any_reader_understands(filled, tmp_path, root):
    filled.export_native(tmp_path / "all.jsonl")
    content = (tmp_path / "all.jsonl").read_bytes()
    marks = [line for line in content.splitlines() if b'{"mnemolog":' in line]
    assert [json.loads(line)["mnemolog"] for line in marks] == [
        "native", *["log", "end of log"] * 4, "end",
    ]  # fmt: skip
    for line in independent.raw_lines(root / "sessions" / "talk"):
        assert line + b"\n" in content
    assert json.loads(marks[1])["manifest"]["session_id"] in {"talk", "Über ../all"}


def test_a_file_that_ends_in_gz_is_packed_and_otherwise_the_same(filled, tmp_path):
    filled.export_native(tmp_path / "a.jsonl")
    filled.export_native(tmp_path / "b.jsonl.gz")
    assert (
        gzip.decompress((tmp_path / "b.jsonl.gz").read_bytes())
        == (tmp_path / "a.jsonl").read_bytes()
    )


@pytest.mark.req("S002-100")
def test_one_session_or_one_users_logs_can_be_exported_alone(filled, other, tmp_path):
    filled.create_session("u2", session_id="theirs")
    filled.export_native(tmp_path / "one.jsonl", session_id="talk")
    filled.export_native(tmp_path / "user.jsonl", user_id="u1")
    assert [one.log for one in other.import_native(tmp_path / "one.jsonl").logs] == [TALK]
    report = other.import_native(tmp_path / "user.jsonl", dry_run=True)
    assert {one.log for one in report.logs} == {
        TALK, LogKey("session", "Über ../all"), LogKey("user", "u1"),
    }  # fmt: skip


def test_importing_twice_changes_nothing(filled, other, tmp_path):
    filled.export_native(tmp_path / "all.jsonl")
    other.import_native(tmp_path / "all.jsonl")
    before = held(tmp_path / "other")
    report = other.import_native(tmp_path / "all.jsonl")
    assert {(one.status, one.lines) for one in report.logs} == {("present", 0)}
    assert held(tmp_path / "other") == before


def test_a_dry_run_says_the_same_and_stores_nothing(filled, other, tmp_path):
    filled.export_native(tmp_path / "all.jsonl")
    before = held(tmp_path / "other")
    told = other.import_native(tmp_path / "all.jsonl", dry_run=True)
    assert held(tmp_path / "other") == before
    assert told.dry_run
    assert told.logs == other.import_native(tmp_path / "all.jsonl").logs


def test_only_what_is_missing_is_added_to_a_log_that_ends_earlier(filled, other, tmp_path):
    filled.export_native(tmp_path / "early.jsonl")
    other.import_native(tmp_path / "early.jsonl")
    filled.add_many("talk", [{"content": "late 1"}, {"content": "late 2", "id": "m1"}])
    filled.update_preference(None, scope="shared", key="l", value="x")
    filled.export_native(tmp_path / "late.jsonl")
    told = other.import_native(tmp_path / "late.jsonl", dry_run=True)
    report = other.import_native(tmp_path / "late.jsonl")
    assert told.logs == report.logs
    added = {one.log: (one.status, one.lines) for one in report.logs if one.lines}
    assert added == {TALK: ("extended", 2), SHARED: ("extended", 1)}
    assert list(other.get_entries("talk")) == list(filled.get_entries("talk"))
    assert other.get_entries("talk").warnings == ()
    assert other.import_native(tmp_path / "late.jsonl").lines == 0
    assert other.add_memory("talk", content="goes on").seq == 15
    assert other.query("talk", text="late")[0].entry.content.startswith("late")


def test_a_log_that_goes_on_further_here_stays_as_it_is(filled, other, tmp_path):
    filled.export_native(tmp_path / "all.jsonl")
    other.import_native(tmp_path / "all.jsonl")
    other.add_memory("talk", content="only here")
    assert {one.status for one in other.import_native(tmp_path / "all.jsonl").logs} == {"present"}
    assert other.get_entries("talk")[-1].content == "only here"


def test_a_log_that_says_something_else_is_refused_and_the_rest_is_stored(filled, other, tmp_path):
    other.create_session(session_id="talk")
    other.add_memory("talk", content="mine")
    filled.export_native(tmp_path / "all.jsonl")
    report = other.import_native(tmp_path / "all.jsonl")
    (refused,) = report.refused
    assert (refused.log, refused.reason) == (TALK, "the line with number 1 is another one here")
    assert sorted(one.status for one in report.logs) == ["refused", *["stored"] * 3]
    assert [one.content for one in other.get_entries("talk")] == ["mine"]


def test_damage_travels_along_and_stays_damage(filled, other, root, tmp_path):
    folder = root / "sessions" / "talk"
    active = folder / independent.segment_names(folder)[-1]
    with active.open("ab") as file:
        file.write(b"\x00\xff no line\n" + b'{"v":1,"id":"torn')
    exported = filled.export_native(tmp_path / "all.jsonl")
    assert exported.damaged == 1
    other.import_native(tmp_path / "all.jsonl")
    mine, theirs = filled.get_entries("talk"), other.get_entries("talk")
    assert list(mine) == list(theirs)
    assert len(theirs.warnings) == 1
    copy = tmp_path / "other" / "sessions" / "talk" / active.name
    assert copy.read_bytes() == active.read_bytes().removesuffix(b'{"v":1,"id":"torn')


def test_a_torn_tail_here_is_sealed_before_the_rest_is_added(filled, other, tmp_path):
    filled.export_native(tmp_path / "early.jsonl", session_id="talk")
    other.import_native(tmp_path / "early.jsonl")
    filled.add_many("talk", [{"content": "late 1"}, {"content": "late 2"}])
    folder = tmp_path / "other" / "sessions" / "talk"
    active = folder / independent.segment_names(folder)[-1]
    first = independent.raw_lines(tmp_path / "store" / "sessions" / "talk")[-2]
    active.write_bytes(active.read_bytes() + first)  # whole, but without its newline
    filled.export_native(tmp_path / "late.jsonl", session_id="talk")
    assert statuses(other.import_native(tmp_path / "late.jsonl")) == [(TALK, "extended", 1)]
    assert list(other.get_entries("talk")) == list(filled.get_entries("talk"))


def test_sessions_in_the_archive_are_exported_like_the_others(filled, other, tmp_path):
    before = list(filled.get_entries("talk"))
    filled.archive_session("talk")
    assert filled.export_native(tmp_path / "all.jsonl").logs == 4
    other.import_native(tmp_path / "all.jsonl")
    assert list(other.get_entries("talk")) == before
    assert filled.import_native(tmp_path / "all.jsonl").lines == 0


def test_what_cannot_be_told_is_named_and_left_out(filled, root, tmp_path):
    (root / "sessions" / "talk" / "manifest.json").write_bytes(b"{")
    exported = filled.export_native(tmp_path / "all.jsonl")
    assert (exported.logs, exported.left_out) == (3, ("sessions/talk",))


def test_a_view_can_neither_export_nor_import_nor_migrate_nor_back_up(filled, tmp_path):
    for view in (filled.for_agent("architect"), filled.for_user("u1")):
        for refused in (
            lambda view=view: view.export_native(tmp_path / "x.jsonl"),
            lambda view=view: view.import_native(tmp_path / "x.jsonl"),
            lambda view=view: view.backup(tmp_path / "x.tar.gz"),
            lambda view=view: view.migrate(),
        ):
            with pytest.raises(NotAllowedError):
                refused()
    assert not (tmp_path / "x.jsonl").exists()


def test_nothing_is_overwritten_and_nothing_is_left_behind(filled, root, tmp_path):
    (tmp_path / "there.jsonl").write_text("mine")
    for target in ("there.jsonl", "store/inside.jsonl", "store/sessions/inside.jsonl"):
        with pytest.raises(InvalidFormatError):
            filled.export_native(tmp_path / target)
    (tmp_path / "link").symlink_to(root / "sessions")
    with pytest.raises(InvalidFormatError, match="inside the root"):
        filled.export_native(tmp_path / "link" / "x.jsonl")
    with pytest.raises(MnemologError):
        filled.export_native(tmp_path / "nowhere" / "x.jsonl")
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "store", "there.jsonl"]


def test_progress_is_told_to_the_end(filled, other, tmp_path):
    told = []
    filled.export_native(tmp_path / "all.jsonl", progress=lambda *pair: told.append(pair))
    assert told[-1] == (4, 4)
    told.clear()
    other.import_native(tmp_path / "all.jsonl", progress=lambda *pair: told.append(pair))
    assert told[-1][0] == told[-1][1] > 0
    assert told == sorted(told)


def test_damage_anywhere_in_a_packed_export_is_told_in_words(filled, other, tmp_path):
    filled.add_many("talk", [{"content": sha256(bytes([n])).hexdigest() * 4} for n in range(200)])
    filled.export_native(tmp_path / "all.jsonl.gz")
    packed = (tmp_path / "all.jsonl.gz").read_bytes()
    for place in range(10, len(packed), len(packed) // 60):
        damaged = bytearray(packed)
        damaged[place] ^= 0x55
        (tmp_path / "damaged.gz").write_bytes(damaged)
        with pytest.raises(InvalidFormatError):
            other.import_native(tmp_path / "damaged.gz")
    assert other.list_sessions() == []


def test_what_a_killed_import_leaves_goes_when_the_root_is_opened(filled, other, tmp_path):
    filled.export_native(tmp_path / "all.jsonl")
    assert killed_at_finish(tmp_path) == signal.SIGKILL
    sessions = tmp_path / "other" / "sessions"
    assert [path.name[:5] for path in sessions.iterdir()] == [".new-"]
    other.close()
    with Memory.open(tmp_path / "other", environ={}) as again:
        assert list(sessions.iterdir()) == []
        assert list((tmp_path / "other" / "intents").glob("*.json")) == []
        again.import_native(tmp_path / "all.jsonl")
        proof = again.erase("talk", ids=["m1"]).verification
        assert proof is not None
        assert proof.clean


def killed_at_finish(tmp_path) -> int:
    """Import in a process that dies when the first session is about to get its name."""
    script = (
        "import os, signal, sys\n"
        "from mnemolog import Memory\n"
        "from mnemolog.log import sessions\n"
        "sessions.bring_into_being = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "Memory.open(sys.argv[1], environ={}).import_native(sys.argv[2])\n"
    )
    call = [sys.executable, "-c", script, str(tmp_path / "other"), str(tmp_path / "all.jsonl")]
    return -subprocess.run(call, check=False, timeout=60).returncode


@pytest.mark.parametrize("is_deleted", [False, True], ids=["erased", "deleted long ago"])
def test_what_was_erased_and_compacted_away_does_not_come_back(
    memory, sid, tmp_path, clock, is_deleted
):
    for name in ("first", "last"):
        memory.add_memory(sid, id=name, type="preference", content=f"the words of {name}")
    memory.export_native(tmp_path / "before.jsonl")
    if is_deleted:
        memory.delete(sid, ids=["last"])
        clock.advance(days=31)
    else:
        memory.erase(sid, ids=["last"])
    memory.compact_session(sid)
    (planned,) = memory.import_native(tmp_path / "before.jsonl", dry_run=True).logs
    (done,) = memory.import_native(tmp_path / "before.jsonl").logs
    assert planned == done
    assert (done.status, done.reason) == ("refused", "the line with number 2 went from here")
    assert [entry.id for entry in memory.get_entries(sid)] == ["first"]
    assert memory.verify_erasure(text="the words of last").clean
