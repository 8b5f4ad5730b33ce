"""Erased means erased: no file below the root holds a byte of it, whatever happens meanwhile."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    CorruptionError,
    LockTimeoutError,
    MnemologError,
    NotAllowedError,
    SessionNotFoundError,
)
from mnemolog.settings import Settings
from mnemolog.testing import FixedClock, SimulatedDisk
from mnemolog.testing.opening import open_on as open_simulated
from tests.forgetting.dying import LATER, WORDS_ONLY, killed_at_each_step
from tests.forgetting.onlooker import onlooker
from tests.forgetting.scanner import found_in, traces, tree_of, word
from tests.log.disks import RecordingDisk, open_on
from tests.log.independent import is_intact, raw_lines, records

KINDS: dict[str, Callable[[str], str]] = {
    "ASCII": lambda one: one,
    "accented": lambda one: f"é{one}ÿß",
    "CJK": lambda one: f"記憶{one}文字",
    "emoji": lambda one: f"🗝{one}𝔘",
    "quotes": lambda one: f'"{one}\'"',
    "newlines": lambda one: f"{one[:7]}\n{one[7:]}\tx",
    "backslashes": lambda one: f"\\{one}\\u0041\\n/",
    "upper case": lambda one: one.upper(),
}


@contextmanager
def opened(root: Path, clock: Any = None, **settings: object) -> Iterator[Memory]:
    with Memory.open(root, settings={**WORDS_ONLY, **settings}, clock=clock, environ={}) as memory:
        yield memory


def texts(memory: Memory, sid: str = "talk") -> list[str]:
    return [entry.text for entry in memory.get_entries(sid)]


def damage(path: Path, before: bytes, after: bytes) -> None:
    """Change some bytes of a log by hand."""
    content = path.read_bytes()
    assert content.count(before) == 1
    path.write_bytes(content.replace(before, after))


def audited(root: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (root / "audit.jsonl").read_bytes().splitlines()]


# --- a needle in every place that it can reach


class Hidden:
    """A secret in each place; those that cannot be a tag have no tag."""

    def __init__(self, kind: str) -> None:
        make = KINDS[kind]
        self.words = {name: word() for name in PLACES}
        self.texts = {name: make(one) for name, one in self.words.items()}

    def __getitem__(self, name: str) -> str:
        return self.texts[name]


PLACES = (
    "content", "object", "metadata", "metadata key", "tag", "topic", "reason", "first revision",
    "second revision", "user", "shared", "damaged", "moved", "quarantined", "hidden",
)  # fmt: skip
IDS = tuple(f"id-{word(10)}-{name}" for name in ("a", "b", "c", "d", "e", "f", "g", "h"))
A, B, C, D, E, F, G, H = IDS


def plant(root: Path, secret: Hidden) -> None:
    """Write, revise, delete, damage, search and compact, so that the secrets are everywhere."""
    clock = FixedClock()
    folder = root / "sessions" / "talk"
    with opened(root, clock, **{"privacy.audit_deletions": False}) as memory:
        memory.create_session("u1", agent_ids=["a1"], session_id="talk")
        memory.add_memory("talk", id="keep-1", type="note", content="stays one")
        memory.add_memory(
            "talk", id=A, content=f"before {secret['content']} after", tags=[secret.words["tag"]],
            metadata={"deep": [{secret["metadata key"]: secret["metadata"]}]},
            context={"topic": secret["topic"]},
        )  # fmt: skip
        memory.add_memory("talk", id=B, type="decision", content={"decision": secret["object"]})
        memory.add_memory("talk", id=C, type="note", content=secret["first revision"])
        memory.update_memory("talk", C, content=secret["second revision"])
        memory.update_memory("talk", C, content="harmless by now")
        memory.delete("talk", ids=[C], reason=secret["reason"])
        memory.add_memory("talk", id=D, type="note", content=secret["user"], scope="user")
        memory.add_memory("talk", id=E, type="note", content=secret["shared"], scope="shared")
        memory.add_memory("talk", id="keep-2", type="note", content="stays", references=[A])
        memory.add_memory("talk", id=G, type="note", content=secret["moved"], importance=0.001)
        memory.add_memory("talk", id=H, type="note", content=secret["quarantined"])
        memory.add_memory("talk", id=H, type="note", content="harmless")
    quoted = json.dumps(secret["quarantined"], ensure_ascii=False)[1:-1].encode()
    damage(folder / "memory.jsonl", quoted + b'","seq"', quoted + b'","seQ"')
    clock.advance(days=400)
    with opened(root, clock) as memory:
        assert len(memory.get_entries("talk").warnings) == 1
        assert memory.compact_session("talk").archived == 1
        memory.add_memory("talk", id=F, type="note", content=secret["damaged"])
        memory.add_memory("talk", id=F, type="note", content="harmless")
        memory.add_memory("talk", id=H, type="note", content=secret["hidden"])
        memory.add_memory("talk", id=C, type="note", content=secret["second revision"])
        memory.delete("talk", ids=[H, C], reason="")
        for wanted in (*secret.words.values(), "harmless", "stays"):
            memory.query(None, text=wanted)
            memory.query("talk", tags=[secret.words["tag"]])
    (active,) = folder.glob("memory.*.2.jsonl")
    quoted = json.dumps(secret["damaged"], ensure_ascii=False)[1:-1].encode()
    damage(active, quoted + b'","seq"', quoted + b'","seQ"')
    with opened(root, clock) as memory:
        assert len(memory.get_entries("talk").warnings) == 1, "and a copy is in quarantine"
        memory.query(None, text="harmless")


def everything_of(secret: Hidden) -> set[str]:
    """What must be nowhere: the secrets, their cores, and the ids."""
    return {*secret.texts.values(), *secret.words.values(), *IDS}


# `first revision` and `reason` went with the compaction; the rest has to be there beforehand.
GONE_BEFORE = {"first revision", "reason"}


@pytest.mark.req("S001-007", "S002-007")
@pytest.mark.parametrize("kind", KINDS)
def test_after_an_erasure_no_file_holds_a_needle_in_any_form(root, kind):
    secret = Hidden(kind)
    plant(root, secret)
    before = traces(root, everything_of(secret))
    there = {name for name in PLACES if secret[name] in before or secret.words[name] in before}
    assert there >= set(PLACES) - GONE_BEFORE, "it was everywhere"
    assert before[A]
    assert [path for path in before[secret["quarantined"]] if path.startswith("quarantine/")]
    assert [path for path in before[secret["moved"]] if path.startswith("archive/")]
    assert [path for path in before[F] if path.endswith("access.jsonl")]
    with opened(root, FixedClock(LATER)) as memory:
        done = memory.erase("talk", ids=list(IDS))
        assert set(done.ids) == set(IDS)
        assert done.verification is not None
        mine = traces(root, everything_of(secret))
        referring = mine.pop(A, [])  # `keep-2` refers to it, and may; the index knows that too
        assert not [path for path in referring if not path.startswith(("sessions/", "index/"))]
        assert mine == {}
        assert done.verification.traces == ()
        assert texts(memory) == ["stays one", "stays"]
        memory.query(None, text="stays")
    mine = traces(root, everything_of(secret) - {A})
    assert mine == {}, "nor after the process has let go of everything"


@pytest.mark.req("S001-091")
@pytest.mark.parametrize("is_archived", [False, True], ids=["live", "archived"])
def test_after_a_session_is_deleted_no_file_holds_anything_of_it(root, is_archived):
    secret = Hidden("accented")
    plant(root, secret)
    facts = word()
    with opened(root, FixedClock(LATER)) as memory:
        memory.create_session(session_id="other")
        memory.add_memory("other", id="o", content="orange")
        memory.update_session("talk", metadata={"secret": facts})
        memory.query(None, text="orange")
        if is_archived:
            memory.archive_session("talk")
        memory.delete_session("talk")
        elsewhere = {secret["user"], secret["shared"], D, E}  # these are not the session's
        elsewhere |= {secret.words["user"], secret.words["shared"]}
        assert traces(root, {facts, *everything_of(secret)} - elsewhere) == {}
        assert [hit.entry.id for hit in memory.query(None, text="orange")] == ["o"]
    assert traces(root, {facts, *everything_of(secret)} - elsewhere) == {}
    assert not [path for path in tree_of(root) if path.startswith("sessions/talk")]


@pytest.mark.parametrize("kind", ["ASCII", "CJK", "quotes"])
def test_an_entry_of_an_archived_session_is_erased_from_the_archive(root, kind):
    secret = KINDS[kind](word())
    with opened(root, FixedClock()) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="secret-id", content=f"{secret} {'x' * 1000}")
        memory.add_memory("talk", id="other", content="stays")
        memory.query("talk", text=secret)
        memory.archive_session("talk")
        assert traces(root, [secret])[secret]
        done = memory.erase("talk", ids=["secret-id"])
        assert done.erased_count == 1
        assert done.verification is not None
        assert done.verification.clean
        assert traces(root, [secret, "secret-id"]) == {}
        assert texts(memory) == ["stays"]
        memory.archive_session("talk")
    assert traces(root, [secret, "secret-id"]) == {}


def test_what_was_found_by_a_search_is_not_noted_as_used_after_its_erasure(root):
    """The notes of use wait in memory: here, and in other processes."""
    with opened(root) as memory, onlooker(root) as ask:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="used-by-us", content="kumquat one")
        memory.add_memory("talk", id="used-by-them", content="kumquat two")
        assert len(memory.query("talk", text="kumquat")) == 2
        assert len(ask("query", "talk", text="kumquat")) == 2
        memory.erase("talk", ids=["used-by-us", "used-by-them"])
    assert traces(root, ["used-by-us", "used-by-them"]) == {}


# --- damage


@pytest.mark.parametrize("is_read", [True, False], ids=["in quarantine too", "never read"])
def test_an_entry_whose_only_line_is_damaged_is_erased_by_its_id(
    memory, sid, root, folder, is_read
):
    secret = word()
    memory.add_memory(sid, id="the-id", type="note", content=secret)
    memory.add_memory(sid, id="other", type="note", content="stays")
    damage(folder / "memory.jsonl", b'"content":"stays"', b'"content":"Stays"')
    damage(folder / "memory.jsonl", secret.encode() + b'"', secret.encode() + b'#"')
    with opened(root) as again:
        if is_read:
            assert len(again.get_entries(sid).warnings) == 2
        again.erase(sid, ids=["the-id"])
        assert traces(root, [secret]) == {}
        again.get_entries(sid)
    assert traces(root, [secret]) == {}
    assert traces(root, ["Stays"])["Stays"], "the other damage is kept"


def test_a_damaged_tombstone_leaves_no_reason_behind(root, clock):
    secret = word()
    with opened(root, clock, **{"privacy.audit_deletions": False}) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="the-id", type="note", content="something")
        memory.delete("talk", ids=["the-id"], reason=secret)
        memory.add_memory("talk", id="other", type="note", content="stays")
    damage(root / "sessions/talk/memory.jsonl", b'"type":"tombstone"', b'"type":"TOMBSTONE"')
    with opened(root, clock) as memory:
        assert len(memory.get_entries("talk").warnings) == 1
        assert traces(root, [secret])[secret][0].startswith("quarantine/")
        memory.erase("talk", ids=["the-id"])
    assert traces(root, [secret, "the-id"]) == {}


def test_damage_that_only_quarantine_still_holds_is_erased_by_its_id(memory, sid, root, folder):
    secret = word()
    memory.add_memory(sid, id="the-id", type="note", content=secret)
    memory.add_memory(sid, id="other", type="note", content="stays")
    damage(folder / "memory.jsonl", secret.encode() + b'"', secret.encode() + b'#"')
    with opened(root) as again:
        again.compact_session(sid)
        assert [path.partition("/")[0] for path in traces(root, [secret])[secret]] == ["quarantine"]
        again.erase(sid, ids=["the-id"])
    assert traces(root, [secret]) == {}


def test_a_line_glued_to_damage_is_erased_and_its_neighbours_stay(memory, sid, root, folder):
    secret = word()
    memory.add_memory(sid, id="first", type="note", content="stays one")
    memory.add_memory(sid, id="the-id", type="note", content=secret)
    memory.add_memory(sid, id="last", type="note", content="stays two")
    log = folder / "memory.jsonl"
    first, second, third = log.read_bytes().splitlines()
    log.write_bytes(first + b"\n" + b"garbage" + second + b"\n" + b"\0\0\0" + third + b"\n")
    with opened(root) as again:
        assert texts(again) == ["stays one", secret, "stays two"]
        again.erase(sid, ids=["the-id"])
        assert texts(again) == ["stays one", "stays two"]
    assert traces(root, [secret, "the-id"]) == {}


def test_a_torn_tail_that_names_the_id_goes_too(memory, sid, root, folder):
    secret = word()
    memory.add_memory(sid, id="the-id", type="note", content=secret)
    with (folder / "memory.jsonl").open("ab") as log:
        log.write((folder / "memory.jsonl").read_bytes()[:-40])
    with opened(root) as again:
        again.erase(sid, ids=["the-id"])
        assert traces(root, [secret]) == {}
        again.add_memory(sid, id="after", type="note", content="stays")
        assert texts(again) == ["stays"]


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
    memory = open_simulated(disk, Settings(), clock)  # type: ignore[arg-type]
    memory.create_session(session_id="talk")
    memory.secret = word()  # type: ignore[attr-defined]
    memory.add_memory("talk", id="old", type="note", content=memory.secret, importance=0.001)  # type: ignore[attr-defined]
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
        assert traces(root, [memory.secret, "old-"]) == {}


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
            assert traces(root, [memory.secret]) == {}


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


# --- the other lines


@pytest.mark.req("S001-092")
def test_every_other_line_stays_byte_for_byte_where_it_was(memory, sid, folder):
    for number in range(20):
        memory.add_memory(
            sid, id=f"e{number}", type="note", content=f"entry {number} " + "ö" * number
        )
    memory.delete(sid, ids=["e7"])
    before = raw_lines(folder)
    memory.erase(sid, ids=["e3", "e7", "e19"])
    after = raw_lines(folder)
    gone = {3, 7, 19, 20}
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        assert (old != new) is (number in gone)
        assert len(old) == len(new)
        assert is_intact(new)
    blanks = [json.loads(after[number]) for number in gone]
    assert {one["type"] for one in blanks} == {"erased"}
    assert [one["seq"] for one in records(folder)] == list(range(1, 22))
    assert not {one["id"] for one in blanks} & {f"e{number}" for number in range(20)}
    assert len({one["id"] for one in blanks}) == 4
    assert memory.add_memory(sid, content="next").seq == 22


def test_an_erased_id_may_be_used_anew_by_anybody(memory, sid, clock):
    memory.add_memory(sid, id="a", type="note", content="first", agent_id="architect")
    memory.add_memory(sid, id="b", type="note", content="stays")
    memory.erase(sid, ids=["a"])
    clock.advance(hours=1)
    assert memory.undelete(sid, ["a"]).ids == ()
    receipt = memory.for_agent("analyst").add_memory(sid, id="a", type="note", content="second")
    found = memory.get_memory(sid, "a")
    assert receipt.status == "stored"
    assert found is not None
    assert (found.content, found.timestamp) == ("second", "2026-11-15T10:00:00.000Z")
    assert texts(memory) == ["stays", "second"]


@pytest.mark.parametrize("scope", ["session", "user", "shared"])
def test_an_id_used_anew_is_new_for_a_reader_that_knew_the_old_one(memory, sid, root, clock, scope):
    more = {"type": "note", "scope": scope}
    memory.add_memory(sid, id="a", content="first", **more)
    memory.add_memory(sid, id="b", content="stays", **more)
    with opened(root, clock) as other:
        assert other.get_memory(sid, "a") is not None
        memory.erase(sid, ids=["a"])
        assert other.get_memory(sid, "a") is None
        clock.advance(hours=1)
        receipt = other.add_memory(sid, id="a", content="second", **more)
        assert receipt.status == "stored"
        for each in (memory, other):
            found = each.get_memory(sid, "a")
            assert found is not None
            assert found.timestamp == "2026-11-15T10:00:00.000Z"


def test_erasing_again_finds_nothing_and_changes_nothing(memory, sid, root):
    memory.add_memory(sid, id="the-id", content="something")
    assert memory.erase(sid, ids=["the-id"]).erased_count == 1
    before = tree_of(root)
    again = memory.erase(sid, ids=["the-id"])
    assert (again.erased_count, again.ids) == (0, ())
    assert tree_of(root) == before


def test_criteria_reach_hidden_and_moved_entries_too(memory, sid, clock):
    for one in ("living", "hidden", "moved"):
        weight = 0.001 if one == "moved" else 1.0
        memory.add_memory(sid, id=one, type="note", content=one, tags=["x.y"], importance=weight)
    memory.add_memory(sid, id="other", type="note", content="stays", tags=["xy"])
    clock.advance(days=400)
    memory.compact_session(sid)
    memory.delete(sid, ids=["hidden"])
    assert set(memory.erase(sid, tags=["x"]).ids) == {"living", "hidden", "moved"}
    assert memory.get_memory(sid, "moved") is None
    assert texts(memory) == ["stays"]


def test_an_agent_erases_only_its_own(memory, sid, root):
    memory.add_memory(sid, id="ours", type="note", content="of the architect", agent_id="architect")
    memory.add_memory(sid, id="mine", type="note", content="of the analyst", agent_id="analyst")
    analyst = memory.for_agent("analyst")
    assert analyst.erase(sid, types=["note"]).ids == ("mine",)
    assert texts(memory) == ["of the architect"]


# --- those who look on


@pytest.mark.req("S001-007", "S002-007")
def test_other_readers_and_processes_never_see_it_again(root):
    with opened(root) as memory, opened(root) as reader, onlooker(root) as ask:
        memory.create_session("u1", session_id="talk")
        for name, scope in (("a", "session"), ("u", "user"), ("s", "shared")):
            memory.add_memory("talk", id=name, type="note", content="kumquat", scope=scope)
            memory.add_memory("talk", id=f"{name}2", type="note", content="kumquat", scope=scope)
        everything = {"a", "a2", "u", "u2", "s", "s2"}
        for each in everything:
            assert ask("get_memory", "talk", each) == each
            assert reader.get_memory("talk", each) is not None
        assert set(ask("query", None, text="kumquat")) == everything
        assert {hit.entry.id for hit in reader.query(None, text="kumquat")} == everything
        memory.erase("talk", ids=["a", "u", "s"])
        for each in ("a", "u", "s"):
            assert ask("get_memory", "talk", each) is None
            assert reader.get_memory("talk", each) is None
            assert memory.get_memory("talk", each) is None
        assert set(ask("query", None, text="kumquat")) == {"a2", "u2", "s2"}
        assert {hit.entry.id for hit in reader.query(None, text="kumquat")} == {"a2", "u2", "s2"}
        assert (
            ask("get_entries", "talk") == [one.id for one in reader.get_entries("talk")] == ["a2"]
        )
        assert reader.get_statistics("talk").total_entries == 1


def test_a_reader_that_looks_at_every_step_sees_it_whole_or_not_at_all(root, clock):
    disk = RecordingDisk(root)
    memory = open_on(disk)
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="a", type="note", content="first")
    memory.add_memory("talk", id="b", type="note", content="second")
    seen: list[list[str]] = []
    with opened(root) as old, opened(root) as fresh:
        assert len(old.get_entries("talk")) == 2

        def look(name: str, path: str) -> None:
            disk.before = lambda name, path: None
            for reader in (old, fresh):
                found = reader.get_entries("talk")
                assert found.warnings == ()
                seen.append([one.id for one in found])
            fresh.close()
            disk.before = look

        disk.before = look
        memory.erase("talk", ids=["a"], verify=False)
        disk.before = lambda name, path: None
        assert len(seen) > 20
        assert all(each in (["a", "b"], ["b"]) for each in seen)
        for number, reader in enumerate((old, fresh)):
            mine = seen[number::2]
            assert mine == sorted(mine), "once gone, it stays gone"
            assert mine[-1] == ["b"]
            assert reader.get_statistics("talk").total_entries == 1, "nor is it counted"


# --- what it costs


def test_erasing_many_ids_writes_to_each_file_once(root, clock):
    disk = RecordingDisk(root)
    settings = Settings().changed({"storage.segment_size_mb": 4000 / 1024 / 1024})
    memory = open_simulated(disk, settings, clock)  # type: ignore[arg-type]
    memory.create_session(session_id="talk")
    for number in range(60):
        weight = 0.001 if number < 10 else 1.0
        memory.add_memory("talk", id=f"e{number}", type="note", content="x", importance=weight)
    clock.advance(days=400)
    assert memory.compact_session("talk").archived == 10
    for number in range(60, 90):
        memory.add_memory("talk", id=f"e{number}", type="note", content="x" * 100)
    names = [
        one["name"]
        for one in json.loads((root / "sessions/talk/manifest.json").read_bytes())["segments"]
    ]  # noqa: E501
    assert len(names) > 3
    (root / "sessions/talk/access.jsonl").write_bytes(
        b"".join(b'{"v":1,"id":"e%d","at":"2026-11-15T09:00:00.000Z"}\n' % n for n in range(90))
    )
    disk.calls.clear()
    done = memory.erase("talk", ids=[f"e{number}" for number in range(0, 90, 2)], verify=False)
    assert done.erased_count == 45
    opens = [path for name, path in disk.calls if name == "open"]
    for name in names:
        assert disk.count("sync", name) <= 2, "one for each of the two steps"
        assert opens.count(f"sessions/talk/{name}") <= 3
    assert disk.count("sync", "access.jsonl") == 1
    assert disk.count("rename", ".gz.tmp") == 1
    assert disk.count("rename", "manifest.json.tmp") == 1
    assert disk.count("append", "audit.jsonl") == 1
    assert (
        len([1 for name, path in disk.calls if name == "create" and path.startswith("intents/")])
        <= 2
    )  # noqa: E501
    assert done.places["log"] == 40
    assert done.places["archive"] == 5
    assert done.places["uses"] == 45


def test_the_answer_tells_only_places_where_something_was(memory, sid):
    memory.add_memory(sid, id="a", content="never searched")
    assert memory.erase(sid, ids=["a"]).places == {"log": 1}


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
    disk, memory, secret = full_of_entries(1500, size=300)
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


def template(root: Path, secret: str) -> None:
    """A session with an index, an archive, quarantine, uses; the entry says the secret in each."""
    clock = FixedClock()
    with opened(root, clock) as memory:
        memory.create_session("u1", session_id="talk")
        memory.add_memory("talk", id="keep-1", type="note", content="stays one")
        memory.add_memory("talk", id="the-id", type="note", content=secret, importance=0.001)
        memory.add_memory("talk", id="keep-2", type="note", content="stays two")
    with opened(root, FixedClock(LATER)) as memory:
        assert memory.compact_session("talk").archived == 1
        memory.add_memory("talk", id="the-id", type="note", content=f"again {secret}")
        memory.add_memory("talk", id="the-id", type="note", content=f"{secret} damaged")
        memory.add_memory("talk", id="the-id", type="note", content=f"once more {secret}")
        memory.add_memory("talk", id="keep-3", type="note", content="stays three")
        memory.query(None, text=secret)
    (active,) = (root / "sessions/talk").glob("memory.*.2.jsonl")
    damage(active, b' damaged"', b' Damaged"')
    with opened(root, FixedClock(LATER)) as memory:
        memory.query(None, text=secret)
        assert len(memory.get_entries("talk").warnings) == 1
    found = traces(root, [secret])[secret]
    assert {path.partition("/")[0] for path in found} >= {"sessions", "archive", "quarantine"}


def kept_lines(root: Path) -> list[bytes]:
    return [line for line in raw_lines(root / "sessions/talk") if b'"id":"keep-' in line]


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
    assert [path for path in traces(root, [secret]).get(secret, [])] == []


# --- the proof


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("stray.txt", lambda text: text.encode()),
        ("sessions/talk/notes.bak", lambda text: b"\0\xff" + text.encode() + b"\xfe"),
        ("archive/copy.json", lambda text: json.dumps({"x": text}).encode()),
        ("copy.gz", lambda text: gzip.compress(text.encode())),
        ("archive/talk.g9.jsonl.gz.tmp", lambda text: gzip.compress(text.encode())),
        ("users/.hidden", lambda text: text.encode("utf-16-le")),
        ("quarantine/q", lambda text: "".join(f"\\u{ord(c):04X}" for c in text).encode()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_stray_copy_in_any_file_is_reported(root, name, pack):
    secret = "記憶文字秘密鑰匙永遠不見天日"
    with opened(root) as memory:
        memory.create_session(session_id="talk")
        memory.add_memory("talk", id="the-id", type="note", content=secret)
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pack(secret))
        done = memory.erase("talk", ids=["the-id"])
        later = memory.verify_erasure(text=secret)
        for found in (done.verification, later):
            assert found is not None
            assert not found.clean
            assert [one for one in found.traces if one.startswith(name)], found.traces
        path.unlink()
        assert memory.verify_erasure(text=secret, ids=["the-id"]).clean
        path = root / "index" / "left.db"
        path.write_bytes(secret.encode())
        assert [one.partition(" ")[0] for one in memory.verify_erasure(text=secret).traces] == [
            "index/left.db"
        ]
        path.unlink()
    assert traces(root, [secret]) == {}


def test_the_proof_and_the_scanner_agree_before_and_after(root):
    secret = word()
    template(root, secret)
    with opened(root, FixedClock(LATER)) as memory:
        before = memory.verify_erasure(text=secret)
        assert not before.clean
        told = {one.partition(" ")[0] for one in before.traces}
        assert told == set(traces(root, [secret])[secret])
        done = memory.erase("talk", ids=["the-id"])
        assert done.verification is not None
        assert done.verification.clean
        assert done.verification.files == len(tree_of(root))
        assert traces(root, [secret, "the-id"]) == {}


def test_the_proof_of_an_erasure_looks_for_all_that_was_erased(memory, sid, root):
    """Not only for what the last revision's content said."""
    said = {name: word(20) for name in ("first", "metadata", "topic", "reason")}
    memory.add_memory(sid, id="the-id", type="note", content=said["first"])
    memory.add_memory(
        sid, id="the-id", type="note", content="harmless", metadata={"k": said["metadata"]},
        context={"topic": said["topic"]},
    )  # fmt: skip
    memory.delete(sid, ids=["the-id"], reason=said["reason"])
    for name, text in said.items():
        (root / f"stray-{name}").write_text(text)
    done = memory.erase(sid, ids=["the-id"])
    assert done.verification is not None
    told = {one.partition(" ")[0] for one in done.verification.traces}
    assert told == {f"stray-{name}" for name in said}


