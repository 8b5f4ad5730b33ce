"""Catching up: every write is found by the next search, and nothing comes back that is gone."""

from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.index.catch_up import CatchUp
from mnemolog.ports import Position
from tests.index.searching import (
    by_hand,
    ids,
    leave_mark,
    lexical,
    opened_on,
    reopened,
    scored,
    searcher,
)
from tests.log.disks import RecordingDisk
from tests.log.independent import build, mark
from tests.log.rewriting import rewrite


@pytest.mark.req("S001-046", "S002-108", "S002-110")
def test_a_write_is_found_by_the_next_search_of_another_process(memory, sid, root):
    with searcher(root) as other:
        for number in range(5):
            memory.add_memory(sid, id=f"m{number}", content=f"word{number}")
            assert other.ask(sid, text=f"word{number}", limit=1) == [f"m{number}"]
            assert len(other.ask(None)) == number + 1
        fresh = memory.create_session().id
        memory.add_decision(fresh, id="d", decision="choose")
        assert other.ask(None, types=["decisions"]) == ["d"]
        memory.delete_session(fresh)
        assert other.ask(None, types=["decisions"]) == []


def test_a_search_finds_what_another_process_wrote_while_it_was_open(memory, sid, root):
    assert memory.query(sid) == []
    with reopened(root) as other:
        other.add_memory(sid, id="m1", content="theirs")
        assert ids(memory.query(sid)) == ["m1"]
        memory.add_memory(sid, id="m2", content="ours")
        assert sorted(ids(other.query(sid))) == ["m1", "m2"]
        other.update_memory(sid, "m2", content="revised")
        assert list(lexical(memory.query(sid, text="revised"))) == ["m2"]


@pytest.mark.req("S001-046")
def test_a_revision_is_found_by_its_new_words_only_and_keeps_its_first_time(words, talk, clock):
    words.add_memory(talk, id="m1", content="apples", tags=["fruit"], references=["x"])
    words.add_memory(talk, id="m2", content="bread")
    assert list(lexical(words.query(talk, text="apples"))) == ["m1"]
    clock.advance(hours=5)
    words.update_memory(talk, "m1", content="pears", tags=["other"])
    assert lexical(words.query(talk, text="apples")) == {}
    assert list(lexical(words.query(talk, text="pears"))) == ["m1"]
    assert words.query(talk, tags=["fruit"]) == []
    (hit,) = words.query(talk, tags=["other"])
    assert hit.entry.timestamp == "2026-11-15T09:00:00.000Z"
    assert hit.entry.written_at == "2026-11-15T14:00:00.000Z"
    assert hit.entry == words.get_memory(talk, "m1")
    assert len(words.query(talk)) == 2, "a revision is no second entry"
    assert set(ids(words.query(talk, time_range={"end": "2026-11-15T09:00:00Z"}))) == {"m1", "m2"}


def test_an_entry_saved_again_and_again_counts_once(words, talk):
    for length in range(1, 30):
        words.add_conversation(talk, id="msg", role="assistant", content="so " * length + "far")
    words.add_memory(talk, id="other", content="far away")
    assert sorted(ids(words.query(talk, text="far"))) == ["msg", "other"]
    once = words.create_session().id
    words.add_conversation(once, id="msg", role="assistant", content="so " * 29 + "far")
    words.add_memory(once, id="other", content="far away")
    assert lexical(words.query(once, text="far")) == lexical(words.query(talk, text="far")), (
        "earlier revisions move no statistics"
    )


