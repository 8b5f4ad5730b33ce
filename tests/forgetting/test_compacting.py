"""Compaction makes a log smaller in a fixed order, loses nothing that counts, and tells of it."""

import json
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import LockTimeoutError, NotAllowedError, SizeLimitError, StorageError
from mnemolog.settings import Settings
from mnemolog.settings.spellings import RetiredSettingWarning
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on
from tests.forgetting.planting import damage
from tests.forgetting.scanner import gunzipped, traces, word
from tests.log.independent import raw_lines, records, segment_names
from tests.log.test_locks import held
from tests.memory.crowds import Crowd, acknowledged, meanwhile

MIB = 1024 * 1024


def opened(root: Path, clock: Any = None, limit: float | None = None, **more: object) -> Memory:
    """A memory whose sessions hold so many bytes."""
    settings: dict[str, object] = {"search.embedder": "none", **more}
    if limit is not None:
        settings["storage.max_session_size_mb"] = limit / MIB
    return Memory.open(root, settings=settings, clock=clock, environ={})


def living(memory: Memory, sid: str = "talk") -> list[str]:
    return [entry.id for entry in memory.get_entries(sid)]


def size_of(folder: Path) -> int:
    return sum((folder / name).stat().st_size for name in segment_names(folder))


def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_bytes())


def audited(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "audit.jsonl").read_bytes().splitlines()]


def archived_ids(root: Path) -> list[str]:
    """What lies in the archive, read by hand; each file's lines in order."""
    found = []
    for path in sorted((root / "archive").glob("*.jsonl.gz")):
        found += [json.loads(line) for line in gunzipped(path.read_bytes()).splitlines()]
    return [one.get("target", one["id"]) for one in found if one["type"] != "tombstone"]


@pytest.fixture
def hundred(memory, sid, folder):
    """A hundred notes of rising importance, and how many bytes they take."""
    memory.add_many(
        sid,
        [
            {"id": f"e{n:03}", "type": "note", "content": "x" * 100, "importance": 0.1 + n / 200}
            for n in range(100)
        ],
    )
    return size_of(folder)


# --- the order


@pytest.mark.req("S002-089", "S002-090", "S002-094", "S002-101")
def test_what_was_deleted_long_ago_is_dropped_and_what_is_irrelevant_moves(
    memory, sid, root, folder, clock
):
    secret = word()
    for name, weight in (("old", 1.0), ("late", 1.0), ("faint", 0.1), ("kept", 1.0)):
        content = secret if name == "old" else name
        memory.add_memory(sid, id=name, type="note", content=content, importance=weight)
    memory.delete(sid, ids=["old"], reason=f"because of {word()}")
    clock.advance(days=60)
    memory.delete(sid, ids=["late"])
    done = memory.compact_session(sid)
    assert (done.dropped, done.archived, done.removed_count) == (1, 1, 2)
    assert living(memory) == ["kept"]
    assert archived_ids(root) == ["faint"]
    assert memory.get_memory(sid, "faint") is not None
    assert memory.get_memory(sid, "late") is None
    assert traces(root, [secret]) == {}, "deletion is permanent after compaction"
    assert memory.undelete(sid, ["old", "late"]).ids == ("late",)
    assert [one["id"] for one in records(folder)][:1] == ["late"]


@pytest.mark.req("S002-090")
def test_the_floor_is_the_one_of_the_settings(memory, sid, root, clock):
    for number in range(10):
        memory.add_memory(sid, id=f"e{number}", type="note", content="x", importance=number / 10)
    clock.advance(days=400)  # decay is at its minimum of 0.1 by now
    assert memory.compact_session(sid).archived == 5
    assert living(memory) == [f"e{number}" for number in range(5, 10)]
    with opened(root, clock, **{"compaction.relevance_floor": 0.0}) as other:
        assert other.compact_session(sid).archived == 0
    with opened(root, clock, **{"compaction.relevance_floor": 0.075}) as other:
        assert other.compact_session(sid).archived == 3
        assert living(other) == ["e8", "e9"]


@pytest.mark.req("S001-060")
def test_nothing_of_the_rest_goes_while_the_log_is_small_enough(memory, sid, hundred):
    done = memory.compact_session(sid)
    assert (done.removed_count, done.before_size, done.after_size) == (0, hundred, hundred)
    assert len(living(memory)) == 100


