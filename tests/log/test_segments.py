"""Segments that seal at their size, and generations that replace each other under readers."""

import json

import pytest

from mnemolog import Memory
from mnemolog.errors import SessionNotFoundError
from mnemolog.policy.access import OWNER
from mnemolog.ports import LogKey
from tests.log.independent import raw_lines, records, segment_names
from tests.log.rewriting import rewrite

KIB = 1 / 1024


@pytest.fixture
def small(root):
    """A memory whose segments seal at 2 KiB."""
    with Memory.open(root, settings={"storage.segment_size_mb": 2 * KIB}, environ={}) as opened:
        opened.create_session(session_id="talk")
        yield opened


@pytest.fixture
def place(root, small):
    return root / "sessions" / "talk"


def fill(memory: Memory, count: int) -> list[str]:
    return [memory.add_memory("talk", content="x" * 100).id for _ in range(count)]


@pytest.mark.req("S001-022")
def test_a_segment_seals_at_the_configured_size_and_the_next_one_begins(small, place):
    ids = fill(small, 40)
    names = segment_names(place)
    assert names[:3] == ["memory.jsonl", "memory.g1.2.jsonl", "memory.g1.3.jsonl"]
    *sealed, active = [(place / name).stat().st_size for name in names]
    assert all(2048 <= size < 2048 + 1000 for size in sealed)
    assert active < 2048
    assert [one["id"] for one in records(place)] == ids
    assert [one.id for one in small.get_entries("talk")] == ids


def test_the_default_segment_seals_at_8_mib(memory, sid, folder):
    assert memory.settings.storage.segment_bytes == 8 * 1024 * 1024
    memory.add_many(sid, [{"content": "x" * 1_000_000} for _ in range(8)])
    memory.add_memory(sid, content="x" * 500_000)
    assert segment_names(folder) == ["memory.jsonl"]
    memory.add_memory(sid, content="in the next one")
    assert segment_names(folder) == ["memory.jsonl", "memory.g1.2.jsonl"]


def test_the_manifest_tells_what_each_sealed_segment_holds(small, place):
    fill(small, 30)
    manifest = json.loads((place / "manifest.json").read_bytes())
    for segment in manifest["segments"][:-1]:
        content = (place / segment["name"]).read_bytes()
        assert segment["size"] == len(content)
        first = json.loads(content.split(b"\n")[0])["seq"]
        assert segment.get("first_seq", 1) == first
    assert "size" not in manifest["segments"][-1]


def test_numbers_run_on_over_segments_and_a_reopened_memory(small, root, place):
    fill(small, 15)
    small.close()
    with Memory.open(root, environ={}) as again:
        assert again.add_memory("talk", content="more").seq == 16
    assert [one["seq"] for one in records(place)] == list(range(1, 17))


def test_a_batch_larger_than_a_segment_is_never_split(small, place):
    small.add_many("talk", [{"content": "x" * 500} for _ in range(20)])
    assert segment_names(place) == ["memory.jsonl"]
    small.add_memory("talk", content="next")
    assert segment_names(place) == ["memory.jsonl", "memory.g1.2.jsonl"]


def test_two_memories_see_each_others_new_segments(small, root, place):
    with Memory.open(root, settings={"storage.segment_size_mb": 2 * KIB}, environ={}) as other:
        ids = []
        for number in range(40):
            writer = (small, other)[number % 2]
            ids.append(writer.add_memory("talk", content="x" * 100).id)
        assert [one.id for one in small.get_entries("talk")] == ids
        assert [one.id for one in other.get_entries("talk")] == ids
    assert len(segment_names(place)) > 2
    assert [one["seq"] for one in records(place)] == list(range(1, 41))


def test_a_leftover_of_the_next_segment_is_never_read(small, place):
    """A crash after the file was made and before the manifest named it."""
    (place / "memory.g1.2.jsonl").write_bytes(b"left over\n")
    ids = fill(small, 30)
    assert [one.id for one in small.get_entries("talk")] == ids
    assert small.get_entries("talk").warnings == ()


def test_a_rewrite_makes_a_new_generation_and_drops_the_old_files(small, root, place):
    ids = fill(small, 30)
    before = raw_lines(place)
    manifest = rewrite(root, "talk")
    assert manifest.generation == 2
    assert sorted(path.name for path in place.glob("*.jsonl")) == sorted(segment_names(place))
    assert all(name.startswith("memory.g2.") for name in segment_names(place))
    assert raw_lines(place) == before, "bytes are copied, not encoded again"
    assert [one.id for one in small.get_entries("talk")] == ids


def test_numbers_go_on_where_the_old_generation_stopped(small, root, place):
    fill(small, 10)
    rewrite(root, "talk", lambda line: b'"seq":10,' not in line and b'"seq":4,' not in line)
    assert small.add_memory("talk", content="next").seq == 11
    assert [one["seq"] for one in records(place)] == [1, 2, 3, 5, 6, 7, 8, 9, 11]


def test_an_emptied_session_goes_on_counting(small, root, place):
    fill(small, 3)
    rewrite(root, "talk", lambda line: False)
    assert small.get_entries("talk") == []
    assert small.add_memory("talk", content="next").seq == 4
    small.close()
    assert [one.seq for one in small.get_entries("talk")] == [4]


def test_an_open_memory_follows_one_rewrite_after_the_other(small, root, place):
    ids = []
    for generation in range(2, 8):
        ids += fill(small, 3)
        assert rewrite(root, "talk").generation == generation
        assert [one.id for one in small.get_entries("talk")] == ids
    assert small.load_session("talk").state == "active"


def test_a_reading_begun_before_a_rewrite_is_finished_on_the_old_files(small, root):
    fill(small, 30)
    reading = small._store.read(LogKey("session", "talk"), OWNER)
    rewrite(root, "talk", lambda line: False)
    assert len(list(reading.entries)) == 30
    assert small.get_entries("talk") == []


@pytest.mark.req("S001-055", "S002-060")
def test_a_rewrite_signs_the_lock_with_who_and_why_and_wipes_it_after(small, root, place):
    fill(small, 1)
    seen = []

    def look(line: bytes) -> bool:
        seen.append(json.loads((place / "lock").read_bytes()))
        return True

    rewrite(root, "talk", look)
    assert seen[0]["operation"] == "compact"
    assert seen[0]["pid"] > 0
    assert seen[0]["acquired_at"] == "2026-11-15T09:00:00.000Z"
    assert (place / "lock").read_bytes() == b""


def test_a_rewrite_that_fails_leaves_the_old_generation_and_a_free_lock(small, root, place):
    ids = fill(small, 5)

    def fail(line: bytes) -> bool:
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        rewrite(root, "talk", fail)
    assert segment_names(place) == ["memory.jsonl"]
    assert (place / "lock").read_bytes() == b""
    ids += fill(small, 1)
    assert [one.id for one in small.get_entries("talk")] == ids


def test_a_rewrite_of_a_missing_session_says_so(root, small):
    with pytest.raises(SessionNotFoundError):
        rewrite(root, "nobody")
