"""The tools that read and write the graph: guarded by what the run has read."""

import pytest

from mnemolog.tools import bind


@pytest.fixture
def hands(memory, sid):
    """The tools of a run of `architect` on a session with the user `u1`."""
    with memory.run(sid, agent_id="architect") as run:
        yield bind(run)


def write(hands, address, content, **more):
    return hands.call("write_knowledge", {"address": address, "content": content, **more})


def test_a_new_node_is_written_and_read_back_as_quoted_text(hands, memory):
    assert write(hands, "projects/pay", "Uses Postgres.", title="Pay").text == (
        '"projects/pay" created, version 1.'
    )
    read = hands.call("read_knowledge", {"address": "projects/pay"}).text
    assert "  | Uses Postgres." in read
    assert memory.node_versions("projects/pay", user_id="u1")[0].by == "architect"
    listed = hands.call("read_knowledge").text
    assert "projects/pay" in listed


def test_a_node_that_this_run_has_not_read_is_not_replaced(hands, memory):
    memory.write_node("tea", "green\n", user_id="u1")
    refused = write(hands, "tea", "black")
    assert (refused.is_error, "read_knowledge" in refused.text) == (True, True)
    hands.call("read_knowledge", {"address": "tea"})
    assert not write(hands, "tea", "black").is_error
    assert not write(hands, "tea", "white").is_error  # it knows what it wrote itself


def test_a_node_that_changed_since_it_was_read_is_not_replaced(hands, memory):
    memory.write_node("tea", "green\n", user_id="u1")
    hands.call("read_knowledge", {"address": "tea"})
    memory.append_node("tea", "By hand.", user_id="u1")
    assert write(hands, "tea", "black").is_error
    assert memory.read_node("tea", user_id="u1").body == "green\nBy hand.\n"
    assert not write(hands, "tea", "More.", append=True).is_error
    assert memory.read_node("tea", user_id="u1").body == "green\nBy hand.\nMore.\n"


def test_appending_to_a_node_is_not_reading_it(hands, memory):
    memory.write_node("tea", "green\n", user_id="u1")
    assert not write(hands, "tea", "More.", append=True).is_error
    assert write(hands, "tea", "black").is_error
    hands.call("read_knowledge", {"address": "tea"})
    memory.append_node("tea", "By hand.", user_id="u1")
    assert not write(hands, "tea", "Still more.", append=True).is_error
    assert write(hands, "tea", "black").is_error
    assert memory.read_node("tea", user_id="u1").body == "green\nMore.\nBy hand.\nStill more.\n"
    assert not write(hands, "new", "First.", append=True).is_error
    assert not write(hands, "new", "Other.").is_error  # nobody else has written there


@pytest.mark.parametrize("address", ["nope", "nope/"])
def test_what_is_not_known_is_told_with_how_to_find_what_is(hands, memory, address):
    memory.write_node("tea", "green\n", user_id="u1")
    told = hands.call("read_knowledge", {"address": address}).text
    assert told.endswith("call read_knowledge without an address for what there is.")


def test_soul_and_agents_wait_for_a_person(hands, memory):
    assert "waits" in write(hands, "SOUL.md", "Obey.").text
    assert [one.edit.address for one in memory.proposals()] == ["SOUL.md"]


def test_only_the_nodes_of_the_sessions_user_are_reached(hands, memory):
    memory.write_node("secret", "Bob's.\n", user_id="bob")
    assert hands.call("read_knowledge", {"address": "secret"}).is_error
    assert "secret" not in hands.call("read_knowledge").text


@pytest.mark.parametrize("address", ["../x", "/etc/passwd", "a\nb", "", 7, None, "x" * 2000])
def test_a_hostile_address_is_an_answer_and_no_file(hands, memory, address):
    assert write(hands, address, "x").is_error
    assert memory.node_users() == []
    assert hands.failures == 0


def test_a_search_shows_nodes_beside_entries(hands, memory, sid):
    memory.add_conversation(sid, role="user", content="The kettle is blue.")
    memory.write_node("kettle", "The kettle is from Osaka.\n", user_id="u1")
    found = hands.call("search_memory", {"query": "kettle"}).text
    assert "[kettle] node, what is known" in found
    assert "The kettle is blue." in found


def test_of_very_many_nodes_a_folder_is_listed_by_its_address(hands, memory, root):
    for number in range(205):
        path = root / f"users/u1/memory/topics/node-{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text\n")
    listed = hands.call("read_knowledge").text
    assert ("205 nodes" in listed, "node-7" in listed) == (True, False)
    assert "topics/node-7" in hands.call("read_knowledge", {"address": "topics/"}).text
