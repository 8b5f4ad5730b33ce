"""Erasing an entry reaches what was learned from it, wherever that lies, also after a crash."""

import os
from pathlib import Path

import pytest

from mnemolog import Memory, fs
from mnemolog.errors import ConcurrentModificationError
from mnemolog.model.lesson import Edit, EditPlan, Source, Waiting, source_name
from mnemolog.testing import FixedClock, Recorder, SimulatedDisk, sampled
from mnemolog.testing.opening import open_on
from tests.forgetting.scanner import found_in, traces, word

NOW = "2026-11-15T09:00:00.000Z"


def learned(memory: Memory, session: str, said: str, **more: str) -> str:
    """An entry, and everything that could come of it; its id."""
    entry = memory.add_memory(session, type="note", content=f"It is {said}.", **more).id
    source = source_name(session, entry)
    memory.write_node("topic", f"- It is {said}. <!-- {source} -->\n- Stays.\n", user_id="u1",
                      sources=[source])  # fmt: skip
    memory.append_node("topic", "- Later.", user_id="u1")
    memory.write_node("only", f"- It is {said}. <!-- {source} -->\n", user_id="u1")
    edit = Edit(address="SOUL.md", body=f"{said}\n", sources=(Source(session, entry, 1),))
    shelf = memory._shelf
    shelf.wait(Waiting(v=1, id="w", user_id="u1", edit=edit, distiller="r", created_at=NOW, why=""))
    shelf.keep_plan(EditPlan(v=1, id="p", session_id=session, user_id="u1", until=1, until_sum="",
                         distiller="r", edits=(edit,)))  # fmt: skip
    return entry


def test_erasing_an_entry_leaves_no_byte_of_it_in_the_graph(memory, sid, root):
    said = word()
    entry = learned(memory, sid, said)
    assert [hit.node.address for hit in memory.search_nodes(said, user_id="u1")]
    assert len(traces(root, [said])[said]) >= 8
    report = memory.erase(sid, ids=[entry])
    assert report.verification.clean
    assert {"nodes", "versions", "review", "plans"} <= set(report.places)
    assert traces(root, [said, entry]) == {}
    assert memory.read_node("topic", user_id="u1").body == "- Stays.\n- Later.\n"
    assert [leaf.address for leaf in memory.tree("u1")] == ["topic"]
    assert memory.search_nodes("stays", user_id="u1")[0].node.address == "topic"
    assert traces(root, [said, entry]) == {}


def test_deleting_a_session_takes_what_was_learned_from_it(memory, sid, root):
    said = word()
    learned(memory, sid, said)
    memory.search_nodes(said, user_id="u1")
    assert memory.delete_session(sid, verify=True).verification.clean
    assert traces(root, [said, f"{sid}/"]) == {}
    assert memory.read_node("topic", user_id="u1").body == "- Stays.\n- Later.\n"


def test_a_purge_takes_what_was_learned_from_what_it_erases(memory, sid, root, clock):
    said = word()
    entry = learned(memory, sid, said)
    memory.delete(sid, ids=[entry])
    clock.advance(days=400)
    memory.purge(confirm=True)
    clock.advance(days=400)
    memory.purge(confirm=True)
    assert traces(root, [said, entry]) == {}


def test_an_entry_of_the_users_own_log_is_known_by_its_id(memory, sid, root):
    said = word()
    entry = learned(memory, sid, said, scope="user")
    memory.erase(sid, ids=[entry])
    assert traces(root, [said, entry]) == {}


def test_redacting_an_entry_does_not_unlearn_it(memory, sid):
    secret = "AKIA" + "QRSTUVWXYZ234567"
    memory.settings = memory.settings.changed({"privacy.redaction": False})
    entry = memory.add_memory(sid, type="note", content=f"key {secret}", id="e1").id
    memory.settings = memory.settings.changed({"privacy.redaction": True})
    memory.write_node("topic", f"- A fact. <!-- {sid}/{entry} -->\n", user_id="u1")
    assert memory.redact(sid).entries == 1
    assert "- A fact." in memory.read_node("topic", user_id="u1").body


def test_verifying_looks_into_the_graph(memory, sid, root: Path):
    said = word()
    memory.write_node("topic", f"Says {said}.\n", user_id="u1")
    found = memory.verify_erasure(text=said)
    assert not found.clean
    assert {one.split(" at ")[0] for one in found.traces} >= {
        "users/u1/memory/topic.md", "users/u1/versions/topic.jsonl",
    }  # fmt: skip


@pytest.mark.parametrize("states", [60])
def test_an_erasure_interrupted_anywhere_is_finished_by_opening_the_root(states):
    said = word()
    disk = SimulatedDisk()
    memory = open_on(disk, clock=FixedClock(), purge=lambda gone: True)
    memory.create_session("u1", session_id="talk")
    entry = learned(memory, "talk", said)
    before = disk.tree()
    recorder = Recorder(disk, lambda: None)
    memory.erase("talk", ids=[entry], verify=False)
    moments = recorder.stop()
    noted = next(at for at, one in enumerate(moments) if "write_at" in one.before)
    assert found_in(before, [said])
    for sample in sampled(moments[noted:], "erasing", states):
        again = open_on(sample.disk, clock=FixedClock(), purge=lambda gone: True)
        assert found_in(sample.disk.tree(), [said, entry]) == {}, sample.name
        assert again.read_node("topic", user_id="u1").body == "- Stays.\n- Later.\n", sample.name


def test_an_erasure_that_a_hand_disturbs_stays_noted_until_it_is_done():
    said = word()
    disk = SimulatedDisk()
    memory = open_on(disk, clock=FixedClock(), purge=lambda gone: True)
    memory.create_session("u1", session_id="talk")
    entry = learned(memory, "talk", said)
    path = "users/u1/memory/topic.md"
    text = fs.read_all(disk, path)

    def save(name: str, at: str) -> None:
        if name == "exchange" and at == path:
            disk.before_operation = None
            disk.unlink(path)
            fs.write_new(disk, path, text)
            disk.open(path, "append").append(os.urandom(4).hex().encode())
            disk.before_operation = save

    disk.before_operation = save
    with pytest.raises(ConcurrentModificationError):
        memory.erase("talk", ids=[entry])
    open_on(disk, clock=FixedClock(), purge=lambda gone: True)  # and the hand goes on
    assert found_in(disk.tree(), [said])
    disk.before_operation = None
    open_on(disk, clock=FixedClock(), purge=lambda gone: True)
    assert found_in(disk.tree(), [said, entry]) == {}
