"""Watching: what is written comes, once and in order, whatever happens to the files meanwhile."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import InvalidQueryError, SessionNotFoundError
from mnemolog.fs.real import RealDisk
from mnemolog.index.follow import AT_ONCE
from mnemolog.model.query import Hit, Query
from mnemolog.ports import LogKey
from mnemolog.settings import Settings
from mnemolog.stores.files import FilesStore
from mnemolog.stores.files.feed import log_name, mark
from mnemolog.stores.files.finder import FilesFinder
from tests.log.disks import RecordingDisk
from tests.log.rewriting import rewrite

POLL = 0.01
WAIT = 60.0

WRITER = """
import sys
from mnemolog import Memory
with Memory.open(sys.argv[1], environ={}) as memory:
    for word in sys.argv[3:]:
        memory.add_memory(sys.argv[2], content=word)
"""


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    """Ends every watch of a test, at the latest when it takes far too long."""
    event = threading.Event()
    late = threading.Timer(WAIT, event.set)
    late.start()
    yield event
    late.cancel()


@pytest.fixture
def watch(memory, stop):
    def begin(query=None, view=None, **more) -> Iterator[Hit]:
        return (view or memory).watch(query, poll=POLL, stop=stop, **more)

    return begin


def texts(watched: Iterator[Hit], count: int) -> list[object]:
    """What the next hits say."""
    return [hit.entry.content for hit in islice(watched, count)]


def write(memory: Memory, session_id: str, *contents: str) -> None:
    memory.add_many(session_id, [{"content": content} for content in contents])


# --- what comes


def test_what_is_written_after_the_call_comes_and_nothing_from_before(memory, sid, watch):
    write(memory, sid, "before")
    watched = watch()
    write(memory, sid, "between the call and the first look")
    assert texts(watched, 1) == ["between the call and the first look"]
    write(memory, sid, "later", "and later")
    assert texts(watched, 2) == ["later", "and later"]


def test_it_waits_until_something_is_written(memory, sid, watch):
    watched = watch()
    seen: list[object] = []
    waiting = threading.Thread(target=lambda: seen.extend(texts(watched, 2)))
    waiting.start()
    write(memory, sid, "one")
    write(memory, sid, "two")
    waiting.join(WAIT)
    assert seen == ["one", "two"]


def test_what_another_process_writes_comes(root, sid, watch):
    watched = watch()
    subprocess.run([sys.executable, "-c", WRITER, str(root), sid, "one", "two"], check=True)
    assert texts(watched, 2) == ["one", "two"]


def test_what_another_process_has_already_indexed_comes_too(memory, root, sid, watch):
    watched = watch()
    with Memory.open(root, environ={}) as other:
        write(other, sid, "found by somebody else first")
        assert len(other.query(sid, text="found")) == 1
    assert texts(watched, 1) == ["found by somebody else first"]


def test_sessions_that_are_created_meanwhile_are_seen_from_their_first_entry(memory, watch):
    watched = watch()
    memory.create_session(session_id="new")
    write(memory, "new", "first", "second")
    hits = list(islice(watched, 2))
    assert [(hit.entry.session_id, hit.entry.seq) for hit in hits] == [("new", 1), ("new", 2)]


def test_one_session_can_be_watched_alone(memory, sid, watch):
    memory.create_session(session_id="other")
    watched = watch(session_id=sid)
    write(memory, "other", "not asked for")
    write(memory, sid, "asked for")
    assert texts(watched, 1) == ["asked for"]


def test_a_new_revision_comes_under_its_new_number(memory, sid, watch):
    first = memory.add_memory(sid, content="old", timestamp="2026-01-01T00:00:00Z")
    watched = watch()
    memory.update_memory(sid, first.id, content="new")
    (hit,) = islice(watched, 1)
    assert (hit.entry.id, hit.entry.content, hit.entry.seq) == (first.id, "new", 2)
    assert hit.entry.timestamp == "2026-01-01T00:00:00.000Z"


def test_a_users_own_log_and_the_shared_one_are_no_sessions_and_do_not_come(memory, sid, watch):
    watched = watch()
    memory.update_preference(sid, key="language", value="en", scope="user")
    memory.add_memory(sid, content="for all", scope="shared")
    write(memory, sid, "in the session")
    assert texts(watched, 1) == ["in the session"]


def test_watching_is_no_use_of_an_entry(memory, folder, sid, watch):
    watched = watch()
    write(memory, sid, "seen, not searched for")
    assert texts(watched, 1)
    memory.close()
    assert not (folder / "access.jsonl").exists()


# --- what matches


@pytest.mark.parametrize(
    "query",
    [
        {"types": ["decisions"]},
        {"tags": ["security"]},
        {"tags": {"all": ["security.login", "urgent"]}},
        {"tags": {"include": ["urgent"], "exclude": ["draft"]}},
        {"agents": ["architect"]},
        {"min_importance": 0.95},
        {"references": ["root"]},
        {"time_range": {"start": "2026-11-01T00:00:00Z", "end": "2026-11-30T00:00:00Z"}},
        Query(types=("decision",), text="Tokens"),
    ],
)
def test_every_filter_of_a_query_counts(memory, sid, watch, query):
    memory.add_memory(sid, id="root", content="what others refer to")
    watched = watch(query)
    past = "2026-10-01T00:00:00Z"
    memory.add_memory(sid, content="nothing of it", tags=["draft", "urgent"], timestamp=past)
    memory.add_decision(
        sid, decision="Tokens expire", made_by="architect", importance=0.97, references=["root"],
        tags=["security.login", "urgent"],
    )  # fmt: skip
    (hit,) = islice(watched, 1)
    assert hit.entry.content == {"decision": "Tokens expire"}


def test_only_the_sessions_of_the_users_who_were_named(memory, sid, watch):
    memory.create_session("u2", session_id="theirs")
    watched = watch({"users": ["u2"]})
    write(memory, sid, "of u1")
    write(memory, "theirs", "of u2")
    assert texts(watched, 1) == ["of u2"]


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("deploying tomorrow", "we deployed it"),
        ("auth*", "the authentication is slow"),
        ("*flow", "a new workflow"),
        ("数据库", "我们用这个数据库"),
        ("ANALYST", "nothing but her name matches"),
        ('what"s? (deploy) AND', "deploy"),
    ],
)
def test_a_text_is_matched_by_any_of_its_words(memory, sid, watch, text, content):
    watched = watch({"text": text})
    memory.add_memory(sid, content="something else", agent_id="architect")
    memory.add_memory(sid, content=content, agent_id="analyst")
    assert texts(watched, 1) == [content]


def test_relevance_is_the_share_of_the_words_and_can_be_demanded(memory, sid, watch):
    contents = ["red", "red green", "red green blue", "yellow"]
    loose, strict = (
        watch({"text": "red green blue"}),
        watch({"text": "red green blue", "min_relevance": 1.0}),
    )
    write(memory, sid, *contents)
    assert [round(hit.relevance, 2) for hit in islice(loose, 3)] == [0.33, 0.67, 1.0]
    (hit,) = islice(strict, 1)
    assert hit.entry.content == "red green blue"
    assert hit.why["final"] == hit.relevance == 1.0


def test_a_text_of_stop_words_matches_nothing_and_blanks_are_no_text(memory, sid, watch, stop):
    nothing, everything = watch({"text": "the of"}), watch({"text": "  "})
    write(memory, sid, "the end of it")
    assert texts(everything, 1) == ["the end of it"]
    stop.set()
    assert list(nothing) == []


# --- who sees what


def test_an_agents_view_sees_its_sessions_without_what_others_keep_to_themselves(memory, watch):
    memory.create_session(session_id="ours", agent_ids=["ann", "bob"])
    memory.create_session(session_id="theirs", agent_ids=["bob"])
    watched = watch(view=memory.for_agent("ann"))
    memory.for_agent("bob").add_memory("theirs", content="elsewhere")
    memory.for_agent("bob").add_memory("ours", content="bob's own", scope="agent")
    memory.for_agent("ann").add_memory("ours", content="ann's own", scope="agent")
    memory.for_agent("bob").add_memory("ours", content="for both")
    assert texts(watched, 2) == ["ann's own", "for both"]


def test_a_users_view_sees_only_that_users_sessions(memory, sid, watch):
    memory.create_session("u2", session_id="theirs")
    watched = watch(view=memory.for_user("u2"))
    write(memory, sid, "of u1")
    write(memory, "theirs", "of u2")
    assert texts(watched, 1) == ["of u2"]


def test_a_session_that_a_view_cannot_see_cannot_be_watched(memory, sid):
    with pytest.raises(SessionNotFoundError):
        memory.for_agent("stranger").watch(session_id=sid)
    with pytest.raises(SessionNotFoundError):
        memory.watch(session_id="nobody")


# --- resuming


@pytest.mark.parametrize("taken", range(7))
def test_resuming_by_number_repeats_nothing_and_loses_nothing(memory, watch, taken):
    for name in ("a", "b"):
        memory.create_session(session_id=name)
    for number in range(3):
        write(memory, "a", f"a{number}", "left out")
        write(memory, "b", "left out", f"b{number}")
    first = list(islice(watch({"text": "a0 a1 a2 b0 b1 b2"}, after={}), taken))
    positions: dict[str, int] = {}
    for hit in first:
        assert hit.entry.session_id is not None
        positions[hit.entry.session_id] = hit.entry.seq
    second = list(islice(watch({"text": "a* b*"}, after=positions), 6 - taken))
    seen = [str(hit.entry.content) for hit in first + second]
    assert sorted(seen) == ["a0", "a1", "a2", "b0", "b1", "b2"]
    assert [one for one in seen if one[0] == "a"] == ["a0", "a1", "a2"]
    assert [one for one in seen if one[0] == "b"] == ["b0", "b1", "b2"]


def test_sessions_that_are_not_named_begin_with_their_first_entry(memory, sid, watch):
    memory.create_session(session_id="other")
    write(memory, sid, "known", "new")
    write(memory, "other", "never seen")
    hits = list(islice(watch(after={sid: 1}), 2))
    assert {str(hit.entry.content) for hit in hits} == {"new", "never seen"}


def test_a_long_past_comes_whole_and_in_order(memory, sid, watch):
    total = 2 * AT_ONCE + 10
    write(memory, sid, *(f"entry {number}" for number in range(total)))
    watched = watch(after={})
    assert [hit.entry.seq for hit in islice(watched, total)] == list(range(1, total + 1))
    write(memory, sid, "and then")
    assert texts(watched, 1) == ["and then"]


# --- what happens to the files meanwhile


def rewritten(root: Path, session_id: str, *, marked: bool, dropping: bytes = b"never") -> None:
    """A compaction; without the mark it is one that was killed before it could tell the index."""
    rewrite(root, session_id, lambda line: dropping not in line)
    if marked:
        mark(RealDisk(str(root)), log_name(LogKey("session", session_id)))


@pytest.mark.parametrize("marked", [True, False])
def test_a_rewrite_repeats_nothing_and_loses_nothing(memory, root, sid, watch, marked):
    watched = watch()
    write(memory, sid, "one", "two, to be dropped")
    assert len(texts(watched, 2)) == 2
    rewritten(root, sid, marked=marked, dropping=b"dropped")
    write(memory, sid, "three")
    assert texts(watched, 1) == ["three"]
    write(memory, sid, "four")
    rewritten(root, sid, marked=marked)
    write(memory, sid, "five")
    assert texts(watched, 2) == ["four", "five"]


@pytest.mark.parametrize("marked", [True, False])
def test_what_is_rewritten_before_it_was_seen_still_comes(memory, root, sid, watch, marked):
    watched = watch(after={})
    write(memory, sid, "dropped", "one", "two")
    assert len(memory.query(sid, text="one two")) > 0
    rewritten(root, sid, marked=marked, dropping=b"dropped")
    assert texts(watched, 2) == ["one", "two"]


def test_three_writing_processes_and_rewrites_beside_them(memory, root, watch):
    names, total = ("a", "b", "a"), 40
    for name in ("a", "b"):
        memory.create_session(session_id=name)
    watched = watch()
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(root), name, *map(str, range(total))])
        for name in names
    ]
    seen: list[tuple[str | None, int]] = []
    for hit in islice(watched, total * len(names)):
        seen.append((hit.entry.session_id, hit.entry.seq))
        if len(seen) % 10 == 0:
            rewritten(root, "ab"[len(seen) // 10 % 2], marked=False)
    assert [writer.wait(WAIT) for writer in writers] == [0, 0, 0]
    for name, lines in (("a", 2 * total), ("b", total)):
        numbers = [seq for session, seq in seen if session == name]
        assert numbers == list(range(1, lines + 1))


@pytest.mark.parametrize("removed", [True, False])
def test_an_index_that_is_made_anew_repeats_nothing_and_loses_nothing(
    memory, root, sid, watch, removed
):
    watched = watch()
    write(memory, sid, "one")
    assert texts(watched, 1) == ["one"]
    memory.create_session(session_id="a-name-that-sorts-before")  # where rows are anew, it is first
    write(memory, "a-name-that-sorts-before", "two")
    if removed:
        shutil.rmtree(root / "index")
    else:
        memory.rebuild_index()
    assert texts(watched, 1) == ["two"]
    write(memory, sid, "three")
    assert texts(watched, 1) == ["three"]


def test_a_session_that_is_deleted_and_made_again_begins_anew(memory, clock, sid, watch):
    watched = watch()
    write(memory, sid, "one", "two")
    assert texts(watched, 2) == ["one", "two"]
    memory.delete_session(sid)
    clock.advance(minutes=1)
    memory.create_session(session_id=sid)
    write(memory, sid, "one of another life")
    assert texts(watched, 1) == ["one of another life"]


def test_a_line_that_got_damaged_is_passed_over(memory, folder, sid, watch):
    write(memory, sid, "good", "soon bad", "also good")
    memory.query(sid, text="good")
    log = folder / "memory.jsonl"
    log.write_bytes(log.read_bytes().replace(b"soon bad", b"soon BAD"))
    assert texts(watch(after={}), 2) == ["good", "also good"]


def test_closing_the_memory_does_not_end_the_watch(memory, sid, watch):
    watched = watch()
    write(memory, sid, "one")
    assert texts(watched, 1) == ["one"]
    memory.close()
    write(memory, sid, "two")
    assert texts(watched, 1) == ["two"]


def test_what_is_handed_out_is_on_stable_storage(root, stop):
    disk = RecordingDisk(root)
    settings = Settings().changed({"storage.durability": "os"})
    store = FilesStore(disk, settings)
    with Memory(store, settings, index=FilesFinder(disk, str(root), None)) as memory:
        memory.create_session(session_id="talk")
        watched = memory.watch(poll=POLL, stop=stop)
        write(memory, "talk", "one", "two")
        disk.calls.clear()
        assert texts(watched, 2) == ["one", "two"]
        assert disk.count("sync", "memory.jsonl") == 1


# --- ending, and what is refused


def test_it_ends_when_it_is_told_to(memory, sid, watch, stop):
    watched = watch()
    ended = threading.Thread(target=lambda: list(watched))
    ended.start()
    stop.set()
    ended.join(WAIT)
    assert not ended.is_alive()


def test_it_ends_between_two_entries(memory, sid, watch, stop):
    watched = watch()
    write(memory, sid, "one", "two")
    assert texts(watched, 1) == ["one"]
    stop.set()
    assert texts(watched, 1) == []


def test_a_query_object_is_read_as_a_dictionary_is(memory, sid, watch):
    watched = watch(Query(types=("decisions",), start="last hour"))
    memory.add_many(sid, [{"content": "said"}, {"content": "decided", "type": "decision"}])
    assert texts(watched, 1) == ["decided"]


@pytest.mark.parametrize(
    "given",
    [
        {"query": "text"},
        {"query": ["text"]},
        {"query": {"texts": "x"}},
        {"query": {"text": "x", "limit": 3}},
        {"query": Query(sort="time_asc")},
        {"query": {"scorer": "product"}},
        {"query": {"kinds": ["node"]}},
        {"query": Query(start="2020")},
        {"query": Query(min_relevance=5)},
        {"after": [("talk", 1)]},
        {"after": {"talk": -1}},
        {"after": {"talk": "1"}},
        {"after": {"talk": True}},
        {"after": {1: 1}},
        {"poll": 0},
        {"poll": float("nan")},
        {"poll": "fast"},
        {"poll": True},
    ],
)
def test_what_makes_no_sense_is_refused_at_once(memory, sid, given):
    with pytest.raises(InvalidQueryError):
        memory.watch(**given)
