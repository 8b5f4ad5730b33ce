"""What people and programs get to see: `show`, `log`, `sessions`, `stats`."""

import json
import re
import time
from pathlib import Path

import pytest

from mnemolog.faces.cli import screen
from mnemolog.faces.cli.call import Call
from mnemolog.faces.cli.verbs.sessions import rows_of
from mnemolog.faces.cli.words import size
from tests.log.rewriting import rewrite

BELL, OSC, CSI, C1_CSI = "\x07", "\x1b]0;owned\x07", "\x1b[2J\x1b[31m", "\x9b1;1H"
HOSTILE = f"a{OSC}b{CSI}c{C1_CSI}d\u202ee\u2066f\r\ng{BELL}\x1b]8;;http://x\x1b\\h\u2028i\tj\x00k"
CONTROLS = [*map(chr, range(32)), "\x7f", *map(chr, range(0x80, 0xA0)), *"\u202a\u202e\u2066\u2069"]


def lines_in(folder: Path) -> list[str]:
    return (folder / "memory.jsonl").read_text(encoding="utf-8").split("\n")[:-1]


# --- text of others


def test_a_hostile_text_is_shown_without_its_controls():
    assert screen.clean(HOSTILE) == "abcdef\ngh\ni   jk"


@pytest.mark.parametrize("opening", ["\x1b]52;c;", "\x1bP", "\x1b[", "\x9d", "\x1b"])
def test_nothing_hides_behind_a_sequence_that_is_never_closed(opening):
    told = screen.clean(f"before{opening}\u4e2d\u6587 the rest")
    assert told.startswith("before")
    assert told.endswith("\u4e2d\u6587 the rest")
    assert not set(told) & set(CONTROLS)