def test_what_another_entry_says_too_is_no_trace(memory, sid):
    for one in ("a", "b"):
        memory.add_memory(sid, id=f"entry-{one}", type="note", content="the same long words here")
    done = memory.erase(sid, ids=["entry-a"])
    assert done.verification is not None
    assert done.verification.clean
    assert done.verification.elsewhere == 1
    assert not memory.verify_erasure(text="the same long words here").clean, "asked for, it is told"


def test_a_short_id_is_not_found_in_sums_and_names(memory, sid):
    for number in range(40):
        memory.add_memory(sid, type="note", content=f"entry {number}")
    for one in ("e1", "f", "talk"):
        memory.add_memory(sid, id=one, type="note", content="kumquat orchard")
        done = memory.erase(sid, ids=[one])
        assert done.verification is not None
        assert done.verification.clean, done.verification.traces


def test_an_agents_view_does_not_learn_what_others_files_say(memory, sid):
    memory.create_session("u2", session_id="private")
    memory.add_memory("private", id="p", type="note", content="kumquat orchard at midnight")
    for view in (memory.for_agent("analyst"), memory.for_user("u1")):
        try:
            found = view.verify_erasure(text="kumquat orchard")
        except NotAllowedError:
            continue
        assert found.clean


def test_without_verifying_nothing_is_scanned(root):
    disk = RecordingDisk(root)
    memory = open_on(disk)
    memory.create_session(session_id="other")
    memory.add_memory("other", content="x")
    memory.create_session(session_id="talk")
    memory.add_memory("talk", id="the-id", content="x")
    disk.calls.clear()
    assert memory.erase("talk", ids=["the-id"], verify=False).verification is None
    assert not [path for _, path in disk.calls if path.startswith("sessions/other")]


