"""`backup`, `migrate`, `--as-of` and `--layout native` on the command line."""

import json
import os
import tarfile

import pytest

from mnemolog import Memory


@pytest.fixture
def filled(memory, sid, clock):
    memory.add_memory(sid, content="early", id="m1", type="note")
    clock.advance(hours=1)
    memory.add_memory(sid, content="late", id="m2", type="note")
    memory.update_memory(sid, "m1", content="changed")
    return memory


def test_a_backup_is_made_and_restored(filled, run, ask, anywhere, root, tmp_path, sid):
    file, new = str(tmp_path / "all.tar.gz"), str(tmp_path / "new")
    (done,) = ask("backup", file)
    assert (done["path"], done["sessions"], done["warnings"]) == (file, 1, [])
    told = anywhere("backup", "restore", file, "--root", new).stdout
    assert "files are restored in" in told
    assert new in told
    with Memory.open(new, environ={}) as copy:
        assert [one.content for one in copy.get_entries(sid)] == ["changed", "late"]
    assert "1 sessions are in" in run("backup", str(tmp_path / "again.tar.gz")).stdout


def test_what_could_not_be_read_is_told_and_changes_the_exit_code(filled, run, root, sid, tmp_path):
    filled.create_session(session_id="pipe")
    log = root / "sessions/pipe/memory.jsonl"
    log.unlink()
    os.mkfifo(log)
    assert "pipe is left out" in run("export", code=10).stderr
    told = run("--json", "export", code=10)
    assert [one["session"]["id"] for one in json.loads(told.stdout)["sessions"]] == [sid]
    assert "pipe is left out" in json.loads(told.stderr)["warning"]
    assert "pipe" in run("export", "--out", str(tmp_path / "e.json"), code=10).stderr
    native = ("export", "--layout", "native", "--out", str(tmp_path / "n"))
    assert "sessions/pipe" in run(*native, code=10).stderr
    assert "memory.jsonl" in run("backup", str(tmp_path / "b"), code=10).stderr


def test_a_home_is_known_to_a_restore_too(filled, run, anywhere, tmp_path, monkeypatch):
    run("backup", str(tmp_path / "b"))
    monkeypatch.setenv("HOME", str(tmp_path))
    anywhere("backup", "restore", str(tmp_path / "b"), "--root", "~/back")
    assert (tmp_path / "back/sessions").is_dir()


def test_a_backup_overwrites_nothing(filled, run, tmp_path):
    (tmp_path / "there").write_text("mine")
    assert "there already" in run("backup", str(tmp_path / "there"), code=5).stderr
    assert (tmp_path / "there").read_text() == "mine"


def test_keys_go_in_when_they_are_asked_for(filled, run, root, tmp_path):
    (root / "redact.key").write_text("k")
    run("backup", str(tmp_path / "a"))
    run("backup", str(tmp_path / "b"), "--with-keys")
    for name, is_there in (("a", False), ("b", True)):
        with tarfile.open(tmp_path / name) as tar:
            assert ("redact.key" in tar.getnames()) == is_there


def test_a_restore_needs_a_new_folder_by_name(filled, run, anywhere, root, tmp_path):
    file = str(tmp_path / "all.tar.gz")
    run("backup", file)
    assert "--root" in anywhere("backup", "restore", file, code=2).stderr
    assert "not empty" in run("backup", "restore", file, code=5).stderr
    assert "backup restore FILE" in run("backup", file, "more", code=2).stderr


def test_a_broken_backup_is_refused_as_one_line(anywhere, tmp_path):
    (tmp_path / "x").write_bytes(b"no backup")
    told = anywhere("--json", "backup", "restore", str(tmp_path / "x"), "--root", "new", code=5)
    assert json.loads(told.stderr)["code"] == "E_INVALID_FORMAT"


@pytest.mark.req("S002-206")
def test_a_migration_says_what_became_of_each_log(filled, run, ask, sid):
    (row,) = ask("migrate", "--dry-run")
    assert (row["log"], row["status"], row["dry_run"]) == (
        {"kind": "session", "id": sid}, "current", True,
    )  # fmt: skip
    assert "0 logs rewritten, 1 are up to date" in run("migrate").stdout
    assert "0 logs would be rewritten" in run("migrate", sid, "--dry-run").stdout


def test_a_log_can_be_looked_at_as_it_was(filled, run, ask, sid):
    then = "2026-11-15T09:30:00Z"
    assert [one["content"] for one in ask("log", sid, "--as-of", then)] == ["early"]
    (shown,) = ask("show", sid, "--as-of", then)
    assert [one["content"] for one in shown["entries"]] == ["early"]
    (entry,) = ask("show", sid, "m1", "--as-of", then)
    assert entry["content"] == "early"
    assert "no entry 'm2'" in run("show", sid, "m2", "--as-of", then, code=5).stderr
    assert "not a valid time" in run("log", sid, "--as-of", "some day", code=5).stderr
    run("log", sid, "--as-of", then, "--follow", code=2)
    run("show", sid, "--as-of", then, "--raw", code=2)


@pytest.mark.req("S002-100")
def test_whole_logs_go_out_and_in_again(filled, run, ask, anywhere, root, tmp_path, sid):
    file, new = str(tmp_path / "all.jsonl.gz"), str(tmp_path / "new")
    (done,) = ask("export", "--layout", "native", "--out", file)
    assert (done["logs"], done["lines"]) == (1, 3)
    assert "stored" in anywhere("--root", new, "import", file, "--layout", "native").stdout
    told = anywhere("--root", new, "--json", "import", file, "--layout", "native").stdout
    assert [one["status"] for one in json.loads(told)["logs"]] == ["present"]
    log = f"sessions/{sid}/memory.jsonl"
    assert (tmp_path / "new" / log).read_bytes() == (root / log).read_bytes()


def test_a_conflict_is_told_with_an_exit_code(filled, run, anywhere, tmp_path, sid):
    file, new = str(tmp_path / "one.jsonl"), str(tmp_path / "new")
    run("export", sid, "--layout", "native", "--out", file)
    with Memory.open(new, environ={}) as other:
        other.create_session(session_id=sid)
        other.add_memory(sid, content="something else")
    refused = anywhere("--root", new, "import", file, "--layout", "native", code=5).stdout
    assert "another one here" in refused
    run("export", "--layout", "native", code=2)
    run("import", file, "--layout", "native", "--prefix", "x", code=2)
