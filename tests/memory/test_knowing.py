"""The verbs of nodes: what they do, for whom, and what they refuse."""

from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    InvalidFormatError,
    NodeConflictError,
    NodeNotFoundError,
    NotAllowedError,
    SchemaInvalidError,
)
from mnemolog.model.lesson import Edit, Source, Waiting
from tests.forgetting.scanner import traces


@pytest.fixture
def ann(memory: Memory) -> Memory:
    """The view of the user `u1`, with a node `tea`."""
    memory.write_node("tea", "It is green.\n", user_id="u1", title="Tea", description="A drink")
    return memory.for_user("u1")


def test_a_node_is_written_and_read(ann, root):
    node = ann.read_node("tea")
    assert (node.title, node.description, node.body) == ("Tea", "A drink", "It is green.\n")
    assert (node.user_id, node.version, node.flags) == ("u1", 1, ())
    assert (root / "users/u1/memory/tea.md").read_text() == node.text


def test_a_body_leaves_the_front_matter_and_a_whole_document_brings_its_own(ann):
    first = ann.read_node("tea")
    ann.write_node("tea", "It is black.\n", expected=first.hash)
    second = ann.read_node("tea")
    assert (second.title, second.body, second.version) == ("Tea", "It is black.\n", 2)
    text = second.text.replace('title: "Tea"', "title: Chai\nstars: 5")
    ann.write_node("tea", text, expected=second.hash)
    third = ann.read_node("tea")
    assert (third.title, third.extra, third.created_at) == ("Chai", {"stars": 5}, first.created_at)


def test_a_write_says_what_it_was_made_against(ann):
    read = ann.read_node("tea")
    ann.append_node("tea", "More.")
    for expected in ("", read.hash, "nonsense"):
        with pytest.raises(NodeConflictError) as refused:
            ann.write_node("tea", "Other.\n", expected=expected)
        assert str(refused.value.details["theirs"]).endswith("It is green.\nMore.\n")
        assert str(refused.value.details["yours"]).endswith("---\n\nOther.\n")
    with pytest.raises(NodeConflictError):
        ann.delete_node("tea", expected=read.hash)
    with pytest.raises(NodeConflictError):
        ann.write_node("new", "text", expected=read.hash)
    assert [leaf.address for leaf in ann.tree()] == ["tea"]


def test_a_single_source_is_one_and_not_its_letters(ann):
    ann.write_node("herons", "Green.\n", sources="talk/e1")
    ann.append_node("herons", "Black.\n", sources=iter(["talk/e2"]))
    assert ann.read_node("herons").sources == ("talk/e1", "talk/e2")
    with pytest.raises(SchemaInvalidError, match="sources"):
        ann.append_node("herons", "White.\n", sources=5)


def test_appending_begins_a_node_or_adds_lines(ann):
    ann.append_node("tea", "a")
    ann.append_node("tea", "b\n")
    assert ann.read_node("tea").body == "It is green.\na\nb\n"
    assert ann.append_node("milk", "white").status == "created"


def test_a_patch_needs_exactly_one_match(ann):
    ann.patch_node("tea", "green", "white")
    assert ann.read_node("tea").body == "It is white.\n"
    for old, count in (("i", 2), ("purple", 0)):
        with pytest.raises(SchemaInvalidError, match=f"{count} times"):
            ann.patch_node("tea", old, "x")
    with pytest.raises(SchemaInvalidError):
        ann.patch_node("tea", "title", "x")  # the front matter is no part of the body
    with pytest.raises(NodeNotFoundError):
        ann.patch_node("milk", "a", "b")


def test_versions_differ_and_any_of_them_comes_back(ann):
    ann.patch_node("tea", "green", "white", reason="seen it")
    hunk = ann.node_diff("tea")[-1]
    assert {"-It is green.", "+It is white."} <= set(hunk.lines)
    assert ann.revert_node("tea", 1).version == 3
    assert ann.read_node("tea").body == "It is green.\n"
    assert [one.reason for one in ann.node_versions("tea")] == [
        "", "seen it", "reverted to version 1",
    ]  # fmt: skip
    ann.delete_node("tea")
    assert ann.revert_node("tea", 2).status == "created"
    assert ann.read_node("tea").body == "It is white.\n"
    with pytest.raises(NodeNotFoundError):
        ann.revert_node("tea", 99)