@pytest.mark.req("S001-059", "S001-060", "S001-061")
@pytest.mark.parametrize(("share", "left"), [(0.95, 80), (0.81, 80), (0.7, 64), (0.6, 51)])
def test_the_least_relevant_fifth_goes_as_often_as_it_takes(root, hundred, clock, share, left):
    with opened(root, clock, limit=hundred * share, **{"compaction.auto": False}) as memory:
        done = memory.compact_session("talk")
        assert done.archived == 100 - left
        assert living(memory) == [f"e{n:03}" for n in range(100 - left, 100)]
        assert done.after_size <= hundred * share
        assert sorted(archived_ids(root)) == [f"e{n:03}" for n in range(100 - left)]


def test_lately_deleted_entries_move_before_anything_that_lives(root, hundred, clock):
    with opened(root, clock) as memory:
        memory.delete("talk", ids=["e099", "e098"])
        total = size_of(root / "sessions" / "talk")
    with opened(root, clock, limit=total - 300) as memory:
        done = memory.compact_session("talk")
        assert done.after_size <= total - 300, "its tombstone counts too"
        assert done.archived in (1, 2)
        assert living(memory) == [f"e{n:03}" for n in range(98)]
        for one in ("e098", "e099"):
            assert memory.get_memory("talk", one) is None, "only undelete finds it"
    with opened(root, clock) as memory:
        assert set(memory.undelete("talk", ["e098", "e099"]).ids) == {"e098", "e099"}
        assert set(living(memory)) == {f"e{n:03}" for n in range(100)}


def test_a_deletion_that_moved_is_restorable_no_longer_than_any_other(root, hundred, clock):
    with opened(root, clock) as memory:
        memory.delete("talk", ids=["e099"])
    with opened(root, clock, limit=hundred * 0.9, **{"compaction.auto": False}) as memory:
        assert memory.compact_session("talk").archived == 21
    with opened(root, clock) as memory:
        clock.advance(days=31)
        done = memory.undelete("talk", ["e099"])
        assert done.ids == ()
        assert "over" in done.refused["e099"]


@pytest.mark.req("S001-059")
def test_age_recency_type_and_use_decide_between_equals(root, clock):
    with opened(root, clock) as memory:
        memory.create_session(session_id="talk")
        days = {"fresh": 0, "yesterday": 2, "old": 30, "used": 30, "older": 60}
        for name, age in days.items():
            stamp = clock.now() - timedelta(days=age)
            memory.add_memory(
                "talk", id=name, type="note", content=f"about {name} things", importance=0.5,
                timestamp=stamp,
            )  # fmt: skip
        memory.add_memory(
            "talk", id="decided", type="decision", content={"decision": "x"}, importance=0.5,
            timestamp=clock.now() - timedelta(days=30),
        )  # fmt: skip
    uses = [{"v": 1, "id": "used", "at": "2026-11-15T08:00:00.000Z"}] * 40
    (root / "sessions/talk/access.jsonl").write_text("".join(json.dumps(u) + "\n" for u in uses))
    order = []
    while True:
        size = size_of(root / "sessions/talk")
        with opened(root, clock, limit=size - 1, **{"compaction.relevance_floor": 0}) as memory:
            before = set(living(memory))
            memory.compact_session("talk")
            order += sorted(before - set(living(memory)))
            if not living(memory):
                break
    assert order[0] in ("old", "older")
    assert order.index("old") < order.index("used")
    assert order.index("old") < order.index("decided")
    assert order.index("older") < order.index("yesterday") < order.index("fresh")
    assert order[-1] == "fresh"


# --- what is never moved


def protected(memory: Memory, sid: str, size: int) -> None:
    memory.update_preference(sid, key="theme", value="dark" * size)
    memory.add_decision(
        sid, id="approved", made_by="a", decision="x" * size, rationale="y", approved_by=["user"],
        importance=0.001,
    )  # fmt: skip
    memory.add_decision(sid, id="open", made_by="a", decision="x", rationale="y", importance=0.001)


@pytest.mark.req("S002-104", "S002-087")
def test_preferences_and_approved_decisions_never_move_by_themselves(memory, sid, root, clock):
    protected(memory, sid, 10)
    clock.advance(days=3000)
    assert memory.compact_session(sid).archived == 1
    assert archived_ids(root) == ["open"]
    with opened(root, clock, limit=100) as small:
        assert small.compact_session(sid).archived == 0
        assert "approved" in living(small)
        (kept,) = small.get_preferences(sid)
        assert "dark" * 10 in kept.text