STORIES = {
    "tombstone": ([build(1, "m1"), build(2, "m2"), mark(3, "tombstone", "m1")], {"m2"}),
    "undelete": (
        [build(1, "m1"), mark(2, "tombstone", "m1"), mark(3, "undelete", "m1")],
        {"m1"},
    ),
    "revival": ([build(1, "m1", "old"), mark(2, "tombstone", "m1"), build(3, "m1")], {"m1"}),
    "hidden again": (
        [
            build(1, "m1"),
            mark(2, "tombstone", "m1"),
            mark(3, "undelete", "m1"),
            mark(4, "tombstone", "m1"),
        ],
        set(),
    ),
    "erased": ([build(1, "m1"), build(2, "m2"), mark(3, "erased", "m1")], {"m2"}),
    "erased, then undeleted": (
        [build(1, "m1"), mark(2, "erased", "m1"), mark(3, "undelete", "m1"), build(4, "m2")],
        {"m2"},
    ),
    "erased, then written again": (
        [
            build(1, "m1"),
            mark(2, "erased", "m1"),
            build(3, "m1", timestamp="2026-11-16T00:00:00.000Z"),
        ],
        {"m1"},
    ),
    "marks for nothing": ([build(1, "m1"), mark(2, "tombstone", "no"), mark(3, "erased", "no")],
                          {"m1"}),
}  # fmt: skip


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "line by line"])
@pytest.mark.parametrize("story", STORIES)
def test_what_is_hidden_or_erased_is_not_found_and_what_comes_back_is(
    memory, sid, root, story, at_once
):
    lines, wanted = STORIES[story]
    for batch in [lines] if at_once else [[line] for line in lines]:
        by_hand(root, sid, *batch)
        memory.query(sid, text="hello")
    assert set(ids(memory.query(sid, text="hello"))) == wanted
    assert set(ids(memory.query(None))) == wanted
    entries = {entry.id: entry for entry in memory.get_entries(sid)}
    assert {hit.entry.id: hit.entry for hit in memory.query(sid)} == entries


def test_a_hidden_entry_moves_no_statistics(words, talk, root):
    by_hand(root, talk, build(1, "m1", "alpha beta"), build(2, "m2", "alpha"))
    before = scored(words.query(talk, text="alpha"))
    by_hand(root, talk, build(3, "m3", "alpha alpha alpha"))
    assert scored(words.query(talk, text="alpha")) != before
    by_hand(root, talk, mark(4, "tombstone", "m3"))
    assert scored(words.query(talk, text="alpha")) == before


@pytest.mark.parametrize("kept", ["all", "some", "none"])
def test_a_rewrite_is_followed(memory, sid, root, kept):
    for number in range(6):
        memory.add_memory(sid, id=f"m{number}", content=f"word{number} common")
    assert len(memory.query(sid)) == 6
    keep = {
        "all": lambda line: True,
        "some": lambda line: b"word3" in line,
        "none": lambda _: False,
    }
    rewrite(root, sid, keep[kept])
    leave_mark(root, sid)
    wanted = {"all": [f"m{n}" for n in range(6)], "some": ["m3"], "none": []}[kept]
    assert sorted(ids(memory.query(sid, text="common"))) == wanted
    memory.add_memory(sid, id="later", content="common")
    assert sorted(ids(memory.query(sid, text="common"))) == sorted([*wanted, "later"])


def test_a_rewrite_whose_mark_was_lost_hides_nothing(memory, sid, root):
    """Whoever rewrites a log may be killed between the swap and the mark."""
    memory.add_memory(sid, id="m1", content="word")
    assert ids(memory.query(sid)) == ["m1"]
    rewrite(root, sid)
    assert ids(memory.query(sid)) == ["m1"]


def test_a_rewrite_whose_mark_was_lost_returns_nothing_that_it_dropped(memory, sid, root):
    memory.add_memory(sid, id="m1", content="secret")
    memory.add_memory(sid, id="m2", content="kept")
    assert len(memory.query(sid)) == 2
    rewrite(root, sid, lambda line: b"secret" not in line)
    assert "m1" not in ids(memory.query(sid))


def test_a_log_that_was_replaced_behind_our_back_is_read_anew(memory, sid, root, folder):
    memory.add_memory(sid, id="m1", content="one")
    memory.add_memory(sid, id="m2", content="two")
    assert len(memory.query(sid)) == 2
    (folder / "memory.jsonl").write_bytes(build(1, "m9", "restored from a backup"))
    leave_mark(root, sid)
    assert ids(memory.query(sid)) == ["m9"]


