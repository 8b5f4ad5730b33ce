"""Files of other programs: the MCP reference server, Claude Code, messages for OpenAI."""

import json
from pathlib import Path

import pytest


def jsonl(*values) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


# --- MCP


def test_observations_and_relations_become_notes(memory):
    content = jsonl(
        {"type": "entity", "name": "Ann", "entityType": "person",
         "observations": ["Likes tea", "Lives in Ulm"]},
        {"type": "entity", "name": "Ulm", "entityType": "city", "observations": []},
        {"type": "relation", "from": "Ann", "to": "Ulm", "relationType": "lives_in"},
        {"type": "relation", "from": "Ann"},
        {"type": "entity", "name": "Bob", "entityType": "person", "observations": [7]},
    )  # fmt: skip
    report = memory.import_from({"memory.jsonl": content})
    assert (report.layout, report.stored) == ("mcp-memory", {"note": 4})
    assert [line for _, line, _, _ in report.refused] == [4, 5]
    notes = memory.get_entries("memory")
    assert [note.content for note in notes[:2]] == [
        {"entity": "Ann", "observation": "Likes tea"},
        {"entity": "Ann", "observation": "Lives in Ulm"},
    ]
    assert notes[0].category == "person"
    assert notes[3].content == {"from": "Ann", "relation": "lives_in", "to": "Ulm"}
    assert memory.query("memory", text="tea")[0].entry.id == notes[0].id


def test_a_rewritten_graph_adds_only_what_is_new(memory):
    ann = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["Likes tea"]}
    memory.import_from({"memory.json": jsonl(ann)})
    bob = {**ann, "name": "Bob"}
    more = {**ann, "observations": ["Has a dog", "Likes tea"]}
    report = memory.import_from({"memory.json": jsonl(bob, more)})
    assert (report.stored, report.present) == ({"note": 2}, {"note": 1})


# --- Claude Code


def said(uuid, kind, content, **more):
    return {
        "type": kind, "uuid": uuid, "parentUuid": None, "sessionId": "abc-1", "isSidechain": False,
        "timestamp": "2026-07-02T12:55:36.397Z", "cwd": "/w/loom", "gitBranch": "main",
        "version": "2.1.0", "message": {"role": kind, "content": content}, **more,
    }  # fmt: skip


def test_messages_and_tools_are_kept_and_thinking_is_not(memory):
    transcript = jsonl(
        {"type": "summary", "summary": "Parser", "leafUuid": "x"},
        said("u1", "user", "fix the parser"),
        said("u2", "assistant", [{"type": "thinking", "thinking": "hidden", "signature": "s"}]),
        said("u3", "assistant", [
            {"type": "text", "text": "Looking."},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file": "a.py"}},
        ], parentUuid="u1"),
        said("u4", "user", [
            {"type": "tool_result", "tool_use_id": "t1", "content": "def a(): ..."},
            {"type": "tool_result", "tool_use_id": "t2", "is_error": True,
             "content": [{"type": "text", "text": "no such file"}]},
            {"type": "image", "source": {}},
        ]),
        said("u5", "user", "caveat", isMeta=True),
        {"type": "file-history-snapshot", "messageId": "m"},
        said("u6", "assistant", [{"type": "text", "text": "aside"}], isSidechain=True),
    )  # fmt: skip
    report = memory.import_from({"-w-loom/abc-1.jsonl": transcript})
    assert report.layout == "claude-code"
    assert report.stored == {"conversation": 6}
    assert report.skipped == {"thinking": 1, "image": 1, "summary": 1, "internal line": 2}
    assert report.refused_total == 0
    found = {entry.id: entry for entry in memory.get_entries("abc-1")}
    assert list(found) == ["u1", "u3", "u3-1", "u4", "u4-1", "u6"]
    assert (found["u1"].role, found["u1"].origin) == ("user", "import")
    assert found["u3"].context == {"parent_message_id": "u1"}
    assert found["u3-1"].content["tool_calls"][0]["name"] == "Read"
    assert (found["u4"].role, found["u4"].origin) == ("tool", "tool")
    assert found["u4-1"].metadata == {"is_error": True, "tool_call_id": "t2"}
    assert found["u6"].metadata == {"sidechain": True}
    assert b"hidden" not in b"".join(
        path.read_bytes() for path in memory_files(memory)
    )  # nothing of it is stored anywhere
    session = memory.load_session("abc-1")
    assert session.agent_ids == ("claude-code",)
    assert session.metadata == {
        "source": "claude-code", "folder": "/w/loom", "branch": "main", "version": "2.1.0",
    }  # fmt: skip