@pytest.mark.req("S002-104", "S002-087", "S001-158")
def test_when_nothing_more_can_go_the_error_tells_numbers_and_what_to_do(root, clock):
    with opened(root, clock, limit=3000) as memory:
        memory.create_session(session_id="talk")
        protected(memory, "talk", 300)
        for number in range(3):
            memory.add_memory("talk", id=f"n{number}", type="note", content="x")
        with pytest.raises(SizeLimitError) as caught:
            memory.add_decision(
                "talk", made_by="a", decision="z" * 900, rationale="y", approved_by=["user"]
            )
        error = caught.value
        assert error.code == "E_SIZE_LIMIT"
        size = size_of(root / "sessions" / "talk")
        assert error.details["size_bytes"] == size
        assert error.details["limit_bytes"] == 3000
        incoming = error.details["incoming_bytes"]
        assert isinstance(incoming, int)
        assert size + incoming > 3000
        assert "max_session_size_mb" in error.advice
        assert "approved" in living(memory)
        assert memory.get_memory("talk", "n0") is not None


# --- by itself


@pytest.mark.req("S001-043", "S002-085", "S002-086", "S001-158", "S002-118")
def test_a_log_is_compacted_when_it_has_used_nine_tenths(root, clock):
    folder = root / "sessions" / "talk"
    with opened(root, clock, limit=10_000) as memory:
        memory.create_session(session_id="talk")
        told = []
        for number in range(200):
            receipt = memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 50)
            told += [one for one in receipt.warnings if "compacted" in one]
            assert size_of(folder) <= 10_000
            if not told:
                assert size_of(folder) <= 9_000
        assert len(told) > 3
        assert "moved to the archive" in told[0]
        found = [memory.get_memory("talk", f"e{number}") for number in range(200)]
        assert all(found), "none is lost"
        assert 10 < len(living(memory)) < 60
    actions = [one for one in audited(root) if one["action"] == "compact"]
    assert len(actions) == len(told)


@pytest.mark.req("S001-043", "S001-158", "S002-085")
def test_a_batch_that_would_pass_the_limit_makes_room_first(root, clock):
    with opened(root, clock, limit=10_000) as memory:
        memory.create_session(session_id="talk")
        for number in range(30):
            memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 50)
        batch = [{"id": f"b{n}", "type": "note", "content": "y" * 400} for n in range(10)]
        receipts = memory.add_many("talk", batch)
        assert all(one.durable for one in receipts)
        assert "compacted" in " ".join(receipts[0].warnings)
        assert all(memory.get_memory("talk", f"e{number}") for number in range(30))
        assert set(living(memory)) >= {f"b{n}" for n in range(10)}


@pytest.mark.req("S002-087", "S002-124")
@pytest.mark.parametrize(
    "own", [{"compaction.auto": False}, {"compaction_config": {"auto_compact": False}}], ids=str
)
def test_a_session_may_refuse_to_be_compacted(root, clock, own):
    with opened(root, clock, limit=3_000) as memory:
        memory.create_session(session_id="talk", settings=own)

        def add_on_and_on() -> None:
            for number in range(100):
                memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 50)

        with pytest.raises(SizeLimitError, match="3,000"):
            add_on_and_on()
        assert len(living(memory)) > 5
        assert not list((root / "archive").glob("*.gz"))
        assert not (root / "audit.jsonl").exists()
        memory.delete("talk", ids=["e0"])
        assert memory.compact_session("talk").superseded == 0, "by hand it works"


@pytest.mark.req("S002-124")
def test_a_session_may_have_its_own_trigger(root, clock):
    own = {"compaction_config": {"auto_compact": True, "threshold": 0.5}}
    with opened(root, clock, limit=10_000) as memory:
        memory.create_session(session_id="talk", settings=own)
        memory.create_session(session_id="usual")
        for number in range(40):
            memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 50)
            assert size_of(root / "sessions" / "talk") < 5_000 + 300
        for _ in range(25):
            assert not memory.add_memory("usual", type="note", content="x" * 50).warnings


