"""Purging: what is past its retention is hidden, later erased, and nothing else is touched."""

import json
from datetime import timedelta
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import ConcurrentModificationError, LockTimeoutError, NotAllowedError
from mnemolog.ports.keeping import Audited
from mnemolog.testing.opening import open_on
from tests.forgetting.planting import opened
from tests.forgetting.scanner import traces, tree_of, word
from tests.log.disks import RecordingDisk

RECORD = Audited("2026-11-15T09:00:00.000Z", "delete session", None, 0, "owner", "", {})


def say(memory: Memory, sid: str, *ids: str, **more: Any) -> None:
    for one in ids:
        memory.add_conversation(sid, role="user", content=f"said in {one}", id=one, **more)


def ids(memory: Memory, sid: str) -> list[str]:
    return [one.id for one in memory.get_entries(sid)]


def purges(memory: Memory) -> list[Audited]:
    return [line for line in memory._keeper.audited() if line.action == "purge"]


@pytest.fixture
def agreed(memory: Memory) -> Memory:
    """A memory whose owner has agreed to purges."""
    assert not memory.purge(confirm=True).is_dry_run
    return memory


# --- the first one asks


@pytest.mark.req("S001-098")
def test_the_first_purge_only_tells_what_it_would_do(memory, sid, root, clock):
    say(memory, sid, "m1", "m2")
    clock.advance(days=91)
    before = tree_of(root)
    report = memory.purge()
    assert (report.is_dry_run, report.needs_confirmation) == (True, True)
    assert report.tombstoned.ids == ("m1", "m2")
    assert report.tombstoned.by_type == {"conversation": 2}
    assert report.tombstoned.by_session == {sid: 2}
    assert report.erased.count == 0
    assert "confirm" in str(report)
    assert "2 entries (2 conversation)" in str(report)
    assert tree_of(root) == before
    assert memory.purge().needs_confirmation, "asking is no agreement"


def test_once_one_was_confirmed_the_others_run(memory, sid, clock):
    say(memory, sid, "m1")
    clock.advance(days=91)
    assert not memory.purge(confirm=True).is_dry_run
    say(memory, sid, "m2")
    clock.advance(days=91)
    later = memory.purge()
    assert (later.is_dry_run, later.needs_confirmation) == (False, False)
    assert (later.tombstoned.ids, later.erased.ids) == (("m2",), ("m1",))


def test_a_dry_run_changes_no_byte_whoever_agreed(agreed, sid, root, clock):
    say(agreed, sid, "m1", "m2")
    agreed.delete_memory(sid, "m2")
    agreed.update_preference(None, key="k", value="v", scope="user", user_id="u1")
    gone = agreed.create_session(session_id="gone").id
    say(agreed, gone, "g1")
    agreed.archive_session(gone)
    clock.advance(days=800)
    before = tree_of(root)
    report = agreed.purge(dry_run=True)
    assert (report.is_dry_run, report.needs_confirmation) == (True, False)
    assert report.tombstoned.by_session == {sid: 1}
    assert report.tombstoned.by_user == {"u1": 1}
    assert report.erased.by_session == {sid: 1, "gone": 1}
    assert report.removed_sessions == ("gone",)
    assert tree_of(root) == before
    done = agreed.purge()
    assert (done.tombstoned, done.erased) == (report.tombstoned, report.erased)
    assert done.removed_sessions == report.removed_sessions


def test_a_plan_reads_no_line_that_it_cannot_mean(root, clock):
    disk = RecordingDisk(root)
    memory = open_on(disk, clock=clock)
    sid = memory.create_session(session_id="talk").id
    say(memory, sid, "old")
    clock.advance(days=91)
    say(memory, sid, *(f"young{number}" for number in range(20)))
    memory.get_entries(sid)  # what stands where is known now
    disk.calls.clear()
    assert memory.purge(dry_run=True).tombstoned.ids == ("old",)
    assert memory.would_forget(sid, {"types": ["finding"]}).ids == ()
    read = [path for name, path in disk.calls if (name, path[-6:]) == ("read", ".jsonl")]
    assert len(read) == 2, "the old one; and the last one, to list the session"


