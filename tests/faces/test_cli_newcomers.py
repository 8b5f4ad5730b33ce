"""What somebody new to the command line tries: named sessions, slips of the pen, plain dates."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemolog import Memory
from mnemolog.errors import StorageIOError
from mnemolog.faces.cli.app import app

# --- sessions by name


def test_a_session_with_a_name_is_made_when_that_is_asked_for(run, ask):
    told = run("add", "--session", "plan", "--create", "first")
    assert told.stderr == "Made the session plan\n"
    (again,) = ask("add", "--session", "plan", "--create", "second")
    assert (again["session_id"], again["session_created"]) == ("plan", False)
    assert [entry["content"] for entry in ask("log", "plan")] == ["first", "second"]


def test_without_a_name_create_begins_another_session(ask):
    (first,) = ask("add", "one")
    (second,) = ask("add", "--create", "two")
    assert second["session_created"]
    assert second["session_id"] != first["session_id"]
    assert len(ask("sessions")) == 2


def test_a_session_that_is_made_belongs_to_the_user_and_the_agent_who_are_named(run, ask):
    run("--user", "ann", "--agent", "bot", "add", "--session", "plan", "--create", "x")
    (session,) = ask("sessions")
    assert (session["id"], session["user_id"], session["agent_ids"]) == ("plan", "ann", ["bot"])


def test_lines_from_the_input_make_a_session_with_a_name_too(ask):
    (receipt,) = ask("add", "--session", "plan", "--create", "-", text='{"content":"x"}\n')
    assert (receipt["session_id"], receipt["session_created"]) == ("plan", True)


def test_a_name_that_nobody_knows_says_how_to_make_it(run, ask):
    refused = run("add", "--session", "plam", "x", code=6)
    assert "There is no session 'plam'. --create makes it" in refused.stderr
    run("add", "--session", "plam", "-", text='{"content":"x"}\n', code=6)
    assert ask("sessions") == []


# --- which memory, and where it was made


def test_a_memory_that_nobody_named_is_told_when_it_is_made(anywhere, home):
    assert f"Made a memory in {home / '.mnemolog'}\n" in anywhere("add", "one").stderr
    assert "Made a memory" not in anywhere("add", "two").stderr


def test_a_tilde_means_the_home_folder_wherever_it_is_written(anywhere, home, monkeypatch):
    monkeypatch.setenv("MNEMOLOG_ROOT", "~/one")
    anywhere("add", "x")
    anywhere("--root=~/two", "add", "x")
    assert (home / "one" / "sessions").is_dir()
    assert (home / "two" / "sessions").is_dir()
    assert not Path("~").exists()


def test_a_root_whose_name_is_empty_is_refused_and_does_not_mean_another_one(anywhere):
    anywhere("init")
    assert "--root names no folder" in anywhere("--root", "", "sessions", code=2).stderr


def test_whoever_named_the_missing_memory_is_told_where_to_look(anywhere, tmp_path, monkeypatch):
    there = str(tmp_path / "there")
    assert "Check --root;" in anywhere("--root", there, "log", code=3).stderr
    assert "`mnemolog init` makes one here" in anywhere("log", code=3).stderr
    monkeypatch.setenv("MNEMOLOG_ROOT", there)
    assert "Check MNEMOLOG_ROOT;" in anywhere("log", code=3).stderr
    Path(there).write_text("mine")
    assert "it is a file" in anywhere("log", code=3).stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
def test_where_only_the_system_makes_files_no_memory_is_made(anywhere):
    told = anywhere("--root", "/proc", "add", "x", code=3).stderr
    assert told.startswith("E_STORAGE_IO: Could not make the folder sessions in the root")


# --- slips of the pen


def test_a_slip_in_the_name_of_a_verb_is_told(anywhere):
    assert "Did you mean 'search'?" in anywhere("serch", "x", code=2).stderr
    assert "Did you mean" not in anywhere("zzzz", code=2).stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ls", "sessions"), ("remember", "add"), ("forget", "delete"), ("update", "edit"),
     ("config", "settings"), ("help", "--help")],
)  # fmt: skip
def test_what_other_programs_call_a_verb_is_told_by_our_name(anywhere, typed, meant):
    assert (
        f"There is no command '{typed}'. Did you mean '{meant}'?" in anywhere(typed, code=2).stderr
    )


def test_every_verb_has_its_place_in_the_help_and_a_line_that_is_not_cut(anywhere):
    told = anywhere("--help").stdout
    assert "..." not in told.partition("Write and read:")[2]
    for name in app.commands:
        assert re.search(rf"^  {name} +[A-Z].*\.$", told, re.MULTILINE), name


def test_a_wrong_command_line_is_answered_with_how_the_verb_is_written(anywhere):
    for words, usage in (
        (["delete", "talk", "mem_1"], "mnemolog delete [SESSION] [OPTIONS]"),
        (["search", "tea", "--session", "talk"], "mnemolog search [TEXT] [SESSION] [OPTIONS]"),
        (["show"], "mnemolog show SESSION [ENTRY] [OPTIONS]"),
    ):
        assert (
            f"Usage: {usage}. `mnemolog {words[0]} --help` says more."
            in anywhere(*words, code=2).stderr
        )


def test_the_id_of_an_entry_or_a_text_in_the_place_of_a_session_is_told(run, memory, sid):
    entry = memory.add_memory(sid, type="note", content="x").id
    assert "name its session first" in run("show", entry, code=6).stderr
    words_last = run("search", sid, "which database", code=6).stderr
    assert "Words to look for come before the SESSION" in words_last


def test_what_may_be_chosen_stands_on_one_line(anywhere):
    told = anywhere("token", code=2).stderr
    assert "Choose from: new, list, revoke, link\n" in told


def test_the_command_alone_says_how_to_begin(anywhere):
    assert "`mnemolog init`" in anywhere(code=2).stderr


# --- where there is nothing


def test_a_list_of_nothing_says_so(run, memory, ask):
    memory.create_session(session_id="talk")
    assert "Nothing was found." in run("log", "talk").stderr
    assert run("log", "talk").stdout == ""
    assert run("token", "list").stdout == "There are no tokens beside the owner's.\n"
    assert run("audit").stdout == "The audit is empty.\n"
    assert run("sessions", "--state", "archived").stdout == "There are no sessions.\n"
    assert ask("sessions", "--state", "archived") == []


def test_a_memory_without_entries_has_no_times_in_its_numbers(anywhere):
    anywhere("init")
    assert "created" not in anywhere("stats").stdout


# --- types


@pytest.mark.parametrize(
    ("given", "near"),
    [("decison", "decision"), ("prefrence", "preference"), ("findng", "finding")],
)
def test_a_type_that_looks_like_a_slip_of_the_pen_is_stored_and_told(run, ask, given, near):
    told = run("add", "--type", given, "x")
    assert f"'{given}' is a type of your own; did you mean '{near}'?" in told.stderr
    (entry,) = ask("log")
    assert entry["type"] == given


def test_a_search_for_a_type_that_looks_like_a_slip_of_the_pen_is_told(run, memory, sid):
    memory.add_memory(sid, type="decision", content={"decision": "Use PostgreSQL"})
    told = run("search", "--types", "decison")
    assert "'decison' is a type of your own; did you mean 'decision'?" in told.stderr
    assert memory.search_by_type(sid, "risk").notes == ()
    memory.add_memory(sid, type="decison", content="mine")
    assert run("search", "--types", "decison").stderr == ""


def test_a_type_of_ones_own_is_nothing_to_warn_of(memory, sid):
    for kind in ("risk", "meeting", "todo", "decisions", "metric"):
        assert memory.add_memory(sid, type=kind, content="x").warnings == ()


# --- dates


@pytest.fixture
def days(memory, sid, clock):
    """An entry on each of three days, at noon."""
    for day in (1, 2, 3):
        clock.moment = datetime(2026, 11, day, 12, tzinfo=UTC)
        memory.add_memory(sid, id=f"d{day}", type="note", content=f"day {day}", tags=["x"])
    clock.moment = datetime(2026, 11, 20, tzinfo=UTC)


DATED = {
    "log --until": ("log", "talk", "--until", "2026-11-02"),
    "log --as-of": ("log", "talk", "--as-of", "2026-11-02"),
    "search --until": ("search", "day", "--until", "2026-11-02"),
    "delete --until": ("delete", "talk", "--tag", "x", "--until", " 2026-11-02 "),
    "show --as-of": ("show", "talk", "--as-of", "2026-11-02"),
}


def ids_in(answers):
    if "ids" in answers[0]:
        return set(answers[0]["ids"])
    found = answers[0].get("entries", answers)
    return {one.get("entry", one)["id"] for one in found}


@pytest.mark.parametrize("words", DATED.values(), ids=DATED)
def test_up_to_a_date_means_up_to_the_end_of_that_day(ask, days, words):
    assert ids_in(ask(*words)) == {"d1", "d2"}


def test_since_a_date_means_since_its_beginning(ask, days):
    assert ids_in(ask("log", "talk", "--since", "2026-11-02")) == {"d2", "d3"}
    assert ids_in(ask("log", "talk", "--since", "2026-11-02", "--until", "2026-11-02")) == {"d2"}


def test_a_time_of_day_means_that_moment(ask, days):
    assert ids_in(ask("log", "talk", "--until", "2026-11-02T11:59:59Z")) == {"d1"}


# --- exports for programs


@pytest.mark.parametrize("layout", ["json", "markdown"])
def test_an_export_for_a_program_is_one_object_on_one_line(run, days, layout):
    told = run("--json", "export", "talk", "--layout", layout).stdout
    assert told.count("\n") == 1
    found = json.loads(told)
    if layout == "json":
        assert [one["id"] for one in found["sessions"][0]["entries"]] == ["d1", "d2", "d3"]
        assert found == json.loads(run("export", "talk").stdout) | {
            "exported_at": found["exported_at"]
        }
    else:
        assert found == {"layout": "markdown", "text": found["text"]}
        assert "day 2" in found["text"]


def test_who_stands_in_a_folder_that_is_gone_is_told_so(anywhere, root, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in (["sessions"], ["init"], ["add", "x"], ["--root", "beside", "add", "x"]):
        told = anywhere(*words, code=3).stderr
        assert "E_STORAGE_IO: The folder in which this program was started is gone." in told
    with pytest.raises(StorageIOError, match="is gone"):
        Memory.open("beside")
    anywhere("--root", str(root), "add", "x")


# --- what is refused, in the words of who typed it


def test_a_time_that_is_none_is_told_by_its_option(run, memory, sid):
    for words in (
        ["log", sid, "--since", "soon"],
        ["log", sid, "--until", "soon"],
        ["log", sid, "--as-of", "soon"],
        ["search", "x", "--since", "soon"],
        ["delete", sid, "--until", "soon"],
    ):
        told = run(*words, code=None)
        assert f": {words[-2]} 'soon' is not a valid time. Give a date" in told.stderr
        assert "time_range" not in told.stderr
        assert words[-2] in json.loads(run("--json", *words, code=None).stderr)["message"]


def test_a_block_that_holds_nothing_is_told_from_a_memory_that_does(run, memory, sid):
    memory.add_memory(sid, type="note", content="The harbour freezes in January.")
    assert (
        "Nothing of 1 fits into --max-tokens 3."
        in run("context", "harbour", "--max-tokens", "3").stdout
    )
    assert "Nothing was found." in run("context", "zebra").stdout


def test_a_line_that_is_not_json_is_called_that(run, memory, sid):
    for words, text in ((["--entry", "oops"], None), (["-"], "oops\n")):
        told = run("add", "--session", sid, *words, code=5, text=text)
        assert "Line 1, column 1: not JSON (" in told.stderr
        assert 'An entry is written as {"content": "…"}. Nothing was stored.' in told.stderr


def test_a_node_action_says_how_many_words_it_takes(run, memory, sid):
    assert "`read` takes 1 word after it, not 0." in run("node", "read", code=2).stderr
    assert "`move` takes 2 words after it, not 1." in run("node", "move", "a", code=2).stderr
    assert "`diff` takes 1 to 3 words after it, not 0." in run("node", "diff", code=2).stderr


def test_an_id_that_nothing_has_is_told_by_a_deletion(run, memory, sid):
    kept = memory.add_memory(sid, type="note", content="x").id
    told = run("delete", sid, "--id", kept, "--id", "mem_nope", code=10)
    assert "1 deleted" in told.stdout
    assert told.stderr == "warning: mem_nope: no entry that is meant has this id\n"


# --- what is about to go for good


def test_who_is_asked_before_an_erasure_is_told_how_much_is_meant(run, memory, sid, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True)
    for number in range(3):
        memory.add_memory(sid, type="note", content=f"note {number}", tags=["old"])
    memory.add_conversation(sid, role="user", content="stays")
    memory.update_preference(None, key="tea", value="green", scope="user", user_id="ann")

    def asked(*words: str) -> str:
        return run("erase", *words, code=2, text="n\n").stdout

    assert f"Erase 3 entries from {sid} for good?" in asked(sid, "--tag", "old")
    assert f"Erase the whole session {sid}, with 4 entries, for good?" in asked(
        sid, "--whole-session"
    )
    assert "Erase 1 entry from what ann owns for good?" in asked("--user", "ann")
    assert f"Erase from {sid} for good?" in asked(sid, "--id", "mem_unknown")
    assert "There is no session" in run("erase", "none", "--tag", "old", code=6, text="y\n").stderr
    assert len(memory.get_entries(sid)) == 4
    assert "3 erased" in run("erase", sid, "--tag", "old", "--no-verify", text="y\n").stdout
