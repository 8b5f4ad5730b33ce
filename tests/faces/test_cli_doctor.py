"""`mnemolog doctor`: what it says, and how it ends."""

import json

import pytest

# What depends on the machine that runs the tests, not on the root.
AROUND = {"space_low", "network_disk", "sync_folder"}

CODES = {"error": 11, "warning": 10, "note": 0}


@pytest.fixture
def doctor(run):
    """What the doctor tells a program of the root; its exit code must say the same."""

    def findings(*words: str) -> list[dict]:
        result = run("doctor", "--json", *words, code=None)
        told = [json.loads(line) for line in result.stdout.splitlines()]
        left = [CODES[line["severity"]] for line in told if not line["repaired"]]
        assert result.exit_code == max(left, default=0)
        return [line for line in told if line["code"] not in AROUND]

    return findings


def test_a_healthy_root_has_no_findings(doctor, run, memory, sid):
    assert doctor() == []
    told = run("doctor", code=None)
    assert "1 sessions, 1 logs, 0 lines, 0 bytes checked" in told.stdout
    assert told.stdout.endswith("healthy\n") == (told.exit_code == 0)


def test_the_graph_alone_is_summed_up_in_nodes(run, memory, root):
    for name in ("tea", "ink"):
        memory.write_node(f"topics/{name}", f"About {name}.\n", user_id="ann")
    assert f"{root}: 2 nodes checked\n" in run("doctor", "--graph", code=None).stdout


def test_warnings_and_errors_have_exit_codes_of_their_own(doctor, run, memory, folder):
    (folder / "lock").chmod(0o666)
    assert [one["severity"] for one in doctor()] == ["warning"]
    run("doctor", code=10)
    (folder / "memory.jsonl").write_bytes(b"damage\n")
    assert [one["severity"] for one in doctor()] == ["warning", "error"]
    run("doctor", code=11)


def test_a_missing_root_is_an_error_and_is_not_made(run, root):
    told = run("doctor", code=11).stdout
    assert "root_missing" in told
    assert not root.exists()


def test_a_finding_is_explained(run, memory, folder):
    (folder / "memory.jsonl").write_bytes(b"damage\n")
    told = run("doctor", code=11).stdout
    assert "error   line_damaged        sessions/talk/memory.jsonl\n" in told
    assert "not the bytes that were written (6 bytes)" in told
    assert "--repair copies its bytes to quarantine" in told
    assert told.splitlines()[-1].startswith("1 error")


def test_what_was_repaired_does_not_count_against_the_root(doctor, memory, root, folder):
    (root / ".gitignore").unlink()
    (folder / "memory.jsonl").write_bytes(b"damage\n")
    (folder / "manifest.json").write_text("{")
    repaired = doctor("--repair")
    assert {line["code"] for line in repaired} == {
        "gitignore_missing", "manifest_unreadable", "line_damaged",
    }  # fmt: skip
    assert all(line["repaired"] and line["can_repair"] for line in repaired)
    assert [line["code"] for line in doctor()] == ["line_kept"]


def test_what_cannot_be_repaired_still_counts(run, memory, folder):
    (folder / "memory.jsonl").unlink()
    told = run("doctor", "--repair", code=11).stdout
    assert "segment_missing" in told
    assert "repaired:" not in told


def test_a_repair_that_fails_is_told_and_counts(run, root, memory):
    memory.create_session(session_id="s" * 400)
    (folder,) = (root / "sessions").iterdir()
    (folder / "manifest.json").unlink()
    assert "not repaired: Neither the name of " in run("doctor", "--repair", code=11).stdout


def test_a_repair_is_told(run, memory, folder):
    (folder / "lock").chmod(0o666)
    assert "repaired: mode 0600 now" in run("doctor", "--repair", code=None).stdout


def test_hostile_names_of_files_are_shown_safely(run, doctor, memory, root):
    (root / "sessions" / "a\x1b[31m\nb\u202e").touch(0o600)
    told = run("doctor", code=None).stdout
    assert "sessions/a b\n" in told
    assert "\x1b" not in told
    assert doctor()[0]["path"] == "sessions/a\x1b[31m\nb\u202e"
