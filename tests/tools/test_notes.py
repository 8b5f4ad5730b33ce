"""Notes: what they hold, how they are found, replaced, counted and cleared."""

import json
import re
from typing import Any

import pytest

from mnemolog import Memory
from mnemolog.errors import (
    InvalidFormatError,
    SchemaInvalidError,
    SizeLimitError,
)
from mnemolog.memory.run import Cleared
from mnemolog.settings import Settings

THREE = ("run", "session", "plan")


def contents(notes):
    return [note.content for note in notes]


# --- a note


@pytest.mark.req("S004-014", "S004-015", "S004-016", "S004-017", "S004-018", "S004-021")
@pytest.mark.req("S004-078")
@pytest.mark.parametrize("compartment", THREE)
def test_a_note_keeps_everything_it_was_given(run, compartment):
    receipt = run.save(
        compartment,
        "Use the blue card",
        id="card",
        category="access",
        tags=["door", "gate"],
        metadata={"source": "Ann"},
        priority=8,
    )
    assert (receipt.id, receipt.status, receipt.durable) == ("card", "stored", True)
    (note,) = run.get(compartment)
    assert (note.id, note.content, note.category) == ("card", "Use the blue card", "access")
    assert (note.tags, note.metadata) == (("door", "gate"), {"source": "Ann"})
    assert (note.importance, note.agent_id, note.type) == (0.8, "architect", "note")


@pytest.mark.req("S004-014", "S004-104")
def test_ids_are_made_where_none_is_given_and_no_two_are_alike(run):
    made = [run.save("run", f"note {number}").id for number in range(50)]
    assert len(set(made)) == 50
    assert all(re.fullmatch(r"mem_[0-9a-f]{28}", one) for one in made)
    assert sorted(made) == sorted(note.id for note in run.notes("run"))


@pytest.mark.req("S004-038", "S004-021")
def test_a_priority_that_is_not_given_is_five_and_importance_is_a_tenth_of_it(run):
    for priority in (None, 1, 10):
        run.save("run", "x", id=str(priority), priority=priority)
    assert [note.importance for note in run.notes("run")] == [0.5, 0.1, 1.0]


@pytest.mark.req("S004-040", "S004-078")
@pytest.mark.parametrize("priority", [0, 11, -1, 5.5, "5", True])
def test_a_priority_out_of_range_is_refused_and_never_taken_for_the_usual_one(run, priority):
    with pytest.raises(SchemaInvalidError, match="1 to 10"):
        run.save("run", "x", priority=priority)
    assert run.notes("run") == []


@pytest.mark.req("S004-018")
@pytest.mark.parametrize("metadata", [{"n": 1}, {"n": None}, {"n": ["x"]}, ["n"], "n", {1: "n"}])
def test_metadata_that_is_not_text_is_refused_and_never_dropped(run, metadata):
    with pytest.raises(SchemaInvalidError, match="texts"):
        run.save("run", "x", metadata=metadata)
    assert run.notes("run") == []


@pytest.mark.req("S004-034", "S004-071", "S004-078")
@pytest.mark.parametrize("content", ["", "   \n\t", None, 7, {}])
def test_a_note_without_content_is_refused(run, content):
    with pytest.raises(SchemaInvalidError, match="content"):
        run.save("run", content)
    with pytest.raises(InvalidFormatError):
        run.save("run", "x", id="")
    assert run.notes("run") == []


@pytest.mark.req("S004-019", "S004-078")
@pytest.mark.parametrize("compartment", THREE)
def test_replacing_a_note_keeps_when_it_was_made_and_moves_when_it_changed(run, clock, compartment):
    run.save(compartment, "first", id="a", category="old")
    made = run.get(compartment)[0]
    clock.advance(minutes=5)
    assert run.save(compartment, "second", id="a").status == "revised"
    (note,) = run.get(compartment)
    assert (note.content, note.category) == ("second", None)
    assert note.timestamp == made.timestamp == made.written_at
    assert note.written_at > made.written_at


# --- compartments


@pytest.mark.req("S004-033", "S004-088")
def test_compartments_do_not_mix_and_clearing_one_leaves_the_others(run):
    for name in THREE:
        run.save(name, f"of {name}")
    assert [contents(run.get(name)) for name in THREE] == [["of run"], ["of session"], ["of plan"]]
    assert run.clear("run") == Cleared(1)
    assert [contents(run.get(name)) for name in THREE] == [[], ["of session"], ["of plan"]]