def test_backups_are_told_as_out_of_reach(memory, sid, tmp_path):
    memory.add_memory(sid, id="the-id", content="something")
    if not hasattr(memory, "backup"):
        return
    memory.backup(tmp_path / "saved")
    done = memory.erase(sid, ids=["the-id"])
    assert len(done.out_of_reach) == 1
    assert os.path.basename(done.out_of_reach[0]).startswith("saved")


# --- names that look alike


def test_deleting_a_session_leaves_the_quarantine_of_others_alone(root):
    """Of a user of the same name, and of sessions whose long names begin alike."""
    long = "x" * 150
    with opened(root) as memory:
        for session in ("same", long + "a", long + "b"):
            memory.create_session("same", session_id=session)
            memory.add_memory(session, id="e", type="note", content=f"damaged {session[-1]}")
        memory.add_memory("same", id="u", type="note", content="damaged user", scope="user")
    for log in ("users/same/preferences.jsonl", f"sessions/{long}b/memory.jsonl"):
        damage(root / log, b'"damaged ', b'"Damaged ')
    with opened(root) as memory:
        memory.get_memory("same", "u")
        memory.get_entries(long + "b")
        assert len(list((root / "quarantine").iterdir())) == 2
        memory.delete_session("same")
        memory.delete_session(long + "a")
    assert len(list((root / "quarantine").iterdir())) == 2