@pytest.mark.parametrize("kind", ["agent", "user"])
def test_only_the_owner_may_purge(memory, sid, clock, kind):
    say(memory, sid, "m1")
    clock.advance(days=91)
    view = memory.for_agent("architect") if kind == "agent" else memory.for_user("u1")
    with pytest.raises(NotAllowedError, match="owner"):
        view.purge(confirm=True)
    with pytest.raises(NotAllowedError, match="owner"):
        view.maintain()
    assert ids(memory, sid) == ["m1"]


# --- hidden first, erased later


@pytest.mark.req("S001-098", "S001-117")
def test_each_type_is_hidden_when_its_own_time_is_over(agreed, sid, clock):
    agreed.add_conversation(sid, role="user", content="x", id="c")
    agreed.add_finding(sid, description="x", id="f")
    agreed.add_decision(sid, decision="x", id="d")
    agreed.update_preference(sid, key="k", value="v", id="p")
    agreed.add_memory(sid, type="note", content="x", id="n")
    seen = []
    for days in (90, 1, 90, 185, 365):  # day 90, 91, 181, 366, 731
        clock.advance(days=days)
        agreed.purge()
        seen.append("".join(ids(agreed, sid)))
    assert seen == ["cfdpn", "fdpn", "dpn", "pn", "n"]


def test_what_was_hidden_can_be_brought_back_and_says_why_it_went(agreed, sid, folder, clock):
    say(agreed, sid, "m1")
    clock.advance(days=91)
    agreed.purge()
    assert ids(agreed, sid) == []
    last = json.loads((folder / "memory.jsonl").read_text().splitlines()[-1])
    assert (last["type"], last["target"], last["reason"]) == ("tombstone", "m1", "retention")
    clock.advance(days=29)
    assert agreed.undelete(sid, ["m1"]).ids == ("m1",)


def test_what_was_hidden_for_too_long_is_erased_from_every_file(agreed, sid, root, clock):
    secret = word()
    agreed.add_conversation(sid, role="user", content=f"the word is {secret}", id=f"m-{secret}")
    agreed.query(sid, text=secret)
    clock.advance(days=91)
    agreed.purge()
    clock.advance(days=30)
    assert agreed.purge().erased.count == 0, "exactly at its age it can still be undone"
    clock.advance(minutes=1)
    done = agreed.purge()
    assert done.erased.ids == (f"m-{secret}",)
    assert traces(root, [secret]) == {}


@pytest.mark.req("S002-101")
def test_a_deletion_is_permanent_after_compaction(memory, sid, root, clock):
    secret = word()
    memory.add_conversation(sid, role="user", content=secret, id="m1")
    memory.delete_memory(sid, "m1")
    clock.advance(days=31)
    memory.compact_session(sid)
    assert memory.undelete(sid, ["m1"]).ids == ()
    memory.close()
    assert traces(root, [secret]) == {}


def test_what_somebody_deleted_is_erased_however_young_it_is(agreed, sid, root, clock):
    say(agreed, sid, "m1", "m2")
    agreed.delete_memory(sid, "m1")
    clock.advance(days=31)
    done = agreed.purge()
    assert (done.tombstoned.count, done.erased.ids) == (0, ("m1",))
    assert ids(agreed, sid) == ["m2"]
    assert traces(root, ["said in m1"]) == {}


def test_each_log_is_erased_in_one_go(agreed, sid, clock):
    say(agreed, sid, *(f"m{number}" for number in range(40)))
    agreed.clear_session(sid)
    clock.advance(days=31)
    before = agreed._store.load(sid).generation
    assert agreed.purge().erased.count == 40
    assert agreed._store.load(sid).generation == before + 1
    assert [line.action for line in agreed._keeper.audited()][-2:] == ["erase", "purge"]


# --- what is kept


def test_an_old_chat_that_is_imported_lives_from_the_day_it_came(agreed, sid, clock):
    long_ago = clock.now() - timedelta(days=3000)
    say(agreed, sid, "m1", timestamp=long_ago)
    assert agreed.purge().tombstoned.count == 0
    clock.advance(days=89)
    assert agreed.purge().tombstoned.count == 0
    clock.advance(days=2)
    assert agreed.purge().tombstoned.ids == ("m1",)