def test_a_deleted_session_is_gone_and_another_of_its_name_is_another(memory, sid, root):
    memory.add_memory(sid, id="old", content="word")
    assert ids(memory.query(None, text="word")) == ["old"]
    memory.delete_session(sid)
    assert memory.query(None, text="word") == []
    memory.create_session("u1", session_id=sid)
    assert memory.query(sid, text="word") == []
    memory.add_memory(sid, id="new", content="word")
    assert ids(memory.query(None, text="word")) == ["new"]


def test_a_torn_line_is_not_found_and_the_next_one_is(memory, sid, root, folder):
    memory.add_memory(sid, id="m1", content="word")
    with (folder / "memory.jsonl").open("ab") as file:
        file.write(build(2, "torn", "word")[:40])
    leave_mark(root, sid)
    assert ids(memory.query(sid)) == ["m1"]
    memory.add_memory(sid, id="m3", content="word")
    assert sorted(ids(memory.query(sid))) == ["m1", "m3"]


def test_a_damaged_line_is_passed_over_and_what_follows_is_found(memory, sid, root):
    by_hand(root, sid, build(1, "m1"), b'{"v":1,"id":"bad"}\n', build(3, "m3"))
    assert sorted(ids(memory.query(sid))) == ["m1", "m3"]


def test_a_damaged_manifest_hides_a_session_only_until_it_is_mended(memory, sid, root, folder):
    memory.add_memory(sid, id="m1", content="word")
    other = memory.create_session().id
    memory.add_memory(other, id="m2", content="word")
    good = (folder / "manifest.json").read_bytes()
    (folder / "manifest.json").write_bytes(b"{}")
    leave_mark(root, sid)
    assert "m2" in ids(memory.query(None, text="word"))
    (folder / "manifest.json").write_bytes(good)
    assert sorted(ids(memory.query(None, text="word"))) == ["m1", "m2"]


def test_new_segments_are_read_on(root, clock):
    small = {"storage.segment_size_mb": 0.001}
    with Memory.open(root, clock=clock, settings=small, environ={}) as memory:
        sid = memory.create_session().id
        for number in range(30):
            memory.add_memory(sid, id=f"m{number}", content=f"entry {number} " + "x" * 100)
            if number % 7 == 0:
                assert len(memory.query(sid, limit=100)) == number + 1
        found = memory.query(sid, limit=100)
        assert len(list((root / "sessions" / sid).glob("memory.*jsonl"))) > 3
        assert {hit.entry.id: hit.entry for hit in found} == {
            entry.id: entry for entry in memory.get_entries(sid)
        }


def test_what_cannot_be_read_because_its_log_is_rewritten_each_time_is_said(memory, sid, root):
    """Each time the log is about to be read, it is rewritten once more."""
    disk = RecordingDisk(root)
    unlucky = opened_on(disk)
    other = memory.create_session().id
    memory.add_memory(other, id="calm", content="word")
    memory.add_many(sid, [{"id": f"m{n}", "content": "word"} for n in range(3)])
    assert len(unlucky.query(None, text="word")) == 4
    assert unlucky.query(None, text="word").missing == 0
    searching = unlucky._index._index  # type: ignore[union-attr]
    search = searching.search

    def found_then_rewritten(*args: Any) -> Any:
        found = search(*args)
        rewrite(root, sid)
        return found

    searching.search = found_then_rewritten
    partial = unlucky.query(None, text="word")
    assert (ids(partial), partial.missing) == (["calm"], 3)
    searching.search = search
    whole = unlucky.query(None, text="word")
    assert (sorted(ids(whole)), whole.missing) == (["calm", "m0", "m1", "m2"], 0)


def test_words_of_an_attempt_that_was_undone_are_matched_by_wildcards(memory, sid, monkeypatch):
    memory.add_memory(sid, content="authentication first")
    attempts: list[str] = []

    def has_moved(_: CatchUp, name: str, end: Position) -> bool:
        attempts.append(name)
        return len(attempts) == 1

    monkeypatch.setattr(CatchUp, "_has_moved", has_moved)
    assert len(memory.query(sid, text="auth*")) == 1
    assert len(attempts) == 2
