"""A folder, a pipe or a link where a session's file belongs costs that session, and no other."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import SessionCorruptError, StorageIOError
from mnemolog.stores.files.doctor import repair, visit_root

STRANGE: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a pipe": os.mkfifo,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "junk": lambda path: path.write_text("junk"),
}
FILES = ["manifest.json", "memory.jsonl"]
# A segment of junk is a damaged line, which is told elsewhere.
WAYS = [(what, name) for name in FILES for what in STRANGE][:-1]


@pytest.fixture(params=WAYS, ids=" for ".join)
def spoiled(request, root, memory, clock):
    """A memory with the sessions `well` and `ill`, of which the second lost a file."""
    for name in ("well", "ill"):
        memory.create_session("u1", session_id=name, agent_ids=["architect"])
        memory.add_conversation(name, role="user", content="We need ACID.")
    memory.close()
    what, name = request.param
    path = root / "sessions/ill" / name
    path.unlink()
    STRANGE[what](path)
    with Memory.open(root, clock=clock, environ={}) as opened:
        yield opened


def test_statistics_count_the_others_and_say_which_is_missing(spoiled):
    found = spoiled.get_global_statistics()
    assert (found.sessions, found.total_entries) == (1, 1)
    (warning,) = found.warnings
    assert "ill is not counted" in warning
    assert "sessions/ill" in warning


def test_without_an_index_the_others_are_listed_too(spoiled, clock):
    bare = Memory(spoiled._store, spoiled.settings, clock)
    assert "well" in [one.id for one in bare.list_sessions()]


def test_nobody_is_told_of_a_session_that_may_be_somebody_elses(spoiled, root):
    assert spoiled.for_user("u2").get_global_statistics().warnings == ()
    agent = spoiled.for_agent("architect")
    heard = agent.get_global_statistics().warnings
    assert len(heard) == can_tell_whose(root)


def test_a_purge_says_what_it_could_not_look_at_and_does_the_rest(spoiled):
    done = spoiled.purge(confirm=True)
    assert [name.removeprefix("sessions/") for name in done.failed] == ["ill"]


def test_maintaining_goes_on_with_the_others_and_says_so(spoiled, root):
    done = spoiled.maintain(purge=True, confirm=True)
    assert done.purge is not None
    assert len(done.purge.failed) == 1
    assert spoiled.maintain(dry_run=True).compacted == ()
    assert list(done.failed) == ([] if can_tell_whose(root) else ["sessions/ill"])


def test_hiding_secrets_goes_on_with_the_others_and_says_so(spoiled, root):
    with Memory.open(root, environ={}, settings={"privacy.redaction": False}) as careless:
        careless.add_memory("well", content="write to somebody@example.com")
    assert spoiled.redact(dry_run=True).entries == 1
    done = spoiled.redact()
    assert (done.entries, done.kinds) == (1, {"email": 1})
    assert [name.removeprefix("sessions/") for name in done.failed] == ["ill"]
    with pytest.raises((SessionCorruptError, StorageIOError)):
        spoiled.redact("ill")


def can_tell_whose(root) -> bool:
    manifest = root / "sessions/ill/manifest.json"
    return not manifest.is_symlink() and manifest.is_file() and manifest.read_text() != "junk"


def test_an_export_or_a_backup_without_it_says_so_or_is_not_made(spoiled, tmp_path):
    for work in (
        lambda: spoiled.export_native(tmp_path / "all.jsonl").left_out,
        lambda: spoiled.export_native(tmp_path / "user.jsonl", user_id="u1").left_out,
        lambda: spoiled.backup(tmp_path / "root.tar.gz").warnings,
    ):
        try:
            assert any("sessions/ill" in text for text in work())
        except StorageIOError as error:
            assert "sessions/ill" in error.message  # noqa: PT017


# --- a manifest that is JSON, with values that none of ours has

DEEP = "an object in an object in an object …"
VALUES: dict[str, list[Any]] = {
    "session_id": ["", "a\0b"],
    "generation": [0, 10**19],
    "settings": [{"bogus": 1}, {"decay": {"minimum": 9}}],
    "markers": [{"closed_seq": "x"}, {"moved": 5}, {"moved": ["x"]}, {"compacted": 5}],
    "segments": [
        [{"name": "memory.jsonl", "first_seq": -5}],
        [{"name": "memory.jsonl", "size": 1}, {"name": "memory.jsonl"}],
    ],
    "metadata": [DEEP],
}
EDITS = [(name, value) for name, values in VALUES.items() for value in values]


@pytest.fixture(params=EDITS, ids=str)
def edited(request, root, memory, clock):
    """A memory with the sessions `well` and `ill`; of the second, somebody edited the manifest."""
    for name in ("well", "ill"):
        memory.create_session("u1", session_id=name)
        memory.add_conversation(name, role="user", content="We need ACID.")
    memory.close()
    name, value = request.param
    path = root / "sessions/ill/manifest.json"
    text = json.dumps({**json.loads(path.read_text()), name: value}, ensure_ascii=False)
    path.write_text(text.replace(f'"{DEEP}"', '{"a":' * 5000 + "1" + "}" * 5000))
    with Memory.open(root, clock=clock, environ={}) as opened:
        yield opened


def test_an_edited_manifest_costs_its_session_alone(edited):
    found = edited.get_global_statistics()
    assert (found.sessions, found.total_entries) == (1, 1)
    assert len(found.warnings) == 1
    assert "well" in [one.id for one in edited.list_sessions()]
    assert {hit.entry.session_id for hit in edited.query(None, text="ACID")} >= {"well"}
    done = edited.maintain()
    assert any("ill" in name for name in done.failed)
    with pytest.raises(SessionCorruptError, match="cannot be"):
        edited.add_conversation("ill", role="user", content="more")
    assert edited.add_conversation("well", role="user", content="more").durable


@pytest.mark.parametrize(
    "edit",
    [
        {"agent_ids": ["architect", "analyst", "architect"]},
        {"archived_at": "x"},
        {"archived_at": "2026-11-15T09:00:00.000Z"},
    ],
    ids=str,
)
def test_an_edit_that_says_nothing_wrong_costs_nothing(root, memory, clock, edit):
    for name in ("well", "ill"):
        memory.create_session("u1", session_id=name, agent_ids=["architect"])
        memory.add_conversation(name, role="user", content="We need ACID.")
    memory.close()
    path = root / "sessions/ill/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **edit}))
    with Memory.open(root, clock=clock, environ={}) as opened:
        found = {hit.entry.session_id for hit in opened.query(None, text="ACID")}
        assert found == {"well", "ill"}
        assert opened.load_session("ill").state == "active"
        assert [one.state for one in opened.list_sessions()] == ["active", "active"]
        opened.for_agent("architect").add_memory("ill", id="more", content="and more")
        opened.erase("ill", {"ids": ["more"]})
        opened.archive_session("ill")
        opened.restore_session("ill")
        assert len(opened.get_entries("ill")) == 1


def test_a_time_that_is_none_in_the_audit_is_no_purge_that_somebody_agreed_to(root, memory, sid):
    memory.add_memory(sid, content="x")
    before = memory.maintain().notes
    assert "has to be confirmed" in before[0]
    line = {"v": 1, "id": "x", "at": "x", "action": "purge", "before": "0" * 64, "sum": "x"}
    with (root / "audit.jsonl").open("a") as audit:
        audit.write(json.dumps(line, separators=(",", ":")) + "\n")
    assert memory.readable_audit()[-1].at == "x"
    assert memory.purge_runs().last is None
    assert memory.maintain().notes[:1] == before


def test_an_edited_sidecar_costs_its_session_alone(root, memory, clock):
    for name in ("well", "ill"):
        memory.create_session("u1", session_id=name)
        memory.add_conversation(name, role="user", content="We need ACID.")
    memory.archive_session("ill")
    memory.close()
    path = root / "archive/ill.manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "markers": {"closed_seq": "x"}}))
    with Memory.open(root, clock=clock, environ={}) as opened:
        assert opened.get_global_statistics().sessions == 1
        assert "well" in [one.id for one in opened.list_sessions()]


@pytest.mark.parametrize("depth", [200, 900, 5000])
def test_a_line_that_lies_too_deep_is_damage(root, memory, sid, folder, depth):
    memory.add_conversation(sid, role="user", content="We need ACID.")
    log = folder / "memory.jsonl"
    deep = (
        log.read_bytes()
        .partition(b',"seq":')[0]
        .replace(b'"We need ACID."', b'{"a":' * depth + b"1" + b"}" * depth)
    )
    head = deep + b',"seq":2'
    with log.open("ab") as file:
        file.write(head + b',"sum":"sha256:%s"}\n' % sha256(head).hexdigest().encode())
    memory.add_conversation(sid, role="user", content="and more")
    found = memory.get_entries(sid)
    assert [entry.content for entry in found] == ["We need ACID.", "and more"]
    assert len(found.warnings) == 1


# --- what goes, or turns into something else, while a memory is open


def replaced(path, what):
    path.unlink()
    STRANGE[what](path)


def found_by(memory):
    return {hit.entry.session_id for hit in memory.query(None, text="ACID")}


@pytest.fixture
def pair(memory):
    """The sessions `well` and `ill`, which a search has just looked at."""
    for name in ("well", "ill"):
        memory.create_session("u1", session_id=name)
        memory.add_conversation(name, role="user", content="We need ACID.")
    assert found_by(memory) == {"well", "ill"}
    return memory


@pytest.mark.parametrize("what", [name for name in STRANGE if name != "junk"])
@pytest.mark.parametrize("is_archived", [False, True], ids=["live", "archived"])
def test_a_search_goes_on_while_a_session_turns_into_something_else(pair, root, what, is_archived):
    if is_archived:
        pair.archive_session("ill")
        assert found_by(pair) == {"well", "ill"}
    path = "archive/ill.manifest.json" if is_archived else "sessions/ill/manifest.json"
    replaced(root / path, what)
    assert found_by(pair) == {"well"}


def test_a_session_that_lost_its_lock_is_not_said_to_be_missing(pair, root):
    (root / "sessions/ill/lock").unlink()
    pair.close()
    for work in (
        lambda: pair.add_memory("ill", content="more"),
        lambda: pair.delete_session("ill"),
        lambda: pair.update_session("ill", metadata={"a": 1}),
    ):
        with pytest.raises(SessionCorruptError, match="lock is missing") as caught:
            work()
        assert "doctor --repair" in caught.value.advice
    assert not list((root / "intents").glob("*.json")), "what was refused is not done later"
    assert len(pair.get_entries("ill")) == 1
    done = {one.finding.code: one.done for one in repair(visit_root(str(root), {}))}
    assert done["lock_missing"] == "made"
    assert pair.add_memory("ill", content="more").durable


@pytest.mark.parametrize("scope", ["user", "shared"])
def test_a_lock_that_a_users_log_lost_comes_back(pair, root, scope):
    pair.update_preference("well", key="a", value=1, scope=scope)
    (lock,) = (one for one in root.rglob("lock") if one.parent.name in ("u1", "shared"))
    lock.unlink()
    pair.close()
    pair.update_preference("well", key="b", value=2, scope=scope)
    assert lock.is_file()
    assert [one.content["key"] for one in pair.get_preferences("well")] == ["a", "b"]


LIVE = [(what, False) for what in ("nothing", *STRANGE) if what != "junk"]


@pytest.mark.parametrize(("what", "is_archived"), [*LIVE, ("nothing", True), ("junk", True)])
def test_a_session_whose_lines_cannot_be_read_can_be_deleted_all_the_same(
    pair, root, what, is_archived
):
    if is_archived:
        pair.archive_session("ill")
    path = root / ("archive/ill.tar.gz" if is_archived else "sessions/ill/memory.jsonl")
    path.unlink()
    if what != "nothing":
        STRANGE[what](path)
    pair.close()
    done = pair.delete_session("ill", verify=True)
    assert done.erased_count == 0, "nobody can tell how many there were"
    assert done.verification is None, "nor prove that they are gone"
    assert [one.id for one in pair.list_sessions()] == ["well"]
    assert not list(root.glob("archive/ill.*"))
    assert [one.name for one in (root / "sessions").iterdir()] == ["well"]


def test_a_backup_of_a_root_with_a_missing_segment_holds_the_rest(pair, root, tmp_path):
    (root / "sessions/ill/memory.jsonl").unlink()
    pair.close()
    done = pair.backup(tmp_path / "copy.tar.gz")
    (warning,) = done.warnings
    assert "sessions/ill" in warning
    assert done.sessions == 2