def test_an_id_of_one_compartment_cannot_be_taken_over_by_another(run, memory, sid):
    run.save("plan", "first boil water", id="tea")
    decision = memory.for_agent("architect").add_decision(sid, decision="Use tea", id="why")
    for taken in ("tea", decision.id):
        with pytest.raises(InvalidFormatError, match="cannot be used"):
            run.save("session", "mine now", id=taken)
    assert contents(run.get("plan")) == ["first boil water"]
    assert memory.get_memory(sid, "why").type == "decision"
    run.save("run", "another file", id="tea")
    assert contents(run.get("run", id="tea")) == ["another file"]


def test_no_id_of_a_note_touches_what_the_run_writes_of_itself(run):
    with pytest.raises(InvalidFormatError, match="cannot be used"):
        run.save("run", "x", id="_begun")


@pytest.mark.req("S004-039", "S004-070")
@pytest.mark.parametrize("name", ["global", "", "Run", None, 3, ["run"]])
def test_an_unknown_compartment_is_refused_with_those_there_are(run, name):
    for use in (lambda: run.save(name, "x"), lambda: run.get(name), lambda: run.clear(name)):
        with pytest.raises(InvalidFormatError, match="Use one of run, session, plan"):
            use()


@pytest.mark.req("S004-010", "S004-011")
@pytest.mark.parametrize("scope", ["run", "session"])
def test_the_plan_lives_as_long_as_the_settings_say(root, clock, scope):
    settings = {"compartments.plan_scope": scope}
    with Memory.open(root, settings=settings, clock=clock, environ={}) as memory:
        memory.create_session(session_id="talk", agent_ids=["a", "b"])
        with memory.run("talk", agent_id="a") as run:
            run.save("plan", "first look")
            assert contents(run.get("plan")) == ["first look"]
            with memory.run("talk", agent_id="b") as other:
                shared = contents(other.get("plan"))
        with memory.run("talk", agent_id="a") as later:
            kept = contents(later.get("plan"))
    assert shared == kept == (["first look"] if scope == "session" else [])


# --- finding


@pytest.fixture
def shelf(run):
    """Four notes that differ in category and tags."""
    for name, category, tags in (
        ("both", "work", ["red"]),
        ("category", "work", ["blue"]),
        ("tag", "home", ["red", "green"]),
        ("neither", None, []),
    ):
        for compartment in ("run", "session"):
            run.save(compartment, name, id=f"{compartment}-{name}", category=category, tags=tags)
    return run


FILTERS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing": ({}, ["both", "category", "tag", "neither"]),
    "category": ({"category": "work"}, ["both", "category"]),
    "tag": ({"tags": ["red"]}, ["both", "tag"]),
    "any of several tags": ({"tags": ["red", "blue"]}, ["both", "category", "tag"]),
    "category and tag": ({"category": "work", "tags": ["red"]}, ["both"]),
    "no such tag": ({"tags": ["yellow"]}, []),
    "part of a tag": ({"tags": ["re"]}, []),
}


@pytest.mark.req("S004-044", "S004-045", "S004-046", "S004-081")
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("compartment", ["run", "session"])
def test_what_is_got_fits_all_filters(shelf, compartment, name):
    filters, wanted = FILTERS[name]
    assert contents(shelf.get(compartment, **filters)) == wanted


@pytest.mark.req("S004-049", "S004-050", "S004-051", "S004-052", "S004-081")
@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("compartment", ["run", "session"])
def test_clearing_means_exactly_what_getting_would_give(shelf, compartment, name):
    filters, meant = FILTERS[name]
    everything = contents(shelf.notes(compartment))
    assert shelf.clear(compartment, **filters) == Cleared(len(meant))
    assert contents(shelf.notes(compartment)) == [one for one in everything if one not in meant]


@pytest.mark.req("S004-043", "S004-079")
def test_a_note_is_saved_got_by_its_id_replaced_and_cleared(run):
    run.save("run", "one", id="a")
    run.save("run", "two", id="b")
    assert contents(run.get("run", id="a")) == ["one"]
    assert run.get("run", id="c") == []
    assert run.get("run", id="a", category="work") == []
    assert run.clear("run", id="a") == Cleared(1)
    assert run.get("run", id="a") == []
    assert run.clear("run", id="a") == Cleared(0)
    assert contents(run.get("run")) == ["two"]
    run.save("run", "again", id="a")
    assert contents(run.get("run", id="a")) == ["again"]


@pytest.mark.req("S004-053")
def test_what_is_cleared_of_a_session_can_be_undone_and_is_audited(run, memory, sid):
    run.save("session", "keep me", id="a")
    run.clear("session")
    assert [line.action for line in memory.audit()] == ["delete"]
    assert memory.undelete(sid, ["a"]).ids == ("a",)
    assert contents(run.get("session")) == ["keep me"]