def test_what_will_only_happen_is_kept(agreed, sid, clock):
    say(agreed, sid, "m1", timestamp=clock.now() + timedelta(days=500))
    clock.advance(days=400)
    assert agreed.purge().tombstoned.count == 0


def test_a_revision_makes_an_entry_young_again(agreed, sid, clock):
    say(agreed, sid, "m1")
    clock.advance(days=80)
    agreed.update_memory(sid, "m1", content="said again")
    clock.advance(days=80)
    assert agreed.purge().tombstoned.count == 0
    clock.advance(days=11)
    assert agreed.purge().tombstoned.ids == ("m1",)


def test_what_is_redacted_afterwards_grows_no_younger(root, clock):
    """Nor does it take longer until what was deleted is erased."""
    secret = f"mail {word()}@example.org"
    with opened(root, clock, privacy={"redaction": False}) as memory:
        memory.create_session(session_id="talk")
        for name in ("old", "deleted"):
            memory.add_memory("talk", id=name, type="conversation", role="user", content=secret)
        memory.delete("talk", ids=["deleted"])
        clock.advance(days=20)
        memory.update_memory("talk", "old", content=f"{secret}, said again")
    clock.advance(days=20)
    with opened(root, clock) as memory:
        assert memory.redact().entries == 2
        assert memory.undelete("talk", ["deleted"]).ids == (), "its time is over still"
        before = memory.get_entries("talk", as_of=clock.now() - timedelta(days=10))
        assert [entry.content for entry in before] == ["mail [REDACTED:email], said again"]
        clock.advance(days=69)
        assert memory.purge(confirm=True).erased.ids == ("deleted",)
        assert [entry.id for entry in memory.get_entries("talk")] == ["old"]
        clock.advance(days=2)
        assert memory.purge().tombstoned.ids == ("old",)


def test_a_revision_that_comes_just_before_the_tombstone_wins(agreed, sid, clock, monkeypatch):
    say(agreed, sid, "m1", "m2")
    clock.advance(days=91)
    append = agreed._store.append
    revised: list[bool] = []

    def late(log, writes, viewer, storage):
        if not revised:
            revised.append(True)
            agreed.update_memory(sid, "m1", content="at the last moment")
        return append(log, writes, viewer, storage)

    monkeypatch.setattr(agreed._store, "append", late)
    assert agreed.purge().tombstoned.ids == ("m2",)
    assert ids(agreed, sid) == ["m1"]


def test_an_id_that_is_used_again_just_before_the_erasure_keeps_its_new_line(
    agreed, sid, clock, monkeypatch, root
):
    say(agreed, sid, "m1")
    agreed.delete_memory(sid, "m1")
    clock.advance(days=31)
    erase = agreed._keeper.erase_older

    def late(log, limits, record):
        agreed.add_memory(sid, id="m1", content="new under an old name")
        return erase(log, limits, record)

    monkeypatch.setattr(agreed._keeper, "erase_older", late)
    agreed.purge()
    assert [one.content for one in agreed.get_entries(sid)] == ["new under an old name"]
    assert traces(root, ["said in m1"]) == {}


@pytest.mark.parametrize("is_kept", [True, False])
def test_approved_decisions_are_kept_unless_a_setting_says_otherwise(root, clock, is_kept):
    settings = {"privacy.keep_approved_decisions": is_kept}
    with Memory.open(root, settings=settings, clock=clock, environ={}) as memory:
        sid = memory.create_session().id
        memory.add_decision(sid, decision="x", approved_by=["ann"], id="approved")
        memory.add_decision(sid, decision="y", id="alone")
        clock.advance(days=366)
        memory.purge(confirm=True)
        assert ids(memory, sid) == (["approved"] if is_kept else [])


@pytest.mark.req("S001-117")
def test_a_session_may_have_times_of_its_own(agreed, clock):
    given = {
        "short": {"privacy.retention_days.conversation": 5, "privacy.undelete_days": 2},
        "long": {"privacy.retention_days.conversation": "never"},
        "usual": {},
    }
    for name, settings in given.items():
        agreed.create_session(session_id=name, settings=settings)
        say(agreed, name, f"m-{name}")
    clock.advance(days=6)
    assert agreed.purge().tombstoned.ids == ("m-short",)
    clock.advance(days=3)
    assert agreed.purge().erased.ids == ("m-short",)
    clock.advance(days=400)
    assert agreed.purge().tombstoned.ids == ("m-usual",)
    assert ids(agreed, "long") == ["m-long"]