@pytest.mark.req("S001-116")
def test_the_source_documents_own_keys_work(root, clock):
    root.mkdir()
    keys = {
        "storage": {"max_session_size_mb": 0.01},
        "compaction": {
            "enabled": True, "trigger_threshold_mb": 0.005, "keep_percentage": 0.5,
            "strategy": "relevance_based",
        },
    }  # fmt: skip
    (root / "config.json").write_text(json.dumps({"memory_config": keys}))
    with pytest.warns(RetiredSettingWarning, match="strategy"):
        memory = Memory.open(root, clock=clock, environ={})
    with memory:
        memory.create_session(session_id="talk")
        counts = []
        for number in range(40):
            memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 50)
            counts.append(len(living(memory)))
        drop = next(n for n in range(1, 40) if counts[n] < counts[n - 1])
        assert abs(counts[drop] - (counts[drop - 1] + 1) / 2) <= 0.5, "half is kept"


@pytest.mark.req("S002-088")
def test_the_size_counts_every_line_tombstones_too(memory, sid, folder):
    memory.add_memory(sid, id="a", content="x")
    before = memory.get_statistics(sid).size_bytes
    memory.delete(sid, ids=["a"])
    after = memory.get_statistics(sid)
    assert after.size_bytes == after.total_size_bytes == size_of(folder) > before


# --- what it tells


@pytest.mark.req("S001-062", "S001-129", "S002-053", "S002-092", "S002-213", "S002-214")
def test_result_audit_manifest_and_statistics_tell_the_same_numbers(
    memory, sid, root, folder, clock
):
    for name in ("a", "b", "c"):
        memory.add_memory(sid, id=name, type="note", content="x", importance=0.01)
    memory.add_memory(sid, id="d", type="note", content="first")
    memory.update_memory(sid, "d", content="second")
    memory.delete(sid, ids=["a"])
    clock.advance(days=400)
    before = size_of(folder)
    done = memory.compact_session(sid)
    assert (done.session_id, done.compacted_at) == (sid, "2027-12-20T09:00:00.000Z")
    assert (done.before_size, done.after_size) == (before, size_of(folder))
    assert (done.dropped, done.archived, done.removed_count) == (1, 2, 3)
    assert done.superseded == 1
    line = audited(root)[-1]
    assert (line["action"], line["entries"], line["session_id"]) == ("compact", 3, sid)
    assert line["criteria"] == {"before_size": before, "after_size": done.after_size}
    marker = manifest(folder)["markers"]["compacted"]
    assert marker == {"at": done.compacted_at, "size_bytes": done.after_size}
    stats = memory.get_statistics(sid)
    assert (stats.total_entries, stats.total_size_bytes) == (1, done.after_size)
    assert "tombstone" not in [one["type"] for one in records(folder)]


@pytest.mark.req("S001-129")
def test_only_the_owner_compacts_and_again_there_is_nothing_to_do(memory, sid, hundred):
    with pytest.raises(NotAllowedError):
        memory.for_agent("analyst").compact_session(sid)
    first, second = memory.compact_session(sid), memory.compact_session(sid)
    assert (second.removed_count, second.superseded) == (0, 0)
    assert second.before_size == second.after_size == first.after_size
    memory.create_session(session_id="empty")
    assert memory.compact_session("empty").after_size == 0
    assert memory.add_memory("empty", content="x").seq == 1


def test_an_archived_session_can_be_compacted(memory, sid):
    memory.add_memory(sid, id="a", type="note", content="first")
    memory.update_memory(sid, "a", content="second")
    memory.archive_session(sid)
    assert memory.compact_session(sid).superseded == 1
    assert living(memory) == ["a"]


# --- what stays the same