def test_clearing_leaves_what_another_agent_wrote_and_says_so(run, memory, sid):
    with memory.run(sid, agent_id="analyst") as other:
        other.save("session", "the analyst's", id="theirs")
        run.save("session", "the architect's", id="mine")
        assert run.clear("session") == Cleared(removed=1, kept=1)
        assert contents(other.get("session")) == ["the analyst's"]
    with pytest.raises(InvalidFormatError, match="cannot be used"):
        run.save("session", "mine now", id="theirs")


@pytest.mark.req("S004-081")
def test_text_search_looks_at_content_and_category_whatever_the_case(root, clock):
    settings = {"search.embedder": "none"}
    with Memory.open(root, settings=settings, clock=clock, environ={}) as memory:
        memory.create_session(session_id="talk")
        with memory.run("talk") as run:
            run.save("session", "The Pump is leaking", category="plumbing", id="pump")
            run.save("session", "Paint the fence", category="garden", id="fence")

        def found(text):
            return [hit.entry.id for hit in memory.query("talk", text=text)]

        assert [found(text)[0] for text in ("pUMP", "LEAKING", "Plumbing")] == ["pump"] * 3
        assert found("garden")[0] == "fence"
        assert set(found("")) == {"pump", "fence"}
        assert found("zeppelin") == []


# --- how much there may be


@pytest.mark.req("S004-063")
def test_ten_thousand_characters_fit_and_not_one_more(run):
    assert Settings().compartments.max_characters == 10_000
    run.save("run", "é" * 9_999)
    run.save("run", "x")
    with pytest.raises(SizeLimitError):
        run.save("run", "y")
    assert run.room("run") == (10_000, 10_000)


@pytest.mark.req("S004-041", "S004-072", "S004-078", "S004-101")
def test_characters_of_content_category_tags_and_metadata_count_as_code_points(run):
    family = "👩‍👩‍👧"
    run.save("run", family, category="日本", tags=["αβγ", "x"], metadata={"clé": "ü"})
    assert run.size("run") == 5 + 2 + 4 + 4
    assert run.size("session") == run.size("plan") == 0
    with pytest.raises(SizeLimitError) as refused:
        run.save("run", "z" * 9_986)
    assert "holds 15 of 10,000 characters; 9,986 more do not fit" in str(refused.value)
    details = refused.value.details
    assert (details["size"], details["incoming"], details["limit"]) == (15, 9_986, 10_000)
    assert run.size("run") == 15


@pytest.mark.parametrize("compartment", THREE)
def test_what_a_save_replaces_is_subtracted_first(run, compartment):
    run.save(compartment, "a" * 6_000, id="big")
    run.save(compartment, "b" * 9_000, id="big")
    assert run.size(compartment) == 9_000
    run.save(compartment, "c" * 10, id="big")
    run.save(compartment, "d" * 9_990)
    assert run.room(compartment).used == 10_000


def test_what_is_cleared_makes_room_and_each_compartment_has_its_own(run):
    for name in THREE:
        run.save(name, "x" * 10_000, id=f"all of {name}")
    run.clear("run")
    run.save("run", "y" * 10_000)
    assert [run.size(name) for name in THREE] == [10_000] * 3


@pytest.mark.req("S004-087")
def test_a_note_that_is_far_too_large_is_refused_and_nothing_is_stored(run, folder):
    with pytest.raises(SizeLimitError):
        run.save("session", "x" * 20_000_000)
    # Without looking for secrets in it first, which would take seconds.
    for far_too_large in ({"k": "v" * 20_000_000}, {"k" * 20_000_000: "v"}):
        with pytest.raises(SizeLimitError, match="has room for 10,000 characters; 20,000,002 more"):
            run.save("session", "x", metadata=far_too_large)
    assert (folder / "memory.jsonl").stat().st_size == 0


# --- how often notes were got


@pytest.mark.req("S004-020", "S004-047", "S004-102", "S004-078")
@pytest.mark.parametrize("compartment", THREE)
def test_every_note_that_is_got_counts_as_used_by_id_or_not(run, compartment):
    run.save(compartment, "one", id="a")
    run.save(compartment, "two", id="b", category="c")
    run.get(compartment)
    run.get(compartment, id="a")
    run.get(compartment, category="c")
    run.get(compartment, category="none")
    run.notes(compartment)
    assert {name: run.uses(compartment)[name] for name in "ab"} == {"a": 2, "b": 2}


@pytest.mark.req("S004-020", "S004-102")
@pytest.mark.parametrize("compartment", THREE)
def test_uses_by_every_handle_on_a_run_count(memory, sid, compartment):
    one, other = (memory.run(sid, run_id="job") for _ in range(2))
    one.save(compartment, "x", id="note")
    for run in (one, other, one):
        run.get(compartment)
    assert (one.uses(compartment)["note"], other.uses(compartment)["note"]) == (3, 3)


