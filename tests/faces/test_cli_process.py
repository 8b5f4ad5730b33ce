"""The command as a process of its own: pipes, terminals, signals, start-up."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from mnemolog.faces import cli
from tests.faces.processes import COMMAND, WAIT, running
from tests.log.rewriting import rewrite


@pytest.fixture
def environ(root: Path) -> dict[str, str]:
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MNEMOLOG_")}
    quiet.pop("NO_COLOR", None)
    return quiet | {"MNEMOLOG_ROOT": str(root), "TERM": "xterm", "COLUMNS": "120"}


@pytest.fixture
def piped(environ) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command with pipes on all its channels."""

    def run(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *words], input=text, capture_output=True, text=True, timeout=WAIT,
            env=environ, check=False,
        )  # fmt: skip

    return run


def on_terminal(words: list[str], environ: dict[str, str]) -> tuple[int, str]:
    """Run the command with a terminal for its output; its exit code and what was shown."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*COMMAND, *words], stdout=theirs, stderr=theirs, env=environ)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # the other end was closed
        pass
    os.close(ours)
    return process.wait(WAIT), shown.decode()


def test_the_command_is_installed_under_its_name():
    (found,) = [one for one in entry_points(group="console_scripts") if one.name == "mnemolog"]
    assert found.load() is cli.main


def test_the_tab_key_completes_verbs_and_options(environ):
    asked = environ | {"_MNEMOLOG_COMPLETE": "bash_complete", "COMP_CWORD": "2"}
    for words, name in (("mnemolog search --li", "--limit"), ("mnemolog serch --li", "")):
        told = subprocess.run(
            [sys.executable, "-c", "from mnemolog.faces.cli import main; main()"],
            env=asked | {"COMP_WORDS": words}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert name in told.stdout
        assert told.stderr == ""


def test_a_pipe_gets_no_colours_and_no_rules(piped, memory, sid):
    memory.add_decision(sid, decision="Use it", made_by="architect", tags=["db"])
    for words in (["log", sid], ["show", sid], ["sessions"], ["stats"], ["doctor"], ["demo"]):
        told = piped(*words).stdout
        assert told
        assert "\x1b" not in told
        assert "─" not in told


def test_a_terminal_gets_colours_and_ruled_tables(environ, memory, sid):
    memory.add_decision(sid, decision="Use it", made_by="architect")
    code, shown = on_terminal(["log", sid], environ)
    assert code == 0
    assert "\x1b[1mdecision\x1b[0m" in shown
    assert "──" in on_terminal(["sessions"], environ)[1]


def test_a_terminal_gets_no_colours_where_they_are_not_wanted(environ, memory, sid):
    memory.add_decision(sid, decision="Use it")
    for dull in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for words in (["log", sid], ["sessions"]):
            assert "\x1b" not in on_terminal(words, environ | dull)[1]


def test_a_terminal_never_gets_what_an_entry_smuggles_in(environ, memory, sid):
    memory.add_memory(sid, id="m1", content="x\x1b]0;owned\x07\x9b2Jy\u202ez [bold]w[/bold]")
    memory.create_session(session_id="a[red]b\x1b[31m")
    shown = on_terminal(["log", sid], environ | {"NO_COLOR": "1"})[1]
    assert "xyz [bold]w[/bold]" in shown
    raw = on_terminal(["show", sid, "m1", "--raw"], environ)[1]
    assert json.loads(raw)["content"] == "x\x1b]0;owned\x07\x9b2Jy\u202ez [bold]w[/bold]"
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(raw)
    table = on_terminal(["sessions"], environ | {"NO_COLOR": "1"})[1]
    assert "a[red]b " in table


@pytest.mark.parametrize("width", [120, 90, 80, 60, 40, 20])
def test_a_table_loses_nothing_on_a_narrow_terminal(environ, memory, width):
    session = memory.create_session("somebody", agent_ids=["architect", "reviewer"])
    memory.add_memory(session.id, content="x")
    narrow = environ | {"NO_COLOR": "1", "COLUMNS": str(width)}
    lines = on_terminal(["sessions"], narrow)[1].splitlines()
    assert [line for line in lines if session.id in line]
    everything = "".join("".join(lines).split())
    for name in ("user", "agents", "state", "updated", "entries", "size", "somebody", "active"):
        assert name in everything
    assert width < 80 or all(len(line) <= width for line in lines)


def test_progress_is_shown_beside_the_output_of_the_doctor(environ, memory, folder, sid):
    (folder / "memory.jsonl").chmod(0o644)
    code, shown = on_terminal(["doctor"], environ)
    assert code == 10
    assert "examining" in shown
    assert "mode_loose" in shown


def test_what_goes_into_a_pipe_is_not_taken_by_the_progress_bar(environ, memory, sid):
    ours, theirs = pty.openpty()
    told = subprocess.run(
        [*COMMAND, "add", "-", "--json"], input=b'{"content":"a"}\n{"content":"b"}\n',
        stdout=subprocess.PIPE, stderr=theirs, env=environ, timeout=WAIT, check=True,
    ).stdout  # fmt: skip
    os.close(theirs)
    os.close(ours)
    assert [json.loads(line)["status"] for line in told.splitlines()] == ["stored", "stored"]


@pytest.mark.parametrize(
    ("words", "asked"),
    [(["node", "write", "topics/tea"], "Type the text; Ctrl-D"), (["add", "-"], "Type entries as")],
)
def test_whoever_types_the_input_is_told_what_is_waited_for(environ, memory, words, asked):
    ours, theirs = pty.openpty()
    with subprocess.Popen([*COMMAND, *words], stdin=theirs, stderr=subprocess.PIPE, env=environ,
                          text=True) as process:  # fmt: skip
        assert process.stderr is not None
        assert asked in process.stderr.readline()
        os.write(ours, b"\x04")
        process.wait(WAIT)
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize(
    ("words", "code"),
    [(["sessions"], 0), (["show", "nobody"], 6), (["fly"], 2), (["add", "--entry", "{"], 5)],
)
def test_the_exit_code_reaches_the_shell(piped, memory, words, code):
    told = piped(*words)
    assert told.returncode == code
    assert (told.stderr == "") == (code == 0)


def test_a_reader_that_goes_away_is_no_trouble(environ, memory, sid):
    memory.add_many(sid, [{"content": f"{number} " + "x" * 1000} for number in range(500)])
    for words in (["log", sid], ["log", sid, "--json"], ["show", sid, "--raw"]):
        with running(words, environ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == ""
            assert process.wait(WAIT) == 141


@pytest.mark.parametrize("words", [["--help"], ["search", "--help"], ["--version"], ["settings"]])
def test_a_reader_that_never_looked_is_no_trouble_either(environ, words):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as nobody:
        told = subprocess.run(
            [*COMMAND, *words], stdout=nobody, stderr=subprocess.PIPE, env=environ, timeout=WAIT
        )
    assert (told.returncode, told.stderr) == (141, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a disk that is always full")
@pytest.mark.parametrize("words", [["--help"], ["settings"], ["log", "talk"], ["stats", "--json"]])
def test_a_full_disk_behind_the_output_is_told_without_a_traceback(environ, memory, sid, words):
    memory.add_memory(sid, content="x")
    with open("/dev/full", "w") as full:
        told = subprocess.run(
            [*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, env=environ, timeout=WAIT
        )
    assert told.returncode == 3
    assert b"E_STORAGE_FULL" in told.stderr
    assert b"Could not write the output" in told.stderr
    assert b"Traceback" not in told.stderr


def test_following_goes_on_with_a_session_that_was_made_anew(environ, memory, sid, clock):
    memory.add_many(sid, [{"content": "old"}] * 3)
    with running(["log", sid, "-f", "--json"], environ) as process:
        assert process.stdout is not None
        seen = [json.loads(process.stdout.readline())["content"] for _ in range(3)]
        held = memory.load_session(sid)
        clock.advance(seconds=1)
        process.send_signal(signal.SIGSTOP)  # or it may look just between the two
        memory.delete_session(sid)
        memory.create_session(session_id=sid, agent_ids=held.agent_ids)
        memory.add_memory(sid, content="new")
        process.send_signal(signal.SIGCONT)
        assert [*seen, json.loads(process.stdout.readline())["content"]] == ["old"] * 3 + ["new"]


def test_following_shows_what_another_process_writes_until_ctrl_c(environ, piped, root, sid):
    piped("add", "before", "--session", sid)
    with running(["log", sid, "--follow", "--json"], environ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = [json.loads(process.stdout.readline())]
        piped("add", "during", "--session", sid)
        seen.append(json.loads(process.stdout.readline()))
        rewrite(root, sid)
        piped("add", "after the rewrite", "--session", sid)
        seen.append(json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=WAIT)
        assert rest == ("", "")
        assert process.returncode == 130
    assert [one["content"] for one in seen] == ["before", "during", "after the rewrite"]
    assert [one["seq"] for one in seen] == [1, 2, 3]


def test_following_shows_a_revision_and_the_types_asked_for(environ, memory, sid):
    memory.add_memory(sid, id="m1", type="note", content="old")
    with running(["log", sid, "-f", "--json", "--types", "note"], environ) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["content"] == "old"
        memory.add_memory(sid, type="event", content="not asked for")
        memory.update_memory(sid, "m1", content="new")
        assert json.loads(process.stdout.readline())["content"] == "new"


@pytest.mark.parametrize("last", ["0", "1"])
def test_following_shows_nothing_older_than_the_last_few(environ, memory, sid, last):
    memory.add_many(sid, [{"id": name, "content": name} for name in ("m1", "m2", "m3")])
    memory.update_memory(sid, "m1", content="revised")
    with running(["log", sid, "-f", "--json", "--last", last], environ) as process:
        assert process.stdout is not None
        seen = [json.loads(process.stdout.readline())["content"] for _ in range(int(last))]
        assert seen == ["m3"] * int(last)
        # Nothing tells that it listens by now, so it is said again until it is heard.
        while not select.select([process.stdout], [], [], 0.2)[0]:
            memory.add_memory(sid, content="new")
        assert json.loads(process.stdout.readline())["content"] == "new"


def test_ctrl_c_while_reading_the_input_is_quiet_and_keeps_what_was_stored(environ, memory, sid):
    process = subprocess.Popen(
        [*COMMAND, "add", "-", "--json", "--session", sid],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ,
    )  # fmt: skip
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b'{"content":"x"}\n' * 1000 + b'{"content":"not yet"}\n')
        process.stdin.flush()
        receipts = [json.loads(process.stdout.readline()) for _ in range(1000)]
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT) == 130
        assert process.stderr.read() == b""
    assert all(receipt["durable"] for receipt in receipts)
    assert len(memory.get_entries(sid)) == 1000


IMPORTED = """
import sys
from mnemolog.faces.cli.app import app
try:
    app.main(sys.argv[1:], prog_name="mnemolog")
except SystemExit:
    pass
print(*sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        (["--help"], {"rich", "msgspec", "mnemolog.memory", "mnemolog.stores", "numpy", "sqlite3"}),
        (["add", "x", "--session", "talk"], {"rich", "numpy", "mnemolog.stores.files.doctor"}),
        (["log", "talk"], {"rich", "numpy"}),
    ],
)
def test_start_up_imports_only_what_the_verb_needs(environ, memory, sid, words, absent):
    told = subprocess.run(
        [sys.executable, "-c", IMPORTED, *words], capture_output=True, text=True, env=environ,
        timeout=WAIT, check=True,
    )  # fmt: skip
    loaded = set(told.stderr.split())
    assert "click" in loaded
    assert loaded & absent == set()