@pytest.mark.req("S001-061", "S002-092", "S002-213")
def test_lines_keep_their_bytes_and_numbers_and_a_rewritten_one_its_first_timestamp(
    memory, sid, folder, clock
):
    memory.add_memory(sid, id="a", type="note", content="a", metadata={"long": ["story"] * 50})
    memory.add_memory(sid, id="b", type="note", content="first")
    memory.add_memory(sid, id="c", type="note", content="c")
    clock.advance(hours=3)
    memory.add_memory(sid, id="b", type="note", content="second")
    before = {entry.id: entry for entry in memory.get_entries(sid)}
    lines = raw_lines(folder)
    last = manifest(folder).get("generation", 1)
    memory.compact_session(sid)
    after = {entry.id: entry for entry in memory.get_entries(sid)}
    assert raw_lines(folder)[:2] == [lines[0], lines[2]], "nothing is trimmed inside an entry"
    assert (after["a"], after["c"]) == (before["a"], before["c"])
    found = records(folder)[2]
    assert (found["id"], found["seq"], found["created"]) == ("b", 4, "2026-11-15T09:00:00.000Z")
    assert after["b"].timestamp == before["b"].timestamp == "2026-11-15T09:00:00.000Z"
    assert (after["b"].content, after["b"].seq) == ("second", 4)
    assert manifest(folder)["generation"] == last + 1
    assert memory.add_memory(sid, content="next").seq == 5
    assert sorted(os.listdir(folder)) == sorted(["lock", "manifest.json", *segment_names(folder)])
    memory.compact_session(sid)
    memory.update_memory(sid, "b", content="third")
    memory.compact_session(sid)
    assert {entry.id: entry for entry in memory.get_entries(sid)}["b"].timestamp == (
        "2026-11-15T09:00:00.000Z"
    )


def test_the_order_of_a_conversation_is_the_same_afterwards(memory, sid):
    for name in ("a", "b", "c"):
        memory.add_memory(sid, id=name, content=name)
    memory.update_memory(sid, "a", content="a, said better")
    before = living(memory)
    assert before == ["a", "b", "c"]
    memory.compact_session(sid)
    assert living(memory) == before


def test_numbers_go_on_even_when_the_last_lines_went(memory, sid, clock):
    for name in ("a", "b", "c"):
        memory.add_memory(sid, id=name, type="note", content="x")
    memory.delete(sid, ids=["c", "b"])
    clock.advance(days=31)
    assert memory.compact_session(sid).dropped == 2
    assert memory.add_memory(sid, content="next").seq == 6


def test_deleted_and_undeleted_entries_are_what_they_were(memory, sid):
    for name in ("a", "b", "c"):
        memory.add_memory(sid, id=name, type="note", content=name)
    memory.delete(sid, ids=["a", "b"])
    memory.undelete(sid, ["a"])
    memory.compact_session(sid)
    assert living(memory) == ["a", "c"]
    assert memory.undelete(sid, ["b"]).ids == ("b",)
    assert set(living(memory)) == {"a", "b", "c"}


@pytest.mark.req("S001-061", "S002-092")
def test_search_finds_the_same_before_and_after(root, clock):
    with opened(root, clock) as memory, opened(root, clock) as other:
        memory.create_session(session_id="talk")
        for number in range(20):
            memory.add_memory("talk", id=f"e{number}", type="note", content=f"word w{number}")
        memory.update_memory("talk", "e3", content="word changed")
        asked: list[dict[str, Any]] = [{"text": "word"}, {"text": "w7"}, {"text": "changed"}]

        def saying(each: Memory) -> list[set[str]]:
            """Who says the words; a turn's neighbours, which search adds, left out."""
            return [
                {h.entry.id for h in each.query("talk", q, limit=50) if q["text"] in h.entry.text}
                for q in asked
            ]

        found = saying(memory)
        assert [len(one) for one in found] == [20, 1, 1]
        assert other.query("talk", text="word")
        memory.compact_session("talk")
        assert saying(memory) == saying(other) == found


# --- damage


def test_damaged_lines_are_kept_in_quarantine(memory, sid, root, folder):
    secret = word()
    memory.add_memory(sid, id="a", type="note", content=secret)
    memory.add_memory(sid, id="b", type="note", content="stays")
    log = folder / "memory.jsonl"
    log.write_bytes(log.read_bytes().replace(secret.encode(), secret.upper().encode()))
    with opened(root) as again:
        again.compact_session(sid)
        assert living(again) == ["b"]
    (kept,) = (root / "quarantine").iterdir()
    assert secret.upper().encode() in kept.read_bytes()
    assert kept.read_bytes().startswith(b'{"v":1,"id":"a"')


def test_damage_that_cannot_be_copied_aside_is_not_thrown_away(memory, sid, root, folder):
    secret = word()
    memory.add_memory(sid, id="a", type="note", content=secret)
    memory.add_memory(sid, id="b", type="note", content="stays")
    log = folder / "memory.jsonl"
    log.write_bytes(log.read_bytes().replace(secret.encode(), secret.upper().encode()))
    (root / "quarantine").write_bytes(b"somebody put a file here")
    with opened(root) as again, suppress(StorageError):
        again.compact_session(sid)
    assert traces(root, [secret])