def memory_files(memory):
    memory.close()
    root = Path(memory._store._disk.root)
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_transcript_that_grew_adds_its_new_lines(memory, tmp_path):
    path = tmp_path / "projects" / "p" / "abc-1.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(jsonl(said("u1", "user", "one")))
    assert memory.import_from(tmp_path / "projects").stored == {"conversation": 1}
    with path.open("ab") as file:
        file.write(jsonl(said("u2", "assistant", "two")) + b'{"type":"user","uu')
    report = memory.import_from(tmp_path / "projects")
    assert (report.stored, report.present) == ({"conversation": 1}, {"conversation": 1})
    assert [(line, reason) for _, line, reason, _ in report.refused] == [(3, "not JSON")]


# --- OpenAI

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}},
    ]},
    {"role": "tool", "tool_call_id": "c1", "content": "a cat"},
    {"role": "assistant", "content": "A cat."},
    {"role": "assistant", "content": ""},
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "session"),
    [
        ({"chat.json": json.dumps(TALK)}, "chat"),
        ({"x.json": json.dumps({"id": "conv_1", "messages": TALK, "title": "Cat"})}, "conv_1"),
        ({"train.jsonl": json.dumps({"messages": TALK})}, "train-1"),
        ({"lines.jsonl": "\n".join(map(json.dumps, TALK))}, "lines"),
        ({"all.json": json.dumps([{"messages": []}, {"messages": TALK}])}, "all-2"),
    ],
)
def test_messages_become_a_conversation(memory, files, session):
    report = memory.import_from(files)
    assert (report.layout, report.stored) == ("openai", {"conversation": 5})
    assert report.skipped == {"image_url part": 1, "empty message": 1}
    found = memory.get_entries(session)
    assert [entry.role for entry in found] == ["system", "user", "assistant", "tool", "assistant"]
    assert found[1].content == "What is this?"
    assert found[2].content["tool_calls"][0]["id"] == "c1"
    assert (found[3].origin, found[3].metadata) == ("tool", {"tool_call_id": "c1"})


def test_a_message_on_each_line_is_one_talk_among_others(memory):
    said = [{"role": "user", "content": "Go on."}] * 2
    lines = [said[0], {"messages": said, "id": "other"}, {"words": 1}, said[1]]
    files = {"talk.jsonl": "\n".join(map(json.dumps, lines))}
    report = memory.import_from(files, "openai")
    assert (report.stored, report.sessions["created"]) == ({"conversation": 4}, 2)
    (refused,) = report.refused
    assert (refused.line, refused.reason) == (3, "neither a message nor a list of messages")
    assert [one.content for one in memory.get_entries("talk")] == ["Go on."] * 2
    again = memory.import_from(files, "openai")
    assert (again.stored, again.present) == ({}, {"conversation": 4})


def test_unix_seconds_and_given_ids_are_taken(memory):
    message = {"id": "m1", "role": "user", "content": "hi", "created_at": 1708000000}
    memory.import_from({"c.json": json.dumps([message])})
    (entry,) = memory.get_entries("c")
    assert (entry.id, entry.timestamp) == ("m1", "2024-02-15T12:26:40.000Z")
