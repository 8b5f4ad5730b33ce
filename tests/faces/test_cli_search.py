"""Searching, watching and the index from the command line."""

import json
import os
import pty
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.faces.cli.call import Call
from mnemolog.faces.cli.verbs.search import tell
from mnemolog.model.query import Hits
from tests.faces.processes import COMMAND, WAIT, running
from tests.log.rewriting import rewrite


@pytest.fixture
def talk(memory: Memory) -> Memory:
    """Two sessions, a few things said in them, and one decision that refers to another."""
    memory.create_session("u1", session_id="talk", agent_ids=["ann", "bob"])
    memory.create_session("u2", session_id="other", agent_ids=["bob"])
    memory.add_decision(
        "talk", id="d1", made_by="ann", decision="Use PostgreSQL", rationale="two\nlines",
        importance=0.9, tags=["database", "urgent"], timestamp="2026-11-01T10:00:00Z",
    )  # fmt: skip
    memory.add_memory(
        "talk", id="n1", type="note", agent_id="bob", content="Tokens expire after an hour",
        importance=0.2, tags=["security.login"], timestamp="2026-11-14T10:00:00Z",
        references=["d1"],
    )  # fmt: skip
    memory.add_memory(
        "other", id="o1", content="The database is slow", role="user", importance=0.5,
        tags=["database"], timestamp="2026-11-15T08:00:00Z", references=["n1"],
    )  # fmt: skip
    return memory


def ids(answers: list[Any]) -> list[str]:
    return [answer["entry"]["id"] for answer in answers]


# --- search


@pytest.mark.req("S001-063", "S001-124", "S002-046")
def test_a_text_is_searched_in_all_sessions_or_in_one(talk, ask):
    assert ids(ask("search", "slow databases", "--min-relevance", "0.3"))[0] == "o1"
    assert ids(ask("search", "slow databases", "other")) == ["o1"]
    assert {hit["entry"]["session_id"] for hit in ask("search", "databases", "talk")} == {"talk"}


@pytest.mark.req("S001-064", "S001-065", "S001-066", "S001-067", "S002-115", "S002-116")
@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("--types decisions,note", "d1 n1"),
        ("--tag security", "n1"),
        ("--tag database --tag security", "d1 n1 o1"),
        ("--tag database --tag urgent --all-tags", "d1"),
        ("--tag database --not-tag urgent", "o1"),
        ("--by ann", "d1"),
        ("--by ann --by bob", "d1 n1"),
        ("--of u2", "o1"),
        ("--since 2026-11-14T10:00:00Z", "n1 o1"),
        ("--until 2026-11-14T10:00:00Z", "d1 n1"),
        ("--since 2026-11-02T00:00:00Z --until 2026-11-15T00:00:00Z", "n1"),
        ("--refs n1", "d1 o1"),
        ("--refs d1 --depth 1", "n1"),
        ("--refs d1 --depth 2", "n1 o1"),
        ("--min-importance 0.5", "d1 o1"),
        ("--types event", ""),
    ],
)
def test_every_filter_has_its_option_and_needs_no_text(talk, ask, words, found):
    assert sorted(ids(ask("search", *words.split()))) == found.split()


def test_an_empty_text_leaves_the_filters_and_the_session(talk, ask):
    assert sorted(ids(ask("search", "", "talk"))) == ["d1", "n1"]
    assert ids(ask("search", "", "talk", "--tag", "security")) == ["n1"]


@pytest.mark.req("S001-069", "S001-070", "S002-076")
def test_order_and_number_are_asked_for(talk, ask):
    every = ["--since", "2026-01-01T00:00:00Z"]
    assert ids(ask("search", *every, "--sort", "time_asc")) == ["d1", "n1", "o1"]
    assert ids(ask("search", *every, "--sort", "newest")) == ["o1", "n1", "d1"]
    assert ids(ask("search", *every, "--sort", "time_desc", "--limit", "1")) == ["o1"]
    assert ask("search", *every, "--limit", "0") == []


