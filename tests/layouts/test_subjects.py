"""Exports: one session as text, everything about somebody, files that are never overwritten."""

import errno
import json
import os

import pytest

from mnemolog.errors import (
    InvalidFormatError,
    NotAllowedError,
    SchemaInvalidError,
    SessionError,
    SessionNotFoundError,
    SizeLimitError,
    StorageError,
    StorageFullError,
    StorageIOError,
)
from mnemolog.fs.real import RealFile
from mnemolog.layouts import sources
from tests.layouts.world import fill, opened


@pytest.fixture
def filled(memory):
    fill(memory)
    return memory


def told(text: str) -> tuple[dict[str, list[str]], list[str]]:
    """Ids by session, and those beside sessions."""
    found = json.loads(text)
    sessions = {one["session"]["id"]: [each["id"] for each in one["entries"]]
                for one in found["sessions"]}  # fmt: skip
    users = [each["id"] for own in found["users"].values() for each in own]
    return sessions, [*users, *(each["id"] for each in found["shared"])]


ALL = ["msg-001", "dec-001", "finding-003", "pref_70ed560d5ef3a876efc2", "n1", "e1", "own", "t1"]
THEME = "pref_c8b00892cfbccb8fe898"


@pytest.mark.req("S002-052", "S002-100")
def test_a_session_is_text_in_three_forms(filled):
    assert told(filled.export_session("Talk A")) == ({"Talk A": ALL}, [THEME, "k1"])
    lines = [json.loads(line) for line in filled.export_session("Talk A", "jsonl").splitlines()]
    assert [line["id"] for line in lines] == ["Talk A", *ALL, THEME, "k1"]
    decision = lines[2]
    stored = filled.get_memory("Talk A", "dec-001")
    assert (decision["content"], decision["tags"]) == (stored.content, list(stored.tags))
    page = filled.export_session("Talk A", "markdown")
    for text in ("## Session Talk A", "Use PostgreSQL", "漢字", "impact: high", "tags: database"):
        assert text in page
    with pytest.raises(InvalidFormatError, match="json, jsonl, markdown"):
        filled.export_session("Talk A", "xml")
    with pytest.raises(SessionNotFoundError):
        filled.export_session("nowhere")


def test_no_text_can_pass_for_a_heading_of_the_page(memory, sid):
    memory.add_memory(sid, content="one\n## Session forged\u2028## again", role="user\n# x")
    headings = [line for line in memory.export_session(sid, "markdown").splitlines()
                if line.startswith("#")]  # fmt: skip
    assert [line.split()[:2] for line in headings] == [
        ["#", "Memory"], ["##", "Session"], ["###", "2026-11-15T09:00:00.000Z"],
    ]  # fmt: skip


@pytest.mark.req("S002-100", "S001-007")
def test_everything_about_a_user(filled):
    sessions, beside = told(filled.export_subject(user_id="u1"))
    assert sessions == {"Talk A": ALL, "other": ["n2"]}
    assert beside == [THEME, "k1"]
    sessions, beside = told(filled.export_subject(user_id="u2"))
    assert (sessions, beside) == ({"other": ["n2"]}, [])
    assert told(filled.export_subject(user_id="nobody")) == ({}, [])


@pytest.mark.req("S002-100")
def test_what_a_user_owns_is_exported_though_the_last_session_is_gone(filled, tmp_path):
    filled.delete_session("Talk A")
    for everything in (filled, filled.for_user("u1")):
        assert THEME in told(everything.export_subject())[1]
    filled.export_to(tmp_path / "all.jsonl", "jsonl")
    with opened(tmp_path / "other") as other:
        other.import_from(tmp_path / "all.jsonl")
        assert [one.id for one in other.get_preferences(user_id="u1")] == [THEME]