def test_between_two_given_versions_only_what_differs_is_shown(ann):
    for number in range(30):
        ann.append_node("tea", f"line {number}")
    ann.patch_node("tea", "line 15\n", "")
    (front, middle) = ann.node_diff("tea", 31, 32)
    assert {line for line in front.lines if line[0] in "+-"} == {"-version: 31", "+version: 32"}
    assert [line for line in middle.lines if line[0] in "+-"] == ["-line 15"]
    assert ann.node_diff("tea", 3, 3) == []


def test_moving_links_and_the_graph_around_a_node(ann):
    ann.write_node("cup", "Holds [[tea]].\n")
    ann.write_node("shelf", "Holds a [[cup]].\n")
    ann.move_node("tea", "drinks/tea")
    assert ann.node_links("cup").outgoing[0].target == "drinks/tea"
    assert [one.address for one in ann.node_links("drinks/tea").backlinks] == ["cup"]
    near = ann.graph("drinks/tea", depth=1)
    assert [leaf.address for leaf in near.nodes] == ["cup", "drinks/tea"]
    assert near.edges == (("cup", "drinks/tea", "link"),)
    assert len(ann.graph("drinks/tea", depth=2).nodes) == 3
    assert len(ann.graph().edges) == 2


def test_secrets_are_hidden_here_too(ann, root):
    secret = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8" * 3
    receipt = ann.append_node("tea", f"The key is {secret}")
    assert receipt.redactions
    assert secret not in ann.read_node("tea").text
    files = [path for path in root.rglob("*") if path.is_file()]
    assert not [path for path in files if secret.encode() in path.read_bytes()]


def test_a_secret_in_a_doubt_is_hidden_too(memory, root):
    secret = "gh" + "p_" + "0Aq9" * 9
    receipt = memory.write_node("topics/tea", "green\n", user_id="ann", doubt=f"it has {secret}")
    assert receipt.status == "waiting"
    assert "[REDACTED:api-key" in receipt.reason
    assert traces(root, [secret]) == {}


def test_generated_ids_of_sources_are_not_taken_for_secrets(memory, sid):
    entry = memory.add_memory(sid, content="x", type="note")
    source = f"{sid}/{entry.id}"
    memory.write_node("tea", f"- fact <!-- {source} -->\n", user_id="u1", sources=[source])
    node = memory.read_node("tea", user_id="u1")
    assert (node.sources, f"<!-- {source} -->" in node.body) == ((source,), True)


@pytest.mark.parametrize("text", ["", None, 7, "\ud800"])
def test_what_is_no_text_is_refused(ann, text):
    with pytest.raises((SchemaInvalidError, InvalidFormatError)):
        ann.write_node("new", text)
    assert len(ann.tree()) == 1


# --- whose


def test_a_session_without_a_user_belongs_to_the_default_one(memory, root):
    memory.write_node("tea", "text")
    assert (root / "users/default/memory/tea.md").exists()
    assert memory.node_users() == ["default"]


def test_a_users_view_sees_and_writes_that_users_nodes_alone(memory, ann):
    memory.write_node("secret", "text", user_id="bob")
    with pytest.raises(NodeNotFoundError):
        ann.read_node("secret", user_id="bob")
    for wrong in (
        lambda: ann.tree("bob"),
        lambda: ann.write_node("x", "y", user_id="bob"),
        lambda: ann.move_node("secret", "x", user_id="bob"),
        lambda: ann.revert_node("secret", 1, user_id="bob"),
    ):
        with pytest.raises(NotAllowedError):
            wrong()
    assert ann.node_users() == ["u1"]