@pytest.mark.req("S002-071")
@pytest.mark.parametrize("span", ["2 hours", "last 2 hours", "past 2 HOURS"])
def test_the_last_while_can_be_said_in_words(ask, memory, root, sid, span):
    with Memory.open(root, environ={}) as now:
        now.add_memory(sid, id="recent", content="just now")
    memory.add_memory(sid, id="old", content="long ago", timestamp="2020-01-01T00:00:00Z")
    assert ids(ask("search", "--last", span)) == ["recent"]


@pytest.mark.req("S001-072", "S002-074", "S001-068")
def test_the_scorer_is_chosen_by_name(talk, ask):
    (weighted,) = ask("search", "postgresql", "talk", "--scorer", "weighted", "--limit", "1")
    why = weighted["why"]
    parts = 0.4 * why["match"] + 0.3 * why["decay"] + 0.2 * why["importance"] + 0.1 * why["access"]
    assert weighted["relevance"] == pytest.approx(parts, abs=1e-5)
    assert ask("search", "postgresql", "--scorer", "product", "--min-relevance", "1") == []


def test_programs_get_each_hit_as_it_is(talk, ask, root):
    (answer,) = ask("search", "postgresql", "--types", "decision")
    assert set(answer) == {"entry", "relevance", "why"}
    line = json.loads((root / "sessions/talk/memory.jsonl").read_bytes().split(b"\n")[0])
    assert answer["entry"] == {**line, "at": answer["entry"]["at"]}
    assert answer["why"]["final"] == pytest.approx(answer["relevance"], abs=1e-6)


def test_people_read_relevance_time_writer_session_and_the_text_on_one_line(talk, run):
    first, second = run("search", "postgresql", "--types", "decision").stdout.splitlines()
    assert first.split("  ")[1:4] == ["2026-11-01 10:00:00", "decision", "ann"]
    assert 0 < float(first.split("  ")[0]) <= 1
    assert first.endswith("in talk")
    assert second.strip() == "Use PostgreSQL · rationale: two · lines"


def test_why_shows_a_bar_for_each_part(talk, run, ask):
    (answer,) = ask("search", "postgresql", "--types", "decision")
    shown = run("search", "postgresql", "--types", "decision", "--why").stdout.splitlines()[2:]
    rows = [line.split() for line in shown]
    assert [name for name, _, _ in rows] == list(answer["why"])
    bars = {name: (bar, float(value)) for name, bar, value in rows}
    assert bars["importance"] == ("█" * 18 + "░" * 2, 0.9)
    assert bars["lexical"][0] == "█" * 20
    assert all(len(bar) == 20 for bar, _ in bars.values())


def test_a_text_in_a_hit_cannot_move_the_cursor(memory, sid, run):
    memory.add_memory(sid, content="clean\x1b[2J\u202eup\nhere", id="m1")
    told = run("search", "clean").stdout
    assert "cleanup" in told.replace(" ", "")
    assert not {"\x1b", "\u202e"} & set(told)
    assert len(told.splitlines()) == 2


@pytest.mark.req("S002-144")
def test_nothing_found_is_said_and_is_no_error(talk, run, ask):
    assert run("search", "postgresql", "--types", "event").stdout == "Nothing was found.\n"
    assert ask("search", "postgresql", "--types", "event") == []


def test_it_is_said_when_meaning_was_not_compared_yet(capfd):
    for as_json in (True, False):
        tell(Call(None, None, None, as_json), Hits([], "pending"), why=False)
        assert "semantic: pending" in capfd.readouterr().err
    tell(Call(None, None, None, True), Hits([], "ready"), why=False)
    assert capfd.readouterr() == ("", "")