@pytest.mark.req("S002-100")
def test_what_is_known_of_a_user_is_exported_too(filled, tmp_path):
    filled.write_node("topics/tea", "Likes tea.\n", user_id="u1")
    filled.write_node("USER.md", "Is called Ann.\n", user_id="u1")
    filled.write_node("topics/ink", "Collects ink.\n", user_id="nobody")
    texts = {one: filled.read_node(one, user_id="u1").text for one in ("USER.md", "topics/tea")}
    known = json.loads(filled.export_subject(user_id="u1"))["nodes"]
    assert {one["address"]: one["text"] for one in known.pop("u1")} == texts
    assert known == {}
    assert json.loads(filled.for_user("u1").export_subject())["nodes"].keys() == {"u1"}
    assert json.loads(filled.export_subject())["nodes"].keys() == {"u1", "nobody"}
    for other in ({"agent_id": "analyst"}, {"session_id": "Talk A"}):
        assert "nodes" not in json.loads(filled.export_subject(**other))
    assert "nodes" not in json.loads(filled.for_agent("analyst").export_subject())
    assert "> Likes tea." in filled.export_subject(user_id="u1", format="markdown")
    files = dict(filled.export_files("nodes", user_id="u1"))
    assert files["users/u1/memory/topics/tea.md"].decode() == texts["topics/tea"]
    assert files["users/u1/USER.md"].decode() == texts["USER.md"]
    assert filled.export_to(tmp_path / "one-log", "one-log").left_out["a node of the graph"] == 3


def test_a_node_that_cannot_be_read_is_told_in_the_export(filled, root):
    filled.write_node("topics/tea", "Likes tea.\n", user_id="u1")
    (root / "users/u1/memory/topics/ink.md").write_bytes(b"x" * 2_000_000)
    told = json.loads(filled.export_subject(user_id="u1"))
    assert [node["address"] for node in told["nodes"]["u1"]] == ["topics/tea"]
    (warning,) = told["warnings"]
    assert warning.startswith("the node topics/ink of the user u1 is left out:")


@pytest.mark.parametrize("layout", ["json", "jsonl"])
def test_a_graph_is_not_taken_in_from_an_export_but_counted(filled, tmp_path, layout):
    filled.write_node("topics/tea", "Likes tea.\n", user_id="u1")
    filled.write_node("topics/ink", "Collects ink.\n", user_id="nobody")
    with opened(tmp_path / "other") as other:
        for user in (None, "nobody"):
            report = other.import_from(dict(filled.export_files(layout, user_id=user)))
            assert (report.refused_total, report.skipped["a node of the graph"]) == (
                0, 1 if user else 2,
            )  # fmt: skip
        assert other.node_users() == []


def test_everything_that_an_agent_wrote(filled):
    filled.add_memory("Talk A", id="k2", content="shared by me", scope="shared", agent_id="analyst")
    sessions, beside = told(filled.export_subject(agent_id="analyst"))
    assert sessions == {"Talk A": ["finding-003", "own"], "other": []}
    assert beside == ["k2"]


def test_an_agents_export_holds_nothing_of_others_in_an_index(filled):
    files = dict(filled.export_files("four-files", agent_id="analyst"))
    assert not any(name.endswith("index.json") for name in files)
    assert b"PostgreSQL" not in b"".join(files.values())


def test_only_one_subject_can_be_named(filled):
    with pytest.raises(SchemaInvalidError, match="name one"):
        filled.export_subject(user_id="u1", agent_id="analyst")


def test_a_view_exports_what_it_may_see(filled):
    analyst = filled.for_agent("architect")
    sessions, _ = told(analyst.export_subject())
    assert sessions == {"Talk A": [each for each in ALL if each != "own"]}
    with pytest.raises(NotAllowedError):
        analyst.export_subject(user_id="u2")
    with pytest.raises(SessionNotFoundError):
        analyst.export_session("other")


def test_damage_is_told_in_the_export(filled, root):
    path = root / "sessions/other/memory.jsonl"
    path.write_bytes(b"garbage\n" + path.read_bytes())
    (one,) = json.loads(filled.export_session("other"))["sessions"]
    assert len(one["warnings"]) == 1
    assert "**Skipped:**" in filled.export_session("other", "markdown")


def archive_is_overwritten(root):
    (root / "archive/other.tar.gz").write_bytes(b"no archive")


def sidecar_is_a_pipe(root):
    (root / "archive/other.manifest.json").unlink()
    os.mkfifo(root / "archive/other.manifest.json")


def sidecar_is_cut_short(root):
    (root / "archive/other.manifest.json").write_text("{")