# --- users, everybody, the archive


@pytest.mark.req("S001-098")
def test_the_logs_of_users_and_of_all_are_purged_too(agreed, root, clock):
    secret = word()
    who = {"user": {"user_id": "Ann"}, "shared": {}}
    for scope, more in who.items():
        agreed.update_preference(None, key="k", value=f"{secret} {scope}", scope=scope, **more)
    clock.advance(days=730)
    assert agreed.purge().tombstoned.count == 0
    clock.advance(days=1)
    hidden = agreed.purge().tombstoned
    assert (hidden.by_type, hidden.by_user, hidden.shared) == ({"preference": 2}, {"Ann": 1}, 1)
    assert agreed.get_preferences(user_id="Ann") == []
    clock.advance(days=31)
    erased = agreed.purge().erased
    assert (erased.by_user, erased.shared) == ({"Ann": 1}, 1)
    assert traces(root, [secret]) == {}


@pytest.mark.req("S001-102")
def test_an_archived_session_is_removed_once_all_of_it_is_past(agreed, sid, root, clock):
    secret = word()
    agreed.add_finding(sid, description=secret)
    agreed.archive_session(sid)
    clock.advance(days=180 + 30)
    before = tree_of(root / "archive")
    report = agreed.purge()
    assert (report.removed_sessions, report.tombstoned.count) == ((), 0)
    assert tree_of(root / "archive") == before, "until then it is not touched"
    clock.advance(days=1)
    report = agreed.purge()
    assert report.removed_sessions == (sid,)
    assert report.erased.by_type == {"finding": 1}
    assert agreed.list_sessions() == []
    assert traces(root, [secret]) == {}


@pytest.mark.req("S001-102")
def test_what_is_past_goes_out_of_an_archived_session_that_holds_something_to_keep(
    agreed, sid, root, clock
):
    secret = word()
    agreed.add_conversation(sid, role="user", content=secret)
    agreed.add_decision(sid, id="kept", decision="Use PostgreSQL", approved_by=["user"])
    agreed.archive_session(sid)
    (sidecar,) = (root / "archive").glob("*.manifest.json")
    before = json.loads(sidecar.read_bytes())["archived_at"]
    clock.advance(days=90 + 31)
    report = agreed.purge()
    assert (report.removed_sessions, report.erased.by_type) == ((), {"conversation": 1})
    assert agreed.load_session(sid).state == "archived"
    assert json.loads(sidecar.read_bytes())["archived_at"] == before
    assert ids(agreed, sid) == ["kept"]
    assert traces(root, [secret]) == {}


def test_what_was_deleted_goes_out_of_an_archived_session_too(agreed, sid, root, clock):
    secret = word()
    agreed.add_conversation(sid, role="user", content=secret, id="m1")
    say(agreed, sid, "m2")
    agreed.delete_memory(sid, "m1")
    agreed.archive_session(sid)
    clock.advance(days=31)
    assert agreed.purge().erased.ids == ("m1",)
    assert agreed.load_session(sid).state == "archived"
    assert ids(agreed, sid) == ["m2"]
    assert traces(root, [secret]) == {}
    assert agreed.purge().erased.count == 0


def test_a_session_that_has_left_the_archive_is_not_removed_with_it(memory, sid):
    say(memory, sid, "m1")
    with pytest.raises(ConcurrentModificationError, match="archive"):
        memory._keeper.remove(sid, RECORD, only_archived=True)
    assert ids(memory, sid) == ["m1"]


@pytest.fixture
def compacted(agreed: Memory, sid: str, clock) -> str:
    """A word that a compaction has moved to the archive, in the entry m1."""
    secret = word()
    agreed.add_conversation(sid, role="user", content=secret, id="m1")
    clock.advance(days=60)
    say(agreed, sid, "m2")
    agreed.update_session(sid, settings={"compaction.relevance_floor": 0.2})
    assert agreed.compact_session(sid).archived == 1
    return secret


