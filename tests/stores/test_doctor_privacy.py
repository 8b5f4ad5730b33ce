"""`doctor --privacy`: every finding is provoked, and nothing is changed by looking."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from mnemolog.fs.real import RealDisk
from mnemolog.settings import Settings
from mnemolog.stores.files import doctor
from mnemolog.stores.files.doctor.findings import Finding
from tests.forgetting.scanner import tree_of
from tests.forgetting.test_purge import say

Examine = Callable[..., list[Finding]]


@pytest.fixture
def examine(root, clock) -> Examine:
    """What the doctor finds now; looking must change nothing."""

    def findings(**settings: object) -> list[Finding]:
        before = tree_of(root)
        effective = Settings().changed(settings)
        visit = doctor.Visit(RealDisk(str(root)), effective, now=clock.now(), only_privacy=True)
        found = list(doctor.examine(visit))
        assert tree_of(root) == before
        return found

    return findings


def told(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(one.code, one.path, one.what) for one in found]


def test_a_fresh_root_gives_no_cause(memory, sid, examine):
    say(memory, sid, "m1")
    memory.delete_memory(sid, "m1")
    assert examine() == []


def test_what_is_past_retention_is_counted_by_type(memory, sid, examine, clock):
    say(memory, sid, "m1", "m2")
    memory.add_finding(sid, description="x")
    memory.add_memory(sid, type="note", content="kept for ever")
    clock.advance(days=90)
    assert examine() == []
    clock.advance(days=91)
    what = "past retention: 3 entries (2 conversation, 1 finding)"
    assert told(examine()) == [("retention_overdue", "sessions/talk", what)]


def test_the_times_of_each_session_count(memory, examine, clock):
    for name, days in (("short", 5), ("never", "never")):
        settings = {"privacy.retention_days.conversation": days}
        say(memory, memory.create_session(session_id=name, settings=settings).id, "m1")
    clock.advance(days=6)
    assert [one.path for one in examine()] == ["sessions/short"]
    clock.advance(days=5000)
    assert [one.path for one in examine()] == ["sessions/short"]


def test_an_import_of_an_old_chat_is_no_finding(memory, sid, examine, clock):
    say(memory, sid, "m1", timestamp=clock.now() - timedelta(days=4000))
    assert examine() == []


def test_what_was_deleted_long_ago_and_is_still_there_is_found(memory, sid, examine, clock):
    say(memory, sid, "m1")
    memory.delete_memory(sid, "m1")
    clock.advance(days=31)
    what = "deleted too long ago to be undone, and still there: 1 entry (1 conversation)"
    assert told(examine()) == [("hidden_overdue", "sessions/talk", what)]
    memory.purge(confirm=True)
    assert examine() == []


def test_users_and_the_shared_log_are_looked_at(memory, examine, clock):
    memory.update_preference(None, key="k", value="v", scope="user", user_id="Ann")
    memory.update_preference(None, key="k", value="v", scope="shared")
    clock.advance(days=731)
    assert [(one.code, one.path) for one in examine()] == [
        ("retention_overdue", "users/%41nn/preferences.jsonl"),
        ("retention_overdue", "shared/knowledge.jsonl"),
    ]


def test_an_archived_session_is_found_once_all_of_it_is_past(memory, sid, examine, clock):
    say(memory, sid, "m1", "m2")
    memory.archive_session(sid)
    clock.advance(days=119)
    assert examine() == []
    clock.advance(days=2)
    what = "all of this archived session is past retention: 2 entries (2 conversation)"
    assert told(examine()) == [("retention_overdue", "archive/talk.manifest.json", what)]


def test_what_a_compaction_moved_is_found_unless_it_lives_on(memory, sid, examine, clock):
    say(memory, sid, "m1", "m2")
    clock.advance(days=60)
    memory.update_session(sid, settings={"compaction.relevance_floor": 0.2})
    assert memory.compact_session(sid).archived == 2
    clock.advance(days=55)
    say(memory, sid, "m2")
    clock.advance(days=10)
    (found,) = examine()
    assert (found.code, found.path) == ("hidden_overdue", "sessions/talk")
    assert "1 entry" in found.what


def test_redaction_that_is_off_is_found_in_the_root_or_in_single_sessions(memory, sid, examine):
    memory.create_session(session_id="open", settings={"privacy.redaction": False})
    assert [(one.code, one.path) for one in examine()] == [("redaction_off", "sessions/open")]
    off = examine(**{"privacy.redaction": False})
    assert [(one.code, one.path) for one in off] == [("redaction_off", "config.toml")]


def test_modes_and_open_intents_belong_to_it(memory, sid, folder, root, examine):
    (folder / "memory.jsonl").chmod(0o644)
    (folder / "old.tmp").write_text("of no interest here")
    (folder / "old.tmp").chmod(0o600)
    note = {"v": 1, "operation": "erase", "kind": "session", "log": sid}
    intent = root / "intents" / "0123456789abcdef.json"
    intent.write_text(json.dumps(note) + "\n")
    intent.chmod(0o600)
    assert [(one.code, one.path) for one in examine()] == [
        ("mode_loose", "sessions/talk/memory.jsonl"),
        ("intent_open", "intents/0123456789abcdef.json"),
    ]


def test_known_backups_are_listed_with_their_last_day(memory, sid, tmp_path, examine, clock):
    target = str(tmp_path / "backup.tar.gz")
    memory.backup(target)
    ((code, path, what),) = told(examine())
    assert (code, path) == ("backup_known", "audit.jsonl")
    assert target in what
    assert "2026-11-15" in what


def test_an_audit_that_somebody_edited_is_found(memory, sid, root, examine):
    say(memory, sid, "m1", "m2")
    for one in ("m1", "m2"):
        memory.delete_memory(sid, one)
    audit = root / "audit.jsonl"
    audit.write_text("".join(audit.read_text().splitlines(keepends=True)[1:]))
    assert [one.code for one in examine()] == ["audit_broken"]


def test_a_session_that_cannot_be_read_is_told_and_the_others_are_still_looked_at(
    memory, sid, folder, examine, clock
):
    say(memory, memory.create_session(session_id="zebra").id, "m1")
    (folder / "manifest.json").write_text("{")
    clock.advance(days=91)
    found = examine()
    assert [(one.code, one.path) for one in found] == [
        ("unreadable", "sessions/talk"),
        ("retention_overdue", "sessions/zebra"),
    ]


def test_an_erasure_that_was_interrupted_is_finished_by_a_repair(memory, sid, root, clock):
    say(memory, sid, "m1")
    record = {"at": "2026-11-15T09:00:00.000Z", "action": "erase", "session_id": sid, "entries": 1}
    record |= {"actor": "owner", "reason": "", "criteria": {}}
    note = {"v": 1, "operation": "erase", "kind": "session", "log": sid, "ids": ["m1"]}
    note |= {"limits": ["9"], "audit": json.dumps(record), "audit_id": "0123"}
    (root / "intents" / "0123456789abcdef.json").write_text(json.dumps(note) + "\n")
    visit = doctor.Visit(RealDisk(str(root)), Settings(), now=clock.now(), only_privacy=True)
    done = {one.finding.code: one.done for one in doctor.repair(visit)}
    assert done["intent_open"] == "finished"
    assert memory.get_entries(sid) == []