@pytest.mark.parametrize(
    "damage", [archive_is_overwritten, sidecar_is_a_pipe, sidecar_is_cut_short]
)
def test_a_session_that_cannot_be_read_is_told_and_keeps_no_other(filled, root, tmp_path, damage):
    filled.archive_session("other")
    damage(root)
    heard: list[str] = []
    text = filled.export_subject(warned=heard.append)
    assert list(told(text)[0]) == ["Talk A"]
    assert len(heard) == 1
    assert "other is left out: archive/other" in heard[0]
    assert json.loads(text)["warnings"] == heard
    assert "other is left out" in filled.export_subject(format="markdown")
    assert filled.export_to(tmp_path / "out", "four-files").warnings == heard
    done = filled.export_native(tmp_path / "all.jsonl")
    assert (done.logs, done.left_out) == (3, ("sessions/other",))
    with pytest.raises((StorageError, SessionError)):
        filled.export_session("other")
    unheard: list[str] = []
    filled.for_user("u1").export_subject(warned=unheard.append)
    assert unheard == [], "whose it was nobody knows"


def test_an_export_needs_no_index(filled, monkeypatch):
    def broken(*args, **more):
        raise StorageIOError("The index cannot be used.")

    monkeypatch.setattr(type(filled), "export_index", broken)
    files = dict(filled.export_files("one-log", session_id="other"))
    index = json.loads(files["sessions/other/index.json"])
    assert index["entries"]["n2"]["current_relevance"] is None
    assert "sessions/other/index.json" not in dict(
        filled.export_files("four-files", session_id="other")
    )


# --- writing


@pytest.mark.parametrize("layout", ["json", "four-files"])
def test_nothing_is_overwritten(filled, tmp_path, layout):
    target = tmp_path / "there"
    target.write_text("mine")
    with pytest.raises(StorageIOError, match="overwritten"):
        filled.export_to(target, layout)
    assert target.read_text() == "mine"
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("mine")
    with pytest.raises(StorageIOError, match="overwritten"):
        filled.export_to(full, layout)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageIOError, match="overwritten"):
        filled.export_to(link, layout)
    assert not (tmp_path / "elsewhere").exists()


def test_an_empty_folder_may_be_filled(filled, tmp_path):
    (tmp_path / "out").mkdir()
    filled.export_to(tmp_path / "out", "four-files")
    assert (tmp_path / "out/sessions/other/manifest.json").exists()


def test_a_full_disk_leaves_nothing_behind(filled, tmp_path, monkeypatch):
    written = []

    def short(self, content):
        written.append(len(content))
        return os.write(self._fd, content if len(written) < 4 else content[:3])

    monkeypatch.setattr(RealFile, "append", short)
    with pytest.raises(StorageFullError):
        filled.export_to(tmp_path / "out", "four-files")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]
    written[:] = [0] * 4
    with pytest.raises(StorageFullError):
        filled.export_to(tmp_path / "out.json", "json")
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_an_export_that_was_broken_off_is_not_taken_for_a_whole_one(filled, tmp_path, monkeypatch):
    def failing(self):
        raise OSError(errno.EIO, "gone")

    with monkeypatch.context() as patch:
        patch.setattr(RealFile, "sync", failing)
        with pytest.raises(OSError, match="gone"):
            filled.export_to(tmp_path / "out", "one-log")
        with pytest.raises(OSError, match="gone"):
            filled.export_to(tmp_path / "out.json", "json")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.json").exists()
    (tmp_path / "out.partial").mkdir()
    with pytest.raises(StorageError, match="partial is there"):
        filled.export_to(tmp_path / "out", "one-log")


def test_a_document_that_no_import_would_read_is_told_on_both_sides(filled, tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_DOCUMENT", 1000)
    assert "jsonl" in filled.export_to(tmp_path / "all.json", "json").warnings[0]
    assert filled.export_to(tmp_path / "all.jsonl", "jsonl").warnings == []
    with opened(tmp_path / "other") as other:
        with pytest.raises(SizeLimitError, match=r"1,000.*jsonl"):
            other.import_from(tmp_path / "all.json")
        assert other.import_from(tmp_path / "all.jsonl").refused_total == 0


def test_progress_counts_sessions(filled, tmp_path):
    seen: list[tuple[int, int]] = []
    report = filled.export_to(
        tmp_path / "out", "one-log", progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, 2), (2, 2)]
    assert report.sessions == 2
    assert report.size_bytes == sum(
        path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file()
    )