# --- what is dropped is overwritten before the old files are let go of


@pytest.mark.parametrize("which", ["deleted long ago", "an older revision"])
def test_what_is_dropped_is_blank_in_the_old_files_when_they_go(which):
    disk, clock, secret = SimulatedDisk(), FixedClock(), word()
    memory = open_on(disk, Settings(), clock)
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="a", type="note", content=secret)
    memory.add_memory("talk", id="b", type="note", content="stays")
    if which == "deleted long ago":
        memory.delete("talk", ids=["a"])
    else:
        memory.update_memory("talk", "a", content="harmless")
    clock.advance(days=31)
    seen: list[bool] = []

    def look(operation: str, path: str) -> None:
        if operation == "unlink" and path == "sessions/talk/memory.jsonl":
            seen.append(secret.encode() in (disk.tree()[path] or b""))

    disk.before_operation = look
    memory.compact_session("talk")
    assert seen == [False]


# --- what was moved


@pytest.fixture
def moved(memory, sid, clock):
    """A session of which `a` and `b` have moved to the archive; gives them as they were."""
    for name in ("a", "b"):
        memory.add_memory(
            sid, id=name, type="note", content=f"kumquat {name}", importance=0.01,
            agent_id="analyst", tags=["t"],
        )  # fmt: skip
    memory.update_memory(sid, "b", content="kumquat again")
    memory.add_memory(sid, id="c", type="note", content="stays")
    before = {one.id: one for one in memory.get_entries(sid)}
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 2
    return before


@pytest.mark.req("S002-213")
def test_what_moved_is_found_by_its_id_as_it_was(memory, moved, sid, root):
    for one in ("a", "b"):
        found = memory.get_memory(sid, one)
        assert found is not None
        before = moved[one]
        assert (found.content, found.seq, found.tags) == (before.content, before.seq, before.tags)
        assert (found.created or found.timestamp) == before.timestamp
    assert living(memory) == ["c"]
    assert memory.for_agent("architect").get_memory(sid, "a") is not None
    with opened(root) as other:
        assert other.get_memory(sid, "a") is not None


def test_what_moved_shows_its_first_timestamp(memory, moved, sid):
    found = memory.get_memory(sid, "b")
    assert found is not None
    assert found.timestamp == moved["b"].timestamp


def test_what_moved_comes_back_by_undelete(memory, moved, sid, root):
    assert set(memory.undelete(sid, ["a", "b"]).ids) == {"a", "b"}
    assert set(living(memory)) == {"a", "b", "c"}
    for one in ("a", "b"):
        found = memory.get_memory(sid, one)
        assert found is not None
        assert found.content == moved[one].content
        assert found.timestamp == moved[one].timestamp
    assert archived_ids(root) == []
    assert {hit.entry.id for hit in memory.query(sid, text="kumquat")} >= {"a", "b"}
    assert memory.undelete(sid, ["a"]).ids == ()


def test_what_was_never_deleted_stays_moved_unless_its_id_is_given(memory, moved, sid):
    memory.delete(sid, ids=["c"])
    assert memory.undelete(sid, {"types": ["note"]}).ids == ("c",)
    assert living(memory) == ["c"]
    assert memory.get_memory(sid, "a") is not None


def test_only_its_writer_or_the_owner_brings_back_what_moved(memory, moved, sid):
    assert memory.for_agent("architect").undelete(sid, ["a"]).ids == ()
    assert memory.for_agent("analyst").undelete(sid, ["a"]).ids == ("a",)


def test_what_is_for_one_agent_alone_stays_so_after_it_moved(memory, sid, clock):
    memory.for_agent("analyst").add_memory(
        sid, id="mine", type="note", content="x", importance=0.01, scope="agent"
    )
    clock.advance(days=400)
    assert memory.compact_session(sid).archived == 1
    assert memory.for_agent("architect").get_memory(sid, "mine") is None
    assert memory.for_agent("analyst").get_memory(sid, "mine") is not None


def test_bringing_something_back_makes_room_like_any_other_write(root, clock):
    with opened(root, clock, limit=6_000) as memory:
        memory.create_session(session_id="talk")
        for number in range(30):
            memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 50)
        gone = [f"e{n}" for n in range(30) if f"e{n}" not in living(memory)]
        assert len(gone) > 5
        for one in gone:
            assert memory.undelete("talk", [one]).ids == (one,)
            assert one in living(memory)