def test_a_view_searches_what_it_may_see(talk, ask):
    talk.for_agent("bob").add_memory("talk", id="own", content="my database", scope="agent")
    every = ["search", "--since", "2020-01-01T00:00:00Z"]
    assert sorted(ids(ask(*every, "--agent", "ann"))) == ["d1", "n1"]
    assert sorted(ids(ask(*every, "--agent", "bob"))) == ["d1", "n1", "o1", "own"]
    assert sorted(ids(ask(*every, "--user", "u2"))) == ["o1"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        [""],
        ["x", "--since", "2026-01-01T00:00:00Z", "--last", "week"],
        ["x", "--depth", "2"],
        ["x", "--all-tags"],
        ["x", "--limit", "many"],
    ],
)
def test_a_command_line_that_means_nothing_is_refused(talk, run, words):
    assert run("search", *words, code=2).stderr.startswith("E_USAGE: ")


@pytest.mark.req("S001-154")
@pytest.mark.parametrize(
    "words",
    [
        ["x", "--sort", "sideways"],
        ["x", "--scorer", "guess"],
        ["x", "--min-relevance", "2"],
        ["x", "--limit", "-1"],
        ["x", "--last", "fortnight"],
        ["x", "--types", "No Such"],
        ["x", "--refs", "d1", "--depth", "99"],
    ],
)
def test_a_query_that_makes_no_sense_is_told_with_its_own_code(talk, run, words):
    assert run("search", *words, code=7).stderr.startswith("E_INVALID_QUERY: ")


@pytest.mark.parametrize("text", ['"', "(", "AND OR NOT", "a' OR 1=1 --", "*", "^~:\\", "\x00"])
def test_any_text_is_a_legal_query(talk, run, text):
    run("search", "--limit", "1", "--", text)


@pytest.mark.parametrize("verb", ["search", "watch", "reindex"])
def test_they_make_no_root(run, root, verb):
    words = [] if verb == "reindex" else ["x"]
    assert run(verb, *words, code=3).stderr.startswith("E_STORAGE_IO: There is no memory in ")
    assert not root.exists()


# --- reindex


@pytest.mark.req("S001-130", "S002-054")
def test_reindex_builds_the_index_anew_and_counts(talk, run, ask, root):
    before = ask("search", "postgresql")
    (root / "index" / "index.db").write_bytes(b"nonsense")
    (told,) = ask("reindex")
    assert told["root"] == str(root)
    assert told["indexed"] == 3
    assert told["logs"] >= 2
    after = ask("search", "postgresql")
    assert ids(after) == ids(before)
    assert "3 lines of" in run("reindex").stdout


def test_reindex_is_not_for_views(talk, run):
    assert "E_NOT_ALLOWED" in run("reindex", "--agent", "ann", code=5).stderr


# --- stats --index-json


@pytest.mark.req("S001-038", "S001-039", "S002-036", "S002-037", "S002-019")
def test_stats_gives_the_index_as_json(talk, run, ask):
    (inverted,) = ask("stats", "talk", "--index-json", "inverted")
    assert inverted["session_id"] == "talk"
    assert inverted["inverted_index"]["postgresql"] == ["d1"]
    (entries,) = ask("stats", "talk", "--index-json", "entries")
    assert list(entries["entries"]) == ["d1", "n1"]
    assert entries["entries"]["n1"]["line_number"] == 2
    (everything,) = ask("stats", "--index-json", "entries")
    assert everything["tags"]["database"] == {"other": ["o1"], "talk": ["d1"]}
    told = run("stats", "talk", "--index-json", "entries").stdout
    assert len(told.splitlines()) > 20
    assert list(json.loads(told)["entries"]) == ["d1", "n1"]


def test_stats_refuses_a_shape_and_a_session_that_there_are_not(talk, run):
    assert "E_INVALID_QUERY" in run("stats", "--index-json", "003", code=7).stderr
    assert "E_SESSION_NOT_FOUND" in run("stats", "no", "--index-json", "entries", code=6).stderr


# --- demo


def test_the_demo_finds_again_what_it_wrote(ask, run):
    (told,) = ask("demo")
    (hit,) = told["hits"]
    assert hit["entry"]["content"]["decision"] == "Use PostgreSQL"
    shown = run("demo").stdout
    assert "3. Asked: which database do we use?" in shown
    assert "final " in shown
    assert "index/, derived" in shown


# --- watch


