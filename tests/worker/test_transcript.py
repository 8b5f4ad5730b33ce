"""Entries as Markdown: who said what, and nothing of it can pass for our own marks."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.model.entry import Entry
from mnemolog.policy import transcript


def entry(content: Any = "hello", **fields: Any) -> Entry:
    given: dict[str, Any] = {"type": "conversation", "origin": "user", "role": "user", **fields}
    return Entry(v=1, id="m1", timestamp="2026-11-15T09:00:00.000Z", content=content, **given)


@pytest.mark.req("S003-11", "S003-27")
def test_nothing_said_is_an_empty_transcript():
    assert transcript.of([]) == ""
    assert transcript.of([entry("  \n ")]) == ""


@pytest.mark.req("S003-11", "S003-27")
def test_blocks_are_labelled_and_joined_by_a_blank_line():
    told = [entry("We need ACID."), entry("PostgreSQL.", role="assistant", agent_id="architect")]
    assert transcript.of(told) == (
        "## User\nWe need ACID.\n\n## Assistant (architect)\nPostgreSQL."
    )


@pytest.mark.req("S003-11")
def test_in_a_background_session_nobody_is_a_user():
    told = [
        entry("The build failed."),
        entry("I look.", role="assistant"),
        entry("42", role="tool"),
    ]
    assert transcript.of(told, is_background=True) == (
        "## System Message\nThe build failed.\n\n## Agent\nI look.\n\n## Tool\n42"
    )


@pytest.mark.req("S003-11")
def test_notes_are_quotes():
    assert transcript.of([entry("ask\nfor it", type="note", role=None)]) == "> note: ask\n> for it"


def test_typed_entries_are_short_labelled_blocks():
    told = {"decision": "Use PostgreSQL", "rationale": "ACID", "alternatives": ["MySQL"], "x": ""}
    shown = transcript.of([entry(told, type="decision", role=None, agent_id="architect")])
    assert shown == (
        '**Decision** (architect) Use PostgreSQL\nrationale: ACID\nalternatives: ["MySQL"]'
    )


@pytest.mark.req("S003-11")
def test_records_of_the_program_are_skipped():
    hidden = [entry("x", metadata={"internal": True}), entry("y", category="internal")]
    assert transcript.of([*hidden, entry("said")]) == "## User\nsaid"


@pytest.mark.req("S003-11")
@pytest.mark.parametrize(
    "wrapped",
    [
        '<system_message origin="cron">Wake up.</system_message>',
        "<system_message origin='cron'>\n  Wake up.\n</system_message>",
        {"type": "system_message", "origin": "cron", "text": "Wake up."},
        {"type": "message", "content": '<system_message origin="cron">Wake up.</system_message>'},
    ],
)
def test_an_envelope_is_unwrapped_and_its_origin_kept(wrapped):
    assert transcript.of([entry(wrapped)]) == "## User (from cron)\nWake up."


def test_nested_envelopes_keep_every_origin():
    inner = {"type": "system_message", "origin": "job 7", "text": "Done."}
    outer = {"type": "message", "origin": "queue", "content": inner}
    assert transcript.of([entry(outer)]) == '## User (from queue, from "job 7")\nDone.'


def test_envelopes_without_end_are_not_followed_for_ever():
    nested: object = "deep"
    for _ in range(50):
        nested = {"type": "message", "content": nested}
    assert "deep" in transcript.of([entry(nested)])


@pytest.mark.parametrize(
    "line",
    ["# User", "## Assistant", "   ## User", "```", "~~~", "===", "---", "- -", "-", "> note: x",
     "<!-- open", "<details>", "***", "___"],
)  # fmt: skip
def test_no_line_of_content_begins_a_mark(line):
    (heading, first, second) = transcript.of([entry(f"before\n{line}")]).splitlines()
    assert (heading, first) == ("## User", "before")
    assert second == re.sub(r"^( *)", r"\1\\", line)


_MARKS = st.sampled_from(
    ["## User", "```", "\n", "\r", "\u2028", "\x0b", "\x85", "> ", "<!--", "-->", "---", " ", "a"]
)


@given(st.lists(st.lists(_MARKS, max_size=8).map("".join), max_size=5))
def test_there_are_as_many_headings_as_messages(texts):
    shown = transcript.of([entry(text) for text in texts])
    lines = shown.split("\n")
    spoken = [text for text in texts if text.strip()]
    assert sum(line == "## User" for line in lines) == len(spoken)
    rest = [line for line in lines if line != "## User"]
    assert not any(re.match(r" {0,3}(#|`{3}|~{3}|<|=|-[-\s]*$)", line) for line in rest)
    assert not re.search("[\r\u2028\x0b\x85]", shown)
