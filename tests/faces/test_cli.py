"""The command line as a whole: roots, views, answers for programs, exit codes."""

import fcntl
import json
import os
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog import errors as tree
from mnemolog.errors import InvalidQueryError, MnemologError, QueryTimeoutError
from mnemolog.faces.cli import exits


def leaves(branch: type[MnemologError] = MnemologError) -> list[type[MnemologError]]:
    below = branch.__subclasses__()
    return [leaf for each in below for leaf in leaves(each)] if below else [branch]


# --- which root


def test_the_root_may_stand_before_and_after_the_verb(anywhere, root):
    anywhere("--root", str(root), "add", "one")
    anywhere("add", "two", "--root", str(root))
    told = anywhere("log", "--root", str(root), "--json").stdout.splitlines()
    assert [json.loads(line)["content"] for line in told] == ["one", "two"]


def test_without_root_the_variable_counts(anywhere, tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMOLOG_ROOT", str(tmp_path / "named"))
    anywhere("add", "one")
    assert (tmp_path / "named" / "sessions").is_dir()
    anywhere("--root", str(tmp_path / "other"), "add", "two")
    assert (tmp_path / "other" / "sessions").is_dir()


def test_without_either_the_nearest_folder_upward_counts(anywhere, monkeypatch):
    anywhere("init")
    deep = Path("a/b/c")
    deep.mkdir(parents=True)
    here = Path.cwd()
    monkeypatch.chdir(deep)
    anywhere("add", "from below")
    assert not Path(".mnemolog").exists()
    assert len(list((here / ".mnemolog" / "sessions").iterdir())) == 1


def test_without_any_it_is_the_home_folder(anywhere, home):
    anywhere("add", "at home")
    assert (home / ".mnemolog" / "sessions").is_dir()
    assert not Path(".mnemolog").exists()


@pytest.mark.parametrize("verb", ["sessions", "stats", "log", "show x"])
def test_a_reading_verb_makes_no_root(run, root, verb):
    told = run(*verb.split(), code=3)
    assert told.stderr.startswith("E_STORAGE_IO: There is no memory in ")
    assert not root.exists()


def test_a_folder_that_is_no_root_is_left_alone(run, root):
    root.mkdir()
    run("sessions", code=3)
    assert list(root.iterdir()) == []


# --- init


@pytest.mark.req("S001-009")
def test_init_makes_a_private_root_that_git_ignores(anywhere):
    assert "Made a memory" in anywhere("init").stdout
    made = Path(".mnemolog")
    assert made.stat().st_mode & 0o777 == 0o700
    assert (made / ".gitignore").read_text().splitlines()[-1] == "*"
    assert "already" in anywhere("init").stdout


def test_init_tells_programs_whether_it_made_the_root(ask, root):
    assert ask("init") == [{"root": str(root), "created": True}]
    assert ask("init") == [{"root": str(root), "created": False}]


# --- who asks


@pytest.mark.req("S000-13", "S000-15")
def test_an_agent_sees_only_the_sessions_that_name_it(run, ask, memory):
    memory.create_session(session_id="ours", agent_ids=["ann"])
    memory.create_session(session_id="theirs", agent_ids=["bob"])
    assert [one["id"] for one in ask("sessions", "--agent", "ann")] == ["ours"]
    assert "E_SESSION_NOT_FOUND" in run("show", "theirs", "--agent", "ann", code=6).stderr
    assert "E_SESSION_NOT_FOUND" in run("--agent", "ann", "log", "theirs", code=6).stderr
    run("add", "--session", "theirs", "--agent", "ann", "hello", code=6)


def test_a_user_sees_only_its_own_sessions(ask, memory):
    memory.create_session("u1", session_id="first")
    memory.create_session("u2", session_id="second")
    assert [one["id"] for one in ask("sessions", "--user", "u2")] == ["second"]


def test_what_an_agent_keeps_to_itself_stays_hidden_in_raw_lines_too(run, memory):
    memory.create_session(session_id="talk", agent_ids=["ann", "bob"])
    memory.for_agent("ann").add_memory("talk", content="private", scope="agent")
    memory.for_agent("ann").add_memory("talk", content="open")
    assert "private" in run("show", "talk", "--raw", "--agent", "ann").stdout
    for words in (["show", "talk"], ["show", "talk", "--raw"], ["log", "talk"]):
        told = run(*words, "--agent", "bob").stdout
        assert "open" in told
        assert "private" not in told


@pytest.mark.parametrize(
    "words", [["--agent", ""], ["--user", ""], ["log", ""], ["stats", ""], ["show", ""]]
)
def test_an_empty_name_is_refused_and_does_not_mean_everybody(run, memory, sid, words):
    verb = [] if words[0] in ("log", "stats", "show") else ["sessions"]
    assert "E_INVALID_FORMAT" in run(*words, *verb, code=5).stderr


def test_the_doctor_is_not_for_views(run, memory):
    assert "E_NOT_ALLOWED" in run("doctor", "--agent", "ann", code=5).stderr


# --- errors


def held(lock: Path) -> int:
    descriptor = os.open(lock, os.O_RDWR)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


@pytest.mark.req("S001-145", "S001-157")
def test_a_lock_that_stays_taken_is_told_with_its_own_code(run, folder, monkeypatch):
    monkeypatch.setenv("MNEMOLOG_CONCURRENCY_LOCK_TIMEOUT_MS", "30")
    descriptor = held(folder / "lock")
    try:
        told = run("add", "too late", "--session", folder.name, code=4).stderr
    finally:
        os.close(descriptor)
    assert told.startswith("E_LOCK_TIMEOUT: Lock acquisition timeout")
    assert "Nothing was written" in told


@pytest.mark.req("S001-142", "S001-146", "S001-147", "S001-148", "S001-149", "S001-150", "S001-152")
@pytest.mark.parametrize(
    ("words", "name", "code"),
    [
        (["sessions", "--root", "nowhere"], "E_STORAGE_IO", 3),
        (["add", "--agent", "analyst", "--entry", '{"id":"m1","content":"x"}'],
         "E_CONCURRENT_MOD", 4),
        (["add", "--entry", "{"], "E_INVALID_FORMAT", 5),
        (["add", "--entry", '{"contents":"x"}'], "E_SCHEMA_INVALID", 5),
        (["add", "x" * (1024 * 1024 + 1)], "E_SIZE_LIMIT", 5),
        (["show", "talk", "mem_none"], "E_ENTRY_NOT_FOUND", 5),
        (["show", "nobody"], "E_SESSION_NOT_FOUND", 6),
        (["show", "broken"], "E_SESSION_CORRUPT", 6),
    ],
)  # fmt: skip
def test_each_branch_of_the_error_tree_has_its_exit_code(
    run, memory, folder, root, words, name, code
):
    memory.for_agent("architect").add_memory(folder.name, id="m1", content="mine")
    memory.create_session(session_id="broken")
    (root / "sessions" / "broken" / "manifest.json").write_text("{")
    memory.update_session(folder.name, metadata={"last": "changed"})
    session = ["--session", folder.name] if words[0] == "add" else []
    told = run(*words, *session, code=code).stderr
    assert told.startswith(f"{name}: ")
    assert "Traceback" not in told

    as_json = run(*words, *session, "--json", code=code)
    assert as_json.stdout == ""
    error = json.loads(as_json.stderr)
    assert error["code"] == name
    assert told == f"{name}: {error['message']} {error['advice']}".strip() + "\n"


def test_every_error_class_has_a_code_of_its_branch():
    codes = {leaf.__name__: exits.code_of(leaf("why")) for leaf in leaves()}
    assert set(codes.values()) == set(exits.BRANCHES.values()) == {3, 4, 5, 6, 7, 8}
    assert codes["QueryTimeoutError"] == exits.code_of(InvalidQueryError("why")) == 7
    assert issubclass(QueryTimeoutError, tree.QueryError)


@pytest.mark.parametrize(
    "words", [["fly"], ["show"], ["log", "--last", "many"], ["add"], ["add", "a", "--entry", "{}"]]
)
def test_a_command_line_that_makes_no_sense_is_a_usage_error(run, words):
    assert "E_USAGE: " in run(*words, code=2).stderr
    error = json.loads(run(*words, "--json", code=2).stderr)
    assert error["code"] == "E_USAGE"
    assert "--help" in error["advice"]


def test_an_error_with_hostile_words_stays_on_its_line(run, memory):
    told = run("show", "a\x1b]0;title\x07b\ncode: fake\u202e", code=6).stderr
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert len(told.splitlines()) == 1


def test_a_retired_setting_is_told_in_words(run, root, memory):
    (root / "config.toml").write_text("[storage.compression]\nenabled = false\n")
    told = run("sessions").stderr
    assert told.startswith("warning: ")
    assert "retired" in told
    assert ".py" not in told


# --- settings and demo


def test_settings_say_where_each_value_comes_from(ask, root, memory, monkeypatch):
    (root / "config.toml").write_text(
        '[storage]\ndurability = "batch"\nbatch_write_size = 7\n[decay]\nminimum = 0.2\n'
    )
    monkeypatch.setenv("MNEMOLOG_STORAGE_BATCH_WRITE_SIZE", "9")
    memory.create_session(session_id="own", settings={"decay.minimum": 0.3})
    (told,) = ask("settings", "--session", "own")
    assert told["storage.durability"] == {"value": "batch", "source": "file"}
    assert told["storage.batch_write_size"] == {"value": 9, "source": "environment"}
    assert told["decay.minimum"] == {"value": 0.3, "source": "session"}
    assert told["storage.segment_size_mb"]["source"] == "default"


def test_settings_are_told_of_a_root_that_is_not_there_yet(run, root):
    assert "storage.durability" in run("settings").stdout
    assert not root.exists()


@pytest.mark.req("S001-002")
def test_the_demo_writes_reads_and_removes_a_real_memory(anywhere, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    told = anywhere("demo").stdout
    for word in ("conversation", "decision", "finding", "preference", "memory.jsonl", '"seq":3'):
        assert word in told
    assert told.splitlines()[-1].startswith("Next: mnemolog")
    assert list((tmp_path / "scratch").iterdir()) == []


def test_the_demo_leaves_its_memory_where_it_was_told_to(ask, root):
    (told,) = ask("demo")
    with Memory.open(root) as memory:
        assert len(memory.get_entries(told["session_id"])) == 3
    log = root / "sessions" / told["session_id"] / "memory.jsonl"
    assert log.read_text().splitlines() == told["lines"][:3]
    assert told["files"][f"sessions/{told['session_id']}/memory.jsonl"] == log.stat().st_size
    assert told["kept"]


# --- roots that cannot be


@pytest.mark.parametrize("words", [["init"], ["add", "x"], ["demo"]])
def test_a_root_that_cannot_be_made_is_a_clear_error(anywhere, tmp_path, words):
    (tmp_path / "file").write_text("mine")
    told = anywhere("--root", str(tmp_path / "file"), *words, code=3).stderr
    assert told.startswith("E_STORAGE_IO: Could not make the folder ")
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("verb", ["init", "sessions", "doctor", "settings", "demo"])
def test_an_empty_name_of_a_root_stands_for_no_other_root(anywhere, home, verb):
    """As in --root "$UNSET": it must not mean the memory that happens to be near."""
    anywhere("init")
    told = anywhere("--root", "", verb, code=2).stderr
    assert "--root names no folder: what follows it is empty." in told


@pytest.mark.parametrize("verb", ["init", "sessions", "stats", "demo"])
def test_an_address_without_a_back_end_is_refused_and_makes_no_folder(anywhere, verb):
    told = anywhere("--root", "gopher://somewhere", verb, code=5).stderr
    assert told.startswith("E_INVALID_FORMAT: There is no back end for 'gopher' addresses yet.")
    assert list(Path.cwd().iterdir()) == []