def test_what_a_compaction_moved_goes_when_both_times_are_over(agreed, sid, root, clock, compacted):
    clock.advance(days=60)
    assert agreed.purge().erased.count == 0
    assert agreed.get_memory(sid, "m1") is not None
    clock.advance(days=1)
    done = agreed.purge()
    assert done.erased.ids == ("m1",)
    assert done.tombstoned.count == 0
    assert agreed.get_memory(sid, "m1") is None
    assert ids(agreed, sid) == ["m2"]
    assert traces(root, [compacted]) == {}


# --- the record of it, and failures


@pytest.mark.parametrize("kept", [1, 0], ids=["something stays", "all was moved"])
def test_what_was_said_last_and_moved_goes_too(agreed, sid, root, clock, kept):
    """Its number is higher than that of any line which is left in the log."""
    secret = word()
    for number in range(kept):
        agreed.add_memory(sid, type="note", content=f"stays {number}", importance=0.9)
    agreed.add_memory(
        sid, id="faint-id", type="conversation", role="user", content=secret, importance=0.001
    )
    clock.advance(days=60)
    assert agreed.compact_session(sid).archived == 1
    clock.advance(days=61)
    assert agreed.purge().erased.ids == ("faint-id",)
    assert agreed.get_memory(sid, "faint-id") is None
    assert traces(root, [secret, "faint-id"]) == {}
    assert agreed.purge().erased.ids == ()


def test_a_purge_leaves_one_line_in_the_audit_and_no_word_of_what_went(memory, sid, root, clock):
    secret = word()
    memory.add_conversation(sid, role="user", content=secret, id=f"m-{secret}")
    memory.add_conversation(sid, role="user", content="x", id="m2")
    memory.delete_memory(sid, f"m-{secret}")
    clock.advance(days=91)
    memory.purge()
    memory.purge(dry_run=True)
    assert purges(memory) == []
    memory.purge(confirm=True)
    (line,) = purges(memory)
    assert (line.entries, line.reason, line.actor) == (2, "retention", "owner")
    assert line.criteria == {"tombstoned": 1, "erased": 1, "sessions": 0}
    assert secret not in (root / "audit.jsonl").read_text()


def test_a_log_that_cannot_be_purged_does_not_keep_the_others(agreed, sid, root, clock, compacted):
    (moved,) = (root / "archive").glob("*.gz")
    moved.write_bytes(b"damage")
    other = agreed.create_session(session_id="zebra").id
    say(agreed, other, "z1")
    clock.advance(days=91)
    done = agreed.purge()
    assert done.tombstoned.by_session == {"zebra": 1}
    assert list(done.failed) == [sid]
    assert "cannot be unpacked" in done.failed[sid]
    assert f"could not be purged: {sid}" in str(done)
    assert len(purges(agreed)) == 2


def test_two_purges_at_once_are_one(agreed, sid, clock):
    say(agreed, sid, "m1")
    clock.advance(days=91)
    with agreed._keeper.lease("maintain") as is_mine:
        assert is_mine
        with pytest.raises(LockTimeoutError, match="at the moment"):
            agreed.purge()
        assert agreed.purge(dry_run=True).tombstoned.count == 1, "looking is always possible"
    assert agreed.purge().tombstoned.count == 1


def test_progress_is_told_by_logs(agreed, sid):
    agreed.update_preference(None, key="k", value="v", scope="user", user_id="u1")
    seen: list[tuple[int, int]] = []
    agreed.purge(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]  # a session, a user, the shared log


def test_the_random_id_of_a_blank_line_takes_no_living_entry_with_it(agreed, sid, clock):
    names = "0123456789abcdef"  # every id that a blank line in place of one of them can get
    say(agreed, sid, *names)
    agreed.delete_memory(sid, "f")
    clock.advance(days=31)
    assert agreed.purge().erased.ids == ("f",)
    assert "".join(ids(agreed, sid)) == names[:-1]
    found = agreed.query(sid, text="said", limit=50)
    assert sorted(hit.entry.id for hit in found) == [*names[:-1]]
