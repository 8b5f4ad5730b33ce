"""Who may see and change what: one place decides."""

import pytest

from mnemolog.model.entry import SCOPES, Entry
from mnemolog.policy.access import OWNER, Viewer, may_change, may_see, may_see_session

ANN, BOB = Viewer("ann"), Viewer("bob")
USER = Viewer(user="u1")


def entry(scope: str, agent: str | None = "ann") -> Entry:
    return Entry(
        v=1, id="m1", timestamp="", type="note", scope=scope, origin="agent", agent_id=agent
    )


@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_scoped_to_an_agent_or_a_run_is_for_that_agent_alone(scope):
    is_own = scope in ("agent", "run")
    assert may_see(ANN, entry(scope))
    assert may_see(BOB, entry(scope)) is not is_own
    assert may_see(BOB, entry(scope, None)) is not is_own
    assert may_see(Viewer("bob", beside=("ann",)), entry(scope))
    assert may_see(OWNER, entry(scope))
    assert may_see(USER, entry(scope))


@pytest.mark.parametrize("scope", SCOPES)
def test_an_entry_is_changed_by_its_writer_or_the_owner_and_nothing_shared_by_a_user(scope):
    assert may_change(ANN, entry(scope))
    assert not may_change(BOB, entry(scope))
    assert may_change(OWNER, entry(scope))
    assert may_change(USER, entry(scope)) is (scope != "shared")


def test_a_session_is_for_the_agents_that_it_names_and_for_its_user():
    assert may_see_session(ANN, ["ann"], "u1")
    assert not may_see_session(ANN, ["bob"], "u1")
    assert not may_see_session(ANN, [], "u1")
    assert may_see_session(USER, [], "u1")
    assert not may_see_session(USER, [], "u2")
    assert not may_see_session(USER, [], None)
    assert not may_see_session(Viewer("ann", "u2"), ["ann"], "u1")
    assert may_see_session(OWNER, [], None)
