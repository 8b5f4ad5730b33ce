"""Sessions: created, loaded, changed, closed, listed, deleted."""

import json
import re
import resource

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    InvalidFormatError,
    LockTimeoutError,
    NotAllowedError,
    SchemaInvalidError,
    SessionExistsError,
    SessionNotFoundError,
    SettingsError,
    SizeLimitError,
)
from tests.log.test_locks import held


@pytest.mark.req("S001-160")
def test_a_new_session_gets_an_id_that_tells_its_day(memory):
    session = memory.create_session("test-user")
    assert re.fullmatch(r"sess-2026-11-15-[0-9a-f]{10}", session.id)
    assert memory.create_session("test-user").id != session.id


@pytest.mark.req("S001-020", "S001-025", "S001-026", "S002-032", "S002-034", "S002-040", "S002-041")
def test_a_session_keeps_everything_that_it_was_created_with(memory, root):
    given = {
        "agent_ids": ["bmad-master", "architect", "analyst"],
        "metadata": {
            "project_name": "payment-system",
            "session_type": "architecture_review",
            "tags": ["architecture", "payments"],
        },
        "preferences": {"language": "en", "verbosity": "medium", "custom": {"emoji": False}},
    }
    created = memory.create_session("user-789", **given)
    memory.close()
    with Memory.open(root, environ={}) as again:
        loaded = again.load_session(created.id)
    assert loaded == created
    assert loaded.user_id == "user-789"
    assert loaded.agent_ids == ("bmad-master", "architect", "analyst")
    assert loaded.metadata == given["metadata"]
    assert loaded.preferences == given["preferences"]
    assert loaded.created_at == loaded.updated_at == "2026-11-15T09:00:00.000Z"
    assert loaded.version == "1.0"
    assert loaded.state == "active"


@pytest.mark.req("S001-010", "S002-014", "S002-015", "S002-018")
def test_a_session_is_a_folder_with_a_manifest_a_log_and_a_lock(memory, root):
    session = memory.create_session("u1", session_id="pay")
    folder = root / "sessions" / "pay"
    assert sorted(path.name for path in folder.iterdir()) == [
        "lock", "manifest.json", "memory.jsonl",
    ]  # fmt: skip
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert manifest["v"] == 1
    assert manifest["session_id"] == session.id
    assert manifest["user_id"] == "u1"


def test_nothing_else_is_left_beside_a_new_session(memory, root):
    memory.create_session(session_id="pay")
    assert [path.name for path in (root / "sessions").iterdir()] == ["pay"]


@pytest.mark.req("S002-023")
@pytest.mark.parametrize("given", ["sess_20260110_user123", "tauri-code-reviewer-8f14e45f", "A b"])
def test_a_session_may_be_given_its_id(memory, given):
    assert memory.create_session(session_id=given).id == given
    assert memory.load_session(given).id == given
    assert memory.add_memory(given, content="hello").session_id == given


def test_an_id_that_is_taken_is_refused_and_nothing_is_touched(memory, sid, root):
    memory.add_memory(sid, content="kept")
    with pytest.raises(SessionExistsError, match="talk") as caught:
        memory.create_session("somebody", session_id=sid)
    assert caught.value.code == "E_SESSION_EXISTS"
    assert caught.value.advice
    assert memory.load_session(sid).user_id == "u1"
    assert len(memory.get_entries(sid)) == 1
    assert [path.name for path in (root / "sessions").iterdir()] == ["talk"], "nothing is left over"


@pytest.mark.req("S001-150")
def test_a_session_that_is_not_there_is_not_found_by_any_verb(memory, root):
    for verb in (
        memory.load_session,
        memory.close_session,
        memory.delete_session,
        memory.get_entries,
        memory.get_statistics,
        memory.get_preferences,
        lambda sid: memory.get_memory(sid, "m1"),
        lambda sid: memory.update_session(sid, metadata={}),
        lambda sid: memory.add_memory(sid, content="x"),
        lambda sid: memory.add_many(sid, [{"content": "x"}]),
        lambda sid: memory.update_memory(sid, "m1", tags=[]),
        lambda sid: memory.update_preference(sid, key="k", value="v"),
    ):
        with pytest.raises(SessionNotFoundError, match="nobody") as caught:
            verb("nobody")
        assert caught.value.code == "E_SESSION_NOT_FOUND"
        assert caught.value.advice
    assert list((root / "sessions").iterdir()) == []


def test_a_session_can_be_changed_key_by_key(memory, sid, clock):
    memory.update_session(sid, metadata={"a": 1, "b": 1}, preferences={"language": "en"})
    changed = memory.update_session(sid, metadata={"b": 2}, agent_ids=["writer"])
    assert changed.metadata == {"a": 1, "b": 2}
    assert changed.preferences == {"language": "en"}
    assert changed.agent_ids == ("writer",)
    assert changed == memory.load_session(sid)


