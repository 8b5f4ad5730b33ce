"""Secrets that stand in a graph already are hidden, and their bytes overwritten."""

import pytest

from mnemolog import Memory
from mnemolog.errors import ConcurrentModificationError, InvalidFormatError
from mnemolog.graph import redacting
from mnemolog.graph.hiding import hide_text
from mnemolog.model.lesson import Edit, EditPlan, Waiting
from tests.forgetting.scanner import found_in, traces
from tests.graph.world import by_hand, text_of, write

NOW = "2026-11-15T09:00:00.000Z"


@pytest.fixture
def secret():
    return "AKIA" + "QRSTUVWXYZ234567"


@pytest.fixture
def planted(tmp_path, secret):
    """A root in which a node, its versions, the index, a proposal and a plan hold a secret."""
    root = tmp_path / "root"
    with Memory.open(root) as memory:
        memory.create_session(user_id="ann", session_id="talk")
        memory.write_node("free", "- Nothing to hide.\n", user_id="ann")
        memory.write_node("key", "- Nothing yet.\n", user_id="ann")
        path = root / "users/ann/memory/key.md"
        path.write_text(path.read_text() + f"- The key is {secret}. <!-- talk/{'e' * 30}1 -->\n")
        memory.node_versions("key", user_id="ann")
        memory.append_node("key", "- Later.\n", user_id="ann", reason="more")
        assert memory.search_nodes("key", user_id="ann")
        edit = Edit(address="USER.md", body=f"- Uses {secret}.\n", reason=f"{secret} was said")
        memory._shelf.wait(Waiting(v=1, id="w", user_id="ann", edit=edit, distiller="r",
                                   created_at=NOW, why=""))  # fmt: skip
        memory._shelf.keep_plan(EditPlan(v=1, id="p", session_id="talk", user_id="ann", until=1,
                                     until_sum="", distiller="r", edits=(edit,)))  # fmt: skip
        # What a write hides by itself, a hand can put there again.
        path.write_text(path.read_text() + f"- Again {secret}.\n")
        memory.write_node("other", "x\n", user_id="ben")
    return root


def tree(root):
    return {
        str(one.relative_to(root)): one.read_bytes() for one in root.rglob("*") if one.is_file()
    }


@pytest.mark.parametrize("session", [None, "talk"])
def test_nodes_versions_proposals_and_plans_are_treated(planted, secret, session):
    with Memory.open(planted) as memory:
        before = memory.read_node("free", user_id="ann").text
        told = memory.redact(session)
        assert (told.entries, told.nodes, told.proposals) == (0, 1, 1)
        assert told.versions >= 1
        assert sum(told.kinds.values()) >= 4
        assert memory.read_node("free", user_id="ann").text == before
        node = memory.read_node("key", user_id="ann")
        assert node.sources == (f"talk/{'e' * 30}1",)
        assert "- Later." in node.body
        assert [one.text for one in memory.node_versions("key", user_id="ann")][-1] == node.text
        assert memory.search_nodes("key", user_id="ann")
        (waiting,) = memory.proposals()
        assert waiting.edit.body.startswith("- Uses ")
        again = memory.redact(session)
        assert (again.nodes, again.versions, again.proposals) == (0, 0, 0)
    assert found_in(tree(planted), [secret]) == {}


def test_a_dry_run_counts_the_same_and_changes_nothing(planted, secret):
    with Memory.open(planted) as memory:
        before = tree(planted / "users")
        told = memory.redact(dry_run=True)
        assert tree(planted / "users") == before
        assert (told.nodes, told.proposals) == (1, 1)
        done = memory.redact()
    assert (done.nodes, done.versions, done.proposals) == (told.nodes, told.versions, 1)


def test_another_users_graph_is_left_alone(planted, secret):
    with Memory.open(planted) as memory:
        memory.create_session(user_id="ben", session_id="other")
        told = memory.redact("other")
    assert (told.nodes, told.versions, told.proposals) == (0, 0, 0)
    assert secret in (planted / "users/ann/memory/key.md").read_text()


