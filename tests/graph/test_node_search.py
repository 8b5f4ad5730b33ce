"""Nodes are found in the same index as entries, and never where only entries are asked for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.stores.files import shadow


@pytest.fixture
def filled(memory: Memory, sid: str) -> Memory:
    memory.add_conversation(sid, role="user", content="Payments need a database with ACID.")
    memory.write_node("projects/pay", "Payments are stored in [[PostgreSQL]].\n", user_id="u1",
                      title="Payment system", description="How payments are stored")  # fmt: skip
    memory.write_node("people/ann", "Ann likes hiking.\n", user_id="u1")
    memory.write_node("projects/secret", "Payments of Bob.\n", user_id="bob")
    return memory


def found(memory: Memory, text: str, **more) -> list[tuple[str, str]]:
    return [(hit.entry.type, hit.entry.id) for hit in memory.query(text=text, **more)]


def addresses(memory: Memory, text: str, **more) -> list[str]:
    return [hit.node.address for hit in memory.search_nodes(text, **more)]


def test_an_ordinary_query_never_returns_nodes(filled, sid):
    assert addresses(filled, "payments", user_id="u1") == ["projects/pay"]
    for more in ({}, {"kinds": ["entry"]}, {"kinds": "entries"}):
        assert {kind for kind, _ in found(filled, "payments", **more)} == {"conversation"}
    assert [hit.entry.type for hit in filled.query(sid, text="payments")] == ["conversation"]


def test_both_kinds_are_ranked_together(filled):
    kinds = {kind for kind, _ in found(filled, "payments", kinds=["entry", "node"])}
    assert kinds == {"conversation", "node"}
    assert found(filled, "hiking", kinds=["entry", "node"])[0] == ("node", "people/ann")


def test_a_node_is_found_by_meaning_title_and_description(filled):
    assert addresses(filled, "outdoor walks", user_id="u1")[0] == "people/ann"
    assert addresses(filled, "payment system", user_id="u1")[0] == "projects/pay"


def test_a_view_finds_the_nodes_of_its_users_alone(filled):
    assert addresses(filled.for_user("u1"), "payments") == ["projects/pay"]
    assert addresses(filled.for_agent("architect"), "payments") == ["projects/pay"]
    assert addresses(filled.for_agent("nobody"), "payments") == []
    assert set(addresses(filled, "payments")) == {"projects/pay", "projects/secret"}


def test_an_agent_finds_the_default_users_nodes_through_a_session_without_a_user(filled):
    filled.write_node("tea", "Payments for tea.\n")
    agent = filled.for_agent("solo")
    assert addresses(agent, "payments") == []
    filled.create_session(agent_ids=["solo"])
    assert addresses(agent, "payments") == ["tea"]


def test_what_is_written_is_found_at_once_and_what_it_replaced_is_not(filled):
    filled.append_node("people/ann", "She plays the theremin.", user_id="u1")
    assert addresses(filled, "theremin", user_id="u1")[0] == "people/ann"
    filled.patch_node("people/ann", "theremin", "bassoon", user_id="u1")
    assert "lexical" in filled.search_nodes("bassoon", user_id="u1")[0].why
    assert [hit.why["lexical"] for hit in filled.search_nodes("theremin", user_id="u1")] in (
        [], [0.0], [0.0, 0.0],
    )  # fmt: skip
    filled.move_node("people/ann", "people/anna", user_id="u1")
    assert addresses(filled, "bassoon", user_id="u1")[0] == "people/anna"
    filled.delete_node("people/anna", user_id="u1")
    assert "people/anna" not in addresses(filled, "bassoon", user_id="u1")


def test_hand_edits_are_found_after_the_next_look(filled, root, monkeypatch):
    ann, new = "people/ann", "new"
    assert not {ann, new} & said_by(filled, "kazoo")
    monkeypatch.setattr(shadow, "_SECONDS", 0.0)
    (root / "users/u1/memory/people/ann.md").write_text("Ann plays the kazoo.\n")
    (root / "users/u1/memory/new.md").write_text("A kazoo shop.\n")
    assert said_by(filled, "kazoo") == {ann, new}
    (root / "users/u1/memory/new.md").unlink()
    assert said_by(filled, "kazoo") == {ann}


def said_by(memory, word: str) -> set[str]:
    """The nodes of u1 in which a word stands, whatever else is near to it."""
    hits = memory.search_nodes(word, user_id="u1")
    return {hit.node.address for hit in hits if hit.why.get("lexical")}


def test_looking_costs_nothing_where_nothing_changed(filled, root, monkeypatch):
    assert addresses(filled, "payments", user_id="u1")
    log = root / "index/nodes/u1.jsonl"
    before = log.stat()
    monkeypatch.setattr(shadow, "_SECONDS", 0.0)
    for path in root.glob("users/**/*.md"):
        os.utime(path)
    assert addresses(filled, "payments", user_id="u1")
    assert (log.stat().st_size, log.stat().st_ino) == (before.st_size, before.st_ino)


def test_deleting_the_index_changes_no_result(filled, root):
    filled.append_node("people/ann", "She plays the theremin.", user_id="u1")
    asked = ["payments", "theremin", "hiking", "stored"]

    def answers() -> list[object]:
        hits = (hit for one in asked for hit in filled.query(text=one, kinds=["node"]))
        return [(hit.entry.id, hit.relevance, hit.why, hit.entry.content) for hit in hits]

    before = answers()
    assert len(before) >= len(asked)
    filled.close()
    shutil.rmtree(root / "index")
    assert answers() == before
    filled.rebuild_index()
    assert answers() == before


def test_a_torn_shadow_is_mended(filled, root):
    assert addresses(filled, "hiking", user_id="u1")
    log = root / "index/nodes/u1.jsonl"
    filled.close()
    log.write_bytes(log.read_bytes()[:-20])
    (root / "index/nodes/u1.dirty").touch()
    assert addresses(filled, "hiking", user_id="u1")[0] == "people/ann"
    assert addresses(filled, "payments", user_id="u1")[0] == "projects/pay"


def test_the_shadow_does_not_grow_for_ever(filled, root, monkeypatch):
    monkeypatch.setattr(shadow, "_SPARE", 10)
    for number in range(30):
        filled.append_node("people/ann", f"line {number}", user_id="u1")
        addresses(filled, "hiking", user_id="u1")
    assert len((root / "index/nodes/u1.jsonl").read_bytes().splitlines()) <= 16
    assert addresses(filled, "line 29", user_id="u1")[0] == "people/ann"


WRITER = """
import sys
from mnemolog import Memory
with Memory.open(sys.argv[1], environ={}) as memory:
    memory.write_node("other/process", "A glockenspiel.", user_id="u1")
"""


def test_what_another_process_writes_is_found_at_once(filled, root: Path):
    assert addresses(filled, "glockenspiel", user_id="u1") == []
    subprocess.run([sys.executable, "-c", WRITER, str(root)], check=True)
    assert addresses(filled, "glockenspiel", user_id="u1")[0] == "other/process"


def test_the_context_holds_nodes_and_entries_marked_as_what_they_are(filled, sid):
    text = filled.context(sid, "how are payments stored").text
    assert "[projects/pay] node, what is known" in text or '["projects/pay"] node' in text
    assert "Payments need a database" in text
    assert "Bob" not in text


def test_nobodys_context_holds_no_users_nodes(filled):
    filled.write_node("open", "Payments for everyone.\n")
    session = filled.create_session().id
    text = filled.context(session, "payments").text
    assert "everyone" in text
    assert "PostgreSQL" not in text