def test_several_compactions_each_leave_what_they_moved(memory, sid, root, clock):
    for number in range(3):
        memory.add_memory(sid, id=f"e{number}", type="note", content="x", importance=0.01)
        clock.advance(days=400)
        assert memory.compact_session(sid).archived == 1
    assert len(list((root / "archive").glob("*.jsonl.gz"))) == 3
    assert all(memory.get_memory(sid, f"e{number}") for number in range(3))
    memory.erase(sid, ids=["e1"])
    assert len(list((root / "archive").glob("*.jsonl.gz"))) == 2
    memory.archive_session(sid)
    assert memory.get_memory(sid, "e0") is not None
    memory.restore_session(sid)
    assert set(memory.undelete(sid, ["e0", "e1", "e2"]).ids) == {"e0", "e2"}


# --- while others write


@pytest.mark.req("S001-166")
def test_ten_writing_processes_readers_and_searches_lose_nothing_to_compactions(root, tmp_path):
    noted = tmp_path / "noted"
    own = {"storage.max_session_size_mb": 20_000 / MIB}
    patient = {"concurrency.lock_timeout_ms": 60_000}
    with opened(root, **patient) as memory, opened(root, **patient) as searcher:
        memory.create_session(session_id="talk", settings=own)

        def read() -> None:
            found = memory.get_entries("talk")
            assert found.warnings == ()
            assert len({one.id for one in found}) == len(found)

        def search() -> None:
            searcher.query("talk", text="w0")

        crowd = Crowd(root, "talk", noted, name="w", processes=10, threads=1, count=20)
        with (
            meanwhile(lambda: memory.compact_session("talk"), 0.1) as compactions,
            meanwhile(read, 0.02) as readings,
            meanwhile(search, 0.1) as searches,
        ):
            crowd.finish()
        assert min(compactions[0], readings[0], searches[0]) > 2
        written = acknowledged(noted)
        assert len(written) == 200
        found = {one.id: memory.get_memory("talk", one.id) for one in written}
        lost = [name for name, entry in found.items() if entry is None]
        assert lost == []
        for one in written:
            entry = found[one.id]
            assert entry is not None
            assert (entry.seq, entry.content) == (one.seq, f"{one.writer} {one.number}")
        assert len(living(memory)) < 200, "some had to move"
        assert size_of(root / "sessions" / "talk") <= 20_000


@pytest.mark.req("S002-101")
def test_what_is_dropped_for_good_leaves_every_file_and_what_was_learned(root, clock):
    secret, damaged = word(), word()
    with opened(root, clock) as memory:
        memory.create_session("ann", session_id="talk")
        memory.add_memory("talk", id="the-id-that-goes", type="note", content=damaged)
        memory.add_memory("talk", id="the-id-that-goes", type="note", content=secret)
        memory.add_memory("talk", id="keep-1", type="note", content="stays")
        cited = f"- {secret} <!-- talk/the-id-that-goes -->\n- other\n"
        memory.write_node("tea", cited, user_id="ann", sources=["talk/the-id-that-goes"])
        for text in (secret, damaged, "stays"):
            memory.query("talk", text=text)
        memory.query("talk", text=secret, types=["node"])
    damage(root / "sessions/talk/memory.jsonl", damaged.encode(), damaged.upper().encode())
    with opened(root, clock) as memory:
        memory.delete("talk", ids=["the-id-that-goes"])
        memory.query("talk", text="stays")
        clock.advance(days=31)
        done = memory.compact_session("talk")
        assert (done.dropped, done.archived) == (1, 0)
        assert [line["action"] for line in audited(root)] == ["delete", "compact"]
        assert "other" in memory.read_node("tea", user_id="ann").body
        memory.query("talk", text="stays")
    assert traces(root, [secret, damaged.upper(), "the-id-that-goes"]) == {}


def test_a_compaction_that_could_not_begin_leaves_nothing_to_finish(root, sid, folder):
    settings = {"concurrency.lock_timeout_ms": 1}
    with (
        Memory.open(root, settings=settings, environ={}) as impatient,
        held(folder / "lock"),
        pytest.raises(LockTimeoutError),
    ):
        impatient.compact_session(sid)
    assert [path.name for path in (root / "intents").iterdir()] == ["reserve"]