def test_a_change_is_seen_by_every_open_memory(memory, sid, root):
    with Memory.open(root, environ={}) as other:
        assert other.load_session(sid).metadata == {}
        memory.update_session(sid, metadata={"a": 1})
        assert other.load_session(sid).metadata == {"a": 1}
        other.update_session(sid, metadata={"b": 2})
        assert memory.load_session(sid).metadata == {"a": 1, "b": 2}


def test_a_session_may_override_some_settings_and_no_others(memory):
    session = memory.create_session(settings={"storage.durability": "os"})
    assert memory.load_session(session.id).settings == {"storage.durability": "os"}
    assert not memory.add_memory(session.id, content="x").durable
    memory.update_session(session.id, settings={"storage.durability": "always"})
    assert memory.add_memory(session.id, content="x").durable
    for bad in ({"concurrency.lock_timeout_ms": 1}, {"storage.durability": "no"}, {"nonsense": 1}):
        with pytest.raises(SettingsError):
            memory.create_session(settings=bad)
        with pytest.raises(SettingsError):
            memory.update_session(session.id, settings=bad)
    assert memory.load_session(session.id).settings == {"storage.durability": "always"}


@pytest.mark.parametrize(
    ("before", "more", "after"),
    [
        ({"decay": {"minimum": 0.3}}, {"decay.minimum": 0.2}, {"decay.minimum": 0.2}),
        ({"decay.minimum": 0.3}, {"decay": {"minimum": 0.2}}, {"decay.minimum": 0.2}),
        ({"decay.minimum": 0.3}, {"decay_config": {"minimum": 0.2}}, {"decay.minimum": 0.2}),
        (
            {"decay": {"minimum": 0.3}},
            {"decay": {"half_life_hours": {"finding": "never"}}},
            {"decay.minimum": 0.3, "decay.half_life_hours.finding": "never"},
        ),
        (
            {"decay": {"minimum": 0.3}},
            {"storage": {"durability": "os"}},
            {"decay": {"minimum": 0.3}, "storage": {"durability": "os"}},
        ),
        ({"decay": {"minimum": 0.3}}, {}, {"decay": {"minimum": 0.3}}),
    ],
)
def test_an_override_can_be_changed_in_whichever_way_it_was_spelled(memory, before, more, after):
    sid = memory.create_session(settings=before).id
    memory.update_session(sid, settings=more)
    assert memory.load_session(sid).settings == after
    memory.add_memory(sid, content="goes by them")


def test_a_sessions_facts_cannot_grow_past_what_it_may_be_created_with(memory, sid):
    piece = {"text": "x" * 600_000}
    memory.update_session(sid, metadata={"one": piece})
    with pytest.raises(SizeLimitError):
        memory.update_session(sid, metadata={"two": piece})
    assert memory.load_session(sid).metadata == {"one": piece}
    memory.update_session(sid, metadata={"one": "less"})
    memory.update_session(sid, metadata={"two": piece})


@pytest.mark.req("S002-042")
def test_a_closed_session_is_idle_until_the_next_entry(memory, sid):
    memory.add_memory(sid, content="one")
    assert memory.close_session(sid).state == "idle"
    assert memory.load_session(sid).state == "idle"
    assert [one.content for one in memory.get_entries(sid)] == ["one"]
    memory.add_memory(sid, content="two")
    assert memory.load_session(sid).state == "active"
    assert memory.close_session(sid).state == "idle"


def test_an_empty_session_can_be_closed(memory, sid):
    assert memory.close_session(sid).state == "idle"
    memory.add_memory(sid, content="one")
    assert memory.load_session(sid).state == "active"


@pytest.mark.req("S001-047")
def test_the_time_of_the_last_change_follows_every_write(memory, sid, clock):
    clock.advance(hours=1)
    memory.add_memory(sid, content="one")
    assert memory.load_session(sid).updated_at == "2026-11-15T10:00:00.000Z"
    clock.advance(hours=1)
    memory.add_memory(sid, content="imported", timestamp="2020-01-01T00:00:00Z")
    assert memory.load_session(sid).updated_at == "2026-11-15T11:00:00.000Z"
    assert memory.load_session(sid).created_at == "2026-11-15T09:00:00.000Z"


def test_sessions_are_listed_latest_first_and_can_be_chosen(memory, clock):
    first = memory.create_session("u1", agent_ids=["a"]).id
    clock.advance(minutes=1)
    second = memory.create_session("u2", agent_ids=["a", "b"]).id
    clock.advance(minutes=1)
    third = memory.create_session("u1").id
    clock.advance(minutes=1)
    memory.add_memory(first, content="x")
    memory.close_session(second)

    def ids(**wanted: object) -> list[str]:
        return [one.id for one in memory.list_sessions(**wanted)]

    assert ids() == [first, third, second]
    assert ids(user_id="u1") == [first, third]
    assert ids(agent_id="a") == [first, second]
    assert ids(state="idle") == [second]
    assert ids(limit=1) == [first]
    assert ids(limit=0) == []
    assert ids(user_id="nobody") == []


