"""`mnemolog edit` corrects what an entry says, and nothing else about it."""

import pytest


def test_a_message_is_corrected_and_stays_whose_it_was(run, ask, memory, sid):
    told = memory.add_conversation(sid, role="user", content="We use MySQL.", agent_id="bot").id
    assert f"revised {told}" in run("edit", sid, told, "We use PostgreSQL.").stdout
    (now,) = ask("show", sid, told)
    assert (now["content"], now["role"], now["agent_id"]) == ("We use PostgreSQL.", "user", "bot")
    assert now["origin"] == "user"
    assert len(memory.revisions(sid, told)) == 2


@pytest.mark.parametrize(
    ("kind", "content", "main"),
    [
        ("decision", {"decision": "Use MySQL", "impact": "high"}, "decision"),
        ("finding", {"description": "Use MySQL", "severity": "low"}, "description"),
        ("preference", {"key": "database", "value": "MySQL"}, "value"),
    ],
)
def test_of_a_typed_entry_the_text_is_its_main_field(ask, memory, sid, kind, content, main):
    entry = memory.add_memory(sid, type=kind, content=content).id
    ask("edit", sid, entry, "PostgreSQL")
    now = memory.get_memory(sid, entry).content
    assert now == {
        **content,
        **({"status": "open"} if kind == "finding" else {}),
        main: "PostgreSQL",
    }


def test_tags_weight_and_status_are_changed_without_the_text(ask, memory, sid):
    entry = memory.add_finding(sid, description="It leaks", severity="high", tags=["old"]).id
    (done,) = ask("edit", sid, entry, "--tag", "new", "--importance", "0.2", "--status", "resolved")
    assert done["status"] == "revised"
    now = memory.get_memory(sid, entry)
    assert (now.tags, now.importance, now.content["status"]) == (("new",), 0.2, "resolved")
    assert now.content["description"] == "It leaks"


def test_what_cannot_be_edited_is_told(run, memory, sid):
    event = memory.add_memory(sid, type="event", content={"a": 1, "b": 2}).id
    assert "use `add --entry`" in run("edit", sid, event, "x", code=2).stderr
    assert "Give TEXT, --tag" in run("edit", sid, event, code=2).stderr
    assert "There is no entry 'nope'" in run("edit", sid, "nope", "x", code=5).stderr
    memory.create_session(session_id="ours", agent_ids=["other"])
    foreign = memory.add_memory("ours", type="note", content="theirs", agent_id="other").id
    run("--agent", "bot", "edit", "ours", foreign, "mine", code=6)
