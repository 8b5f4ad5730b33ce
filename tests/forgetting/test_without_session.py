"""What users own and what all share is forgotten without a session, also when none is left."""

import pytest
from click.testing import CliRunner

from mnemolog.errors import NotAllowedError, SchemaInvalidError
from mnemolog.faces.cli.app import app
from tests.forgetting.planting import audited, damage, opened
from tests.forgetting.scanner import traces, word


@pytest.fixture
def secrets(memory, root):
    """Two users own something; what they shared names one of them; their sessions are gone."""
    said = {name: word() for name in ("ann's", "ben's", "ann shared", "all share")}
    with opened(root) as planting:
        for user in ("ann", "ben"):
            planting.create_session(user, session_id=user)
        planting.update_preference(
            "ann", key="a", value=said["ann's"], scope="user", id="ann-pref-1"
        )
        planting.update_preference(
            None, key="b", value=said["ben's"], scope="user", user_id="ben", id="ben-pref-1"
        )
        for name, user in (("ann shared", "ann"), ("all share", "ben")):
            planting.add_memory(user, type="note", content=said[name], scope="shared", user_id=user)
        planting.query(None, text=said["ann's"])
        for user in ("ann", "ben"):
            planting.delete_session(user)
    return said


def test_all_that_a_user_owns_is_erased(memory, root, secrets):
    done = memory.erase(None, user_id="ann", reason="asked")
    assert done.erased_count == 2
    assert done.verification is not None
    assert done.verification.clean
    assert traces(root, [secrets["ann's"], secrets["ann shared"], "ann-pref-1"]) == {}
    assert set(traces(root, secrets.values())) == {secrets["ben's"], secrets["all share"]}
    line = audited(root)[-1]
    assert (line["action"], line["criteria"]) == ("erase", {"user_id": 1})
    assert "session_id" not in line


def test_an_id_is_found_in_the_log_of_any_user(memory, root, secrets):
    assert memory.would_forget(None, {"ids": ["ben-pref-1"]}).ids == ("ben-pref-1",)
    assert memory.delete(None, ids=["ben-pref-1"]).ids == ("ben-pref-1",)
    assert memory.get_preferences(user_id="ben") == []
    assert memory.undelete(None, ["ben-pref-1"]).ids == ("ben-pref-1",)
    assert [one.id for one in memory.get_preferences(user_id="ben")] == ["ben-pref-1"]
    memory.delete(None, ids=["ben-pref-1"])
    memory.erase(None, ids=["ben-pref-1"])
    assert traces(root, [secrets["ben's"], "ben-pref-1"]) == {}


def test_other_criteria_choose_among_what_a_user_owns(memory, secrets):
    assert memory.delete(None, user_id="ann", types=["preference"]).ids == ("ann-pref-1",)
    assert memory.undelete(None, user_id="ann").ids == ("ann-pref-1",)
    assert memory.delete(None, user_id="ann", time_range={"end": 0}).deleted_count == 0


def test_damage_in_a_users_log_goes_with_the_id_that_it_names(memory, root, secrets):
    said = secrets["ann's"].encode()
    damage(root / "users/ann/preferences.jsonl", said + b'"', said + b'#"')
    with opened(root) as again:
        assert again.erase(None, ids=["ann-pref-1"]).erased_count == 1
    assert traces(root, [secrets["ann's"]]) == {}


def test_whose_entries_are_meant_must_be_said(memory, secrets):
    with pytest.raises(SchemaInvalidError, match="whose"):
        memory.erase(None, types=["preference"])
    with pytest.raises(SchemaInvalidError, match="whose"):
        memory.delete(None, tags=["x"])
    assert memory.erase(None, user_id="nobody").erased_count == 0


def test_a_view_reaches_what_is_its_own(memory, secrets):
    ann = memory.for_user("ann")
    for verb in (ann.delete, ann.erase, ann.undelete, memory.for_agent("a1").erase):
        with pytest.raises(NotAllowedError):
            verb(None, user_id="ben")
    assert ann.delete(None, ids=["ben-pref-1"]).deleted_count == 0
    assert memory.for_agent("a1").erase(None, ids=["ben-pref-1"]).erased_count == 0
    assert ann.delete(None, types=["preference"]).ids == ("ann-pref-1",)


def test_on_the_command_line_the_user_is_named(root, secrets):
    def say(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, [*words, "--root", str(root)])
        return done.exit_code, done.output

    assert say("delete", "--id", "ann-pref-1")[0] == 0
    code, told = say("undelete", "--user", "ann")
    assert (code, "1 brought back" in told) == (0, True)
    assert "--user" in say("erase", "--types", "note", "--yes")[1]
    assert say("erase", "--whole-session", "--yes")[0] == 2
    assert say("delete", "--user", "ann", "--all")[0] == 2
    code, told = say("erase", "--user", "ann", "--yes")
    assert (code, "2 erased" in told) == (0, True)
    assert set(traces(root, secrets.values())) == {secrets["ben's"], secrets["all share"]}
