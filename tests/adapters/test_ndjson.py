"""One NDJSON file for each session of an agent."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemolog.adapters.ndjson import AgentSessions
from mnemolog.errors import (
    InvalidFormatError,
    LockTimeoutError,
    MnemologError,
    SchemaInvalidError,
    SessionExistsError,
    SessionNotFoundError,
    StorageFullError,
    StorageIOError,
)
from mnemolog.fs.real import RealDisk, RealFile
from mnemolog.testing import Recorder, SimulatedDisk, sampled

DOCS = Path(__file__).parent.parent.parent / "docs"
HOSTILE = [
    "..",
    ".",
    "/etc/passwd",
    "../../b/memory/sessions/secret",
    "..\\b\\secret",
    "sessions/secret.ndjson",
    "con",
    "LPT1",
    "Case",
    "case",
    "a%2fb",
    "%x" + "0" * 64,
    "e\u0301",
    "\u00e9",
    "\u202egnp.exe",
    "\uff0e\uff0e\uff0fb",
    "tab\tnew\nline",
    "-rf",
    "audit",
    ".audit",
    "x" * 300,
    "ü" * 1024,
]


class WatchedFile:
    """A real file that notes what is done to it."""

    def __init__(self, file: RealFile, path: str, disk: "WatchedDisk") -> None:
        self._file, self._path, self._disk = file, path, disk
        self.ident = file.ident

    def __getattr__(self, name):
        return self._disk.noted(getattr(self._file, name), name, self._path)


class WatchedDisk:
    """A real disk that notes every call, counts bytes read, and can be told what fails."""

    def __init__(self, root: Path) -> None:
        self._disk = RealDisk(str(root))
        self.calls: list[tuple[str, str]] = []
        self.bytes_read = 0
        self.instead: dict[str, Callable[..., Any]] = {}

    def open(self, path, mode):
        opened = self.noted(self._disk.open, f"open {mode}", path)(path, mode)
        return WatchedFile(opened, path, self)

    def __getattr__(self, name):
        return self.noted(getattr(self._disk, name), name)

    def noted(self, call, name, path=""):
        def watched(*args):
            self.calls.append((name, path.rpartition("/")[2]))
            if name in self.instead:
                return self.instead[name](call, *args)
            result = call(*args)
            if name == "read":
                self.bytes_read += len(result)
            return result

        return watched

    def on(self, file: str) -> list[str]:
        return [call for call, path in self.calls if path == file]


@pytest.fixture
def disk(tmp_path):
    return WatchedDisk(tmp_path)


@pytest.fixture
def sessions(tmp_path):
    return AgentSessions(tmp_path, "reviewer")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / ".work-agent" / "agents" / "reviewer" / "memory"


@pytest.fixture
def talk(sessions, folder):
    """A session named `talk`, and its file."""
    sessions.new_session("talk")
    return folder / "sessions" / "talk.ndjson"


def files_below(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(root)): path.read_bytes() for path in found}


def audit(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]


def numbers(events) -> list[int]:
    return [event["n"] for event in events]


# --- save


@pytest.mark.req("S000-01", "S000-02", "S000-03", "S000-17", "S000-18")
def test_an_event_becomes_one_line_of_the_active_session(sessions, talk):
    saved = sessions.save({"role": "user", "content": "two\nlines"})
    line = talk.read_text()
    assert line.count("\n") == 1
    assert line.endswith("\n")
    stamp = json.loads(line).pop("timestamp")
    assert json.loads(line) == {"role": "user", "content": "two\nlines", "timestamp": stamp}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", stamp)
    assert (saved.session_id, saved.timestamp, saved.warnings) == ("talk", stamp, ())


@pytest.mark.req("S000-03")
@pytest.mark.parametrize("given_time", ["2020-01-01T00:00:00+02:00", "yesterday", 1700000000000, 0])
def test_a_timestamp_that_is_given_is_never_changed(sessions, talk, given_time):
    assert sessions.save({"timestamp": given_time, "n": 1}).timestamp == given_time
    assert sessions.load("talk") == [{"timestamp": given_time, "n": 1}]


@pytest.mark.parametrize("event", [{}, {"timestamp": None}, {"a": 1}])
def test_an_event_without_a_timestamp_gets_that_of_the_clock(tmp_path, event):
    now = datetime(2026, 11, 15, 9, tzinfo=UTC)
    sessions = AgentSessions(tmp_path, "reviewer", now=lambda: now)
    saved = sessions.save(event)
    assert sessions.load(saved.session_id) == [{**event, "timestamp": "2026-11-15T09:00:00.000Z"}]
    assert "timestamp" not in event or event["timestamp"] is None


@pytest.mark.req("S000-05")
def test_the_first_save_makes_a_session(sessions, folder):
    assert sessions.active is None
    saved = sessions.save({"n": 1})
    assert saved.session_id == sessions.active
    assert re.fullmatch(r"sess-\d{4}-\d\d-\d\d-[0-9a-f]{10}", saved.session_id)
    assert os.listdir(folder / "sessions") == [f"{saved.session_id}.ndjson"]


def test_threads_that_save_first_share_one_new_session(sessions):
    threads = [threading.Thread(target=sessions.save, args=({"n": n},)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [only] = sessions.list()
    assert sorted(numbers(sessions.load(only.id))) == list(range(8))


@pytest.mark.req("S000-18")
def test_a_save_is_one_write_and_one_sync_at_any_size(tmp_path, disk):
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    sessions.new_session("talk")
    sessions.save({"n": 0})
    for size in (10, 100_000, 2_000_000):
        disk.calls.clear()
        sessions.save({"text": "x" * size})
        assert [call for call in disk.on("talk.ndjson") if call != "size"] == ["append", "sync"]
        assert not {call for call, _ in disk.calls} & {"rename", "truncate", "write_at", "unlink"}


def test_opening_a_large_session_reads_one_byte_of_it(tmp_path, talk, disk):
    talk.write_bytes(b'{"n":1,"timestamp":"2026-11-15T09:00:00.000Z"}\n' * 100_000)
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    sessions.use("talk")
    sessions.save({"n": 2})
    assert disk.bytes_read == 1
    disk.bytes_read = 0
    sessions.save({"n": 3})
    assert disk.bytes_read == 0


@pytest.mark.parametrize(
    "event",
    [None, [1], "text", {"a": float("nan")}, {"a": {1, 2}}, {1: "a"}, {"a": b"x"}, {"a": 2**64}],
)
def test_what_json_cannot_hold_is_refused_and_nothing_is_written(sessions, talk, event):
    with pytest.raises(SchemaInvalidError) as caught:
        sessions.save(event)
    assert str(caught.value)
    assert talk.read_bytes() == b""


def test_a_lone_surrogate_is_replaced_and_the_receipt_says_so(sessions, talk):
    saved = sessions.save({"text": "a\ud800b\0"})
    assert saved.warnings == ("a lone surrogate was replaced by U+FFFD",)
    assert sessions.load("talk")[0]["text"] == "a\ufffdb\0"


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
    max_leaves=8,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(event=st.dictionaries(st.text(st.characters(codec="utf-8")), json_values))
def test_any_json_object_comes_back_as_it_was(sessions, event):
    saved = sessions.save(event)
    loaded = sessions.load(saved.session_id, 1)[0]
    if event.get("timestamp") is None:
        assert loaded.pop("timestamp") == saved.timestamp
        event.pop("timestamp", None)
    assert loaded == event


# --- sessions


@pytest.mark.req("S000-05")
def test_new_sessions_have_unique_ids_and_files_of_their_own(sessions, folder):
    made = [sessions.new_session() for _ in range(20)]
    assert len(set(made)) == 20
    assert sorted(os.listdir(folder / "sessions")) == sorted(f"{one}.ndjson" for one in made)
    assert sessions.active == made[-1]


def test_a_session_cannot_be_made_twice(sessions, talk):
    sessions.save({"n": 1})
    with pytest.raises(SessionExistsError, match="Select it with `use`"):
        sessions.new_session("talk")
    assert numbers(sessions.load("talk")) == [1]


@pytest.mark.req("S000-16")
def test_use_selects_where_save_writes(sessions, talk):
    sessions.new_session("other")
    sessions.save({"n": 1})
    sessions.use("talk")
    sessions.save({"n": 2})
    assert (numbers(sessions.load("other")), numbers(sessions.load("talk"))) == ([1], [2])


@pytest.mark.parametrize("verb", ["use", "load", "clear", "delete"])
def test_a_session_that_is_not_there_is_an_error_and_leaves_no_trace(tmp_path, verb):
    sessions = AgentSessions(tmp_path, "reviewer")
    with pytest.raises(SessionNotFoundError, match="`list` tells which there are"):
        getattr(sessions, verb)("nowhere")
    assert list(tmp_path.iterdir()) == []
    assert sessions.list() == []


@pytest.mark.parametrize("bad", ["", "a\0b", "\ud800", "x" * 1025, 7, None])
def test_what_no_file_can_be_named_after_is_refused(tmp_path, sessions, bad):
    with pytest.raises(InvalidFormatError):
        AgentSessions(tmp_path, bad)
    with pytest.raises(InvalidFormatError):
        sessions.load(bad)
    if bad is not None:
        with pytest.raises(InvalidFormatError):
            sessions.new_session(bad)
    assert files_below(tmp_path) == {}


def test_files_and_folders_are_private(tmp_path, sessions, talk):
    sessions.save({"n": 1})
    sessions.new_session("x" * 300)
    sessions.clear("talk")
    for path in (tmp_path / ".work-agent").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


# --- load


@pytest.mark.req("S000-04", "S000-19")
def test_events_are_loaded_in_order_and_a_limit_takes_the_last(sessions, talk):
    for n in range(25):
        sessions.save({"n": n})
    assert numbers(sessions.load("talk")) == list(range(25))
    assert numbers(sessions.load("talk", limit=3)) == [22, 23, 24]
    assert numbers(sessions.load("talk", 100)) == list(range(25))
    assert sessions.load("talk", 0) == []


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_limit_that_is_no_number_is_refused(sessions, talk, limit):
    with pytest.raises(InvalidFormatError, match="Give 0 or more"):
        sessions.load("talk", limit)


@pytest.mark.req("S000-19")
def test_a_small_limit_reads_only_the_end_of_the_file(tmp_path, talk, disk):
    talk.write_bytes(b"".join(b'{"n":%d}\n' % n for n in range(500_000)))
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    assert numbers(sessions.load("talk", 3)) == [499_997, 499_998, 499_999]
    assert disk.bytes_read <= 64 * 1024
    disk.bytes_read = 0
    assert len(sessions.load("talk", 20_000)) == 20_000
    assert disk.bytes_read < talk.stat().st_size / 10


def test_lines_longer_than_any_block_are_loaded_whole(sessions, talk):
    texts = ["a" * 200_000, "b", "c" * 500_000, "d" * 65_536]
    for text in texts:
        sessions.save({"text": text})
    assert [event["text"] for event in sessions.load("talk")] == texts
    assert [event["text"] for event in sessions.load("talk", 2)] == texts[-2:]


DAMAGE = [b"not json", b"[1,2]", b'"text"', b'{"a":1', b'{"a":"\xff"}', b'{"a":NaN}', b"\0" * 40,
          b'{"a":' + b"[" * 100_000]  # fmt: skip


@pytest.mark.req("S000-04")
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_line_is_skipped_told_and_left_where_it_is(sessions, talk, damage):
    sessions.save({"n": 1})
    start = talk.stat().st_size
    with talk.open("ab") as file:
        file.write(damage + b"\n\n\r\n")
    sessions.save({"n": 2})
    loaded = sessions.load("talk")
    assert numbers(loaded) == [1, 2]
    assert loaded.warnings == (
        f"talk.ndjson at byte {start}: not a JSON object ({len(damage)} bytes skipped)",
    )
    assert sessions.load("talk", 1).warnings == ()
    assert damage in talk.read_bytes()


def test_a_torn_tail_is_ignored_told_and_sealed_by_the_next_save(tmp_path, sessions, talk):
    sessions.save({"n": 1})
    start = talk.stat().st_size
    with talk.open("ab") as file:
        file.write(b'{"n":2,"text":"cut o')
    torn = sessions.load("talk")
    assert numbers(torn) == [1]
    assert torn.warnings == (
        f"talk.ndjson at byte {start}: torn off, or still being written (20 bytes skipped)",
    )
    sessions.save({"n": 3})
    fresh = AgentSessions(tmp_path, "reviewer")
    fresh.use("talk")
    fresh.save({"n": 4})
    sealed = fresh.load("talk")
    assert numbers(sealed) == [1, 3, 4]
    assert [text.split(": ")[1] for text in sealed.warnings] == [
        "not a JSON object (20 bytes skipped)"
    ]


def test_a_file_with_other_line_ends_is_read(sessions, talk):
    talk.write_bytes(b'{"n":1}\r\n\r\n{"n":2}\r\n\r')
    assert numbers(sessions.load("talk")) == [1, 2]
    assert sessions.load("talk").warnings == ()


# --- list


@pytest.mark.req("S000-06", "S000-08", "S000-21")
def test_list_tells_id_last_event_mtime_and_size_newest_first(tmp_path, folder):
    clock = SimpleNamespace(now=datetime(2026, 11, 15, 9, tzinfo=UTC))
    sessions = AgentSessions(tmp_path, "reviewer", now=lambda: clock.now)
    for name in ("first", "second", "third"):
        sessions.new_session(name)
        sessions.save({"n": 1})
        clock.now += timedelta(minutes=1)
    sessions.use("first")
    sessions.save({"n": 2})
    listed = sessions.list()
    assert [(one.id, one.timestamp) for one in listed] == [
        ("first", "2026-11-15T09:03:00.000Z"),
        ("third", "2026-11-15T09:02:00.000Z"),
        ("second", "2026-11-15T09:01:00.000Z"),
    ]
    for one in listed:
        status = (folder / "sessions" / f"{one.id}.ndjson").stat()
        assert one.size == status.st_size
        assert abs(datetime.fromisoformat(one.mtime).timestamp() - status.st_mtime) < 0.002


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", None),
        (b'{"n":1}\n', None),
        (b'{"timestamp":"soon"}\n', None),
        (b'{"timestamp":0}\n', "1970-01-01T00:00:00.000Z"),
        (b'{"timestamp":"2026-01-01T01:00:00+01:00"}\nbroken\n{"to', "2026-01-01T00:00:00.000Z"),
    ],
)
def test_the_last_event_time_is_that_of_the_last_whole_event(sessions, talk, content, expected):
    talk.write_bytes(content)
    assert [one.timestamp for one in sessions.list()] == [expected]


def test_files_that_are_no_sessions_are_named_and_left_alone(tmp_path, sessions, talk, folder):
    (tmp_path / "outside").write_bytes(b'{"n":1}\n')
    names = ["Upper.ndjson", "notes.txt", ".ndjson", "%00.ndjson", f"%x{'0' * 64}.ndjson", "a.ndjs"]
    for name in names:
        (folder / "sessions" / name).write_bytes(b'{"n":1}\n')
    Path(os.fsdecode(os.fsencode(folder / "sessions") + b"/\xff.ndjson")).touch()
    (folder / "sessions" / "link.ndjson").symlink_to(tmp_path / "outside")
    (folder / "sessions" / "folder.ndjson").mkdir()
    os.mkfifo(folder / "sessions" / "pipe.ndjson")
    listed = sessions.list()
    assert [one.id for one in listed] == ["talk"]
    assert len(listed.warnings) == len(names) + 4
    assert "Upper.ndjson is not the file of a session" in listed.warnings
    assert len(os.listdir(folder / "sessions")) == len(names) + 5


def test_a_session_that_may_not_be_read_costs_no_other_its_place(sessions, talk, monkeypatch):
    sessions.new_session("closed")
    real = os.open

    def opened(path, *more, **others):
        if path == "closed.ndjson":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return real(path, *more, **others)

    monkeypatch.setattr(os, "open", opened)
    listed = sessions.list()
    assert [one.id for one in listed] == ["talk"]
    [warning] = listed.warnings
    assert "closed.ndjson is not listed: Could not open" in warning


def test_listing_reads_the_ends_of_files_only(tmp_path, talk, disk):
    talk.write_bytes(b'{"timestamp":"2026-11-15T09:00:00.000Z"}\n' * 50_000)
    [one] = AgentSessions(tmp_path, "reviewer", disk=disk).list()
    assert one.size == talk.stat().st_size
    assert disk.bytes_read <= 64 * 1024


# --- clear and delete


@pytest.mark.req("S000-06", "S000-20")
def test_clear_blanks_cuts_to_zero_bytes_audits_and_confirms(tmp_path, sessions, talk, folder):
    sessions.save({"text": "needle-1"})
    sessions.save({"text": "needle-2"})
    size = talk.stat().st_size
    done = sessions.clear("talk")
    assert talk.read_bytes() == b""
    assert (done.action, done.session_id, done.bytes) == ("clear", "talk", size)
    audited = {"session_id": "talk", "timestamp": done.timestamp, "bytes": size}
    assert audit(folder) == [{"v": 1, "action": "clear", **audited}]
    assert not any(b"needle" in content for content in files_below(tmp_path).values())
    sessions.save({"n": 3})
    assert numbers(sessions.load("talk")) == [3]


@pytest.mark.parametrize("size", [1, 1_500_000])
def test_bytes_are_overwritten_and_synced_before_the_file_is_cut(tmp_path, disk, size):
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    sessions.new_session("talk")
    sessions.save({"text": "x" * size})
    path = tmp_path / ".work-agent/agents/reviewer/memory/sessions/talk.ndjson"
    before_cut = []

    def truncate(call, length):
        before_cut.append(path.read_bytes())
        call(length)

    disk.instead["truncate"] = truncate
    disk.calls.clear()
    done = sessions.clear("talk")
    assert before_cut == [b"\n" * done.bytes]
    after_open = disk.on("talk.ndjson")[disk.on("talk.ndjson").index("open update") :]
    steps = [call for call in after_open if call not in ("size", "write_at")]
    assert steps == ["open update", "sync", "truncate", "sync"]


@pytest.mark.req("S000-06")
def test_delete_removes_the_file_and_audits(tmp_path, sessions, talk, folder):
    sessions.save({"text": "needle"})
    size = talk.stat().st_size
    done = sessions.delete("talk")
    assert not talk.exists()
    assert sessions.list() == []
    assert (done.action, done.session_id, done.bytes) == ("delete", "talk", size)
    assert [line["action"] for line in audit(folder)] == ["delete"]
    assert not any(b"needle" in content for content in files_below(tmp_path).values())
    with pytest.raises(SessionNotFoundError):
        sessions.load("talk")


def test_a_deletion_is_durable_when_it_returns(tmp_path, disk):
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    sessions.new_session("talk")
    disk.calls.clear()
    sessions.delete("talk")
    calls = [call for call, _ in disk.calls]
    assert "sync_folder" in calls[calls.index("unlink") :]


def test_after_its_session_was_deleted_a_save_begins_a_new_one(sessions, talk):
    sessions.delete("talk")
    assert sessions.active is None
    assert sessions.save({"n": 1}).session_id != "talk"


def test_a_save_to_a_session_that_somebody_else_deleted_is_refused(tmp_path, sessions, talk):
    sessions.save({"n": 1})
    AgentSessions(tmp_path, "reviewer").delete("talk")
    with pytest.raises(SessionNotFoundError):
        sessions.save({"n": 2})
    AgentSessions(tmp_path, "reviewer").new_session("talk")
    sessions.save({"n": 3})
    assert numbers(sessions.load("talk")) == [3]


def test_the_audit_grows_by_a_line_for_each_erasure(sessions, folder):
    for n in range(3):
        sessions.new_session(f"s{n}")
        sessions.clear(f"s{n}")
        sessions.delete(f"s{n}")
    assert [(line["action"], line["session_id"]) for line in audit(folder)] == [
        (action, f"s{n}") for n in range(3) for action in ("clear", "delete")
    ]


# --- ids and agents


def test_unusual_ids_come_back_verbatim_from_files_inside_the_folder(tmp_path, sessions, folder):
    outside = {path.name for path in tmp_path.iterdir()}
    for n, name in enumerate(HOSTILE):
        sessions.new_session(name)
        sessions.save({"n": n})
    assert sorted(one.id for one in sessions.list()) == sorted(HOSTILE)
    assert [numbers(sessions.load(name)) for name in HOSTILE] == [[n] for n in range(len(HOSTILE))]
    files = os.listdir(folder / "sessions")
    assert len(files) == len(HOSTILE)
    assert all(re.fullmatch(r"[a-z0-9_%-]+\.ndjson", name) for name in files)
    assert len({name.lower() for name in files}) == len(files)
    assert {path.name for path in tmp_path.iterdir()} == outside | {".work-agent"}
    for name in HOSTILE:
        sessions.delete(name)
    assert os.listdir(folder / "sessions") == []
    assert os.listdir(folder / "ids") == []


@pytest.mark.req("S000-13", "S000-14", "S000-15")
def test_agents_reach_only_their_own_sessions(tmp_path):
    slugs = ["a", "b", *HOSTILE]
    agents = {slug: AgentSessions(tmp_path, slug) for slug in slugs}
    for slug, sessions in agents.items():
        sessions.new_session("same id")
        sessions.save({"by": slug})
    for slug, sessions in agents.items():
        assert [event["by"] for event in sessions.load("same id")] == [slug]
        assert [one.id for one in sessions.list()] == ["same id"]
    assert os.listdir(tmp_path) == [".work-agent"]
    assert len(os.listdir(tmp_path / ".work-agent" / "agents")) == len(slugs)


@pytest.mark.req("S000-13", "S000-15")
@pytest.mark.parametrize("reach", [*HOSTILE, "secret", "../secret", "a/secret", "%2e%2e/a"])
def test_no_id_reads_clears_or_deletes_the_session_of_another_agent(tmp_path, reach):
    mine = AgentSessions(tmp_path, "a")
    mine.new_session("secret")
    mine.save({"text": "needle"})
    before = files_below(tmp_path)
    for other in (AgentSessions(tmp_path, "b"), AgentSessions(tmp_path, f"a/../{reach}"[:1024])):
        for verb in (other.load, other.clear, other.delete, other.use):
            with pytest.raises(SessionNotFoundError):
                verb(reach)
    assert files_below(tmp_path) == before


LINKS = ["agents/b", "agents/b/memory", "agents/b/memory/sessions",
         "agents/b/memory/sessions/secret.ndjson"]  # fmt: skip


@pytest.mark.req("S000-13", "S000-15")
@pytest.mark.parametrize("link", LINKS)
def test_a_link_to_the_files_of_another_agent_is_not_followed(tmp_path, link):
    mine = AgentSessions(tmp_path, "a")
    mine.new_session("secret")
    mine.save({"text": "needle"})
    before = files_below(tmp_path / ".work-agent" / "agents" / "a")
    source = tmp_path / ".work-agent" / link
    source.parent.mkdir(parents=True, exist_ok=True)
    source.symlink_to(tmp_path / ".work-agent" / link.replace("agents/b", "agents/a"))
    other = AgentSessions(tmp_path, "b")
    assert other.list() == []
    for verb in (other.load, other.clear, other.delete):
        with pytest.raises(MnemologError):
            verb("secret")
    with suppress(MnemologError):  # where it is not refused at once, the save is
        other.use("secret")
    if other.active is not None:
        with pytest.raises(MnemologError):
            other.save({"n": 1})
    with pytest.raises(MnemologError):
        other.new_session("secret")
    assert files_below(tmp_path / ".work-agent" / "agents" / "a") == before


# --- threads, processes, crashes, disks that fail

SAVER = """
import os, sys, threading
from mnemolog.adapters.ndjson import AgentSessions
root, name, threads, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
sessions = AgentSessions(root, "reviewer", lock_timeout=60)
sessions.use("talk")
def work(thread):
    for n in range(count):
        sessions.save({"by": f"{name}-{thread}", "n": n})
        os.write(1, f"{name} {thread} {n}\\n".encode())
workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
[worker.start() for worker in workers]
[worker.join() for worker in workers]
"""


def start_saver(root, name, threads, count):
    command = [sys.executable, "-c", SAVER, str(root), name, str(threads), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.req("S000-16", "S000-18")
def test_threads_of_several_processes_save_to_one_session(tmp_path, sessions, talk):
    savers = [start_saver(tmp_path, name, 3, 40) for name in "abc"]
    for saver in savers:
        saver.communicate(timeout=60)
    assert [saver.returncode for saver in savers] == [0, 0, 0]
    loaded = sessions.load("talk")
    assert loaded.warnings == ()
    assert len(loaded) == 3 * 3 * 40
    by: dict[str, list[int]] = {}
    for event in loaded:
        by.setdefault(event["by"], []).append(event["n"])
    assert by == {f"{name}-{thread}": list(range(40)) for name in "abc" for thread in range(3)}
    times = [event["timestamp"] for event in loaded]
    assert times == sorted(times)


@pytest.mark.req("S000-18")
def test_what_was_acknowledged_survives_a_kill(tmp_path, sessions, talk):
    acknowledged = []
    for turn in range(3):
        saver = start_saver(tmp_path, f"k{turn}", 2, 100_000)
        assert saver.stdout is not None
        acknowledged += [saver.stdout.readline() for _ in range(30)]
        saver.send_signal(signal.SIGKILL)
        acknowledged += saver.stdout.readlines()
        saver.stdout.close()
        saver.wait(timeout=30)
    sessions.save({"by": "after", "n": 0})
    loaded = sessions.load("talk")
    there = [(event["by"], event["n"]) for event in loaded]
    assert len(set(there)) == len(there)
    whole = [line.split() for line in acknowledged if line.endswith("\n")]
    assert len(whole) >= 90
    assert {(f"{name}-{thread}", int(n)) for name, thread, n in whole} <= set(there)
    assert there[-1] == ("after", 0)


@pytest.mark.req("S000-16")
def test_sessions_of_one_agent_do_not_wait_for_each_other(tmp_path, folder):
    one, other = (AgentSessions(tmp_path, "reviewer", lock_timeout=0) for _ in range(2))
    one.new_session("one")
    other.new_session("other")
    lock = RealDisk(str(folder)).open("locks/one", "update")
    assert lock.try_lock()
    other.save({"n": 1})
    with pytest.raises(LockTimeoutError, match="Nothing was written"):
        one.save({"n": 1})
    lock.unlock()
    one.save({"n": 2})
    assert (numbers(one.load("one")), numbers(one.load("other"))) == ([2], [1])


def test_making_a_session_waits_for_whoever_is_deleting_it(tmp_path, sessions, talk, folder):
    sessions.delete("talk")
    lock = RealDisk(str(folder)).open("locks/talk", "update")
    assert lock.try_lock()
    with pytest.raises(LockTimeoutError):
        AgentSessions(tmp_path, "reviewer", lock_timeout=0).new_session("talk")
    assert not talk.exists()


def test_a_forked_child_saves_through_handles_of_its_own(sessions, talk):
    sessions.save({"n": 1})
    sessions._mutex.acquire()  # as if another thread were saving at that moment
    child = os.fork()
    if child == 0:
        try:
            sessions.save({"n": 2})
        finally:
            os._exit(0)
    sessions._mutex.release()
    os.waitpid(child, 0)
    sessions.save({"n": 3})
    assert numbers(sessions.load("talk")) == [1, 2, 3]


def test_a_file_that_another_program_made_can_be_saved_to(sessions, talk, folder):
    (folder / "sessions" / "theirs.ndjson").write_bytes(b'{"n":1}\n{"n":2}')
    sessions.use("theirs")
    sessions.save({"n": 3})
    assert numbers(sessions.load("theirs")) == [1, 2, 3]


def test_a_full_disk_leaves_nothing_torn_and_later_saves_work(tmp_path, disk):
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    sessions.new_session("talk")
    sessions.save({"n": 1})
    disk.instead["append"] = lambda call, content: call(content[:10])
    with pytest.raises(StorageFullError, match="free some space"):
        sessions.save({"n": 2})
    disk.instead.clear()
    sessions.save({"n": 3})
    loaded = sessions.load("talk")
    assert (numbers(loaded), loaded.warnings) == ([1, 3], ())


def test_after_a_failed_sync_the_error_says_that_the_fate_is_unknown(tmp_path, disk):
    sessions = AgentSessions(tmp_path, "reviewer", disk=disk)
    sessions.new_session("talk")

    def fail(call):
        raise StorageIOError("The disk is gone.")

    disk.instead["sync"] = fail
    disk.calls.clear()
    with pytest.raises(StorageIOError, match=r"unknown\. Load the session and look"):
        sessions.save({"n": 1})
    assert disk.on("talk.ndjson").count("sync") == 1
    disk.instead.clear()
    disk.calls.clear()
    sessions.save({"n": 2})
    assert "open append" in disk.on("talk.ndjson")
    assert numbers(sessions.load("talk")) == [1, 2]


LONG = "x" * 300


class Scenario:
    """Saves, clears and deletes, and says at every moment what must hold after a power loss."""

    def __init__(self, disk: SimulatedDisk) -> None:
        self.sessions = AgentSessions("", "reviewer", disk=disk)
        self.promises: dict[str, tuple[Any, ...]] = {}
        self._n = 0

    def play(self) -> None:
        for name in ("talk", LONG):
            self._do(name, self.sessions.new_session, ())
            self._save(name, 3)
            self._do(name, self.sessions.clear, ())
            self._save(name, 2)
        self._do(LONG, self.sessions.delete, (None,))
        self.sessions.use("talk")
        self._save("talk", 2)

    def _save(self, name: str, count: int) -> None:
        for _ in range(count):
            self._n += 1
            before = self.promises[name]
            self.promises = {**self.promises, name: (*before, None, self._n)}
            self.sessions.save({"n": self._n, "text": "y" * 700})
            self.promises = {**self.promises, name: (*before, self._n)}

    def _do(self, name: str, verb, then: tuple) -> None:
        before = self.promises.get(name, (None,))
        self.promises = {**self.promises, name: (*before, "?")}
        verb(name)
        self.promises = {**self.promises, name: then}


def check_promise(sessions: AgentSessions, name: str, promise: tuple[Any, ...]) -> None:
    """`(1, 2)`: these; `(1, None, 2)`: 2 is being saved; `(…, "?")`: anything up to nothing."""
    listed = [one.id for one in sessions.list()]
    if promise == (None,):
        assert name not in listed
    elif promise[-1] == "?":
        known = set(numbers(sessions.load(name))) if name in listed else set()
        assert known <= set(promise)
    else:
        loaded = numbers(sessions.load(name))
        whole = [n for n in promise if n is not None]
        assert loaded == whole or (None in promise and loaded == whole[:-1])


def test_no_power_loss_takes_an_acknowledged_event_or_brings_one_back():
    disk = SimulatedDisk()
    scenario = Scenario(disk)
    recorder = Recorder(disk, lambda: scenario.promises)
    scenario.play()
    states = 0
    for sample in sampled(recorder.stop(), "ndjson", 2000):
        sessions = AgentSessions("", "reviewer", disk=sample.disk)
        for name, promise in sample.promises.items():
            check_promise(sessions, name, promise)
        saved = sessions.save({"n": 0})
        assert numbers(sessions.load(saved.session_id)) == [0]
        states += 1
    assert states >= 2000


# --- the documentation


def test_the_example_in_the_documentation_runs(tmp_path, monkeypatch, capsys):
    page = (DOCS / "adapters.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", page, re.S)
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "docs/adapters.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "user Is this safe?" in printed
    assert "bytes cleared" in printed
    assert re.search(r"^release-2026 .* \d+$", printed, re.M)
    [left] = AgentSessions(tmp_path, "reviewer").list()
    assert left.size == 0
