"""`export` and `import` from the command line."""

import json
import os
import pty
import subprocess

import pytest

from tests.faces.processes import COMMAND, WAIT
from tests.layouts.world import fill


@pytest.fixture
def filled(memory):
    fill(memory)
    memory.close()
    return memory


@pytest.fixture
def chat(tmp_path):
    """A file with two messages and one line that is nothing."""
    path = tmp_path / "chats" / "talk.ndjson"
    path.parent.mkdir()
    path.write_bytes(
        b'{"id":"m1","role":"user","content":"one"}\n'
        b'{"id":"m2","role":"assistant","content":"two"}\n'
        b"nothing\n"
    )
    return path


@pytest.mark.req("S002-052")
def test_a_session_goes_to_the_output_as_text(filled, run, ask):
    (document,) = [json.loads(run("export", "other").stdout)]
    assert document["subject"] == {"session_id": "other"}
    lines = run("export", "other", "--layout", "jsonl").stdout.splitlines()
    assert [json.loads(line)["type"] for line in lines] == ["session", "note"]
    assert "## Session other" in run("export", "other", "--layout", "markdown").stdout


def test_a_user_an_agent_or_everything_is_exported(filled, run):
    def sessions(*words):
        found = json.loads(run("export", *words).stdout)["sessions"]
        return {one["session"]["id"]: len(one["entries"]) for one in found}

    assert sessions() == {"Talk A": 8, "other": 1}
    assert sessions("--of", "u2") == {"other": 1}
    assert sessions("--by", "analyst") == {"Talk A": 2, "other": 0}
    assert sessions("--agent", "architect") == {"Talk A": 7}
    run("export", "other", "--of", "u2", code=5)


@pytest.mark.parametrize("layout", ["work-agent", "four-files", "one-log", "memory-json", "nodes"])
def test_files_go_out_and_come_in_again(filled, run, anywhere, ask, tmp_path, layout):
    out = tmp_path / "out"
    told = run("export", "--layout", layout, "--out", str(out)).stdout
    assert str(out) in told
    run("export", "--layout", layout, "--out", str(out), code=3)
    other = ["--root", str(tmp_path / "other"), "--json"]
    report = json.loads(anywhere(*other, "import", str(out)).stdout)
    assert (report["layout"], report["refused_total"]) == (layout, 0)
    assert report["sessions"] == {"created": 2}
    again = json.loads(anywhere(*other, "import", str(out)).stdout)
    assert (again["stored"], again["present"]) == ({}, report["stored"])


def test_programs_get_the_report_of_an_export(filled, ask, tmp_path):
    (report,) = ask("export", "--layout", "one-log", "--out", str(tmp_path / "out"))
    assert (report["layout"], report["sessions"], report["files"]) == ("one-log", 2, 8)
    assert report["left_out"] == {"belongs to no session": 2}


def test_people_are_told_only_of_what_stands_in_the_files(filled, run, tmp_path):
    filled.write_node("topics/tea", "Likes tea.\n", user_id="u1")
    whole = run("export", "--layout", "jsonl", "--out", str(tmp_path / "whole")).stdout
    assert "with 1 node of the graph" in whole
    parts = run("export", "--layout", "one-log", "--out", str(tmp_path / "parts")).stdout
    assert "with" not in parts
    assert "left out: 1 × a node of the graph" in parts
    both = [int(told.partition(" ")[0]) for told in (whole, parts)]
    assert both[0] - both[1] == 2
    logs = (tmp_path / "parts").glob("sessions/*/memory.jsonl")
    assert sum(len(log.read_text("utf-8").splitlines()) for log in logs) == both[1]


def test_several_files_need_a_place(filled, run):
    assert "--out" in run("export", "--layout", "four-files", code=2).stderr
    assert "one of" in run("export", "--layout", "xml", code=5).stderr


def test_what_is_refused_is_told_and_the_rest_is_stored(root, run, ask, chat):
    told = run("import", str(chat), code=5).stdout
    assert "work-agent: 1 session created" in told
    assert "refused: 1 × not JSON" in told
    assert "talk.ndjson, line 3: not JSON" in told
    rows = [line.split() for line in told.splitlines()]
    assert ["conversation", "2", "0", "0"] in rows
    assert len(ask("log", "talk")) == 2
    (again,) = ask("import", str(chat), code=5)
    assert (again["stored"], again["present"]) == ({}, {"conversation": 2})
    assert again["refused"] == [["talk.ndjson", 3, "not JSON", "E_INVALID_FORMAT"]]


def test_a_dry_run_makes_nothing(root, run, ask, chat, memory):
    before = sorted(path for path in (root / "sessions").rglob("*"))
    (report,) = ask("import", str(chat), "--dry-run", code=5)
    assert (report["dry_run"], report["stored"]) == (True, {"conversation": 2})
    assert sorted(path for path in (root / "sessions").rglob("*")) == before
    assert "would be created" in run("import", str(chat), "--dry-run", code=5).stdout


def test_a_dry_run_makes_no_root(anywhere, chat, tmp_path):
    anywhere("--root", str(tmp_path / "none"), "import", str(chat), "--dry-run", code=3)
    assert not (tmp_path / "none").exists()


def test_names_in_a_report_cannot_move_the_cursor(run, root, tmp_path):
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "a\x1b[2Jb.ndjson").write_bytes(b"nothing\n")
    (folder / "ok.ndjson").write_bytes(b'{"role":"user","content":"x"}\n')
    told = run("import", str(folder), code=5).stdout
    assert "\x1b" not in told
    assert "its name is not plain text" in told


def test_the_prefix_and_the_layout_are_passed_on(run, ask, root, chat):
    run("import", str(chat), "--prefix", "old-", code=5)
    assert [one["id"] for one in ask("sessions")] == ["old-talk"]
    assert "four-files" in run("import", str(chat), "--layout", "four-files", code=5).stderr
    assert "one of" in run("import", str(chat), "--layout", "markdown", code=5).stderr
    assert "no file or folder" in run("import", str(chat.parent / "none"), code=3).stderr


def test_a_person_sees_a_bar_and_a_pipe_none(filled, root, chat):
    upper, lower = pty.openpty()
    done = subprocess.run(
        [*COMMAND, "--root", str(root), "import", str(chat)],
        stdout=subprocess.PIPE, stderr=lower, check=False, timeout=WAIT,
        env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(lower)
    seen = os.read(upper, 65536).decode()
    os.close(upper)
    assert done.returncode == 5
    assert "importing" in seen
    assert b"importing" not in done.stdout