@pytest.mark.parametrize("piece", ["\x1b]", "\x9d", "\x1b[", "\x1bP", "\x90", "\x1b[1;", "\x1b "])
def test_cleaning_a_long_hostile_text_leaves_nothing_behind(piece):
    """A megabyte of openings: a search that is not linear would take hours."""
    told = screen.clean(piece * (1_000_000 // len(piece)))
    assert not set(told) & set(CONTROLS)


def test_letters_of_all_scripts_stay_as_they_are():
    text = "Grüße, 日本語, עברית, العربية, e\u0301, 👩\u200d🔬, ½ × 3"
    assert screen.clean(text) == text


@pytest.mark.req("S002-140")
@pytest.mark.parametrize("verb", ["show", "log", "sessions", "stats"])
def test_no_verb_lets_controls_through_and_json_stays_exact(run, ask, memory, verb):
    identifier = HOSTILE.replace("\0", "")
    memory.create_session(identifier, session_id=identifier, agent_ids=[identifier])
    memory.add_memory(
        identifier,
        type="decision",
        agent_id=identifier,
        content={"decision": HOSTILE, HOSTILE: HOSTILE},
        metadata={HOSTILE: [HOSTILE]},
    )
    words = [verb] if verb == "sessions" else [verb, identifier]
    told = run(*words)
    assert not set(told.stdout + told.stderr) & (set(CONTROLS) - {"\n"})
    (exact,) = ask(*words)
    found = exact["entries"][0] if verb == "show" else exact
    if verb in ("show", "log"):
        assert found["content"] == {"decision": HOSTILE, HOSTILE: HOSTILE}
        assert found["metadata"] == {HOSTILE: [HOSTILE]}
    else:
        assert identifier in (found.get("id"), found.get("session_id"))


def test_a_text_cannot_pass_for_another_entry(run, memory, sid):
    memory.add_memory(sid, content="innocent\n2026-11-15 09:00:00  decision  architect\nfake")
    told = run("log", sid).stdout.splitlines()
    assert [line for line in told if not line.startswith("    ")] == [told[0]]
    assert len(told) == 4


# --- show


@pytest.mark.req("S001-003", "S002-004")
def test_a_session_is_shown_with_its_facts_and_entries(run, memory, sid):
    memory.update_session(sid, metadata={"project_name": "pay"}, preferences={"language": "de"})
    memory.add_decision(sid, made_by="architect", decision="Use PostgreSQL", rationale="ACID")
    told = run("show", sid).stdout
    for word in ("talk", "active", "u1", "architect, analyst", '{"project_name":"pay"}', "de"):
        assert word in told
    assert "    Use PostgreSQL\n    rationale: ACID\n" in told


def test_one_entry_is_shown_with_all_its_fields(run, ask, memory, sid):
    receipt = memory.add_finding(
        sid, discovered_by="analyst", description="It leaks", severity="high", tags=["memory"]
    )
    told = run("show", sid, receipt.id).stdout
    for word in (receipt.id, "analyst", "It leaks", "severity: high", "sha256:"):
        assert word in told
    assert re.search(r"^tags +memory$", told, re.MULTILINE)
    (exact,) = ask("show", sid, receipt.id)
    assert exact["id"] == receipt.id
    assert exact["seq"] == 1


@pytest.mark.req("S002-013", "S002-125")
def test_raw_lines_are_the_bytes_of_the_log(run, memory, folder, sid):
    memory.add_memory(sid, id="m1", content=HOSTILE)
    memory.add_memory(sid, id="m2", content="second")
    memory.update_memory(sid, "m1", content="newer")
    first, second, newer = lines_in(folder)
    assert run("show", sid, "--raw").stdout.split("\n") == [newer, second, ""]
    assert run("show", sid, "m2", "--raw").stdout == f"{second}\n"
    assert HOSTILE not in first


def test_raw_lines_of_a_user_and_of_all_come_from_their_own_logs(run, memory, root, sid):
    one = memory.update_preference(sid, key="a", value=1, scope="user")
    other = memory.update_preference(sid, key="b", value=2, scope="shared")
    line = (root / "users/u1/preferences.jsonl").read_text()
    assert run("show", sid, one.id, "--raw").stdout == line
    assert (
        run("show", sid, other.id, "--raw").stdout == (root / "shared/knowledge.jsonl").read_text()
    )


@pytest.mark.req("S002-105", "S002-129")
def test_a_damaged_line_is_told_and_the_rest_is_shown(run, ask, memory, folder, sid):
    for text in ("one", "two", "three"):
        memory.add_memory(sid, content=text)
    log = folder / "memory.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"two"', b'"TWO"'))
    told = run("log", sid)
    assert "one" in told.stdout
    assert "three" in told.stdout
    assert "TWO" not in told.stdout
    assert told.stderr.startswith("warning: memory.jsonl at byte ")
    (shown,) = ask("show", sid)
    assert [entry["content"] for entry in shown["entries"]] == ["one", "three"]
    assert len(shown["warnings"]) == 1
    warning = run("log", sid, "--json").stderr
    assert set(json.loads(warning)) == {"warning"}


# --- log


@pytest.fixture
def filled(memory, clock, sid):
    memory.add_conversation(sid, role="user", content="hello", agent_id="analyst")
    clock.advance(hours=1)
    memory.add_decision(sid, made_by="architect", decision="Use it", tags=["db.sql"])
    clock.advance(hours=1)
    memory.add_finding(sid, discovered_by="analyst", description="It leaks", tags=["db"])
    return sid


@pytest.mark.parametrize(
    ("options", "types"),
    [
        ([], ["conversation", "decision", "finding"]),
        (["--last", "2"], ["decision", "finding"]),
        (["--last", "0"], []),
        (["--types", "decisions,finding"], ["decision", "finding"]),
        (["--tag", "db"], ["decision", "finding"]),
        (["--tag", "db", "--last", "1"], ["finding"]),
        (["--by", "analyst"], ["conversation", "finding"]),
        (["--since", "2026-11-15T09:30:00Z"], ["decision", "finding"]),
        (["--until", "2026-11-15T10:00:00Z"], ["conversation", "decision"]),
        (["--after", "2"], ["finding"]),
    ],
)
def test_the_log_can_be_narrowed(ask, filled, options, types):
    assert [entry["type"] for entry in ask("log", filled, *options)] == types


def test_a_filter_that_makes_no_sense_is_refused(run, filled):
    assert "E_INVALID_FORMAT" in run("log", filled, "--since", "soon", code=5).stderr
    assert "E_INVALID_FORMAT" in run("log", filled, "--types", "No!", code=5).stderr


def test_the_log_of_a_rewritten_session_is_the_same(run, root, filled):
    before = run("log", filled).stdout
    rewrite(root, filled)
    assert run("log", filled).stdout == before


def test_without_a_session_the_last_changed_one_is_shown(run, ask, filled):
    assert len(ask("log")) == 3
    assert "E_SESSION_NOT_FOUND" in run("log", "--user", "nobody", code=6).stderr


def test_following_goes_on_with_a_log_that_somebody_cut_by_hand(
    ask, memory, sid, folder, monkeypatch
):
    """The numbers of the lines that were taken out come again."""
    log = folder / "memory.jsonl"
    memory.add_many(sid, [{"content": text} for text in ("one", "two", "three")])

    def interrupt() -> None:
        raise KeyboardInterrupt

    meanwhile = [
        lambda: log.write_bytes(log.read_bytes().splitlines(keepends=True)[0]),
        lambda: memory.add_memory(sid, content="new"),
        lambda: None,
        interrupt,
    ]
    monkeypatch.setattr(time, "sleep", lambda _: meanwhile.pop(0)())
    seen = ask("log", sid, "--follow", code=130)
    assert [(one["seq"], one["content"]) for one in seen] == [
        (1, "one"), (2, "two"), (3, "three"), (2, "new"),
    ]  # fmt: skip


# --- sessions and stats


@pytest.mark.req("S000-08")
def test_sessions_are_a_table_with_times_and_sizes(run, memory, folder, filled):
    memory.create_session("u2", session_id="empty")
    head, *rows = run("sessions").stdout.splitlines()
    assert head.split() == ["id", "user", "agents", "state", "updated", "entries", "size"]
    assert len(rows) == 2
    (row,) = [row for row in rows if row.startswith(filled)]
    size = (folder / "memory.jsonl").stat().st_size
    assert row.endswith(f"3        {size} B")
    assert "2026-11-15 11:00:00" in row


def test_a_long_list_of_sessions_is_cut_for_people_and_whole_for_programs(run, ask, memory):
    for number in range(103):
        memory.create_session(session_id=f"s{number}")
    told = run("sessions")
    assert len(told.stdout.splitlines()) == 101
    assert told.stderr == "and 3 more; --limit shows them\n"
    assert len(ask("sessions")) == 103
    assert len(ask("sessions", "--limit", "2")) == 2


def test_a_session_that_cannot_be_read_costs_no_other_its_row(run, memory, root):
    for name in ("well", "ill", "fine"):
        memory.create_session(session_id=name)
        memory.add_memory(name, content="x")
    assert len(memory.list_sessions()) == 3
    (root / "sessions/ill/memory.jsonl").unlink()
    (root / "sessions/ill/memory.jsonl").mkdir()
    told = run("sessions")
    assert sorted(row.split()[0] for row in told.stdout.splitlines()[1:]) == ["fine", "well"]
    assert told.stderr.startswith("warning: ill is not listed: ")
    exact = run("sessions", "--json")
    assert len(exact.stdout.splitlines()) == 2
    assert "ill is not listed" in json.loads(exact.stderr)["warning"]


def test_a_session_that_goes_while_the_list_is_shown_is_left_out(memory, root, capsys):
    for name in ("stays", "goes"):
        memory.create_session(session_id=name)
    found = memory.list_sessions()
    memory.delete_session("goes")
    rows = rows_of(Call(str(root), None, None, as_json=True), memory, found)
    assert [row["id"] for row in rows] == ["stays"]
    assert capsys.readouterr().err == ""


def test_sessions_can_be_chosen_by_state(ask, memory, sid):
    memory.create_session(session_id="done")
    memory.close_session("done")
    assert [one["id"] for one in ask("sessions", "--state", "idle")] == ["done"]


@pytest.mark.req("S001-132", "S001-027", "S002-035", "S002-055", "S002-130")
def test_a_session_in_numbers_has_the_names_of_both_documents(run, ask, folder, filled):
    log = folder / "memory.jsonl"
    log.write_bytes(log.read_bytes() + b"not a line\n")
    (told,) = ask("stats", filled)
    assert told["session_id"] == filled
    assert (told["total_messages"], told["total_decisions"], told["total_findings"]) == (1, 1, 1)
    assert (told["conversations"], told["decisions"], told["findings"]) == (1, 1, 1)
    assert (told["preferences"], told["total_entries"], told["corrupted_lines"]) == (0, 3, 1)
    assert told["size_bytes"] == told["total_size_bytes"] == log.stat().st_size
    assert told["last_accessed"] == "2026-11-15T11:00:00.000Z"
    shown = run("stats", filled).stdout
    assert "damaged lines" in shown
    assert "of type decision" in shown


def test_deletions_do_not_count_as_revisions(run, ask, memory, filled):
    first, second, _ = (one.id for one in memory.get_entries(filled))
    memory.update_memory(filled, first, tags=["more"])
    memory.delete_memory(filled, second)
    assert re.search(r"^revisions +1$", run("stats", filled).stdout, re.MULTILINE)
    assert ask("stats", filled)[0]["revisions"] == 1


@pytest.mark.req("S001-133")
def test_all_sessions_in_numbers(ask, memory, filled):
    memory.create_session(session_id="other")
    memory.add_memory("other", content="more")
    (told,) = ask("stats")
    assert (told["sessions"], told["total_entries"], told["session_id"]) == (2, 4, None)


@pytest.mark.parametrize(
    ("count", "read"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1 << 20, "1.0 MiB"),
        (1 << 40, "1024.0 GiB"),
    ],
)
def test_sizes_read_in_units_of_1024(count, read):
    assert size(count) == read