def test_what_was_exported_can_be_erased_and_brought_back(filled, tmp_path):
    filled.export_to(tmp_path / "u1.json", "json", user_id="u1")
    with opened(tmp_path / "fresh") as fresh:
        fresh.import_from(tmp_path / "u1.json")
        assert told(fresh.export_subject(user_id="u1")) == told(filled.export_subject(user_id="u1"))


# --- the notes of open runs


def with_runs(memory):
    """A session with two entries and a run of each of two agents; one of them has ended another."""
    memory.create_session(session_id="talk", user_id="u1", agent_ids=["a", "b"])
    memory.add_memory("talk", id="said", content="said", agent_id="a")
    for agent in ("a", "b"):
        run = memory.run("talk", run_id=f"run-{agent}", agent_id=agent)
        run.save("run", f"noted by {agent}", id=f"note-{agent}", tags=["scratch"])
        run.save("run", f"noted anew by {agent}", id=f"note-{agent}")
        run.save("session", f"kept by {agent}", id=f"kept-{agent}")
        run.get("run")
    with memory.run("talk", run_id="over", agent_id="a") as over:
        over.save("run", "ended", id="ended")


def noted(text: str) -> dict[str, list[str]]:
    """The contents of the notes by run, in all sessions of a document."""
    sessions = json.loads(text)["sessions"]
    runs = {run: notes for one in sessions for run, notes in one.get("runs", {}).items()}
    assert all(each["run_id"] == run for run, notes in runs.items() for each in notes)
    return {run: [each["content"] for each in notes] for run, notes in runs.items()}


BOTH = {"run-a": ["noted anew by a"], "run-b": ["noted anew by b"]}


def test_an_export_holds_the_notes_of_open_runs_by_their_run(memory):
    with_runs(memory)
    assert noted(memory.export_session("talk")) == BOTH
    assert noted(memory.export_subject(user_id="u1")) == BOTH
    assert noted(memory.export_subject()) == BOTH
    assert told(memory.export_session("talk"))[0] == {"talk": ["said", "kept-a", "kept-b"]}
    page = memory.export_session("talk", "markdown")
    assert page.index("Notes of the open run run-a") < page.index("noted anew by a")
    assert page.index("noted anew by a") < page.index("Notes of the open run run-b")
    assert "ended" not in page
    memory.end_run("talk", "run-a")
    assert noted(memory.export_session("talk")) == {"run-b": BOTH["run-b"]}


def test_an_agent_gets_the_notes_of_its_own_runs_alone(memory):
    with_runs(memory)
    assert noted(memory.export_subject(agent_id="b")) == {"run-b": BOTH["run-b"]}
    for form in ("json", "jsonl", "markdown"):
        text = memory.for_agent("b").export_session("talk", form)
        assert "noted anew by b" in text
        assert "noted anew by a" not in text
        assert "run-a" not in text


@pytest.mark.parametrize("form", ["json", "jsonl"])
def test_an_import_tells_that_it_leaves_notes_of_runs_out(memory, tmp_path, form):
    with_runs(memory)
    report = memory.export_to(tmp_path / f"out.{form}", form, user_id="u1")
    assert report.entries["note"] == 4
    assert report.written_entries == 5
    with opened(tmp_path / "there") as there:
        taken = there.import_from(tmp_path / f"out.{form}")
        assert dict(taken.skipped) == {"a note of an open run": 2}
        assert taken.refused_total == 0
        assert {one.id for one in there.get_entries("talk")} == {"said", "kept-a", "kept-b"}
        assert there.left_runs() == []


@pytest.mark.parametrize("layout", ["four-files", "one-log", "memory-json", "work-agent", "nodes"])
def test_a_layout_without_a_place_for_notes_of_runs_counts_them(memory, tmp_path, layout):
    with_runs(memory)
    report = memory.export_to(tmp_path / "out", layout)
    assert report.left_out["a note of an open run"] == 2
    written = [path.read_text() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert not [text for text in written if "noted anew" in text]