@pytest.mark.req("S004-020", "S004-102")
def test_reading_the_notes_of_a_run_does_not_fill_its_file(memory, sid, folder):
    with memory.run(sid, run_id="job") as run:
        for number in range(50):
            run.save("run", "x", id=f"note {number}")
        run.get("run")
        path = folder / "runs/job.jsonl"
        before = path.stat().st_size
        for _ in range(200):
            run.get("run")
        assert run.uses("run")["note 7"] == 201
        assert path.stat().st_size - before < 8 * 50 * 25
        later = memory.run(sid, run_id="job")
        assert later.uses("run")["note 7"] == 128
        later.get("run")
        assert later.uses("run")["note 7"] == 129


def test_notes_can_be_got_in_a_run_whose_file_is_full(root, clock):
    small = {"storage.max_session_size_mb": 1, "storage.durability": "os"}
    with Memory.open(root, settings=small, clock=clock, environ={}) as memory:
        memory.create_session(session_id="talk")
        run = memory.run("talk")
        fill = (run.save("run", f"{number} " + "x" * 9_000, id="note") for number in range(300))
        with pytest.raises(SizeLimitError):
            list(fill)
        assert [len(run.get("run")) for _ in range(9)] == [1] * 9


@pytest.mark.req("S004-020", "S004-102")
def test_uses_are_kept_beside_the_log_and_counted_by_later_programs(root, clock):
    for wanted in (1, 2, 3):
        with Memory.open(root, clock=clock, environ={}) as memory:
            if wanted == 1:
                memory.create_session(session_id="talk")
            run = memory.run("talk", run_id="long")
            for name in ("run", "session"):
                if wanted == 1:
                    run.save(name, "x", id=f"{name} note")
                run.get(name)
                assert run.uses(name)[f"{name} note"] == wanted
    noted = (root / "sessions/talk/access.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in noted] == ["session note"] * 3
    assert b"access" not in (root / "sessions/talk/memory.jsonl").read_bytes()


# --- on disk


@pytest.mark.req("S004-023", "S004-026", "S004-024")
def test_every_save_is_a_line_of_json_on_disk_before_it_is_acknowledged(run, folder):
    run.save("run", "step 1", id="a")
    run.save("session", "tea", id="b")
    (file,) = (folder / "runs").iterdir()
    own = [json.loads(line) for line in file.read_text().splitlines()]
    shared = [json.loads(line) for line in (folder / "memory.jsonl").read_text().splitlines()]
    assert [(line["id"], line["run_id"]) for line in own] == [("_begun", run.id), ("a", run.id)]
    assert [(line["id"], line["content"]) for line in shared] == [("b", "tea")]
    assert "run_id" not in shared[0]


@pytest.mark.req("S004-028", "S004-029", "S004-027")
def test_a_root_that_is_not_there_is_made_and_starts_empty(tmp_path):
    with Memory.open(tmp_path / "no" / "such" / "folder", environ={}) as memory:
        memory.create_session(session_id="talk")
        with memory.run("talk") as run:
            assert [run.get(name) for name in THREE] == [[], [], []]
            run.save("run", "x")
            assert contents(run.get("run")) == ["x"]


@pytest.mark.req("S004-031", "S004-065")
def test_the_files_of_a_run_are_private(run, folder):
    run.save("run", "x")
    (file,) = (folder / "runs").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (folder, folder / "runs", file)] == [
        0o700, 0o700, 0o600,
    ]  # fmt: skip


@pytest.mark.req("S004-030", "S004-076", "S004-086", "S004-100")
@pytest.mark.parametrize("compartment", ["run", "session"])
def test_a_damaged_file_is_told_goes_on_taking_notes_and_is_never_overwritten(
    run, folder, compartment
):
    run.save(compartment, "before the damage", id="a")
    path = next((folder / "runs").iterdir()) if compartment == "run" else folder / "memory.jsonl"
    damage = b'{"v":1,"id":"broken, and not JSON\n'
    with path.open("ab") as file:
        file.write(damage)
    run.save(compartment, "after the damage", id="b")
    found = run.get(compartment)
    assert contents(found) == ["before the damage", "after the damage"]
    assert len(found.warnings) == 1
    assert damage in path.read_bytes()


@pytest.mark.req("S004-030", "S004-086")
def test_a_file_of_nothing_but_rubbish_is_kept_and_written_behind(run, folder):
    (folder / "memory.jsonl").write_bytes(b"\x00\xff rubbish \x00" * 50)
    assert run.get("session") == []
    run.save("session", "still works")
    assert contents(run.get("session")) == ["still works"]
    assert b"rubbish" in (folder / "memory.jsonl").read_bytes()
