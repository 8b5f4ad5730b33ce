"""`mnemolog add`: texts, entries, and lines from the input."""

import json

import pytest


def lines_of(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def test_a_text_becomes_a_message_of_the_user(run, ask):
    receipt = run("add", "We need ACID.").stdout
    (entry,) = ask("log")
    assert receipt.split()[:2] == ["stored", entry["id"]]
    assert (entry["type"], entry["role"], entry["origin"]) == ("conversation", "user", "user")
    assert entry["content"] == "We need ACID."


def test_without_a_session_one_is_made_and_told(run, ask):
    told = run("add", "first")
    (session,) = ask("sessions")
    assert told.stderr == f"Made the session {session['id']}\n"
    assert run("add", "second").stderr == ""
    (receipt,) = ask("add", "third")
    assert (receipt["session_id"], receipt["session_created"]) == (session["id"], False)
    assert len(ask("log")) == 3


def test_a_program_is_told_that_a_session_was_made(ask):
    (receipt,) = ask("add", "first")
    assert receipt["session_created"] is True
    assert receipt["status"] == "stored"
    assert receipt["durable"] is True
    assert receipt["session_id"].startswith("sess-")


def test_what_is_refused_makes_no_session(run, ask, memory):
    run("add", " ", code=5)
    run("add", "--entry", '{"nonsense":1}', code=5)
    run("add", "-", text="{\n", code=5)
    assert ask("sessions") == []


def test_the_session_that_changed_last_is_added_to(ask, memory, clock):
    memory.create_session(session_id="older")
    clock.advance(minutes=1)
    memory.create_session(session_id="newer")
    clock.advance(minutes=1)
    memory.add_memory("older", content="changed")
    assert ask("add", "here")[0]["session_id"] == "older"


@pytest.mark.parametrize(
    ("kind", "text", "content"),
    [
        ("decision", "Use it", {"decision": "Use it"}),
        ("findings", "It leaks", {"description": "It leaks", "status": "open"}),
        ("preference", "theme = dark", {"key": "theme", "value": "dark"}),
        ("note", "By the way", "By the way"),
        ("own-type", "Anything", "Anything"),
    ],
)
def test_a_text_takes_the_shape_of_its_type(ask, kind, text, content):
    ask("add", "--type", kind, text)
    (entry,) = ask("log")
    assert entry["content"] == content
    assert entry["type"] == kind.removesuffix("s")


def test_a_preference_without_a_value_is_refused(run):
    assert "KEY=VALUE" in run("add", "--type", "preference", "dark", code=5).stderr


def test_options_go_into_the_envelope(ask, memory):
    memory.create_session(session_id="talk", agent_ids=["ann"])
    ask("add", "hi", "--agent", "ann", "--role", "assistant", "--tag", "a", "--tag", "b.c",
        "--importance", "0.25")  # fmt: skip
    (entry,) = ask("log", "talk")
    assert entry["agent_id"] == "ann"
    assert entry["role"] == "assistant"
    assert entry["tags"] == ["a", "b.c"]
    assert entry["importance"] == 0.25


def test_a_receipt_tells_its_warnings(run):
    told = run("add", "--entry", '{"content":"x","timestamp":"2999-01-01T00:00:00Z"}')
    assert "warning: the timestamp" in told.stderr


def test_options_do_not_go_with_whole_entries(run):
    run("add", "--entry", '{"content":"x"}', "--tag", "a", code=2)
    run("add", "-", "--type", "note", text="{}\n", code=2)
    run("add", "-", "--importance", "0", text='{"content":"x"}\n', code=2)


@pytest.mark.req("S001-147")
@pytest.mark.parametrize(
    ("entry", "line", "column"),
    [('{"content": }', 1, 13), ('{"content":\n"x",}', 2, 5), ("[1]", 1, 1), ("", 1, 1)],
)
def test_bad_json_is_told_by_line_and_column(run, ask, memory, entry, line, column):
    told = run("add", "--entry", entry, code=5).stderr
    assert told.startswith(f"E_INVALID_FORMAT: Line {line}, column {column}: ")
    assert ask("sessions") == []


def test_json_too_deep_or_with_too_long_a_number_is_refused(run):
    run("add", "--entry", '{"content":' + "[" * 100_000, code=5)
    run("add", "--entry", '{"content":{"n":' + "9" * 5000 + "}}", code=5)


def test_lines_of_the_input_are_stored_in_order(run, ask):
    text = lines_of(*({"content": f"entry {number}"} for number in range(2500)))
    assert run("add", "-", text=text).stdout.startswith("2,500 stored  in sess-")
    assert [entry["content"] for entry in ask("log")] == [f"entry {n}" for n in range(2500)]


def test_blank_lines_and_a_byte_order_mark_do_not_matter(run, ask):
    run("add", "-", text=b'\xef\xbb\xbf{"content":"a"}\r\n\r\n\n{"content":"b"}')
    assert [entry["content"] for entry in ask("log")] == ["a", "b"]


def test_every_line_gets_a_receipt(ask):
    receipts = ask("add", "-", text=lines_of({"id": "m1", "content": "a"}, {"content": "b"}))
    assert [one["status"] for one in receipts] == ["stored", "stored"]
    again = ask("add", "-", text=lines_of({"id": "m1", "content": "c"}))
    assert [(one["id"], one["status"]) for one in again] == [("m1", "revised")]


def test_nothing_is_added_by_an_empty_input(run, ask, memory):
    assert run("add", "-", text="\n\n").stdout == "There was nothing to add.\n"
    assert ask("sessions") == []


def test_of_a_batch_with_a_bad_line_nothing_is_stored(run, ask):
    good = [json.dumps({"content": str(number)}) for number in range(1999)]
    good[1400] = '{"content": "never closed}'
    told = run("add", "-", text="\n".join(good), code=5).stderr
    assert "E_INVALID_FORMAT: Line 1,401, column 13: " in told
    assert "The 1,000 entries of earlier batches are stored" in told
    assert len(ask("log")) == 1000


@pytest.mark.parametrize(
    ("line", "name", "where"),
    [
        (b'{"content":"\xff"}', "E_INVALID_FORMAT", "Line 2, column 13: not UTF-8"),
        (b"7", "E_INVALID_FORMAT", "Line 2, column 1: an entry is an object"),
        (b'{"content":""}', "E_SCHEMA_INVALID", "Line 2: The content is empty."),
        (b'{"content":"x","tags":["no spaces"]}', "E_INVALID_FORMAT", "Line 2: The tag"),
        (b'{"content":"x","session_id":"else"}', "E_SCHEMA_INVALID", "Lines 1 to 3: The entry"),
    ],
)
def test_a_bad_line_is_named(run, ask, memory, line, name, where):
    text = b'{"content":"a"}\n' + line + b'\n{"content":"b"}\n'
    memory.create_session(session_id="talk")
    told = run("add", "-", text=text, code=5).stderr
    assert told.startswith(f"{name}: {where}")
    assert "Nothing was stored." in told
    assert ask("log", "talk") == []
