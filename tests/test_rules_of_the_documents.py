"""The rules on modes, names, sizes, appends and reads, each seen on real files."""

import json
import os
import re
import stat

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidFormatError, SchemaInvalidError, SizeLimitError
from mnemolog.testing import FixedClock

MIB = 1024 * 1024


@pytest.fixture
def memory(tmp_path):
    before = os.umask(0)
    try:
        with Memory.open(tmp_path, environ={}) as memory:
            memory.create_session(session_id="talk", user_id="u1")
            yield memory
    finally:
        os.umask(before)


def modes(folder):
    found = {}
    for path in folder.rglob("*"):
        found[path.relative_to(folder).as_posix()] = stat.S_IMODE(path.stat().st_mode)
    return found


@pytest.mark.req("S002-176", "S002-177", "S002-178")
def test_folders_are_0700_and_files_0600_locks_included_whatever_the_umask(memory, tmp_path):
    memory.add_memory("talk", content="private", metadata={"a": "b"})
    memory.query("talk", text="private")
    memory.delete("talk", types=["conversation"])
    memory.archive_session("talk")
    found = modes(tmp_path)
    assert "audit.jsonl" in found
    for name, mode in found.items():
        expected = 0o700 if (tmp_path / name).is_dir() else 0o600
        assert mode == expected, name


@pytest.mark.req("S001-103")
def test_a_made_session_id_carries_its_day(tmp_path):
    with Memory.open(tmp_path, environ={}, clock=FixedClock()) as memory:
        session = memory.create_session()
    day = session.created_at[:10]
    assert re.fullmatch(rf"sess-{day}-[0-9a-f]{{10}}", session.id)


@pytest.mark.req("S002-181", "S002-186", "S002-187")
@pytest.mark.parametrize("given", ["../up", "/etc/passwd", "a\\b", "..", "x" * 300, "CON", "ü/é"])
def test_any_id_is_kept_and_no_id_leaves_the_root(memory, tmp_path, given):
    memory.create_session(session_id=given)
    receipt = memory.add_memory(given, id=given, content="here")
    assert memory.get_memory(given, receipt.id).content == "here"
    parents = {path.parent for path in tmp_path.rglob("manifest.json")}
    assert all(parent.parent == tmp_path / "sessions" for parent in parents)


@pytest.mark.req("S002-182")
def test_an_entry_holds_one_mebibyte_and_not_a_byte_more(memory):
    memory.add_memory("talk", content="x" * MIB)
    with pytest.raises(SizeLimitError):
        memory.add_memory("talk", content="x" * (MIB + 1))


@pytest.mark.req("S002-183")
@pytest.mark.parametrize("tag", ["a b", "x" * 33, "a..b", "", "a/b", "\n"])
def test_a_tag_that_is_none_is_refused(memory, tag):
    with pytest.raises(InvalidFormatError):
        memory.add_memory("talk", content="x", tags=[tag])


@pytest.mark.req("S002-184")
@pytest.mark.parametrize("stamp", ["yesterday", "2026-13-01", "", [], "2026-11-15T25:00:00Z"])
def test_a_timestamp_that_is_no_time_is_refused(memory, stamp):
    with pytest.raises((InvalidFormatError, SchemaInvalidError)):
        memory.add_memory("talk", content="x", timestamp=stamp)


@pytest.mark.req("S002-185")
def test_what_is_stored_is_one_line_of_valid_json_that_reads_back_exactly(memory, tmp_path):
    said = 'one\ntwo\r\n"three" \\n \u2028 \u0085 \x00 \x1b[31m'
    memory.add_memory("talk", content=said)
    lines = (tmp_path / "sessions" / "talk" / "memory.jsonl").read_bytes().split(b"\n")
    assert len(lines) == 2
    assert lines[1] == b""
    assert json.loads(lines[0])["content"] == said
    assert memory.get_entries("talk")[0].content == said


@pytest.mark.req("S002-208", "S002-085")
def test_an_append_takes_the_lock_checks_the_size_writes_and_tells_the_index(tmp_path):
    limit = {"storage.max_session_size_mb": 0.001, "compaction.auto": False}
    with Memory.open(tmp_path, environ={}, settings=limit) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", content="fits")
        log = tmp_path / "sessions" / "talk" / "memory.jsonl"
        before = log.read_bytes()
        with pytest.raises(SizeLimitError) as refused:
            memory.add_memory("talk", content="x" * 2000)
        assert log.read_bytes() == before
        assert refused.value.details["size_bytes"] == len(before)
        assert (tmp_path / "index" / "dirty" / "talk").exists()


@pytest.mark.req("S002-209", "S002-210")
def test_a_read_takes_one_whole_line_checks_its_sum_and_gives_nothing_for_an_unknown_id(
    memory, tmp_path
):
    long = memory.add_memory("talk", content="y" * 200_000)
    short = memory.add_memory("talk", content="short")
    assert len(memory.get_memory("talk", long.id).content) == 200_000
    assert memory.get_memory("talk", "mem_unknown") is None
    log = tmp_path / "sessions" / "talk" / "memory.jsonl"
    log.write_bytes(log.read_bytes().replace(b"short", b"shirt"))
    with Memory.open(tmp_path, environ={}) as other:
        assert other.get_memory("talk", short.id) is None


@pytest.mark.req("S002-211")
def test_a_topic_finds_its_tag_and_its_children_most_relevant_first(memory):
    memory.add_memory("talk", id="child", content="tokens", tags=["security.login"])
    memory.add_memory("talk", id="same", content="keys", tags=["security"], importance=1.0)
    memory.add_memory("talk", id="other", content="paint", tags=["colour"])
    hits = memory.search_by_topic("talk", "security")
    assert {hit.entry.id for hit in hits} == {"child", "same"}
    assert [hit.relevance for hit in hits] == sorted((hit.relevance for hit in hits), reverse=True)


@pytest.mark.req("S002-212")
def test_the_product_scorer_lifts_what_is_younger_than_a_day_by_half(tmp_path):
    clock = FixedClock()
    flat = {"decay.enabled": False}
    with Memory.open(tmp_path, environ={}, clock=clock, settings=flat) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", content="zebra", importance=0.2)
        young = memory.query("talk", text="zebra", scorer="product")[0].relevance
    clock.advance(hours=25)
    with Memory.open(tmp_path, environ={}, clock=clock, settings=flat) as memory:
        (tmp_path / "sessions" / "talk" / "access.jsonl").unlink(missing_ok=True)
        memory.rebuild_index()
        old = memory.query("talk", text="zebra", scorer="product")[0].relevance
    assert young == pytest.approx(1.5 * old)


@pytest.mark.req("S002-001", "S002-132", "S002-215")
def test_what_one_process_learnt_the_next_one_knows(tmp_path):
    with Memory.open(tmp_path, environ={}) as memory:
        memory.create_session(session_id="monday", user_id="u1")
        memory.update_preference("monday", key="language", value="Swiss German", scope="user")
        memory.add_decision("monday", decision="Use PostgreSQL", rationale="ACID")
    with Memory.open(tmp_path, environ={}) as memory:
        memory.create_session(session_id="tuesday", user_id="u1")
        preferences = memory.get_preferences("tuesday")
        assert ["Swiss German" in one.text for one in preferences] == [True]
        assert "Use PostgreSQL" in memory.query(None, text="which database")[0].entry.text


@pytest.mark.req("S002-099")
def test_a_deleted_session_leaves_no_folder(memory, tmp_path):
    memory.add_memory("talk", content="x")
    memory.delete_session("talk")
    assert list((tmp_path / "sessions").iterdir()) == []