@pytest.fixture
def environ(root: Path) -> dict[str, str]:
    quiet = {name: value for name, value in os.environ.items() if not name.startswith("MNEMOLOG_")}
    return quiet | {"MNEMOLOG_ROOT": str(root), "TERM": "xterm", "COLUMNS": "60"}


def told(process: subprocess.Popen[str]) -> Any:
    assert process.stdout is not None
    return json.loads(process.stdout.readline())


def test_watch_shows_what_other_processes_write_until_ctrl_c(talk, root, environ):
    words = ["watch", "slow databases", "--types", "conversation", "--past", "--json"]
    with running(words, environ) as process:
        seen = [told(process)]
        talk.add_memory("talk", content="nothing of that")
        talk.add_memory("talk", content="a slow start")
        seen.append(told(process))
        rewrite(root, "talk")
        talk.create_session(session_id="new")
        talk.add_memory("new", content="the database is fast")
        seen.append(told(process))
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=WAIT) == ("", "")
        assert process.returncode == 130
    assert [(one["session_id"], one["seq"]) for one in seen] == [
        ("other", 1), ("talk", 4), ("new", 1),
    ]  # fmt: skip
    assert [one["relevance"] for one in seen] == [1.0, 0.5, 0.5]
    assert set(seen[0]) == {"session_id", "seq", "entry", "relevance", "why"}


def test_watch_begins_now_unless_it_is_told_otherwise(talk, environ):
    with running(["watch", "--json", "--limit", "1"], environ) as process:
        # Nothing says when it has begun, so this is written until it is seen.
        while process.poll() is None:
            talk.add_memory("talk", content="written meanwhile")
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        seen = told(process)
    assert seen["entry"]["content"] == "written meanwhile"
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--past"], "d1 n1 o1"),
        (["--past", "--types", "note"], "n1"),
        (["", "talk", "--past"], "d1 n1"),
        (["--after", "talk=1", "--after", "other=1"], "n1"),
        (["--after", "other=1"], "d1 n1"),
        (["data* expire", "--past", "--min-relevance", "0.5"], "d1 n1 o1"),
        (["postgresql lines", "--past", "--min-relevance", "1"], "d1"),
        (["--past", "--agent", "ann"], "d1 n1"),
    ],
)
def test_watch_resumes_by_number_and_takes_the_options_of_a_search(talk, ask, words, found):
    wanted = found.split()
    assert sorted(ids(ask("watch", *words, "--limit", str(len(wanted))))) == wanted


def test_people_see_what_is_watched_like_hits(talk, run):
    first, second = run("watch", "slow", "--past", "--limit", "1").stdout.splitlines()
    assert first.startswith("1.00  2026-11-15 08:00:00  conversation  user  #database  o1")
    assert second.strip() == "The database is slow"


@pytest.mark.parametrize("after", ["talk", "=3", "talk=", "talk=x", "talk=-1", "talk=²"])
def test_watch_refuses_a_position_that_is_none(talk, run, after):
    assert run("watch", "--after", after, code=2).stderr.startswith("E_USAGE: ")


# --- terminals and start-up


def on_terminal(words: list[str], environ: dict[str, str]) -> str:
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
    assert process.wait(WAIT) == 0
    return shown.decode()


def test_a_terminal_gets_no_longer_line_than_it_is_wide(memory, sid, environ):
    memory.add_memory(sid, id="m1", content="long words " * 100)
    shown = on_terminal(["search", "long"], environ | {"NO_COLOR": "1"}).splitlines()
    assert len(shown[1]) == 60
    assert shown[1].endswith("…")


def test_a_terminal_sees_how_far_reindexing_got(talk, environ):
    shown = on_terminal(["reindex"], environ)
    assert "indexing" in shown
    assert "3 lines of" in shown


@pytest.mark.parametrize("span", ["blah", "fortnight", "3", "many days"])
def test_a_span_that_is_none_is_told_how_spans_are_written(run, sid, span):
    told = run("search", "x", "--last", span, code=7).stderr
    assert "is no span of time" in told
    assert "'last 3 days'" in told
