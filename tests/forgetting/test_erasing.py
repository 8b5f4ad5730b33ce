"""Erased means erased: no file below the root holds a byte of it, and nobody sees it again."""

import json
from hashlib import sha256

import pytest

from mnemolog.settings import Settings
from mnemolog.testing import FixedClock
from mnemolog.testing.opening import open_on as open_simulated
from tests.forgetting.dying import LATER
from tests.forgetting.onlooker import onlooker
from tests.forgetting.planting import (
    IDS,
    KINDS,
    PLACES,
    A,
    D,
    E,
    F,
    Hidden,
    damage,
    everything_of,
    opened,
    plant,
    texts,
)
from tests.forgetting.scanner import traces, tree_of, word
from tests.log.disks import RecordingDisk, open_on
from tests.log.independent import build, is_intact, raw_lines, records

# --- a needle in every place that it can reach

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


@pytest.mark.parametrize(
    "spelt",
    [
        b'"id":"the\\u002Did/\\nx"',
        b'"id":"the-id\\/\\nx"',
        b'"id":"the-id/\\u000Ax"',
        b'"id" :"the-id/\\nx"',
        b'"id":\t"the-id/\\nx"',
        b'"\\u0069d":"the-id/\\nx"',
    ],
)
def test_a_line_of_another_program_goes_however_it_spells_the_id(memory, sid, root, folder, spelt):
    secret = word()
    memory.add_memory(sid, id="before", type="note", content="stays")
    plain = b'"id":"the-id/\\nx"'
    body = build(2, "the-id/\nx", secret).rpartition(b',"sum"')[0]
    assert plain in body
    body = body.replace(plain, spelt)
    with (folder / "memory.jsonl").open("ab") as file:
        file.write(body + b',"sum":"sha256:%s"}\n' % sha256(body).hexdigest().encode())
    with opened(root) as again:
        assert texts(again) == ["stays", secret]
        proof = again.erase(sid, ids=["the-id/\nx"]).verification
        assert proof is not None
        assert proof.clean
    with opened(root) as again:
        assert texts(again) == ["stays"]
    assert traces(root, [secret]) == {}
    assert b"before" in (folder / "memory.jsonl").read_bytes()


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


def test_what_a_crash_left_of_a_copy_is_erased_though_it_names_nobody(memory, sid, root, folder):
    secret = word()
    memory.add_memory(sid, id="the-id", type="note", content=secret)
    memory.add_memory(sid, id="other", type="note", content="stays")
    damage(folder / "memory.jsonl", secret.encode() + b'"', secret.encode() + b'#"')
    with opened(root) as again:
        again.compact_session(sid)
        (kept,) = (root / "quarantine").iterdir()
        content = kept.read_bytes()
        half = content.index(b'"content"')
        kept.write_bytes(bytes(half) + content[half:])
        again.erase(sid, ids=["other"])
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


@pytest.mark.parametrize("scope", ["session", "user", "shared"])
def test_what_was_damaged_since_it_was_read_is_erased_by_its_id(memory, sid, root, scope):
    secret = word()
    memory.add_memory(sid, id="the-id", type="note", content=secret, scope=scope)
    memory.add_memory(sid, id="other", type="note", content="stays", scope=scope)
    assert memory.get_memory(sid, "the-id") is not None
    (log,) = (path for path in root.rglob("*.jsonl") if secret.encode() in path.read_bytes())
    line = next(one for one in log.read_bytes().splitlines() if secret.encode() in one)
    with log.open("r+b") as file:  # in place, as a disk does it that forgets
        file.seek(log.read_bytes().index(line) + len(line) - 5)
        file.write(b"xyz")
    assert memory.erase(sid, ids=["the-id"]).ids == ("the-id",)
    assert traces(root, [secret, "the-id"]) == {}
    assert memory.get_memory(sid, "other") is not None


@pytest.mark.parametrize("scope", ["session", "user", "shared"])
@pytest.mark.parametrize("cut", [1, 40], ids=["whole but for its end", "torn"])
@pytest.mark.parametrize("is_archived", [False, True], ids=["live", "archived"])
def test_what_stands_in_a_torn_tail_alone_is_erased_by_its_id(
    memory, sid, root, scope, cut, is_archived
):
    """It was never acknowledged, and no reader sees it; its bytes are there all the same."""
    secret = word()
    memory.add_memory(sid, id="before", type="note", content="stays", scope=scope)
    memory.add_memory(sid, id="the-id", type="note", content=secret, scope=scope)
    (log,) = (path for path in root.rglob("*.jsonl") if secret.encode() in path.read_bytes())
    memory.close()
    log.write_bytes(log.read_bytes()[:-cut])
    with opened(root) as again:
        if is_archived:
            again.archive_session(sid)
        assert again.erase(sid, ids=["the-id"]).ids == ("the-id",)
        assert traces(root, [secret, "the-id"]) == {}
        assert again.erase(sid, ids=["the-id"]).erased_count == 0
        kept = again.get_memory(sid, "before")
        assert kept is not None
        assert kept.content == "stays"


# --- the other lines


@pytest.mark.req("S001-092")
def test_every_other_line_stays_byte_for_byte_where_it_was(memory, sid, folder):
    for number in range(20):
        memory.add_memory(
            sid, id=f"entry-{number}", type="note", content=f"entry {number} " + "ö" * number
        )
    memory.delete(sid, ids=["entry-7"])
    before = raw_lines(folder)
    memory.erase(sid, ids=["entry-3", "entry-7", "entry-19"])
    after = raw_lines(folder)
    gone = {3, 7, 19, 20}
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        assert (old != new) is (number in gone)
        assert len(old) == len(new)
        assert is_intact(new)
    blanks = [json.loads(after[number]) for number in gone]
    assert {one["type"] for one in blanks} == {"erased"}
    assert [one["seq"] for one in records(folder)] == list(range(1, 22))
    assert not {one["id"] for one in blanks} & {f"entry-{number}" for number in range(20)}
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
    memory = open_simulated(disk, settings, clock)
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
    ]
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
    )
    assert done.places["log"] == 40
    assert done.places["archive"] == 5
    assert done.places["uses"] == 45


def test_the_answer_tells_only_places_where_something_was(memory, sid):
    memory.add_memory(sid, id="a", content="never searched")
    assert memory.erase(sid, ids=["a"]).places == {"log": 1}


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
