"""What is exported and imported elsewhere is the same again."""

import json

import pytest

from mnemolog.layouts import LAYOUTS, READABLE, WRITABLE
from tests.layouts.world import TWO_WAY, beside, fill, opened, shown


@pytest.fixture
def filled(memory):
    fill(memory)
    return memory


@pytest.fixture
def empty(tmp_path):
    with opened(tmp_path / "empty") as memory:
        yield memory


def test_every_layout_that_goes_both_ways_is_tested_here_or_with_nodes():
    assert {*TWO_WAY, "nodes"} == set(READABLE) & set(WRITABLE)


def by_id(entries):
    return sorted(entries, key=lambda entry: entry["id"])


@pytest.mark.req("S002-100", "S002-133")
@pytest.mark.parametrize("layout", TWO_WAY)
def test_entries_come_back_as_they_were(filled, empty, layout):
    files = dict(filled.export_files(layout))
    report = empty.import_from(files)
    assert (report.layout, report.refused_total) == (layout, 0)
    assert report.sessions == {"created": 2}
    exact = layout != "one-log"  # there a derived importance becomes a given one
    for session in ("Talk A", "other"):
        assert by_id(shown(empty, session, exact=exact)) == by_id(
            shown(filled, session, exact=exact)
        )


@pytest.mark.parametrize("layout", ["json", "jsonl", "work-agent", "one-log", "four-files"])
def test_facts_of_sessions_come_back_as_they_were(filled, empty, layout):
    empty.import_from(dict(filled.export_files(layout)))
    for name in ("user_id", "agent_ids", "metadata", "created_at"):
        before, after = filled.load_session("Talk A"), empty.load_session("Talk A")
        assert getattr(after, name) == getattr(before, name), name


@pytest.mark.parametrize("layout", ["json", "jsonl", "four-files"])
def test_what_users_own_and_all_share_comes_back_too(filled, empty, layout):
    empty.import_from(dict(filled.export_files(layout)))
    assert beside(empty, "u1", "u2") == beside(filled, "u1", "u2")
    assert len(beside(filled, "u1", "u2")) == 2


@pytest.mark.parametrize("layout", ["work-agent", "one-log", "memory-json"])
def test_what_a_layout_has_no_place_for_is_counted(filled, tmp_path, layout):
    report = filled.export_to(tmp_path / "out", layout)
    assert report.left_out == {"belongs to no session": 2}
    assert report.entries["note"] == 3


@pytest.mark.parametrize("layout", [*TWO_WAY, "nodes"])
def test_importing_twice_adds_nothing(filled, empty, layout):
    files = dict(filled.export_files(layout))
    first = empty.import_from(files)
    sizes = {one.id: empty.get_statistics(one.id).size_bytes for one in empty.list_sessions()}
    second = empty.import_from(files)
    assert (second.stored, second.revised) == ({}, {})
    assert second.present == first.stored
    assert second.sessions == {"existing": first.sessions["created"]}
    assert sizes == {
        one.id: empty.get_statistics(one.id).size_bytes for one in empty.list_sessions()
    }


@pytest.mark.parametrize("layout", [*TWO_WAY, "nodes"])
def test_a_folder_written_and_read_is_told_apart_by_its_files(filled, empty, tmp_path, layout):
    target = tmp_path / ("out.json" if layout == "json" else "out.jsonl")
    target = target if layout in ("json", "jsonl") else tmp_path / "out"
    report = filled.export_to(target, layout)
    assert report.files == len([path for path in [target, *target.rglob("*")] if path.is_file()])
    assert empty.import_from(target).layout == layout
    modes = {path.stat().st_mode & 0o777 for path in [target, *target.rglob("*")]}
    assert modes <= {0o600, 0o700}


def test_nodes_come_back_as_notes_of_their_user(filled, empty):
    files = dict(filled.export_files("nodes"))
    assert sorted(files) == ["users/u1/memory/n1.md", "users/u2/memory/n2.md"]
    empty.import_from(files)
    (note,) = shown(empty, "nodes-u1")
    (before,) = (entry for entry in shown(filled, "Talk A") if entry["id"] == "n1")
    assert {**note, "session_id": "Talk A"} == before
    assert sorted(dict(empty.export_files("nodes"))) == sorted(files)


def test_the_name_native_is_free():
    assert "native" not in LAYOUTS


def test_a_jsonl_export_is_one_object_a_line(filled):
    lines = [json.loads(line) for line in filled.export_session("other", "jsonl").splitlines()]
    assert [line["type"] for line in lines] == ["session", "note"]
    assert lines[0]["id"] == lines[1]["session_id"] == "other"