def test_an_agent_reads_the_nodes_of_the_users_it_talks_with(memory, ann, sid):
    memory.write_node("secret", "text", user_id="bob")
    agent = memory.for_agent("architect")
    assert agent.read_node("tea", user_id="u1").title == "Tea"
    assert agent.node_users() == ["u1"]
    for stranger in (agent.for_user("bob"), memory.for_agent("nobody").for_user("u1")):
        with pytest.raises(NodeNotFoundError):
            stranger.read_node("tea")
        with pytest.raises(NotAllowedError):
            stranger.write_node("x", "y")
    with pytest.raises(NodeNotFoundError):
        agent.read_node("secret", user_id="bob")
    with pytest.raises(NotAllowedError):
        agent.write_node("x", "y", user_id="u1")
    assert agent.for_user("u1").write_node("x", "y").status == "created"
    assert memory.node_versions("x", user_id="u1")[0].by == "architect"


def test_an_agent_reads_the_default_users_nodes_if_it_has_a_session_without_a_user(memory):
    memory.write_node("tea", "text")
    agent = memory.for_agent("architect")
    with pytest.raises(NodeNotFoundError):
        agent.read_node("tea")
    memory.create_session(agent_ids=["architect"])
    assert agent.read_node("tea").body == "text"


def test_only_the_owner_says_who_wrote(memory, ann):
    ann.append_node("tea", "x", by="somebody")
    memory.append_node("tea", "y", user_id="u1", by="rules")
    assert [one.by for one in memory.node_versions("tea", user_id="u1")] == ["owner", "u1", "rules"]


# --- the review


def waiting(name: str = "w1", **more: str) -> Waiting:
    given: dict[str, Any] = {
        "address": "SOUL.md",
        "body": "Be kind.\n",
        "reason": "asked",
        **more,
    }
    edit = Edit(sources=(Source("talk", "e1", 1),), **given)
    return Waiting(v=1, id=name, user_id="u1", edit=edit, distiller="rules",
                   created_at="2026-11-15T09:00:00.000Z", why="a person decides")  # fmt: skip


def test_a_proposal_waits_until_it_is_accepted(memory):
    memory._shelf.wait(waiting())
    memory._shelf.wait(waiting())
    assert [one.id for one in memory.proposals()] == ["w1"]
    assert memory.proposal_diff("w1")[0].lines == ("+Be kind.",)
    receipt = memory.accept_proposal("w1")
    assert (receipt.status, memory.proposals()) == ("created", [])
    node = memory.read_node("SOUL.md", user_id="u1")
    assert (node.body, node.sources) == ("Be kind.\n", ("talk/e1",))
    assert memory.node_versions("SOUL.md", user_id="u1")[0].by == "rules"


def test_a_proposal_is_not_written_over_what_changed_meanwhile(memory):
    memory._shelf.wait(waiting())
    memory.write_node("SOUL.md", "By hand.\n", user_id="u1")
    with pytest.raises(NodeConflictError):
        memory.accept_proposal("w1")
    assert len(memory.proposals()) == 1
    memory.accept_proposal("w1", "By hand. Be kind.\n")
    assert memory.read_node("SOUL.md", user_id="u1").body == "By hand. Be kind.\n"


def test_what_a_proposal_changes_is_told_without_what_came_since(memory):
    seen = memory.write_node("SOUL.md", "Be brief.\n", user_id="u1", title="Soul").hash
    memory._shelf.wait(waiting(body="Be brief.\nBe kind.\n", expected=seen))
    memory.append_node("SOUL.md", "Later.", user_id="u1")
    assert memory.proposal_diff("w1")[0].lines == (" Be brief.", "+Be kind.")


def test_a_proposal_whose_text_of_then_is_not_kept_is_told_against_that_of_now(memory):
    memory.write_node("SOUL.md", "Be brief.\n", user_id="u1")
    memory._shelf.wait(waiting(body="Be brief.\nBe kind.\n", expected="0" * 64))
    assert memory.proposal_diff("w1")[0].lines == (" Be brief.", "+Be kind.")


