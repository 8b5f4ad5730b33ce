"""Exports: one session as text, everything about somebody, files that are never overwritten."""

import errno
import json
import os

import pytest

from mnemolog.errors import (
    InvalidFormatError,
    NotAllowedError,
    SchemaInvalidError,
    SessionNotFoundError,
    StorageError,
    StorageFullError,
    StorageIOError,
)
from mnemolog.fs.real import RealFile
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
    assert not (tmp_path / "out").exists()
    (tmp_path / "out.partial").mkdir()
    with pytest.raises(StorageError, match="partial is there"):
        filled.export_to(tmp_path / "out", "one-log")


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