@pytest.mark.parametrize("layout", TWO_WAY)
def test_an_entry_may_have_a_type_that_a_layout_uses_for_something_else(memory, empty, layout):
    memory.create_session("u1", session_id="talk")
    for kind in ("session", "sessions", "notes", "node", "entity", "index"):
        memory.add_memory("talk", type=kind, content="says something", id=kind)
    empty.import_from(dict(memory.export_files(layout)))
    assert [one.id for one in empty.list_sessions()] == ["talk"]
    assert by_id(shown(empty, "talk", exact=False)) == by_id(shown(memory, "talk", exact=False))


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_what_has_no_id_is_stored_once_however_often_it_is_imported(filled, empty, ending):
    session: dict[str, object] = {
        "id": "s",
        "agent_ids": [],
        "created_at": "2026-11-15T09:00:00.000Z",
    }
    entries: list[dict[str, object]] = [
        {"v": 1, "id": None, "type": "note", "content": "same"},
        {"content": "same"},
    ]
    wish: dict[str, object] = {"type": "preference", "content": {"key": "font", "value": "serif"}}
    whole = {"mnemolog_export": 1, "sessions": [{"session": session, "entries": [*entries, wish]}]}
    rows = [{"v": 1, "type": "session", **session},
            *({"type": "note", **one, "session_id": "s"} for one in [*entries, wish])]  # fmt: skip
    text = json.dumps(whole) if ending == "json" else "\n".join(map(json.dumps, rows))
    assert empty.import_from({f"x.{ending}": text}).stored.total() == 3
    again = empty.import_from({f"x.{ending}": text})
    assert (again.stored.total(), again.present.total()) == (0, 3)
    assert empty.get_preferences("s")[0].id.startswith("pref_")


# --- what a layout has no place of its own for comes back all the same

BACKWARDS = ["2026-01-11T10:00:00.000Z", "2026-01-11T10:00:00.000Z", "2026-01-11T09:00:00.000Z"]


@pytest.mark.parametrize("layout", ["json", "jsonl", "four-files", "one-log", "work-agent",
                                    "memory-json"])  # fmt: skip
@pytest.mark.parametrize("times", [BACKWARDS[:1] * 3, BACKWARDS], ids=["same time", "backwards"])
def test_entries_come_back_in_the_order_of_the_log(memory, empty, layout, times):
    memory.create_session(session_id="talk")
    kinds = [("preference", None), ("note", "plan"), ("conversation", None), ("note", None),
             ("decision", None), ("conversation", None), ("note", "plan"), ("finding", None),
             ("preference", None)]  # fmt: skip
    for number, (kind, compartment) in enumerate(kinds):
        record = {"id": f"e{number}", "type": kind, "content": f"text {number}"}
        record |= {"compartment": compartment} if compartment else {}
        memory.add_memory("talk", timestamp=times[number % 3], **record)
    before = [entry.id for entry in memory.get_entries("talk")]
    assert before == [f"e{number}" for number in range(len(kinds))]
    empty.import_from(dict(memory.export_files(layout)), layout)
    assert [entry.id for entry in empty.get_entries("talk")] == before


OWN = [{"mnemolog": {"build": 7}}, {"mnemolog": "a text", "more": 1}, {"mnemolog": {"type": "x"}},
       {"mnemolog": {}}, {"mnemolog": None}, {"mnemolog": {"foreign": True, "own": 1}}]  # fmt: skip


@pytest.mark.parametrize("layout", ["work-agent", "memory-json"])
@pytest.mark.parametrize("metadata", OWN, ids=str)
@pytest.mark.parametrize("more", [{}, {"type": "risk", "importance": 0.3}], ids=["bare", "full"])
def test_metadata_under_our_own_name_come_back(memory, empty, layout, metadata, more):
    memory.create_session(session_id="talk")
    memory.add_memory("talk", **{"id": "e", "content": "text", "metadata": metadata, **more})
    files = dict(memory.export_files(layout))
    for there, prefix in ((empty, ""), (memory, "again-")):
        there.import_from(files, layout, prefix=prefix)
        assert {**there.get_memory(f"{prefix}talk", "e").metadata} == metadata


@pytest.mark.parametrize(
    "own", [{"build": 7}, "a text", {}, {"type": "x", "of": "theirs"}, [1]], ids=str
)
def test_a_foreign_event_keeps_its_metadata_under_our_name(memory, own):
    event = {"id": "e", "role": "user", "content": "hello", "metadata": {"mnemolog": own},
             "timestamp": "2026-01-11T10:00:00.000Z"}  # fmt: skip
    name = "agents/a/memory/sessions/s.ndjson"
    memory.import_from({name: json.dumps(event) + "\n"}, "work-agent")
    assert memory.get_memory("s", "e").metadata["mnemolog"] == own
    assert json.loads(dict(memory.export_files("work-agent"))[name]) == event
