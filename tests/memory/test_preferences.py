"""Preferences by key: of a session, of a user over all sessions, shared by explicit choice."""

import pytest

from mnemolog import Memory
from mnemolog.errors import SchemaInvalidError


def in_force(memory, *args, **kwargs):
    found = memory.get_preferences(*args, **kwargs)
    return {one.content["key"]: one.content["value"] for one in found}


@pytest.mark.req("S001-123", "S001-127")
def test_setting_a_key_again_replaces_its_value(memory, sid):
    first = memory.update_preference(sid, key="style", value="long")
    second = memory.update_preference(sid, key="style", value="short", confidence=0.9)
    memory.update_preference(sid, key="language", value="en")
    assert (first.status, second.status) == ("stored", "revised")
    assert first.id == second.id
    assert in_force(memory, sid) == {"style": "short", "language": "en"}
    assert memory.get_statistics(sid).preferences == 2


def test_a_sessions_preference_stays_in_the_session(memory, sid):
    memory.update_preference(sid, key="style", value="short")
    other = memory.create_session("u1").id
    assert in_force(memory, other) == {}


@pytest.mark.req("S001-001", "S001-017")
def test_a_users_preference_holds_in_all_sessions_of_the_user(memory, sid, root):
    memory.update_preference(sid, key="style", value="short", scope="user")
    memory.close()
    with Memory.open(root, environ={}) as again:
        other = again.create_session("u1").id
        stranger = again.create_session("u2").id
        assert in_force(again, other) == {"style": "short"}
        assert in_force(again, user_id="u1") == {"style": "short"}
        assert in_force(again, stranger) == {}
        assert in_force(again, user_id="u2") == {}
    assert (root / "users" / "u1" / "preferences.jsonl").read_bytes().count(b"\n") == 1


def test_a_users_preference_can_be_set_without_a_session(memory, sid):
    memory.update_preference(None, key="style", value="short", scope="user", user_id="u1")
    assert in_force(memory, sid) == {"style": "short"}


@pytest.mark.req("S001-018")
def test_a_shared_preference_holds_for_everybody(memory, sid, root):
    memory.update_preference(None, key="style", value="short", scope="shared")
    stranger = memory.create_session("u2").id
    assert in_force(memory) == in_force(memory, sid) == in_force(memory, stranger)
    assert in_force(memory) == {"style": "short"}
    assert (root / "shared" / "knowledge.jsonl").read_bytes().count(b"\n") == 1


@pytest.mark.req("S001-018")
def test_what_agents_learn_is_shared_by_explicit_choice_only(memory, sid, root):
    memory.add_memory(sid, id="mine", content="stays here", agent_id="architect")
    receipt = memory.add_memory(
        sid, id="ours", content="pools need a limit", agent_id="architect", scope="shared"
    )
    other = memory.create_session("u2", agent_ids=["analyst"]).id
    seen = memory.for_agent("analyst").get_memory(other, "ours")
    assert seen is not None
    assert seen.content == "pools need a limit"
    assert memory.get_memory(other, "mine") is None
    assert [one.id for one in memory.get_entries(sid)] == ["mine"]
    assert receipt.session_id == sid, "where it was learned"


def test_the_nearest_preference_wins(memory, sid):
    memory.update_preference(None, key="style", value="shared", scope="shared")
    memory.update_preference(None, key="only", value="shared", scope="shared")
    assert in_force(memory, sid)["style"] == "shared"
    memory.update_preference(sid, key="style", value="user", scope="user")
    assert in_force(memory, sid)["style"] == "user"
    memory.update_preference(sid, key="style", value="session")
    assert in_force(memory, sid) == {"style": "session", "only": "shared"}
    assert in_force(memory, user_id="u1") == {"style": "user", "only": "shared"}


def test_of_several_writers_the_last_one_counts(memory, sid):
    memory.for_agent("architect").update_preference(sid, key="style", value="one")
    memory.for_agent("analyst").update_preference(sid, key="style", value="two")
    assert in_force(memory, sid) == {"style": "two"}
    memory.for_agent("architect").update_preference(sid, key="style", value="three")
    assert in_force(memory, sid) == {"style": "three"}


def test_a_preference_added_as_a_plain_entry_is_set_by_its_key_too(memory, sid):
    memory.update_preference(sid, key="style", value="short")
    receipt = memory.add_memory(
        sid, {"type": "preferences", "content": {"key": "style", "value": "long"}}
    )
    assert receipt.status == "revised"
    assert in_force(memory, sid) == {"style": "long"}


def test_a_given_id_is_kept_and_its_key_still_counts_once(memory, sid):
    memory.update_preference(sid, id="pref-001", key="style", value="short")
    memory.update_preference(sid, key="style", value="long")
    assert in_force(memory, sid) == {"style": "long"}


@pytest.mark.parametrize("value", [0, False, "", [], {"a": 1}, 1.5])
def test_a_value_may_be_anything_that_json_can_hold(memory, sid, value):
    memory.update_preference(sid, key="k", value=value)
    assert in_force(memory, sid) == {"k": value}


@pytest.mark.parametrize("bad", [-0.1, 1.1, "sure", True])
def test_confidence_is_a_number_from_0_to_1(memory, sid, bad):
    with pytest.raises(SchemaInvalidError, match="confidence"):
        memory.update_preference(sid, key="k", value="v", confidence=bad)


def test_a_preference_of_nobody_is_refused(memory):
    anonymous = memory.create_session().id
    with pytest.raises(SchemaInvalidError, match="user"):
        memory.update_preference(anonymous, key="k", value="v", scope="user")
    with pytest.raises(SchemaInvalidError, match="scope"):
        memory.update_preference(None, key="k", value="v")


def test_the_preferences_of_a_session_itself_are_part_of_its_facts(memory):
    session = memory.create_session(preferences={"language": "de"})
    memory.update_session(session.id, preferences={"verbosity": "low"})
    assert memory.load_session(session.id).preferences == {"language": "de", "verbosity": "low"}