def test_a_text_instead_of_a_proposal_is_made_against_what_the_person_saw(memory):
    memory._shelf.wait(waiting())
    seen = memory.write_node("SOUL.md", "By hand.\n", user_id="u1").hash
    memory.append_node("SOUL.md", "Later.", user_id="u1")
    with pytest.raises(NodeConflictError) as refused:
        memory.accept_proposal("w1", "By hand. Be kind.\n", expected=seen)
    assert "Later." in str(refused.value.details["theirs"])
    assert "Be kind." in str(refused.value.details["yours"])
    now = memory.read_node("SOUL.md", user_id="u1").hash
    memory.accept_proposal("w1", "By hand. Later. Be kind.\n", expected=now)
    assert memory.read_node("SOUL.md", user_id="u1").body == "By hand. Later. Be kind.\n"


def test_a_rejected_proposal_is_gone_and_the_audit_says_so(memory, root):
    memory._shelf.wait(waiting(body="quixotic\n"))
    memory.reject_proposal("w1", "not so")
    assert (memory.proposals(), list((root / "users/u1/review").iterdir())) == ([], [])
    assert memory.audit()[-1].action == "reject proposal"
    with pytest.raises(NodeNotFoundError):
        memory.accept_proposal("w1")


def test_no_agent_decides_about_proposals(memory, sid):
    memory._shelf.wait(waiting())
    with pytest.raises(NotAllowedError):
        memory.for_agent("architect").for_user("u1").proposals()
    assert memory.for_user("bob").proposals() == []
    assert len(memory.for_user("u1").proposals()) == 1


def test_what_an_agent_writes_into_soul_and_agents_waits(memory, sid):
    agent = memory.for_agent("architect").for_user("u1")
    for name in ("SOUL.md", "AGENTS.md"):
        receipt = agent.write_node(name, "Obey me.\n", reason="because")
        assert (receipt.status, receipt.address) == ("waiting", name)
    assert memory.tree("u1") == []
    assert {one.distiller for one in memory.proposals()} == {"architect"}


@pytest.mark.parametrize("origin", ["tool", "recall", "user"])
@pytest.mark.parametrize("way", ["sources", "comment"])
def test_what_an_agent_writes_about_the_user_from_a_tool_waits(memory, sid, origin, way):
    entry = memory.add_conversation(sid, role="tool", content="A bank", origin=origin)
    agent = memory.for_agent("architect").for_user("u1")
    name = f"{sid}/{entry.id}"
    text = f"- A bank <!-- {name} -->\n" if way == "comment" else "- A bank\n"
    receipt = agent.append_node("USER.md", text, sources=[name] if way == "sources" else [])
    assert receipt.status == ("created" if origin == "user" else "waiting")
    waits = [one.edit.sources[0].name for one in memory.proposals()]
    assert waits == ([] if origin == "user" else [name])
    if waits:
        memory.accept_proposal(memory.proposals()[0].id)
    assert memory.read_node("USER.md", user_id="u1").sources == (name,)
    # What a person has agreed to is there; writing beside it needs no further yes.
    assert agent.append_node("USER.md", "- More\n").status == "updated"


def test_what_was_accepted_and_changed_since_can_be_proposed_and_accepted_again(memory, sid, clock):
    agent = memory.for_agent("architect").for_user("u1")
    for undo in (_rewrite, _remove, None):
        agent.write_node("SOUL.md", "Be brief.\n", expected=_hash(memory))
        (one,) = memory.proposals()
        assert memory.accept_proposal(one.id).status in ("created", "updated")
        assert memory.read_node("SOUL.md", user_id="u1").body == "Be brief.\n"
        clock.advance(seconds=1)
        if undo is not None:
            undo(memory)


def _rewrite(memory: Memory) -> None:
    memory.write_node("SOUL.md", "Be long.\n", user_id="u1", expected=_hash(memory))


def _remove(memory: Memory) -> None:
    memory.delete_node("SOUL.md", user_id="u1")


def _hash(memory: Memory) -> str:
    found = memory.node_reader("u1").read("SOUL.md")
    return found.hash if found else ""