def test_a_text_that_looks_like_our_stand_in_for_a_source_stays_what_it_says():
    text = "\ue0000\ue001 is said by talk/m1"
    assert hide_text(text, lambda value: (value, {}), ["talk/m1"]) == (text, ())


def test_a_node_that_somebody_keeps_changing_is_not_reported_clean(shelf, disk, secret):
    def redact(text):
        return text.replace(secret, "hidden"), {"api-key": 1} if secret in text else {}

    def edit(name: str, path: str) -> None:
        if name == "exchange" and path.endswith("key.md"):
            disk.before_operation = None
            by_hand(disk, "key", f"{text_of(disk, 'key')}- {secret}\n")
            disk.before_operation = edit

    write(shelf, "key", "- Nothing yet.\n")
    by_hand(disk, "key", f"{secret}\n")
    disk.before_operation = edit
    with pytest.raises(ConcurrentModificationError, match="keeps changing"):
        redacting.hide(disk, None, redact)
    disk.before_operation = None
    assert redacting.hide(disk, None, redact).places["nodes"] == 1
    assert secret not in text_of(disk, "key")


NAMED = {"api-key": "keys/AKIA" + "QRSTUVWXYZ234567/old", "ssn": "people/123-45-6789",
         "card": "cards/4111 1111 1111 1111"}  # fmt: skip


@pytest.mark.parametrize("kind", NAMED)
def test_no_new_node_gets_an_address_that_holds_a_secret(tmp_path, kind):
    address, told = NAMED[kind], []
    with Memory.open(tmp_path, environ={}) as memory:
        memory.write_node("free", "- Nothing to hide.\n", user_id="ann")
        memory.create_session(user_id="ann", session_id="talk", agent_ids=["a"])
        for refused in (
            lambda: memory.write_node(address, "- New.\n", user_id="ann"),
            lambda: memory.append_node(address, "- New.\n", user_id="ann"),
            lambda: memory.write_node(address, "- New.\n", user_id="ann", doubt="is it so?"),
            lambda: memory.move_node("free", address, user_id="ann"),
        ):
            with pytest.raises(InvalidFormatError, match=f"looks like a secret .{kind}") as error:
                refused()
            told.append(str(error.value))
        assert memory.proposals() == []
        assert [leaf.address for leaf in memory.tree("ann")] == ["free"]
    assert not [text for text in told if address.split("/")[1] in text]
    assert traces(tmp_path, [address.split("/")[1]]) == {}


def test_a_node_that_has_such_an_address_already_is_changed_and_moved_away(tmp_path):
    settings = {"privacy.redaction": False}
    with Memory.open(tmp_path, environ={}, settings=settings) as memory:
        memory.write_node(NAMED["ssn"], "- Here.\n", user_id="ann")
    with Memory.open(tmp_path, environ={}) as memory:
        assert memory.append_node(NAMED["ssn"], "- More.\n", user_id="ann").status == "updated"
        memory.move_node(NAMED["ssn"], "people/ann", user_id="ann")
        assert "More" in memory.read_node("people/ann", user_id="ann").text


def test_ids_are_kept_as_they_are_given(tmp_path):
    """They name things: whoever gives one in the words of a secret has it stored so."""
    user, agent = "jane@example.org", "bob@example.org"
    with Memory.open(tmp_path, environ={}) as memory:
        memory.create_session(user_id=user, session_id="ssn 123-45-6789", agent_ids=[agent])
        memory.add_memory("ssn 123-45-6789", id="amy@example.org", content="x", agent_id=agent)
    with Memory.open(tmp_path, environ={}) as memory:
        found = memory.get_memory("ssn 123-45-6789", "amy@example.org")
        session = memory.load_session("ssn 123-45-6789")
    assert found is not None
    assert (found.id, found.agent_id) == ("amy@example.org", agent)
    assert (session.user_id, session.agent_ids) == (user, (agent,))