def test_what_is_no_session_is_left_out_of_the_list(memory, sid, root):
    (root / "sessions" / "notes.txt").write_text("somebody's own file")
    (root / "sessions" / "empty").mkdir()
    (root / "sessions" / ".new-1234").mkdir()
    assert [one.id for one in memory.list_sessions()] == [sid]
    assert memory.get_global_statistics().sessions == 1


def test_a_deleted_session_is_gone_with_everything_in_it(memory, sid, root):
    memory.add_memory(sid, content="secret")
    memory.delete_session(sid)
    with pytest.raises(SessionNotFoundError):
        memory.load_session(sid)
    assert memory.list_sessions() == []
    assert list((root / "sessions").iterdir()) == []
    assert [path.name for path in (root / "intents").iterdir()] == ["reserve"]


def test_a_deleted_sessions_id_can_be_used_again(memory, sid, root):
    with Memory.open(root, environ={}) as other:
        other.add_memory(sid, content="old")
        memory.delete_session(sid)
        memory.create_session("u2", session_id=sid)
        assert other.get_entries(sid) == []
        assert other.load_session(sid).user_id == "u2"
        assert other.add_memory(sid, content="new").seq == 1
        assert [one.content for one in memory.get_entries(sid)] == ["new"]


def test_a_deletion_that_could_not_get_the_lock_deletes_nothing_later_either(root, sid, folder):
    with Memory.open(root, settings={"concurrency.lock_timeout_ms": 0}, environ={}) as eager:
        eager.add_memory(sid, content="kept")
        with held(folder / "lock"), pytest.raises(LockTimeoutError):
            eager.delete_session(sid)
    with Memory.open(root, environ={}) as again:
        assert [one.content for one in again.get_entries(sid)] == ["kept"]


@pytest.mark.parametrize("bad", ["", 5, None, b"x", ["x"]])
def test_agents_must_be_named(memory, bad):
    with pytest.raises(InvalidFormatError):
        memory.create_session(agent_ids=["good", bad])


def test_a_single_agent_may_be_given_as_text_and_twice_counts_once(memory):
    assert memory.create_session(agent_ids="architect").agent_ids == ("architect",)
    assert memory.create_session(agent_ids=["a", "b", "a"]).agent_ids == ("a", "b")


@pytest.mark.parametrize("field", ["metadata", "preferences"])
@pytest.mark.parametrize("bad", [5, "text", ["list"], {"set": {1}}, {"nan": float("nan")}, {1: 2}])
def test_metadata_and_preferences_must_be_plain_objects(memory, sid, field, bad):
    with pytest.raises(SchemaInvalidError, match=field):
        memory.create_session(**{field: bad})
    with pytest.raises(SchemaInvalidError, match=field):
        memory.update_session(sid, **{field: bad})


@pytest.mark.req("S001-009", "S001-134")
def test_the_root_and_the_settings_are_the_callers_choice(tmp_path, monkeypatch):
    chosen = tmp_path / "project" / ".bmad" / "memory"
    with Memory.open(chosen, settings={"storage": {"max_session_size_mb": 3}}) as memory:
        memory.create_session(session_id="s")
        assert memory.settings.storage.max_session_size_mb == 3
    assert (chosen / "sessions" / "s").is_dir()
    monkeypatch.chdir(tmp_path)
    with Memory.open() as memory:
        memory.create_session(session_id="s")
    assert (tmp_path / ".mnemolog" / "sessions" / "s").is_dir()


def test_opening_a_root_again_changes_nothing_in_it(memory, sid, root):
    memory.add_memory(sid, content="x")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    with Memory.open(root, environ={}) as again:
        again.get_entries(sid)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before


def test_a_new_root_is_kept_out_of_version_control(memory, root):
    assert "*" in (root / ".gitignore").read_text().splitlines()


def test_a_closed_memory_can_still_be_used(memory, sid):
    memory.add_memory(sid, content="one")
    memory.close()
    memory.close()
    assert memory.add_memory(sid, content="two").seq == 2


@pytest.mark.req("S002-010")
def test_an_address_of_a_database_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidFormatError, match="postgresql"):
        Memory.open("postgresql://localhost/memory")
    assert list(tmp_path.iterdir()) == []


def test_a_view_for_a_user_creates_and_sees_that_users_sessions_only(memory, sid):
    view = memory.for_user("u2")
    mine = view.create_session().id
    assert view.load_session(mine).user_id == "u2"
    assert [one.id for one in view.list_sessions()] == [mine]
    with pytest.raises(SessionNotFoundError):
        view.load_session(sid)
    with pytest.raises(NotAllowedError):
        view.create_session("u1")


@pytest.fixture
def few_files():
    """The number of files that most systems let a process have open at once."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, before[1]), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_any_number_of_sessions_can_be_used_with_the_usual_number_of_files(root, few_files):
    with Memory.open(root, settings={"storage.durability": "os"}, environ={}) as memory:
        ids = [memory.create_session().id for _ in range(250)]
        for one in ids:
            memory.add_memory(one, content="x")
            assert len(memory.get_entries(one)) == 1
