"""`mnemolog hook claude-code`: what Claude Code's hooks tell is recorded, and never in its way."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory

SESSION = "4a1f6c1e-0d6e-4a53-9a5c-000000000001"


def line(number: int, kind: str, content: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": None,
        "sessionId": SESSION,
        "cwd": "/projects/shop",
        "version": "2.1.0",
        "timestamp": f"2026-11-15T09:00:{number:02}.000Z",
        "message": {"role": kind, "content": content},
    }


TURNS = [
    {"type": "queue-operation", "sessionId": SESSION},
    line(1, "user", "Which database do we use?"),
    line(2, "assistant", [{"type": "thinking", "thinking": "hm"}]),
    line(3, "assistant", [{"type": "text", "text": "PostgreSQL, for its transactions."}]),
    line(4, "user", "Good."),
]


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def write(transcript: Path, turns: list[dict[str, Any]], *, tail: str = "") -> None:
    told = "".join(json.dumps(turn) + "\n" for turn in turns) + tail
    transcript.write_text(told, encoding="utf-8")


def event(name: str, transcript: Path, **more: Any) -> str:
    told = {"session_id": SESSION, "transcript_path": str(transcript), "hook_event_name": name}
    return json.dumps({**told, "cwd": "/projects/shop", **more})


@pytest.fixture
def told(run):
    """Run the hook with this input; what it says on standard error."""

    def hook(text: str, *words: str) -> str:
        result = run(*words, "hook", "claude-code", text=text)
        assert result.stdout == ""  # Claude Code would take that for context
        return result.stderr

    return hook


def recorded(root: Path) -> list[str]:
    with Memory.open(root) as memory:
        return [entry.text for entry in memory.get_entries(SESSION)]


def test_a_session_is_recorded_message_by_message_and_each_once(root, transcript, told):
    assert told(event("SessionStart", transcript, source="startup")) == ""
    write(transcript, TURNS[:2])
    assert told(event("UserPromptSubmit", transcript, prompt="Which database do we use?")) == ""
    assert recorded(root) == ["Which database do we use?"]
    write(transcript, TURNS[:4])
    for _ in range(2):
        assert told(event("Stop", transcript)) == ""
    assert recorded(root) == ["Which database do we use?", "PostgreSQL, for its transactions."]
    write(transcript, TURNS)
    assert told(event("SessionEnd", transcript, reason="other")) == ""
    assert recorded(root)[2:] == ["Good."]


def test_what_is_recorded_says_where_it_comes_from(root, transcript, told):
    write(transcript, TURNS)
    told(event("Stop", transcript))
    with Memory.open(root) as memory:
        session = memory.load_session(SESSION)
        assert session.agent_ids == ("claude-code",)
        assert session.metadata["folder"] == "/projects/shop"
        first, second, _ = memory.get_entries(SESSION)
        assert (first.id, first.role) == (TURNS[1]["uuid"], "user")
        assert (second.id, second.agent_id) == (TURNS[3]["uuid"], "claude-code")


def test_the_users_view_owns_what_is_recorded(root, transcript, told):
    write(transcript, TURNS)
    told(event("Stop", transcript), "--user", "ada")
    with Memory.open(root) as memory:
        assert memory.load_session(SESSION).user_id == "ada"


def test_a_line_that_is_still_being_written_is_recorded_the_next_time(root, transcript, told):
    half = json.dumps(TURNS[4])
    write(transcript, TURNS[:2], tail=half[:40])
    assert "1 lines were not recorded" in told(event("UserPromptSubmit", transcript))
    write(transcript, [*TURNS[:2], TURNS[4]])
    assert told(event("Stop", transcript)) == ""
    assert recorded(root) == ["Which database do we use?", "Good."]


def test_a_secret_in_a_message_does_not_reach_the_disk(root, transcript, told):
    secret = "ghp_" + "a1B2" * 9
    write(transcript, [line(1, "user", f"use {secret} please")])
    told(event("Stop", transcript))
    assert secret not in recorded(root)[0]
    assert not [
        path for path in root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize(
    "text",
    ["", "garbage", "[]", "{}", '{"transcript_path": 5}', '{"transcript_path": ""}',
     "[" * 100_000, "\x00\ud800",
     '{"transcript_path": "/no/such/file", "hook_event_name": "Stop"}',
     '{"transcript_path": "/dev/zero", "hook_event_name": "Stop"}',
     '{"transcript_path": "a\\u0000b", "hook_event_name": "Stop"}'],
)  # fmt: skip
def test_whatever_is_told_the_host_goes_on(told, text):
    complaint = told(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    assert complaint.startswith("warning: nothing was recorded: ")
    assert "Traceback" not in complaint


@pytest.mark.parametrize("path", ["", ".", "{folder}"])
def test_a_folder_is_no_transcript_whatever_lies_in_it(
    told, transcript, root, tmp_path, monkeypatch, path
):
    write(transcript, TURNS)
    monkeypatch.chdir(tmp_path)
    told(event("Stop", Path("x"), transcript_path=path.format(folder=tmp_path)))
    with Memory.open(root) as memory:
        assert memory.list_sessions() == []


def test_a_root_that_cannot_be_used_is_no_failure_of_the_host(anywhere, transcript, tmp_path):
    write(transcript, TURNS)
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    words = ("--root", str(tmp_path / "file" / "store"), "hook", "claude-code")
    result = anywhere(*words, text=event("Stop", transcript))
    assert result.stderr.startswith("warning: nothing was recorded: ")


@pytest.mark.parametrize(
    "words", [(), ("cursor",), ("claude-code", "--what"), ("claude-code", "x")]
)
def test_words_that_nobody_knows_do_not_block_a_prompt(run, words):
    """Claude Code takes the exit code 2, that of a wrong command line, for a veto."""
    assert run("hook", *words, text="{}").stderr.startswith("warning: nothing was recorded: ")


def test_two_hooks_at_once_record_every_message_once(root, transcript):
    write(transcript, [line(number, "user", f"message {number}") for number in range(50)])
    command = [sys.executable, "-m", "mnemolog", "--root", str(root), "hook", "claude-code"]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for each in started:
        assert each.stdin is not None
        each.stdin.write(event("Stop", transcript))
        each.stdin.close()
        each.stdin = None
    complaints = [each.communicate(timeout=60)[1] for each in started]
    assert [each.returncode for each in started] == [0, 0], complaints
    assert sorted(recorded(root)) == sorted(f"message {number}" for number in range(50))
